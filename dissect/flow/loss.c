/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where frames were lost as seen from the capture point, and how long a requester's silence must be
 * to be its ACK timeout. */
#include "internal.h"

#define TIMEOUT_UNIT 4096 /* ns: IBTA 9.7.6.1.3 */
/* Without any word on the timeout, a wait below 4.096 us * 2^8 (1 ms) is taken for adaptive
 * retransmission: no stack is known to be configured with less. */
#define BIN_FLOOR 8
/* A timeout fires between T and 4 T (IBTA 9.7.6.1.3): waits up to two octaves below the longest one
 * of the path may be the same timeout. */
#define BIN_SPREAD 2
/* A silence of less than so many medians of what an ACK takes is nothing unusual. */
#define USUAL_WAITS 2
/* One of so many medians is a timer's, where the timeout is not known. */
#define LONG_WAITS 64

void loss_count(struct roce_flow_table *t, uint32_t id, const struct loss *loss)
{
    trouble_add(t, flow_at(t, id), COUNT_LOSS + loss->where, loss->count);
    if (!event_wanted(t, ROCE_EVENT_LOSS))
        return;
    struct roce_event e = event_make(t, ROCE_EVENT_LOSS, id);
    e.location = (uint8_t)loss->where;
    e.count = loss->count;
    e.psn = loss->psn;
    e.responses = loss->responses;
    e.at_end = loss->at_end;
    if (loss->at_end)
        e.frame = 0;
    e.evidence[0] = loss->hole_frame;
    e.evidence[1] = loss->at_end ? 0 : t->frame;
    e.evidence[2] = loss->ask_frame;
    e.evidence[3] = loss->resent_frame;
    event_emit(t, &e);
}

static uint32_t hole_frames(const struct hole *h)
{
    return h->len > h->middles ? h->len - h->middles : 1;
}

static void lose_hole(struct roce_flow_table *t, uint32_t id, enum roce_location where,
                      const struct hole *h, bool at_end)
{
    loss_count(t, id,
               &(struct loss){.where = where,
                              .count = hole_frames(h),
                              .psn = h->psn,
                              .hole_frame = h->frame,
                              .at_end = at_end});
}

void loss_holes_passed(struct roce_flow_table *t, uint32_t id, uint32_t una)
{
    for (uint32_t i = flow_at(t, id)->holes; i != NIL; i = hole_at(t, i)->next) {
        struct hole *h = hole_at(t, i);
        if (h->judged || h->before || roce_psn_diff(una, roce_psn_add(h->psn, h->len)) < 0)
            continue;
        h->judged = true;
        lose_hole(t, id, h->naked ? ROCE_LOST_UPSTREAM : ROCE_LOST_CAPTURE, h, false);
    }
}

void loss_holes_end(struct roce_flow_table *t, uint32_t id)
{
    struct flow *f = flow_at(t, id);
    for (uint32_t i = f->holes; i != NIL; i = hole_at(t, i)->next) {
        struct hole *h = hole_at(t, i);
        if (h->judged || h->before)
            continue;
        h->judged = true;
        lose_hole(t, id, h->naked ? ROCE_LOST_UPSTREAM : ROCE_LOST_UNKNOWN, h, true);
    }
    for (uint32_t i = f->rr_holes; i != NIL; i = hole_at(t, i)->next) {
        struct hole *h = hole_at(t, i);
        if (h->judged || h->soft || h->damaged)
            continue;
        h->judged = true;
        /* The requester asks again as soon as a later response shows it the hole (IBTA 9.7.5.2.4).
         * When it sent new requests instead, it has had the responses. */
        const struct flow *peer = f->peer != NIL ? flow_at(t, f->peer) : NULL;
        const bool went_on =
            peer != NULL && peer->req_ts > h->ts && peer->prev_end == peer->next_psn;
        loss_count(t, id,
                   &(struct loss){.where = went_on ? ROCE_LOST_CAPTURE : ROCE_LOST_UNKNOWN,
                                  .count = h->len,
                                  .psn = h->psn,
                                  .responses = true,
                                  .hole_frame = h->frame,
                                  .at_end = true});
    }
}

uint64_t loss_timeout(const struct roce_flow_table *t, const struct flow *f)
{
    if (f->cm != CM_NONE) {
        const struct cm_entry *cm = pool_at(&t->cm_pool, f->cm);
        if (cm->info.ack_timeout != 0)
            return (uint64_t)TIMEOUT_UNIT << cm->info.ack_timeout;
    }
    return t->opts.timeout_exp != 0 ? (uint64_t)TIMEOUT_UNIT << (t->opts.timeout_exp & 31) : 0;
}

/* Of 1000 requests, those sent once. */
static uint32_t sent_once(const struct roce_flow_table *t, const struct flow *f)
{
    const uint64_t again = trouble_total(t, f, COUNT_RETRANSMITTED);
    if (again == 0)
        return 1000;
    const uint64_t requests = count_requests(t, f);
    return requests > again ? (uint32_t)(1000 * (requests - again) / requests) : 0;
}

/* From the last frame of a request to its ACK: how long a message takes says how large it is. Those
 * that were sent again took longest: they do not count. */
static uint64_t median_answer(const struct roce_flow_table *t, const struct flow *f)
{
    struct roce_hist hist;
    if (f->hist == NIL)
        return 0;
    struct hist_pair *pair = pool_at(&t->hist_pool, f->hist);
    hist_head_expand(hist_of_acks(t, pair), &t->page_pool, &hist);
    return roce_hist_quantile(&hist, sent_once(t, f) / 2);
}

static uint64_t usual_answer(const struct roce_flow_table *t, const struct flow *f)
{
    const uint64_t there = median_answer(t, f);
    const uint64_t back = f->peer != NIL ? median_answer(t, flow_at(t, f->peer)) : 0;
    return there > back ? there : back;
}

bool loss_usual_wait(const struct roce_flow_table *t, const struct flow *f, roce_duration wait)
{
    return (uint64_t)wait < USUAL_WAITS * usual_answer(t, f);
}

bool loss_long_wait(const struct roce_flow_table *t, const struct flow *f, roce_duration wait)
{
    const uint64_t usual = usual_answer(t, f);
    return silent_bin(wait) >= BIN_FLOOR && usual > 0 && (uint64_t)wait >= LONG_WAITS * usual;
}

uint32_t silent_bin(roce_duration wait)
{
    uint64_t w = wait > 0 ? (uint64_t)wait / TIMEOUT_UNIT : 0;
    uint32_t bin = 0;
    while (w > 1 && bin < SILENT_BINS - 1) {
        w >>= 1;
        bin++;
    }
    return bin;
}

enum roce_cause silent_cause(const struct roce_flow_table *t, const struct flow *f, uint32_t bin)
{
    const uint32_t longest = path_at(t, f->path)->silent_max;
    if (bin >= BIN_FLOOR && bin + BIN_SPREAD + 1 >= longest)
        return ROCE_CAUSE_TIMEOUT;
    return f->peer != NIL ? ROCE_CAUSE_EARLY : ROCE_CAUSE_UNKNOWN;
}
