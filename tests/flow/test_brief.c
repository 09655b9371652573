/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The short way through the observer says the same as the long one, frame by frame, in every
 * capture of the repository. */
#include "../cmocka_all.h"

#include <glob.h>
#include <string.h>

#include <roce/capture.h>
#include <roce/observer.h>

enum { BATCH = 50 };

static void compare(const char *path)
{
    struct roce_frame frame[BATCH];
    struct roce_packet pkt[BATCH];
    struct roce_icrc icrc[BATCH];
    struct roce_verdict brief[BATCH];
    int err, n;
    char text[ROCE_ERRTEXT_LEN];
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    struct roce_observer *a = roce_observer_new(NULL), *b = roce_observer_new(NULL);
    assert_non_null(reader);
    assert_non_null(a);
    assert_non_null(b);
    memset(brief, 0xFF, sizeof(brief));
    while ((n = roce_reader_next(reader, frame, BATCH)) > 0) {
        for (int i = 0; i < n; i++) {
            roce_packet_decode(&frame[i], NULL, &pkt[i]);
            icrc[i] = (struct roce_icrc){.status = ROCE_ICRC_UNCHECKED};
            if (roce_packet_is_roce(&pkt[i]))
                roce_icrc_check(&frame[i], &pkt[i], &icrc[i]);
        }
        roce_observer_update_brief(a, frame, pkt, icrc, n, brief);
        for (int i = 0; i < n; i++) {
            struct roce_verdict full;
            const bool flow = roce_observer_update(b, &frame[i], &pkt[i], &icrc[i], &full);
            assert_int_equal(brief[i].flow, full.flow);
            if (!flow)
                continue;
            assert_int_equal(brief[i].flags, full.flags);
            assert_int_equal(brief[i].psns, full.psns);
            assert_int_equal(brief[i].in_flight, full.in_flight);
            assert_int_equal(brief[i].completed, full.completed);
            assert_int_equal(brief[i].delta, full.delta);
            if ((full.flags & ROCE_V_GAP) != 0)
                assert_int_equal(brief[i].missing, full.missing);
        }
    }
    struct roce_capture_totals s, t;
    roce_observer_totals(a, &s);
    roce_observer_totals(b, &t);
    assert_memory_equal(&s, &t, sizeof(s));
    roce_observer_del(a);
    roce_observer_del(b);
    roce_reader_del(reader);
}

static void test_brief_verdicts_are_those_of_update(void **state)
{
    (void)state;
    glob_t list;
    assert_int_equal(glob(SOURCE_DIR "/pcaps/*.pcap*", 0, NULL, &list), 0);
    assert_true(list.gl_pathc > 20);
    for (size_t i = 0; i < list.gl_pathc; i++)
        compare(list.gl_pathv[i]);
    globfree(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_brief_verdicts_are_those_of_update)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
