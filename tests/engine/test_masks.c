/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every loss mask over the first frames of an exchange, in either direction: whatever is lost,
 * everything arrives in the end. */
#include "rig.h"

#define LEN 700 /* three packets of 256 */

/* SEND, WRITE, READ, atomic, SEND behind one another: about ten request and ten response frames. */
static void exchange(struct rig *r)
{
    static const enum eng_wr_op ops[] = {ENG_WR_SEND, ENG_WR_READ, ENG_WR_FETCH_ADD,
                                         ENG_WR_WRITE_IMM, ENG_WR_READ};
    memset(r->side[1].mem + 8192, 0, 8);
    rig_recv(r, 1, 0, 16384, LEN);
    rig_recv(r, 1, 3, 0, 0);
    for (uint64_t i = 0; i < 5; i++) {
        struct eng_send_wr wr = rig_wr(r, 0, ops[i], i * 1024, LEN, i * 1024);
        wr.wr_id = i;
        wr.compare_add = 1;
        if (ops[i] == ENG_WR_FETCH_ADD)
            wr.remote_va = RIG_VA + 8192;
        assert_int_equal(rig_post(r, 0, &wr), 0);
    }
    rig_run(r, 60);
    for (uint64_t i = 0; i < 5; i++) {
        const struct eng_wc wc = rig_wc(r, 0);
        assert_int_equal(wc.wr_id, i);
        assert_int_equal(wc.status, ENG_WC_SUCCESS);
    }
    assert_int_equal(rig_wc(r, 1).wr_id, 0);
    assert_int_equal(rig_wc(r, 1).wr_id, 3);
    rig_no_wc(r, 1);
    const uint8_t *a = r->side[0].mem, *b = r->side[1].mem;
    assert_memory_equal(b + 16384, a, LEN);
    assert_memory_equal(a + 1024, b + 1024, LEN);
    assert_memory_equal(b + 3072, a + 3072, LEN);
    assert_memory_equal(a + 4096, b + 4096, LEN);
    uint64_t sum;
    memcpy(&sum, b + 8192, 8);
    assert_int_equal(sum, 1); /* added once */
    memcpy(&sum, a + 2048, 8);
    assert_int_equal(sum, 0); /* and told right */
}

static void run(struct rig *r, uint64_t requests, uint64_t responses)
{
    const uint64_t masks[2] = {requests, responses};
    for (int i = 0; i < 2; i++) {
        r->loop.wire[i].sent = 0;
        r->loop.wire[i].loss_mask = masks[i];
    }
    for (uint32_t i = 0; i < 2 * 8192; i += 64) {
        r->side[0].mem[i] = (uint8_t)(i * 3);
        r->side[1].mem[i] = (uint8_t)(i * 5);
    }
    exchange(r);
}

static struct rig *start(void)
{
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 256, .timeout = 3, .psn = {0xFFFF00, 9}});
    rig_fill(r->side[0].mem, 16384, 1);
    rig_fill(r->side[1].mem, 16384, 2);
    return r;
}

static void test_each_request_mask(void **state)
{
    (void)state;
    struct rig *r = start();
    for (uint64_t mask = 0; mask < 1 << 13; mask++)
        run(r, mask, 0);
    rig_del(r);
}

static void test_each_response_mask(void **state)
{
    (void)state;
    struct rig *r = start();
    for (uint64_t mask = 0; mask < 1 << 13; mask++)
        run(r, 0, mask);
    rig_del(r);
}

/* One, two and three losses anywhere in the first 64 frames, both directions at once. */
static void test_sparse_masks(void **state)
{
    (void)state;
    struct rig *r = start();
    for (unsigned i = 0; i < 64; i++)
        for (unsigned j = i; j < 64; j++) {
            const uint64_t mask = UINT64_C(1) << i | UINT64_C(1) << j;
            run(r, mask, mask >> 1);
            run(r, mask, mask << 3);
        }
    rig_del(r);
}

static void test_runs_of_losses(void **state)
{
    (void)state;
    struct rig *r = start();
    for (unsigned first = 0; first < 24; first++)
        for (unsigned n = 1; n <= 7; n++) {
            const uint64_t mask = ((UINT64_C(1) << n) - 1) << first;
            run(r, mask, 0);
            run(r, 0, mask);
            run(r, mask, mask);
            run(r, UINT64_C(0x1555) << first, 0);
            run(r, 0, UINT64_C(0x3333) << first);
        }
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_request_mask),
        cmocka_unit_test(test_each_response_mask),
        cmocka_unit_test(test_sparse_masks),
        cmocka_unit_test(test_runs_of_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
