/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pair of QPs, and what the counters must say of its stories. */
#ifndef TESTS_EPISODE_RIG_H
#define TESTS_EPISODE_RIG_H

#include "rig.h"

#define SEND  ROCE_OPCODE_RC_SEND_ONLY
#define A     0x11 /* of host 1 */
#define B     0x22 /* of host 2 */
#define START 1000

/* A rig whose pair is known after eight messages, the next PSN being START + 8. */
static inline void open_paired(struct rig *r, uint8_t timeout_exp)
{
    const struct roce_flow_opts o = {.max_flows = 100, .timeout_exp = timeout_exp};
    rig_open(r, &o);
    rig_pair(r, START, 8);
    assert_int_equal(rig_info(r, 1, 2, B).peer, rig_flow(r, 2, 1, A));
    r->events = 0;
}

static inline void send(struct rig *r, uint32_t psn)
{
    rig_data(r, SEND, 1, 2, B, START + psn, 64);
    r->now += US;
}

static inline void ack(struct rig *r, uint32_t psn)
{
    rig_ack(r, 2, 1, A, START + psn, 0x1F, psn + 1);
    r->now += US;
}

static inline void nak(struct rig *r, uint32_t psn)
{
    rig_ack(r, 2, 1, A, START + psn, 0x60, psn);
    r->now += US;
}

/* A READ of one response, and the answers to it and others. */
static inline void read_one(struct rig *r, uint32_t psn)
{
    rig_read(r, 1, 2, B, START + psn, 0x1000 * psn, 100);
    r->now += US;
}

static inline void answer(struct rig *r, uint8_t opcode, uint32_t psn)
{
    rig_answer(r, opcode, 2, 1, A, START + psn,
               opcode == ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE ? 0
               : opcode == ROCE_OPCODE_RC_READ_RESPONSE_FIRST ||
                       opcode == ROCE_OPCODE_RC_READ_RESPONSE_MIDDLE
                   ? 1024
                   : 100,
               9);
    r->now += US;
}

static inline void only(struct rig *r, uint32_t psn)
{
    answer(r, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, psn);
}

static inline enum roce_location last_location(const struct rig *r)
{
    return (enum roce_location)rig_last_event(r, ROCE_EVENT_EPISODE)->location;
}

struct expected {
    uint64_t nak, timeout, rnr, implied, early, spurious, unknown;
    uint64_t up, down, capture, nobody_knows, late;
    uint64_t peer_up, peer_down, peer_capture;
};

static inline void finish_and_compare(struct rig *r, const struct expected *x)
{
    roce_flow_finish(r->t);
    const struct roce_flow_counters c = rig_counters(r, 1, 2, B);
    const struct roce_flow_counters p = rig_counters(r, 2, 1, A);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_NAK], x->nak);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_TIMEOUT], x->timeout);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_RNR], x->rnr);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_IMPLIED_NAK], x->implied);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_EARLY], x->early);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_SPURIOUS], x->spurious);
    assert_int_equal(c.retransmission_cause[ROCE_CAUSE_UNKNOWN], x->unknown);
    assert_int_equal(c.loss[ROCE_LOST_UPSTREAM], x->up);
    assert_int_equal(c.loss[ROCE_LOST_DOWNSTREAM], x->down);
    assert_int_equal(c.loss[ROCE_LOST_CAPTURE], x->capture);
    assert_int_equal(c.loss[ROCE_LOST_UNKNOWN], x->nobody_knows);
    assert_int_equal(c.out_of_order, x->late);
    assert_int_equal(p.loss[ROCE_LOST_UPSTREAM], x->peer_up);
    assert_int_equal(p.loss[ROCE_LOST_DOWNSTREAM], x->peer_down);
    assert_int_equal(p.loss[ROCE_LOST_CAPTURE], x->peer_capture);
    rig_close(r);
}

#endif
