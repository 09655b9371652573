/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How connections end: DREQ and DREP, REJ, silence (IBTA 12.9.7, 12.9.8). */
#include "engine/cm_conn.h"

static void ended(struct eng_cm_conn *c, roce_tstamp now, enum eng_cm_event_kind kind,
                  uint16_t reason, const struct cm_in *in)
{
    cm_conn_end(c, now);
    struct eng_cm_event *event = cm_event_add(c, kind);
    event->reason = reason;
    cm_event_private(event, in);
}

static void ask_to_disconnect(struct eng_cm_conn *c, roce_tstamp now)
{
    const struct roce_cm dreq = {
        .message = ROCE_CM_DREQ,
        .local_comm_id = c->local_id,
        .remote_comm_id = c->remote_id,
        .remote_qpn = c->remote_qpn,
    };
    c->tid = (eng_rng_next(&c->cm->rng) & 0xFFFFFFFF) << 32 | c->local_id; /* a new transaction */
    cm_mad_build(c->mad, c->tid, &dreq, NULL, 0);
    c->state = CM_DREQ_SENT;
    cm_qp_fail(c, now);
    cm_conn_send(c, now);
}

int eng_cm_disconnect(struct eng_cm_conn *c, roce_tstamp now)
{
    if (c->state != CM_ESTABLISHED)
        return ROCE_ERR_STATE;
    if (c->service == ENG_UD) { /* SIDR has no disconnection */
        cm_conn_end(c, now);
        cm_event_add(c, ENG_CM_DISCONNECTED);
        return 0;
    }
    ask_to_disconnect(c, now);
    return 0;
}

#define LINGER_MAX UINT64_C(400000000)

/* Half as long again as the peer waits: its clock is coarse, and it may be late. */
static void linger(struct eng_cm *cm, const struct eng_cm_conn *c, roce_tstamp now)
{
    const uint64_t wait = c->peer_interval / 2 * 3;
    const roce_tstamp until = now + (wait < LINGER_MAX ? wait : LINGER_MAX);
    if (until > cm->linger)
        cm->linger = until;
}

static void answer_dreq(struct eng_cm *cm, const struct cm_in *in)
{
    const struct roce_cm drep = {
        .message = ROCE_CM_DREP,
        .local_comm_id = in->msg.remote_comm_id,
        .remote_comm_id = in->msg.local_comm_id,
    };
    uint8_t mad[ROCE_MAD_LEN];
    cm_mad_build(mad, in->mad.tid, &drep, NULL, 0);
    cm_mad_send(cm, in->now, &in->reply, mad);
}

void cm_on_dreq(struct eng_cm *cm, const struct cm_in *in)
{
    struct eng_cm_conn *c = cm_find_local(cm, in->msg.remote_comm_id);
    const bool ours = c != NULL && c->service != ENG_UD && c->remote_id == in->msg.local_comm_id &&
                      cm_from_peer(c, in);
    /* Of a connection long forgotten: with an answer the peer need not wait out its repetitions. */
    answer_dreq(cm, in);
    if (!ours) {
        cm->stats.unexpected++;
        return;
    }
    linger(cm, c, in->now);
    switch ((enum cm_state)c->state) {
    case CM_REP_SENT: /* neither RTU nor data arrived, yet the peer was there */
        cm_established(c, NULL);
        ended(c, in->now, ENG_CM_DISCONNECTED, 0, in);
        return;
    case CM_ESTABLISHED:
    case CM_DREQ_SENT: /* both at once */
        ended(c, in->now, ENG_CM_DISCONNECTED, 0, in);
        return;
    case CM_TIMEWAIT:
        cm->stats.duplicates++;
        return;
    case CM_FREE:
    case CM_REQ_SENT:
    case CM_REQ_RCVD:
        cm->stats.unexpected++;
        return;
    }
}

void cm_on_drep(struct eng_cm *cm, const struct cm_in *in)
{
    struct eng_cm_conn *c = cm_find_local(cm, in->msg.remote_comm_id);
    if (c == NULL || c->state != CM_DREQ_SENT || !cm_from_peer(c, in)) {
        cm->stats.unexpected++;
        return;
    }
    ended(c, in->now, ENG_CM_DISCONNECTED, 0, in);
}

/* Who gives up on a request does not know our communication id: only its own and its GUID, in the
 * additional information (IBTA table 106, reason 4). */
static struct eng_cm_conn *given_up(struct eng_cm *cm, const struct cm_in *in)
{
    if (in->msg.reject_reason != CM_TIMEOUT)
        return NULL;
    uint64_t guid = 0;
    for (int i = 0; i < 8; i++)
        guid = guid << 8 | in->msg.info[i];
    return cm_find_remote(cm, CM_BY_ID, guid, in->msg.local_comm_id);
}

void cm_on_rej(struct eng_cm *cm, const struct cm_in *in)
{
    struct eng_cm_conn *c =
        in->msg.remote_comm_id != 0 ? cm_find_local(cm, in->msg.remote_comm_id) : given_up(cm, in);
    const bool waits = c != NULL && (c->state == CM_REQ_SENT || c->state == CM_REP_SENT ||
                                     c->state == CM_REQ_RCVD);
    if (!waits || c->service == ENG_UD || !cm_from_peer(c, in)) {
        cm->stats.unexpected++;
        return;
    }
    ended(c, in->now, ENG_CM_REJECTED, in->msg.reject_reason, in);
}

/* All repetitions were in vain. The peer is told, in case that only its answers were lost. */
void cm_gave_up(struct eng_cm_conn *c, roce_tstamp now)
{
    const bool connecting = c->state == CM_REQ_SENT || c->state == CM_REP_SENT;
    if (connecting && c->service != ENG_UD) {
        cm_reject_build(c, c->state == CM_REQ_SENT ? CM_MSG_REQ : CM_MSG_REP, CM_TIMEOUT, NULL, 0);
        cm_conn_repeat(c, now);
    }
    ended(c, now, connecting ? ENG_CM_UNREACHABLE : ENG_CM_DISCONNECTED, 0, NULL);
}

static void abandon(struct eng_cm_conn *c, roce_tstamp now, uint8_t rejected, uint16_t reason)
{
    if (c->service != ENG_UD) {
        cm_reject_build(c, rejected, reason, NULL, 0);
        cm_conn_repeat(c, now);
    }
    cm_conn_end(c, now);
}

void eng_cm_release(struct eng_cm_conn *c, roce_tstamp now)
{
    c->released = true;
    switch ((enum cm_state)c->state) {
    case CM_REQ_SENT:
        abandon(c, now, CM_MSG_REQ, CM_TIMEOUT);
        return;
    case CM_REP_SENT:
        abandon(c, now, CM_MSG_REP, CM_CONSUMER);
        return;
    case CM_REQ_RCVD:
        eng_cm_reject(c, now, c->service == ENG_UD ? 2 : CM_CONSUMER, NULL, 0);
        return;
    case CM_ESTABLISHED:
        if (c->service == ENG_UD)
            cm_conn_end(c, now);
        else
            ask_to_disconnect(c, now);
        return;
    case CM_DREQ_SENT:
    case CM_FREE:
        return;
    case CM_TIMEWAIT:
        if (c->heap_slot == CM_NONE)
            cm_conn_free(c);
        else
            cm_list_set(c, CM_SPENT);
        return;
    }
}
