/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers of the reader: more of them than a large page holds, no byte of one in another. */
#include "dissect/capture/slab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 20 };

static void fill(uint8_t *buf[MANY])
{
    for (int i = 0; i < MANY; i++)
        memset(buf[i], i, CAP_BUFFER_LEN);
    for (int i = 0; i < MANY; i++)
        for (uint32_t k = 0; k < CAP_BUFFER_LEN; k++)
            if (buf[i][k] != i)
                fail_msg("byte %u of buffer %d belongs to %d", k, i, buf[i][k]);
}

static void test_buffers_are_apart(void **state)
{
    (void)state;
    struct cap_slab slab = {0};
    uint8_t *buf[MANY];
    for (int i = 0; i < MANY; i++)
        assert_non_null(buf[i] = cap_slab_take(&slab, CAP_BUFFER_LEN));
    fill(buf);
    for (int i = 0; i < MANY; i += 3) {
        cap_slab_give(&slab, buf[i]);
        assert_non_null(buf[i] = cap_slab_take(&slab, CAP_BUFFER_LEN));
    }
    fill(buf);
    for (int i = 0; i < MANY; i++)
        cap_slab_give(&slab, buf[i]);
    cap_slab_close(&slab);
}

static void test_other_lengths(void **state)
{
    (void)state;
    struct cap_slab slab = {0};
    uint8_t *large = cap_slab_take(&slab, 2 * CAP_BUFFER_LEN);
    assert_non_null(large);
    memset(large, 1, 2 * CAP_BUFFER_LEN);
    cap_slab_give(&slab, NULL);
    cap_slab_give(&slab, large);
    cap_slab_close(&slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers_are_apart),
        cmocka_unit_test(test_other_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
