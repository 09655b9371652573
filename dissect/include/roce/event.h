/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Late verdicts and incidents of flow state. An event names the earlier frames it is about. */
#ifndef ROCE_EVENT_H
#define ROCE_EVENT_H

#include <roce/cm.h>
#include <roce/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

enum roce_event_kind {
    ROCE_EVENT_FLOW_NEW,
    ROCE_EVENT_FLOW_EVICTED, /* emitted before the flow is forgotten, for lack of room or because it
                                is over: its counters can be read */
    ROCE_EVENT_GAP,          /* |psn|, |count| PSNs skipped before |frame| */
    ROCE_EVENT_EPISODE, /* a retransmission episode is over: |cause|, |location| (of the restart
                           PSN), |psn| restart, |count| frames resent, |duration| wait;
                           evidence: [0] frame that carried the restart PSN first, [1] NAK, RNR or
                           skipping response, [2] first and [3] last frame resent */
    ROCE_EVENT_OUT_OF_ORDER, /* about_frame came late but was not resent: |psn|; |duration| how late
                                behind the frame that opened the hole, evidence[0] */
    ROCE_EVENT_LOSS,         /* |count| frames from |psn| lost at |location|; |responses| when READ
                                responses or ACKs were lost; evidence[0] the frame that shows the
                                hole, [1] the frame that decided, [2] the NAK or response
                                that asked for it, [3] the frame resent */
    ROCE_EVENT_NAK,          /* |code| enum roce_nak, |psn|; peer is the flow that is refused;
                                about_frame the frame with that PSN, when known */
    ROCE_EVENT_RNR,          /* |psn|, |duration| the timer it asks for */
    ROCE_EVENT_MESSAGE,      /* message |message| of |flow| is complete: |op|, |bytes|, |psn| first,
                                |count| PSNs, |duration| latency; evidence: [0] first, [1] last
                                request frame, [2] completing frame */
    ROCE_EVENT_ACKED,        /* frames of |flow| up to |psn| are acknowledged by |frame|: |count|
                                PSNs, about_frame the newest AckReq frame covered, |duration| since */
    ROCE_EVENT_PAIRED,       /* |flow| and |peer|, |code| enum roce_pairing */
    ROCE_EVENT_UNPAIRED,     /* contradicted: the pair is dissolved */
    ROCE_EVENT_MTU,          /* path MTU of |flow| is |count| bytes */
    ROCE_EVENT_CM,           /* |cm| is the message (only during the call); |flow| the UD flow that
                                carried it */
    ROCE_EVENT_GHOST_ACK,    /* a response for a PSN never sent here: |psn| */
    ROCE_EVENT_MIRROR_DUP,   /* first mirror duplicate of |flow|; about_frame the first copy */
    ROCE_EVENT_SILENT, /* finish: |flow| sent no request after fatal NAK evidence[0] (|code|), or
                          after |count| resends of |psn| that nobody answered (code 0xFF) */
    ROCE_EVENT_KINDS,
};

struct roce_event {
    uint8_t kind;     /* enum roce_event_kind */
    uint8_t cause;    /* enum roce_cause */
    uint8_t location; /* enum roce_location */
    uint8_t op;       /* enum roce_message_op */
    uint8_t code;
    bool responses;
    bool at_end;          /* decided by roce_flow_finish, not by a frame */
    uint32_t flow, peer;  /* flow the event is about; peer or ROCE_FLOW_NONE */
    roce_tstamp ts;       /* when it became known */
    uint64_t frame;       /* frame that made it known; 0 at the end of the capture */
    uint64_t about_frame; /* earlier frame it is about; 0 unknown */
    uint64_t evidence[4]; /* frames, 0 unknown */
    uint32_t psn, count;
    uint64_t message, bytes;
    roce_duration duration; /* -1 unknown */
    const struct roce_cm *cm;
};

/* struct roce_flow_ops receives events, from inside roce_flow_update and roce_flow_finish. The
 * receiver may read the table but not change it. */
struct roce_flow_ops {
    void *ctx;
    void (*event)(void *ctx, const struct roce_event *event); /* may be NULL */
    uint32_t mask; /* bit n: events of kind n are wanted; 0: all */
};

const char *roce_event_name(enum roce_event_kind kind); /* "gap", ...; never NULL */

#ifdef __cplusplus
}
#endif
#endif
