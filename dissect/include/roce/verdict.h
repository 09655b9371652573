/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict: everything that flow state adds to one packet, known when the packet has been seen.
 * What becomes known later comes as an event (event.h). */
#ifndef ROCE_VERDICT_H
#define ROCE_VERDICT_H

#include <roce/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_FLOW_NONE UINT32_MAX

/* Why the request track stepped back. */
enum roce_cause {
    ROCE_CAUSE_NAK,         /* a NAK PSN sequence error with the restart PSN came before */
    ROCE_CAUSE_TIMEOUT,     /* silence of at least the ACK timeout */
    ROCE_CAUSE_RNR,         /* an RNR NAK with the restart PSN came before */
    ROCE_CAUSE_IMPLIED_NAK, /* a response skipped ahead of an unanswered READ or atomic */
    ROCE_CAUSE_EARLY,       /* no NAK, and shorter than the smallest legal timeout */
    ROCE_CAUSE_SPURIOUS,    /* the restart PSN was already acknowledged here */
    ROCE_CAUSE_UNKNOWN,
    ROCE_CAUSE_COUNT,
    ROCE_CAUSE_NONE = 0xFF, /* not a retransmission */
};

/* Where a frame was lost, seen from the capture point. */
enum roce_location {
    ROCE_LOST_UPSTREAM,   /* before the mirror */
    ROCE_LOST_DOWNSTREAM, /* behind the mirror, or refused by the receiver */
    ROCE_LOST_CAPTURE,    /* by the capture only */
    ROCE_LOST_UNKNOWN,
    ROCE_LOST_COUNT,
    ROCE_LOST_NONE = 0xFF,
};

enum roce_pairing { ROCE_PAIRING_NONE, ROCE_PAIRING_CM, ROCE_PAIRING_PSN };

/* What is counted as one kind of message (observer vocabulary). */
enum roce_message_op {
    ROCE_MESSAGE_SEND,
    ROCE_MESSAGE_WRITE,
    ROCE_MESSAGE_READ,
    ROCE_MESSAGE_ATOMIC,
    ROCE_MESSAGE_FLUSH,
    ROCE_MESSAGE_ATOMIC_WRITE,
    ROCE_MESSAGE_OPS,
    ROCE_MESSAGE_NONE = 0xFF,
};

/* Bits of roce_verdict.flags. */
enum roce_verdict_flag {
    ROCE_V_NEW_FLOW = 1 << 0,      /* first frame of its flow */
    ROCE_V_REQUEST = 1 << 1,       /* took part in the request track */
    ROCE_V_RESPONSE = 1 << 2,      /* READ response, ACK or atomic ACK */
    ROCE_V_GAP = 1 << 3,           /* ahead of the expected PSN: |missing| PSNs were skipped */
    ROCE_V_RETRANSMITTED = 1 << 4, /* behind the expected PSN (repeat or gap filler) */
    ROCE_V_DUP = 1 << 5,           /* of these: PSN captured before */
    ROCE_V_FILL = 1 << 6,          /* of these: PSN not captured before */
    ROCE_V_EPISODE = 1 << 7,       /* the request track stepped back with this frame: |cause| */
    ROCE_V_MIRROR_DUP = 1 << 8,    /* the same frame captured twice; counted nowhere else */
    ROCE_V_READ_RESPONSE_DUP = 1 << 9,
    ROCE_V_READ_RESPONSE_GAP = 1 << 10,
    ROCE_V_MSG_FIRST = 1 << 11,     /* begins message |message| */
    ROCE_V_MSG_LAST = 1 << 12,      /* ends it */
    ROCE_V_MSG_COMPLETES = 1 << 13, /* completes |completed| messages of the peer flow */
    ROCE_V_ACK_GHOST = 1 << 14,     /* acknowledges a PSN that the peer flow has not sent here */
    ROCE_V_ACK_DUP = 1 << 15,       /* acknowledges nothing new */
    ROCE_V_CM = 1 << 16,            /* a CM message */
    ROCE_V_CNP = 1 << 17,
    ROCE_V_UD_MIXED = 1 << 18,   /* UD flow of several source QPs: no PSN track */
    ROCE_V_PAIRED_NOW = 1 << 19, /* the pair was decided by this frame */
    ROCE_V_NEW_PORT = 1 << 20,   /* UDP source port not seen before in this flow */
};

/* Frame numbers are roce_frame.number, 0 when there is none; durations are -1 when there is none.
 */
struct roce_verdict {
    uint32_t flow;         /* index of the flow, below roce_flow_capacity; ROCE_FLOW_NONE: the
                              frame belongs to no flow and nothing else here is valid */
    uint32_t peer;         /* flow of the other direction, or ROCE_FLOW_NONE */
    uint32_t connection;   /* number of the connection, or ROCE_FLOW_NONE */
    uint32_t flags;        /* ROCE_V_* */
    uint8_t direction;     /* 0: this flow is flows[0] of its connection, 1: flows[1]; 0 unpaired */
    uint8_t pairing;       /* enum roce_pairing */
    uint8_t cause;         /* enum roce_cause of the episode this resent frame belongs to, as far as
                              known now; ROCE_CAUSE_NONE otherwise */
    uint8_t message_op;    /* enum roce_message_op */
    uint32_t psns;         /* PSNs this frame takes: 1, a READ request more, a response 0 */
    uint32_t expected_psn; /* next_psn before this frame; valid with ROCE_V_REQUEST unless it is the
                              first request (then the frame's own PSN) */
    uint32_t missing;      /* PSNs skipped */
    uint32_t in_flight;    /* requests: PSNs sent and not acknowledged, this frame included; 0 while
                              unpaired */
    uint32_t completed;    /* messages of the peer flow that this frame completes */
    uint64_t message;      /* 1-based number of the message in its flow; for a response that of the
                              message it answers or of the newest it completes; 0 unknown */
    uint32_t message_packet; /* 1-based position of the packet in its message; 0 unknown */
    uint64_t message_bytes;  /* bytes of the message: RETH length, else payload so far */
    uint64_t message_frame;  /* first frame of the message */
    uint64_t request_frame;  /* response: frame of the request with its PSN (or the newest one it
                                covers, when that is remembered) */
    uint64_t resent_frame;   /* retransmission: the frame that carried this PSN first, when known */
    roce_duration rtt;       /* response: since request_frame */
    roce_duration latency;   /* response: since the first frame of the newest message completed */
    roce_duration wait;      /* ROCE_V_EPISODE: since the track last moved or was asked to resend */
    roce_duration delta;     /* since the previous frame of this flow */
};

/* Static lower-case names, never NULL: "nak", ...; "upstream", ...; "cm", "psn", "none"; "send",
 * ... ("none" for the NONE values). */
const char *roce_cause_name(enum roce_cause cause);
const char *roce_location_name(enum roce_location location);
const char *roce_pairing_name(enum roce_pairing pairing);
const char *roce_message_op_name(enum roce_message_op op);

#ifdef __cplusplus
}
#endif
#endif
