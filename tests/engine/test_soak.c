/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thousands of seeds over wires that lose, double and reorder: RC loses nothing and does nothing
 * twice. */
#include "soak.h"

#include <roce/icrc.h>

#define SEEDS (LOOP_SLOW ? 600 : 3000)

/* Whatever happens, what leaves is well formed. */
static void check_frame(void *ctx, int from, roce_tstamp now, const uint8_t *data, int len)
{
    (void)ctx;
    (void)from;
    const struct roce_frame frame = {.data = data,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .ts = now,
                                     .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    struct roce_icrc icrc;
    assert_int_equal(roce_packet_decode(&frame, NULL, &pkt), ROCE_KIND_ROCEV2);
    assert_int_equal(pkt.status, ROCE_STATUS_OK);
    assert_int_equal(pkt.trailer_len, 0);
    roce_icrc_check(&frame, &pkt, &icrc);
    assert_int_equal(icrc.status, ROCE_ICRC_OK);
    uint8_t ip[20];
    memcpy(ip, data + pkt.ip_off, sizeof(ip));
    assert_int_equal(roce_ipv4_checksum(ip, sizeof(ip)), ip[10] << 8 | ip[11]);
}

/* What all seeds together made happen. */
struct happened {
    uint64_t naks, rnrs, timeouts, implied, duplicates, retransmitted;
};

static void add(struct happened *h, const struct rig *rig)
{
    for (int i = 0; i < 2; i++) {
        const struct eng_qp_stats s = rig_stats(rig, i);
        h->naks += s.naks_received;
        h->rnrs += s.rnr_received;
        h->timeouts += s.timeouts;
        h->implied += s.implied_naks;
        h->duplicates += s.duplicates;
        h->retransmitted += s.retransmitted;
    }
}

static void soak_seed(uint64_t seed, struct happened *h)
{
    static const uint16_t mtus[] = {256, 512, 1024, 2048, 4096};
    static const double rates[] = {0, 0.005, 0.02, 0.08};
    struct eng_rng rng = {.state = seed};
    const uint64_t dice = eng_rng_next(&rng), more = eng_rng_next(&rng);
    struct rig *rig = rig_new(&(struct rig_opts){
        .mtu = mtus[dice % 5],
        .psn = {(uint32_t)(0xFFFFC0 + (dice >> 8) % 128) & 0xFFFFFF,
                (uint32_t)(dice >> 16) & 0xFFFFFF},
        .window = dice >> 40 & 1 ? 1 + (uint32_t)(more % 40) : 0,
        .ack_every = dice >> 41 & 1 ? 1 + (uint32_t)(more >> 8) % 16 : 0,
        .rd_atomic = (uint8_t)(1 + (more >> 16) % 4),
        .credits = dice >> 42 & 1,
        .srq = dice >> 43 & 1,
        .dev = {.ack_coalesce = (uint8_t)(more >> 24 & 7)},
        .seed = seed,
    });
    for (int i = 0; i < 2; i++) {
        rig->loop.wire[i].loss = rates[more >> (28 + 2 * i) & 3];
        rig->loop.wire[i].dup = rates[more >> (32 + 2 * i) & 3];
        rig->loop.wire[i].late = rates[more >> (36 + 2 * i) & 3];
    }
    rig->loop.tap = check_frame;
    struct soak soak;
    soak_run(&soak, rig, seed);
    add(h, rig);
    rig_del(rig);
}

static void test_rc_over_bad_wires(void **state)
{
    (void)state;
    struct happened h = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        soak_seed(seed, &h);
    print_message("%d seeds: %llu NAKs, %llu RNR NAKs, %llu timeouts, %llu implied NAKs, "
                  "%llu duplicates, %llu resent\n",
                  SEEDS, (unsigned long long)h.naks, (unsigned long long)h.rnrs,
                  (unsigned long long)h.timeouts, (unsigned long long)h.implied,
                  (unsigned long long)h.duplicates, (unsigned long long)h.retransmitted);
    assert_true(h.naks > SEEDS && h.rnrs > SEEDS && h.timeouts > SEEDS / 2 &&
                h.implied > SEEDS / 2);
}

/* UC over a wire that loses: messages arrive whole or not at all, in order, and none twice. */
static void test_uc_over_a_lossy_wire(void **state)
{
    (void)state;
    uint64_t sent = 0, arrived = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rig *rig = rig_new(&(struct rig_opts){.service = ENG_UC, .mtu = 256, .seed = seed});
        struct eng_rng rng = {.state = seed};
        uint32_t len[100];
        rig->loop.wire[0].loss = 0.05;
        rig->loop.tap = check_frame;
        for (uint32_t i = 0; i < 100; i++) {
            len[i] = (uint32_t)(eng_rng_next(&rng) % 2000);
            memset(rig->side[0].mem + i * 2000, (int)i, len[i]);
            rig_recv(rig, 1, i, i * 2000, 2000);
            struct eng_send_wr wr = rig_wr(rig, 0, ENG_WR_SEND_IMM, i * 2000, len[i], 0);
            wr.imm = i;
            assert_int_equal(rig_post(rig, 0, &wr), 0);
        }
        rig_run(rig, 1);
        struct eng_wc wc;
        uint32_t next = 0;
        for (uint64_t n = 0; eng_cq_poll(rig->side[1].cq, &wc, 1) == 1; n++, arrived++) {
            assert_int_equal(wc.status, ENG_WC_SUCCESS);
            assert_int_equal(wc.wr_id, n);
            assert_true(wc.imm >= next && wc.imm < 100);
            next = wc.imm + 1;
            assert_int_equal(wc.byte_len, len[wc.imm]);
            for (uint32_t k = 0; k < wc.byte_len; k++)
                assert_int_equal(rig->side[1].mem[n * 2000 + k], (uint8_t)wc.imm);
        }
        sent += 100;
        assert_int_equal(rig_stats(rig, 0).msgs_sent, 100);
        rig_del(rig);
    }
    /* (1 - p)^n packets, n = 1..8 evenly: 0.80 on the average */
    const double share = (double)arrived / (double)sent;
    assert_true(share > 0.77 && share < 0.83);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rc_over_bad_wires),
                                       cmocka_unit_test(test_uc_over_a_lossy_wire)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
