/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow state of the capture file that is open, and what it said of each packet. */
#ifndef PLUGIN_ANALYSIS_H
#define PLUGIN_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include <roce/observer.h>

/* Bits of record.flags besides ROCE_V_*, from the top down. */
enum record_flag {
    RECORD_ACKED = 1 << 30,        /* |acked| is a frame */
    RECORD_BEGINS = 1 << 29,       /* first frame of its message: |message_frame| is itself */
    RECORD_DONE = 1 << 28,         /* RECORD_BEGINS: the message is complete in |done| */
    RECORD_OUT_OF_ORDER = 1 << 27, /* came late but was not resent */
    RECORD_CNP_ANSWERS = 1 << 26,  /* CNP: |ref| is the CE mark it answers, |time| the delay */
    RECORD_QUEUED = 1 << 25,       /* waits for its acknowledgement: |acked| links the queue */
    RECORD_RNR_WAIT = 1 << 24,     /* RNR NAK: |time| is the wait until the resend */
};

/* struct record is the verdict on one packet, kept for the life of the file: it is read whenever
 * the packet is dissected again, and completed by events that come later. Frame numbers are 32
 * bits wide in Wireshark; 0 is none. Durations are ns, -1 none. */
struct record {
    uint32_t frame;
    uint32_t flow;  /* or ROCE_FLOW_NONE */
    uint32_t flags; /* ROCE_V_*, RECORD_* */
    uint8_t cause, location, op, icrc;
    uint32_t psn;     /* last PSN that the packet takes */
    uint32_t span;    /* request: PSNs taken; response: messages completed */
    uint32_t missing; /* ROCE_V_GAP: PSNs skipped; ROCE_V_RETRANSMITTED: PSN expected */
    uint32_t in_flight;
    uint32_t message;
    uint32_t message_packet; /* RECORD_BEGINS: last frame of the message, else the position */
    uint32_t message_bytes;
    uint32_t message_frame; /* RECORD_BEGINS: link of the messages that |done| completes */
    uint32_t ref;           /* response: request; retransmission: first copy; CNP: CE mark */
    uint32_t acked;         /* request: frame that acknowledges it; response: newest message that it
                               completes (index) */
    uint32_t done;          /* frame that completes the message, or answers this request */
    int64_t time;           /* response: round trip; ROCE_V_EPISODE: wait before it */
    int64_t latency;        /* of the message */
    int64_t delta;          /* since the frame before in this flow */
};

/* The request that a NAK refuses. */
struct refusal {
    uint64_t va;
    uint32_t rkey, length;
    uint32_t frame;
};

void analysis_init(void);    /* a file is opened */
void analysis_cleanup(void); /* a file is closed */

/* analysis_add feeds one frame that is seen for the first time; frames come in order. Returns its
 * record, or NULL when the frame belongs to no flow. */
const struct record *analysis_add(const struct roce_frame *frame, const struct roce_packet *pkt,
                                  const struct roce_icrc *icrc);

/* Frames that are no RoCE tell the observer how time passes, and what else there is. They are fed
 * from the first RoCE frame on: analysis_began. */
bool analysis_began(void);
void analysis_other(const struct roce_frame *frame, const struct roce_packet *pkt);

/* analysis_find returns the record of a frame seen before, or NULL. */
const struct record *analysis_find(uint32_t frame);

/* analysis_message returns the record that knows about the message |rec| belongs to, or NULL. */
const struct record *analysis_message(const struct record *rec);
uint32_t analysis_message_first(const struct record *rec);

/* The messages that the response |rec| completes: walk with |cursor| 0 first; NULL ends. |first| is
 * the frame where the message begins. */
const struct record *analysis_completed(const struct record *rec, uint32_t *cursor);

bool analysis_flow(uint32_t flow, struct roce_flow_info *out);
const struct refusal *analysis_refusal(uint32_t nak_frame);

/* analysis_settle judges what is still open at the end of the file; called before results are
 * shown. While a capture is running it does so only once. */
void analysis_settle(void);

/* The observer, or NULL when no RoCE or pause frame was seen. */
struct roce_observer *analysis_observer(void);
uint64_t analysis_updates(void);

/* Preferences that the observer takes when a file is opened. */
struct analysis_prefs {
    uint64_t link_speed_bps;
};
extern struct analysis_prefs analysis_prefs;

#endif
