/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of fields: its order and names, and every getter on packets that have and lack it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "tests/cmocka_all.h"
#include "tests/hex.h"

struct row {
    enum sample_id sample;
    const char *field, *text;
};

static const struct row rows[] = {
#define VALUE(sample, field, text) {sample, field, text},
#define BARE(field, text)          {S_BARE, field, text},
#include "values.def"
#undef VALUE
#undef BARE
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void test_every_value(void **state)
{
    (void)state;
    static struct sample s;
    for (size_t i = 0; i < ROWS; i++) {
        const struct roce_field *field = roce_field_find(rows[i].field);
        struct roce_value value;
        char text[ROCE_VALUE_TEXT_LEN] = "(absent)";
        const char *expected = rows[i].text != NULL ? rows[i].text : "(absent)";
        sample_make(&s, rows[i].sample);
        assert_non_null(field);
        if (field->get(&s.view, &value))
            roce_value_format(field, &value, text, sizeof(text));
        if (strcmp(text, expected) != 0)
            fail_msg("%s of sample %d: %s, not %s", rows[i].field, rows[i].sample, text, expected);
    }
}

static bool has_row(enum sample_id sample, bool any_sample, const char *field)
{
    for (size_t i = 0; i < ROWS; i++)
        if ((any_sample || rows[i].sample == sample) && rows[i].text != NULL &&
            strcmp(rows[i].field, field) == 0)
            return true;
    return false;
}

/* Texts that come from the wire room word by word are checked to be there, below. */
static bool is_text_of_wire(const char *name)
{
    return strcmp(name, "cm.reject_text") == 0 || strcmp(name, "cm.status_text") == 0;
}

static void test_every_field_is_covered(void **state)
{
    (void)state;
    static struct sample s;
    sample_make(&s, S_BARE);
    for (size_t i = 0; i < roce_field_count(); i++) {
        const struct roce_field *field = roce_field_at(i);
        struct roce_value value;
        if (!field->computed && !has_row(S_BARE, true, field->name) &&
            !is_text_of_wire(field->name) && strcmp(field->name, "tunnel.key") != 0)
            fail_msg("no value of %s is tested", field->name);
        if (field->get(&s.view, &value) != has_row(S_BARE, false, field->name))
            fail_msg("%s of a bare frame", field->name);
    }
}

static void test_texts_of_wire(void **state)
{
    (void)state;
    static struct sample s;
    struct roce_value value;
    sample_make(&s, S_REJ);
    assert_true(roce_field_find("cm.reject_text")->get(&s.view, &value));
    assert_string_equal(value.s, roce_cm_reject_text(28));
    assert_false(roce_field_find("cm.status_text")->get(&s.view, &value));
    sample_make(&s, S_SIDR_REP);
    assert_true(roce_field_find("cm.status_text")->get(&s.view, &value));
    assert_string_equal(value.s, roce_cm_sidr_status_text(1));
    assert_false(roce_field_find("cm.reject_text")->get(&s.view, &value));
}

static void test_tunnel_key(void **state)
{
    (void)state;
    static struct sample s;
    struct roce_value value;
    sample_make(&s, S_GRE);
    s.pkt.tunnel[0].has_key = true;
    s.pkt.tunnel[0].key = 5001;
    assert_true(roce_field_find("tunnel.key")->get(&s.view, &value));
    assert_int_equal(value.u, 5001);
}

/* Each name and alias leads to one field, and fields of one object stand together (they become one
 * JSON object). */
static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < roce_field_count(); i++) {
        const struct roce_field *a = roce_field_at(i);
        assert_ptr_equal(roce_field_find(a->name), a);
        assert_true(a->label[0] != '\0' && a->help[0] != '\0');
        assert_true(strspn(a->name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == strlen(a->name));
        if (a->alias != NULL)
            assert_ptr_equal(roce_field_find(a->alias), a);
        assert_true((a->type == ROCE_FIELD_WORD) == (a->word != NULL));
        const char *dot = strchr(a->name, '.');
        const size_t group = dot != NULL ? (size_t)(dot - a->name) + 1 : 0;
        bool left = false;
        for (size_t j = i + 1; j < roce_field_count(); j++) {
            const struct roce_field *b = roce_field_at(j);
            const bool same = group > 0 && strncmp(a->name, b->name, group) == 0;
            assert_string_not_equal(a->name, b->name);
            if (a->alias != NULL && b->alias != NULL)
                assert_string_not_equal(a->alias, b->alias);
            if (same && left)
                fail_msg("%s stands apart from %s", b->name, a->name);
            left = left || !same;
            /* A key cannot be a value and an object. */
            if (group > 0)
                assert_false(strncmp(a->name, b->name, group - 1) == 0 &&
                             b->name[group - 1] == '\0');
        }
    }
    assert_null(roce_field_at(roce_field_count()));
    assert_null(roce_field_find("no_such_field"));
    assert_null(roce_field_find(""));
    assert_ptr_equal(roce_field_find("size"), roce_field_find("length"));
}

/* The keys that contract and man page promise. */
static void test_promised_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "frame",
        "time_ns",
        "length",
        "captured",
        "vlan",
        "pcp",
        "src",
        "dst",
        "dscp",
        "ecn",
        "ttl",
        "udp_sport",
        "encapsulation",
        "transport",
        "opcode",
        "opcode_value",
        "dest_qp",
        "psn",
        "ack_req",
        "solicited",
        "mig_req",
        "pad_count",
        "pkey",
        "fecn",
        "becn",
        "reth.va",
        "reth.rkey",
        "reth.dma_length",
        "aeth.syndrome",
        "aeth.kind",
        "aeth.msn",
        "aeth.credits",
        "aeth.rnr_timer_ms",
        "aeth.nak",
        "deth.qkey",
        "deth.src_qp",
        "xrceth.srq",
        "atomic_eth.va",
        "atomic_eth.rkey",
        "atomic_eth.swap_add",
        "atomic_eth.compare",
        "atomic_ack_eth.original",
        "imm",
        "ieth.rkey",
        "feth.plt",
        "feth.sel",
        "payload_length",
        "icrc.status",
        "icrc.value",
        "icrc.expected",
        "icrc.reason",
        "mad.mgmt_class",
        "mad.attr_id",
        "cm.message",
        "cm.local_comm_id",
        "cm.remote_comm_id",
        "cm.local_qpn",
        "cm.starting_psn",
        "cm.reject_reason",
        "pfc.priorities",
        "pfc.quanta",
        "pfc.pause_us",
        "pause.quanta",
        "error.kind",
        "error.layer",
        "error.text",
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct roce_field *field = roce_field_find(keys[i]);
        if (field == NULL || strcmp(field->name, keys[i]) != 0)
            fail_msg("%s", keys[i]);
    }
}

static void test_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < roce_field_count(); i++) {
        const struct roce_field *field = roce_field_at(i);
        unsigned n = 0;
        for (unsigned code = 0; field->word != NULL && code < ROCE_WORD_MAX; code++) {
            const char *word = field->word(code);
            if (word == NULL)
                continue;
            n++;
            /* A filter tells words from numbers by the first byte. */
            assert_true(strspn(word, "0123456789") == 0 && word[0] != '\0');
        }
        assert_true(field->word == NULL || (n > 1 && field->word(UINT32_MAX) == NULL));
    }
    const struct roce_field *opcode = roce_field_find("opcode");
    assert_string_equal(opcode->word(0x81), "cnp");
    assert_string_equal(opcode->word(0x44), "rd_send_only");
    assert_string_equal(opcode->word(0x15), "unknown");
    const struct roce_field *ecn = roce_field_find("ecn"); /* RFC 3168 5 */
    assert_string_equal(ecn->word(0), "not_ect");
    assert_string_equal(ecn->word(1), "ect1");
    assert_string_equal(ecn->word(2), "ect0");
    assert_string_equal(ecn->word(3), "ce");
}

static void test_format(void **state)
{
    (void)state;
    const struct roce_field *real = roce_field_find("aeth.rnr_timer_ms");
    const struct roce_field *src = roce_field_find("src");
    static const struct {
        double r;
        const char *text;
    } reals[] = {
        {0, "0.0"},
        {655.36, "655.36"},
        {0.01, "0.01"},
        {1, "1.0"},
        {-2.5, "-2.5"},
        {0.0000004, "0.0"},
        {1e12, "1000000000000.0"},
        {999.9999999, "1000.0"},
        {1e30, "18446744073709551615.0"},
        {NAN, "18446744073709551615.0"},
    };
    struct roce_value value;
    char text[ROCE_VALUE_TEXT_LEN];
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
        value.r = reals[i].r;
        roce_value_format(real, &value, text, sizeof(text));
        assert_string_equal(text, reals[i].text);
    }
    /* A buffer that is too small is filled and closed, never overrun. */
    value.ip_version = 4;
    roce_ip_v4(value.addr, 192, 168, 100, 200);
    for (size_t size = 1; size <= sizeof("192.168.100.200"); size++) {
        char *exact = malloc(size);
        assert_ptr_equal(roce_value_format(src, &value, exact, size), exact + size - 1);
        assert_memory_equal(exact, "192.168.100.200", size - 1);
        assert_int_equal(exact[size - 1], '\0');
        free(exact);
    }
}

/* A MAD with a REQ behind it, at every captured length. */
static void test_view_decodes_cm(void **state)
{
    (void)state;
    static struct sample s;
    struct roce_value value;
    uint8_t mad[ROCE_MAD_LEN];
    const size_t off = 10;
    sample_make(&s, S_REQ);
    const struct roce_cm cm = s.view.cm;
    assert_int_equal(roce_mad_encode(&s.view.mad, mad, sizeof(mad)), ROCE_MAD_HDR_LEN);
    assert_int_equal(roce_cm_encode(&cm, mad + ROCE_MAD_HDR_LEN, ROCE_CM_LEN), ROCE_CM_LEN);
    for (size_t len = 0; len <= sizeof(mad); len++) {
        uint8_t *frame = malloc(off + len);
        memset(frame, 0xEE, off);
        memcpy(frame + off, mad, len);
        s.frame.data = frame;
        s.frame.caplen = (uint32_t)(off + len);
        s.pkt.has |= ROCE_HAS_MAD;
        s.pkt.payload_off = (uint32_t)off;
        s.pkt.payload_captured = (uint32_t)len;
        memset(&s.view, 0xEE, sizeof(s.view));
        roce_view_init(&s.view, &s.frame, &s.pkt, NULL);
        assert_int_equal(s.view.icrc->reason, ROCE_ICRC_NOT_ASKED);
        assert_int_equal(s.view.has_mad, len >= 24);
        assert_int_equal(s.view.has_cm, len >= 24);
        if (s.view.has_cm) {
            assert_int_equal(s.view.cm_len, len - 24);
            assert_int_equal(s.view.cm_cut, len < 256);
        }
        /* IBTA 12.6.5: the local QPN ends at byte 35, the starting PSN at byte 47. */
        assert_int_equal(roce_field_find("cm.local_qpn")->get(&s.view, &value), len >= 24 + 35);
        if (len >= 24 + 35)
            assert_int_equal(value.u, 0x3004);
        assert_int_equal(roce_field_find("cm.starting_psn")->get(&s.view, &value), len >= 24 + 47);
        if (len >= 24 + 47)
            assert_int_equal(value.u, 3008);
        assert_int_equal(roce_field_find("cm.src")->get(&s.view, &value), len >= 24 + 176);
        if (len >= 24 + 176)
            assert_memory_equal(value.addr, cm.ip.src, 16);
        /* Offsets that point behind the frame are nobody's fault here. */
        s.frame.caplen = (uint32_t)off / 2;
        roce_view_init(&s.view, &s.frame, &s.pkt, NULL);
        assert_false(s.view.has_mad);
        free(frame);
    }
}

static void test_other_mads(void **state)
{
    (void)state;
    static struct sample s;
    uint8_t mad[ROCE_MAD_LEN] = {1, 7, 2, 3, [16] = 0, [17] = 0x1b}; /* CM, attribute 0x1b */
    sample_make(&s, S_REQ);
    s.frame.data = mad;
    s.frame.caplen = s.pkt.payload_captured = sizeof(mad);
    s.pkt.has |= ROCE_HAS_MAD;
    roce_view_init(&s.view, &s.frame, &s.pkt, &s.icrc);
    assert_true(s.view.has_mad && !s.view.has_cm);
    mad[17] = 0x10;
    roce_view_init(&s.view, &s.frame, &s.pkt, &s.icrc);
    assert_true(s.view.has_mad && s.view.has_cm && !s.view.cm_cut);
    mad[1] = 3; /* subnet administration */
    roce_view_init(&s.view, &s.frame, &s.pkt, &s.icrc);
    assert_true(s.view.has_mad && !s.view.has_cm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value),     cmocka_unit_test(test_every_field_is_covered),
        cmocka_unit_test(test_texts_of_wire),   cmocka_unit_test(test_tunnel_key),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_promised_keys),
        cmocka_unit_test(test_words),           cmocka_unit_test(test_format),
        cmocka_unit_test(test_view_decodes_cm), cmocka_unit_test(test_other_mads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
