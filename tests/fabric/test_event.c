/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heap of dates against a plain search for the least. */
#include "fabric/event.h"
#include "fabric/rng.h"
#include "tests/cmocka_all.h"

#define SOURCES 200

struct model {
    uint64_t time, turn;
    bool dated;
};

static int least(const struct model *model)
{
    int best = -1;
    for (int i = 0; i < SOURCES; i++)
        if (model[i].dated &&
            (best < 0 || model[i].time < model[best].time ||
             (model[i].time == model[best].time && model[i].turn < model[best].turn)))
            best = i;
    return best;
}

static void test_heap_gives_dates_in_order(void **state)
{
    (void)state;
    struct events events = {0};
    struct event source[SOURCES] = {0};
    struct model model[SOURCES] = {0};
    uint64_t rng = 1, turn = 0;
    assert_int_equal(events_new(&events, SOURCES), 0);
    for (int step = 0; step < 100000; step++) {
        const uint64_t draw = rng_next(&rng);
        const int i = (int)((draw >> 8) % SOURCES);
        const int what = (int)(draw % 4);
        uint64_t time = 0;
        if (what < 2) { /* few different dates, so that many are equal */
            model[i] = (struct model){.time = draw >> 32 & 63, .turn = turn++, .dated = true};
            event_set(&events, &source[i], model[i].time);
        } else if (what == 2) {
            model[i].dated = false;
            event_clear(&events, &source[i]);
        } else {
            const int best = least(model);
            const struct event *event = event_pop(&events, 40, &time);
            if (best < 0 || model[best].time > 40) {
                assert_null(event);
                continue;
            }
            assert_ptr_equal(event, &source[best]);
            assert_int_equal(time, model[best].time);
            model[best].dated = false;
        }
        assert_int_equal(event_dated(&source[i]), model[i].dated);
    }
    events_del(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heap_gives_dates_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
