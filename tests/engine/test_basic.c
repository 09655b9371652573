/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each operation of each service on a clean wire: bytes, completions, counters. */
#include "rig.h"

static const uint16_t mtus[] = {256, 512, 1024, 2048, 4096};
static const uint32_t sizes[] = {0, 1, 3, 4, 255, 256, 257, 1024, 4096, 4097, 65536, 100001};

static void test_send(void **state)
{
    (void)state;
    for (size_t m = 0; m < 5; m++) {
        struct rig *r = rig_new(&(struct rig_opts){.mtu = mtus[m], .psn = {0xFFFFF0, 5}});
        rig_fill(r->side[0].mem, RIG_MEM, m);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            memset(r->side[1].mem, 0, RIG_MEM);
            assert_int_equal(rig_recv(r, 1, 77 + i, 4096, 200000), 0);
            struct eng_send_wr wr =
                rig_wr(r, 0, i % 2 ? ENG_WR_SEND_IMM : ENG_WR_SEND, 100 + i, sizes[i], 0);
            wr.imm = 0xDEADBEEF;
            wr.solicited = i % 3 == 0;
            assert_int_equal(rig_post(r, 0, &wr), 0);
            rig_run(r, 1);
            const struct eng_wc s = rig_wc(r, 0), w = rig_wc(r, 1);
            assert_int_equal(s.wr_id, 100 + i);
            assert_int_equal(s.status, ENG_WC_SUCCESS);
            assert_int_equal(s.op, ENG_WC_SEND_SIDE);
            assert_int_equal(w.wr_id, 77 + i);
            assert_int_equal(w.status, ENG_WC_SUCCESS);
            assert_int_equal(w.op, ENG_WC_RECV);
            assert_int_equal(w.byte_len, sizes[i]);
            assert_int_equal(w.has_imm, i % 2);
            assert_int_equal(w.imm, i % 2 ? 0xDEADBEEF : 0);
            assert_int_equal(w.solicited, i % 3 == 0);
            assert_memory_equal(r->side[1].mem + 4096, r->side[0].mem + 100 + i, sizes[i]);
            for (int k = 0; k < 64; k++)
                assert_int_equal(r->side[1].mem[4096 + sizes[i] + (uint32_t)k], 0);
        }
        rig_del(r);
    }
}

static void test_write_and_read(void **state)
{
    (void)state;
    for (size_t m = 0; m < 5; m++) {
        struct rig *r = rig_new(&(struct rig_opts){.mtu = mtus[m], .psn = {0xFFFFFF, 0}});
        rig_fill(r->side[0].mem, RIG_MEM, m);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            memset(r->side[1].mem, 0, RIG_MEM);
            struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, sizes[i], 300000);
            assert_int_equal(rig_post(r, 0, &wr), 0);
            wr = rig_wr(r, 0, ENG_WR_READ, 500000, sizes[i], 300000);
            assert_int_equal(rig_post(r, 0, &wr), 0);
            rig_run(r, 1);
            for (int k = 0; k < 2; k++) {
                const struct eng_wc w = rig_wc(r, 0);
                assert_int_equal(w.status, ENG_WC_SUCCESS);
                assert_int_equal(w.wr_op, k == 0 ? ENG_WR_WRITE : ENG_WR_READ);
            }
            rig_no_wc(r, 1);
            assert_memory_equal(r->side[1].mem + 300000, r->side[0].mem, sizes[i]);
            assert_memory_equal(r->side[0].mem + 500000, r->side[0].mem, sizes[i]);
        }
        const struct eng_qp_stats a = rig_stats(r, 0), b = rig_stats(r, 1);
        assert_int_equal(a.retransmitted + b.naks_sent + a.timeouts, 0);
        assert_int_equal(a.msgs_sent, 24);
        assert_int_equal(b.msgs_received, 24);
        rig_del(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_write_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
