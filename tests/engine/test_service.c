/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the services and the network layer add: UD, UC, XRC, IPv6, VLAN tags, gather lists, inline
 * data, invalidation. */
#include "craft.h"

#include <roce/err.h>

static void test_atomics_end_to_end(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    uint64_t v = 40;
    memcpy(r->side[1].mem + 8, &v, 8);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_FETCH_ADD, 64, 8, 8);
    wr.compare_add = UINT64_C(0x100000000) + 2;
    rig_post(r, 0, &wr);
    wr = rig_wr(r, 0, ENG_WR_CMP_SWAP, 72, 8, 8);
    wr.compare_add = UINT64_C(0x100000000) + 42;
    wr.swap = UINT64_C(0x0102030405060708);
    rig_post(r, 0, &wr);
    wr = rig_wr(r, 0, ENG_WR_ATOMIC_WRITE, 0, 0, 16);
    wr.atomic_write = 0x1122334455667788;
    rig_post(r, 0, &wr);
    wr = rig_wr(r, 0, ENG_WR_FLUSH, 0, 0, 0);
    wr.flush_type = 1;
    wr.flush_length = 64;
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    memcpy(&v, r->side[0].mem + 64, 8);
    assert_int_equal(v, 40);
    memcpy(&v, r->side[0].mem + 72, 8);
    assert_int_equal(v, UINT64_C(0x100000000) + 42);
    memcpy(&v, r->side[1].mem + 8, 8);
    assert_int_equal(v, UINT64_C(0x0102030405060708));
    memcpy(&v, r->side[1].mem + 16, 8);
    assert_int_equal(v, 0x1122334455667788);
    rig_del(r);
}

static void test_lists_and_inline(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.mtu = 256});
    rig_fill(r->side[0].mem, 4096, 1);
    struct eng_recv_wr recv = {.wr_id = 1, .n_sge = 3};
    recv.sge[0] = rig_sge(r, 1, 100, 10);
    recv.sge[1] = rig_sge(r, 1, 5000, 0);
    recv.sge[2] = rig_sge(r, 1, 7000, 2000);
    assert_int_equal(eng_post_recv(r->side[1].qp, 0, &recv), 0);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 300, 0);
    wr.n_sge = 4;
    wr.sge[1] = rig_sge(r, 0, 3000, 0);
    wr.sge[2] = rig_sge(r, 0, 1000, 1);
    wr.sge[3] = rig_sge(r, 0, 2000, 500);
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 1).byte_len, 801);
    const uint8_t *from = r->side[0].mem, *to = r->side[1].mem;
    assert_memory_equal(to + 100, from, 10);
    assert_memory_equal(to + 7000, from + 10, 290);
    assert_memory_equal(to + 7290, from + 1000, 1);
    assert_memory_equal(to + 7291, from + 2000, 500);
    /* inline bytes are taken when they are posted */
    uint8_t text[ENG_INLINE_MAX];
    memset(text, 'a', sizeof(text));
    wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 0, 9000);
    wr.inline_data = text;
    wr.inline_len = sizeof(text);
    wr.n_sge = 99;
    assert_int_equal(rig_post(r, 0, &wr), 0);
    memset(text, 'b', sizeof(text));
    rig_run(r, 1);
    for (int i = 0; i < ENG_INLINE_MAX; i++)
        assert_int_equal(to[9000 + i], 'a');
    rig_del(r);
}

static void test_no_memory_behind_a_region(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    struct eng_mr *mr = eng_mr_new(r->side[1].pd, NULL, UINT64_C(1) << 40, 0, RIG_ALL, NULL);
    memset(r->side[0].mem, 5, 4096);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 4096, 0);
    wr.rkey = eng_mr_rkey(mr);
    rig_post(r, 0, &wr);
    wr.op = ENG_WR_READ;
    wr.remote_va = UINT64_C(1) << 39;
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    for (int i = 0; i < 4096; i++)
        assert_int_equal(r->side[0].mem[i], 0);
    rig_del(r);
}

static void test_send_with_invalidate(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    struct eng_mr *mr = eng_mr_new(r->side[1].pd, r->side[1].mem, 64, 0, RIG_ALL, NULL);
    rig_recv(r, 1, 1, 4096, 64);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND_INV, 0, 4, 0);
    wr.inv_rkey = eng_mr_rkey(mr);
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    const struct eng_wc wc = rig_wc(r, 1);
    assert_true(wc.has_inv);
    assert_int_equal(wc.inv_rkey, eng_mr_rkey(mr));
    wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 4, 0); /* the key is dead */
    wr.rkey = eng_mr_rkey(mr);
    wr.remote_va = 0;
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_REM_ACCESS_ERR);
    rig_del(r);
    /* a key that cannot be invalidated: an error without a word, the peer's retries run out */
    r = rig_new(&(struct rig_opts){.retry_cnt = 1});
    rig_recv(r, 1, 1, 4096, 64);
    wr = rig_wr(r, 0, ENG_WR_SEND_INV, 0, 4, 0);
    wr.inv_rkey = 0x999;
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_RETRY_EXC_ERR);
    assert_int_equal(rig_wc(r, 1).status, ENG_WC_REM_INV_REQ_ERR);
    assert_int_equal(rig_stats(r, 1).naks_sent, 0);
    rig_del(r);
}

static void test_ud_receives_its_header(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.service = ENG_UD});
    rig_fill(r->side[0].mem, 4096, 1);
    rig_recv(r, 1, 1, 0, 40 + 100);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND_IMM, 0, 100, 0);
    wr.ah = rig_ah(r, 0);
    wr.ah.tclass = 0x6A;
    wr.ah.ttl = 33;
    wr.dest_qpn = eng_qp_num(r->side[1].qp);
    wr.qkey = 0x1234;
    wr.imm = 7;
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    const struct eng_wc wc = rig_wc(r, 1);
    assert_int_equal(wc.byte_len, 140);
    assert_true(wc.has_grh);
    assert_int_equal(wc.src_qp, eng_qp_num(r->side[0].qp));
    assert_int_equal(wc.imm, 7);
    const uint8_t *m = r->side[1].mem;
    for (int i = 0; i < 20; i++)
        assert_int_equal(m[i], 0);
    assert_int_equal(m[20], 0x45); /* the IPv4 header is the last 20 of the 40 */
    assert_int_equal(m[21], 0x6A);
    assert_int_equal(m[28], 33);
    assert_memory_equal(m + 32, ((const uint8_t[]){10, 0, 0, 1, 10, 0, 0, 2}), 8);
    assert_memory_equal(m + 40, r->side[0].mem, 100);
    rig_del(r);
}

static void test_ud_drops(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.service = ENG_UD});
    const uint32_t qpn = eng_qp_num(r->side[0].qp);
    struct craft c = {
        .opcode = ROCE_OPCODE_UD_SEND_ONLY, .len = 60, .deth = {.qkey = 0x1234, .src_qp = qpn}};
    struct eng_dev_stats s;
    craft_send(r, 1, &c);
    eng_dev_stats(r->side[1].dev, &s);
    assert_int_equal(s.drops[ENG_DROP_NO_WQE], 1);
    rig_recv(r, 1, 1, 0, 99); /* 40 and 60 do not fit */
    craft_send(r, 1, &c);
    eng_dev_stats(r->side[1].dev, &s);
    assert_int_equal(s.drops[ENG_DROP_NO_WQE], 2);
    c.len = 59;
    c.deth.qkey = 0x4321;
    craft_send(r, 1, &c);
    eng_dev_stats(r->side[1].dev, &s);
    assert_int_equal(s.drops[ENG_DROP_QKEY], 1);
    rig_no_wc(r, 1);
    c.deth.qkey = 0x1234;
    craft_send(r, 1, &c); /* the receive was kept */
    assert_int_equal(rig_wc(r, 1).byte_len, 99);
    craft_expect_silence(r, 1);
    /* what is too long for the path is refused at once; Q_Keys with the top bit are the QP's own */
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 1025, 0);
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID);
    wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 4, 0);
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID);
    wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
    wr.qkey = 0x80000000;
    wr.ah = rig_ah(r, 0);
    wr.dest_qpn = 9;
    rig_post(r, 0, &wr);
    struct seen seen;
    assert_true(craft_next(r, 0, &seen));
    assert_int_equal(seen.pkt.deth.qkey, 0x1234);
    assert_int_equal(seen.pkt.deth.src_qp, qpn);
    assert_int_equal(seen.pkt.bth.dqpn, 9);
    assert_false(seen.pkt.bth.ackreq);
    rig_del(r);
}

static void test_gsi_qp(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    const struct eng_qp_cfg cfg = {.service = ENG_UD,
                                   .send_cq = r->side[0].cq,
                                   .recv_cq = r->side[0].cq,
                                   .max_send_wr = 4,
                                   .max_recv_wr = 4,
                                   .qpn = 1};
    struct eng_qp *qp = eng_qp_new(r->side[0].pd, &cfg);
    assert_int_equal(eng_qp_num(qp), 1);
    assert_null(eng_qp_new(r->side[0].pd, &cfg)); /* there is one */
    struct eng_qp_attr a = {.state = ENG_INIT};
    assert_int_equal(eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE), 0);
    a.state = ENG_RTR;
    assert_int_equal(eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE), 0);
    a.state = ENG_RTS;
    assert_int_equal(eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE | ENG_ATTR_SQ_PSN), 0);
    const struct eng_recv_wr recv = {.n_sge = 1, .sge = {rig_sge(r, 0, 0, 296)}};
    assert_int_equal(eng_post_recv(qp, 0, &recv), 0);
    craft_send(r, 0,
               &(struct craft){.opcode = ROCE_OPCODE_UD_SEND_ONLY,
                               .dqpn = 1,
                               .len = 256,
                               .src = 99,
                               .deth = {.qkey = 0x80010000, .src_qp = 1}});
    const struct eng_wc wc = rig_wc(r, 0);
    assert_int_equal(wc.byte_len, 296);
    assert_int_equal(wc.src_qp, 1);
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 256, 0);
    wr.ah = rig_ah(r, 0);
    wr.dest_qpn = 1;
    wr.qkey = 0x80010000;
    assert_int_equal(eng_post_send(qp, r->loop.now, &wr), 0);
    struct seen s;
    assert_true(craft_next(r, 0, &s));
    assert_int_equal(s.pkt.deth.qkey, 0x80010000);
    assert_int_equal(s.pkt.deth.src_qp, 1);
    assert_int_equal(s.pkt.payload_len, 256);
    rig_del(r);
}

static void uc(struct rig *r, uint8_t opcode, uint32_t psn, uint8_t fill, uint32_t len,
               uint32_t dma)
{
    uint8_t data[256];
    memset(data, fill, sizeof(data));
    craft_send(r, 1,
               &(struct craft){
                   .opcode = opcode,
                   .psn = psn,
                   .payload = data,
                   .len = len,
                   .reth = {.va = RIG_VA, .rkey = eng_mr_rkey(r->side[1].mr), .dma_length = dma}});
    craft_expect_silence(r, 1); /* UC never answers */
}

static void test_uc_skips_to_the_next_message(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.service = ENG_UC, .mtu = 256});
    rig_recv(r, 1, 1, 4096, 1024);
    uc(r, ROCE_OPCODE_UC_SEND_FIRST, 0, 1, 256, 0);
    uc(r, ROCE_OPCODE_UC_SEND_LAST, 2, 2, 256, 0); /* 1 is lost: so is the message */
    uc(r, ROCE_OPCODE_UC_SEND_MIDDLE, 3, 2, 256, 0);
    rig_no_wc(r, 1);
    uc(r, ROCE_OPCODE_UC_SEND_FIRST, 9, 3, 256, 0); /* a new one, whatever its PSN */
    uc(r, ROCE_OPCODE_UC_SEND_LAST, 10, 4, 10, 0);
    struct eng_wc wc = rig_wc(r, 1);
    assert_int_equal(wc.wr_id, 1); /* the same receive */
    assert_int_equal(wc.byte_len, 266);
    assert_int_equal(r->side[1].mem[4096], 3);
    uc(r, ROCE_OPCODE_UC_SEND_ONLY, 11, 1, 4, 0); /* no receive: dropped, and life goes on */
    uc(r, ROCE_OPCODE_UC_WRITE_FIRST, 12, 6, 256, 512);
    uc(r, ROCE_OPCODE_UC_WRITE_LAST, 14, 7, 256, 0);
    assert_int_equal(r->side[1].mem[0], 6); /* what was placed stays */
    assert_int_equal(r->side[1].mem[256], 0);
    uc(r, ROCE_OPCODE_UC_WRITE_ONLY, 15, 8, 4, 5); /* wrong length */
    assert_int_equal(r->side[1].mem[0], 6);
    uc(r, ROCE_OPCODE_UC_WRITE_ONLY, 16, 8, 4, 4);
    assert_int_equal(r->side[1].mem[0], 8);
    uc(r, ROCE_OPCODE_UC_WRITE_ONLY_IMM, 17, 9, 4, 4); /* no receive for the immediate */
    assert_int_equal(r->side[1].mem[0], 8);
    assert_int_equal(eng_qp_state(r->side[1].qp), ENG_RTS);
    rig_recv(r, 1, 2, 4096, 100);
    uc(r, ROCE_OPCODE_UC_WRITE_ONLY_IMM, 18, 9, 4, 4);
    assert_int_equal(rig_wc(r, 1).wr_id, 2);
    struct eng_dev_stats s;
    eng_dev_stats(r->side[1].dev, &s);
    assert_int_equal(s.drops[ENG_DROP_NO_WQE], 2);
    assert_int_equal(s.drops[ENG_DROP_PSN], 3);
    rig_del(r);
}

static void test_uc_completes_what_it_sent(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.service = ENG_UC, .mtu = 256});
    r->loop.wire[0].loss = 1;
    struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_WRITE, 0, 1000, 0);
    rig_post(r, 0, &wr);
    rig_run(r, 1);
    assert_int_equal(rig_wc(r, 0).status, ENG_WC_SUCCESS);
    assert_int_equal(r->loop.wire[0].sent, 4);
    wr.op = ENG_WR_READ;
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID);
    wr.op = ENG_WR_SEND_INV;
    assert_int_equal(rig_post(r, 0, &wr), ROCE_ERR_INVALID);
    rig_del(r);
}

static struct eng_qp *xrc_target(struct rig *r, struct eng_cq *cq)
{
    const struct eng_qp_cfg cfg = {.service = ENG_XRC_TGT, .send_cq = cq, .recv_cq = cq};
    struct eng_qp *qp = eng_qp_new(r->side[1].pd, &cfg);
    struct eng_qp_attr a = {.state = ENG_INIT,
                            .access = RIG_ALL,
                            .av = rig_ah(r, 1),
                            .path_mtu = 256,
                            .dest_qpn = 0x77,
                            .max_dest_rd_atomic = 4,
                            .min_rnr_timer = 1};
    assert_int_equal(eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE | ENG_ATTR_ACCESS), 0);
    a.state = ENG_RTR;
    assert_int_equal(eng_qp_modify(qp, 0, &a,
                                   ENG_ATTR_STATE | ENG_ATTR_AV | ENG_ATTR_PATH_MTU |
                                       ENG_ATTR_DEST_QPN | ENG_ATTR_RQ_PSN |
                                       ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER),
                     0);
    return qp;
}

static void test_xrc_target(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){0});
    struct eng_qp *qp = xrc_target(r, r->side[1].cq);
    struct eng_srq *a = eng_srq_new(r->side[1].pd, 4), *b = eng_srq_new(r->side[1].pd, 4);
    assert_int_not_equal(eng_srq_num(a), eng_srq_num(b));
    struct eng_recv_wr recv = {.wr_id = 1, .n_sge = 1, .sge = {rig_sge(r, 1, 0, 1024)}};
    eng_srq_post(a, &recv);
    recv.wr_id = 2;
    eng_srq_post(b, &recv);
    struct craft c = {.opcode = ROCE_OPCODE_XRC_SEND_ONLY,
                      .dqpn = eng_qp_num(qp),
                      .ackreq = true,
                      .len = 5,
                      .xrceth = {.srq = eng_srq_num(b)}};
    craft_send(r, 1, &c);
    struct seen s;
    assert_true(craft_next(r, 1, &s));
    assert_int_equal(s.pkt.bth.opcode, ROCE_OPCODE_XRC_ACKNOWLEDGE);
    assert_int_equal(s.pkt.bth.dqpn, 0x77);
    assert_int_equal(rig_wc(r, 1).wr_id, 2); /* from the queue that the packet named */
    c.psn++;
    c.xrceth.srq = eng_srq_num(a);
    craft_send(r, 1, &c);
    assert_true(craft_next(r, 1, &s));
    assert_int_equal(rig_wc(r, 1).wr_id, 1);
    c.psn++;
    craft_send(r, 1, &c);
    craft_expect_ack(r, 1, 0x21, 2, 2); /* empty: RNR */
    c.opcode = ROCE_OPCODE_XRC_READ_REQUEST;
    c.len = 0;
    c.reth = (struct roce_reth){.va = RIG_VA, .rkey = eng_mr_rkey(r->side[1].mr), .dma_length = 4};
    craft_send(r, 1, &c);
    assert_true(craft_next(r, 1, &s));
    assert_int_equal(s.pkt.bth.opcode, ROCE_OPCODE_XRC_READ_RESPONSE_ONLY);
    c.opcode = ROCE_OPCODE_XRC_SEND_ONLY;
    c.psn++;
    c.xrceth.srq = 0xABCDE; /* no such queue */
    craft_send(r, 1, &c);
    craft_expect_ack(r, 1, 0x61, 3, 3);
    rig_del(r);
}

static void set_ipv6(struct eng_ah *ah, int i)
{
    const uint8_t net[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    memcpy(ah->src_ip, net, 16);
    memcpy(ah->dst_ip, net, 16);
    ah->src_ip[15] = (uint8_t)(i + 1);
    ah->dst_ip[15] = (uint8_t)(2 - i);
    ah->flow_label = 0x1FACE;
    ah->tclass = 0x6A;
    ah->has_vlan = true;
    ah->vlan_tci = 0x6064; /* priority 3, VLAN 100 */
}

/* IPv6 under a VLAN tag: both devices take every address here, the QPs do not. */
static void test_ipv6_and_vlan(void **state)
{
    (void)state;
    struct eng_dev *dev[2];
    struct eng_qp *qp[2];
    struct eng_cq *cq[2];
    for (int i = 0; i < 2; i++) {
        dev[i] = eng_dev_new(&(struct eng_dev_cfg){
            .mac = {2, 2, 2, 2, 2, (uint8_t)i}, .udp_checksum = true, .seed = 5});
        cq[i] = eng_cq_new(dev[i], 16);
        const struct eng_qp_cfg cfg = {
            .send_cq = cq[i], .recv_cq = cq[i], .max_send_wr = 4, .max_recv_wr = 4};
        qp[i] = eng_qp_new(eng_pd_new(dev[i]), &cfg);
    }
    for (int i = 0; i < 2; i++) {
        struct eng_qp_attr a = {
            .state = ENG_INIT, .path_mtu = 1024, .dest_qpn = eng_qp_num(qp[1 - i]), .timeout = 14};
        set_ipv6(&a.av, i);
        eng_qp_modify(qp[i], 0, &a, ENG_ATTR_STATE | ENG_ATTR_ACCESS);
        a.state = ENG_RTR;
        eng_qp_modify(qp[i], 0, &a,
                      ENG_ATTR_STATE | ENG_ATTR_AV | ENG_ATTR_PATH_MTU | ENG_ATTR_DEST_QPN |
                          ENG_ATTR_RQ_PSN | ENG_ATTR_MAX_DEST_RD_ATOMIC | ENG_ATTR_MIN_RNR_TIMER);
        a.state = ENG_RTS;
        assert_int_equal(eng_qp_modify(qp[i], 0, &a,
                                       ENG_ATTR_STATE | ENG_ATTR_SQ_PSN | ENG_ATTR_TIMEOUT |
                                           ENG_ATTR_RETRY_CNT | ENG_ATTR_RNR_RETRY |
                                           ENG_ATTR_MAX_RD_ATOMIC),
                         0);
    }
    eng_post_recv(qp[1], 0, &(struct eng_recv_wr){.wr_id = 3});
    eng_post_send(qp[0], 0,
                  &(struct eng_send_wr){.op = ENG_WR_SEND_IMM, .signaled = true, .imm = 5});
    uint8_t buf[ENG_FRAME_MAX];
    const int len = eng_dev_write(dev[0], 0, buf, sizeof(buf));
    struct roce_packet pkt;
    const struct roce_frame frame = {.data = buf,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .linktype = ROCE_LINK_ETHERNET};
    roce_packet_decode(&frame, NULL, &pkt);
    assert_int_equal(pkt.status, ROCE_STATUS_OK);
    assert_int_equal(pkt.ip.version, 6);
    assert_int_equal(pkt.ip.flow_label, 0x1FACE);
    assert_int_equal(pkt.ip.tos, 0x6A);
    assert_int_equal(pkt.ip.ttl, 64);
    assert_int_equal(pkt.n_vlan, 1);
    assert_int_equal(pkt.vlan[0].tci, 0x6064);
    assert_int_equal(pkt.udp.checksum, roce_udp_checksum(&pkt.ip, buf + pkt.udp_off, pkt.udp.len));
    assert_int_equal(eng_dev_read(dev[1], 0, buf, (size_t)len), 1);
    struct eng_wc wc;
    assert_int_equal(eng_cq_poll(cq[1], &wc, 1), 1);
    assert_int_equal(wc.imm, 5);
    const int ack = eng_dev_write(dev[1], 0, buf, sizeof(buf));
    assert_int_equal(eng_dev_read(dev[0], 0, buf, (size_t)ack), 1);
    assert_int_equal(eng_cq_poll(cq[0], &wc, 1), 1);
    for (int i = 0; i < 2; i++)
        eng_dev_del(dev[i]);
}

/* rdma_flow_label_to_udp_sport by hand: QPNs 0x12 and 0x34: 0x12 * 0x34 = 0x3A8, 0xC000 | 0x3A8. */
static void test_source_port(void **state)
{
    (void)state;
    struct eng_dev *dev = eng_dev_new(&(struct eng_dev_cfg){.seed = 1});
    struct eng_cq *cq = eng_cq_new(dev, 4);
    const struct eng_qp_cfg cfg = {
        .service = ENG_UD, .send_cq = cq, .recv_cq = cq, .max_send_wr = 4, .qpn = 0x12};
    struct eng_qp *qp = eng_qp_new(eng_pd_new(dev), &cfg);
    struct eng_qp_attr a = {.state = ENG_INIT};
    eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE | ENG_ATTR_QKEY);
    a.state = ENG_RTR;
    eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE);
    a.state = ENG_RTS;
    eng_qp_modify(qp, 0, &a, ENG_ATTR_STATE | ENG_ATTR_SQ_PSN);
    static const uint16_t want[] = {0xC3A8, 0x1234};
    for (int i = 0; i < 2; i++) {
        struct eng_send_wr wr = {.op = ENG_WR_SEND, .dest_qpn = 0x34};
        roce_ip_v4(wr.ah.dst_ip, 1, 2, 3, 4);
        wr.ah.sport = i == 0 ? 0 : 0x1234;
        assert_int_equal(eng_post_send(qp, 0, &wr), 0);
        uint8_t buf[ENG_FRAME_MAX];
        assert_true(eng_dev_write(dev, 0, buf, sizeof(buf)) > 0);
        assert_int_equal(buf[34] << 8 | buf[35], want[i]);
    }
    uint8_t small[ENG_FRAME_MAX - 1];
    assert_int_equal(eng_dev_write(dev, 0, small, sizeof(small)), ROCE_ERR_NOSPACE);
    eng_dev_del(dev);
}

/* Each datagram goes where its own handle says, though places of the queue are used again. */
static void test_ud_destinations(void **state)
{
    (void)state;
    struct rig *r = rig_new(&(struct rig_opts){.service = ENG_UD, .depth = 1});
    for (uint8_t i = 0; i < 6; i++) {
        struct eng_send_wr wr = rig_wr(r, 0, ENG_WR_SEND, 0, 4, 0);
        wr.ah = rig_ah(r, 0);
        wr.ah.dst_ip[15] = (uint8_t)(7 + i / 2);
        wr.dest_qpn = 9 + i % 2;
        assert_int_equal(rig_post(r, 0, &wr), 0);
        struct seen s;
        assert_true(craft_next(r, 0, &s));
        assert_int_equal(s.pkt.ip.dst[15], 7 + i / 2);
        assert_int_equal(s.pkt.bth.dqpn, 9 + i % 2);
    }
    rig_del(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atomics_end_to_end),
        cmocka_unit_test(test_lists_and_inline),
        cmocka_unit_test(test_no_memory_behind_a_region),
        cmocka_unit_test(test_send_with_invalidate),
        cmocka_unit_test(test_ud_receives_its_header),
        cmocka_unit_test(test_ud_drops),
        cmocka_unit_test(test_ud_destinations),
        cmocka_unit_test(test_gsi_qp),
        cmocka_unit_test(test_uc_skips_to_the_next_message),
        cmocka_unit_test(test_uc_completes_what_it_sent),
        cmocka_unit_test(test_xrc_target),
        cmocka_unit_test(test_ipv6_and_vlan),
        cmocka_unit_test(test_source_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
