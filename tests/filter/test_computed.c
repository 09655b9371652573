/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of flow state: read from a verdict filled by hand, absent without one. */
#include <stdio.h>
#include <string.h>

#include <roce/field.h>
#include <roce/filter.h>

#include "tests/cmocka_all.h"

static const struct roce_verdict full = {
    .flow = 7,
    .peer = 8,
    .connection = 3,
    .flags = ROCE_V_REQUEST | ROCE_V_GAP | ROCE_V_RETRANSMITTED | ROCE_V_DUP | ROCE_V_FILL |
             ROCE_V_MIRROR_DUP | ROCE_V_READ_RESPONSE_GAP | ROCE_V_ACK_GHOST,
    .pairing = ROCE_PAIRING_PSN,
    .cause = ROCE_CAUSE_TIMEOUT,
    .message_op = ROCE_MESSAGE_WRITE,
    .expected_psn = 100,
    .missing = 5,
    .in_flight = 12,
    .completed = 2,
    .message = 40,
    .message_packet = 4,
    .message_bytes = 8192,
    .message_frame = 501,
    .request_frame = 502,
    .resent_frame = 503,
    .rtt = 1500,
    .latency = 2500000,
    .wait = 67108864,
    .delta = 250,
};

static const struct {
    const char *name, *text;
} expected[] = {
    {"stream", "7"},
    {"peer_stream", "8"},
    {"connection", "3"},
    {"pairing", "psn"},
    {"gap", "yes"},
    {"missing", "5"},
    {"expected_psn", "100"},
    {"retransmission", "yes"},
    {"retransmission_cause", "timeout"},
    {"resent_frame", "503"},
    {"duplicate", "yes"},
    {"fill", "yes"},
    {"mirror_duplicate", "yes"},
    {"response_gap", "yes"},
    {"ghost", "yes"},
    {"message", "40"},
    {"message_op", "write"},
    {"message_packet", "4"},
    {"message_bytes", "8192"},
    {"message_frame", "501"},
    {"completes", "2"},
    {"in_flight", "12"},
    {"request_frame", "502"},
    {"acked_in", "600"},
    {"rtt", "1.5"},
    {"latency", "2500"},
    {"wait", "67108.864"},
    {"delta", "0.25"},
};

static void make_view(struct roce_view *view, const struct roce_verdict *verdict, uint64_t acked_in)
{
    static const struct roce_frame frame = {.number = 1};
    static const struct roce_packet pkt;
    roce_view_init(view, &frame, &pkt, NULL);
    view->verdict = verdict;
    view->acked_in = acked_in;
}

static void check_text(const char *name, const struct roce_value *value, const char *text)
{
    const struct roce_field *field = roce_field_find(name);
    char have[64];
    switch ((enum roce_field_type)field->type) {
    case ROCE_FIELD_BOOL:
        assert_string_equal(value->b ? "yes" : "no", text);
        return;
    case ROCE_FIELD_REAL:
        (void)snprintf(have, sizeof(have), "%.10g", value->r);
        break;
    case ROCE_FIELD_WORD:
        (void)snprintf(have, sizeof(have), "%s", value->s);
        break;
    default:
        (void)snprintf(have, sizeof(have), "%llu", (unsigned long long)value->u);
        break;
    }
    assert_string_equal(have, text);
}

static void test_every_computed_field(void **state)
{
    (void)state;
    struct roce_view view;
    make_view(&view, &full, 600);
    size_t computed = 0;
    for (size_t i = 0; i < roce_field_count(); i++)
        computed += roce_field_at(i)->computed;
    assert_int_equal(computed, sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < computed; i++) {
        const struct roce_field *field = roce_field_find(expected[i].name);
        struct roce_value value;
        assert_non_null(field);
        assert_true(field->computed);
        assert_true(field->get(&view, &value));
        check_text(expected[i].name, &value, expected[i].text);
    }
}

static void test_absent_without_a_verdict_or_flow(void **state)
{
    (void)state;
    static const struct roce_verdict none = {.flow = ROCE_FLOW_NONE};
    const struct roce_verdict *verdicts[] = {NULL, &none};
    for (int v = 0; v < 2; v++) {
        struct roce_view view;
        make_view(&view, verdicts[v], 0);
        for (size_t i = 0; i < roce_field_count(); i++) {
            struct roce_value value;
            if (roce_field_at(i)->computed)
                assert_false(roce_field_at(i)->get(&view, &value));
        }
    }
}

static void test_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool holds, icrc_needed;
    } rows[] = {
        {"gap", true, false},
        {"not gap", false, false},
        {"retransmission and cause == timeout", true, false},
        {"cause == nak", false, false},
        {"rtt > 1", true, false},
        {"rtt >= 2", false, false},
        {"acked_in in {600..700}", true, false},
        {"stream == 7 and message_op == write", true, false},
        {"duplicate and icrc == bad", false, true},
    };
    struct roce_view view;
    struct roce_filter_error error;
    make_view(&view, &full, 600);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct roce_filter *filter = roce_filter_compile(rows[i].text, &error);
        assert_non_null(filter);
        assert_true(roce_filter_needs_flow(filter));
        assert_int_equal(roce_filter_needs_icrc(filter), rows[i].icrc_needed);
        assert_int_equal(roce_filter_match(filter, &view), rows[i].holds);
        assert_int_equal(roce_filter_uses(filter, roce_field_find("acked_in")),
                         strstr(rows[i].text, "acked_in") != NULL);
        roce_filter_del(filter);
    }
    struct roce_filter *plain = roce_filter_compile("psn > 3", &error);
    assert_false(roce_filter_needs_flow(plain));
    roce_filter_del(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_computed_field),
        cmocka_unit_test(test_absent_without_a_verdict_or_flow),
        cmocka_unit_test(test_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
