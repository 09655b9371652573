/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages that the QPs of a capture sent: each once, in order, with the time of its first
 * packet, and its payload where all of it was captured. */
#ifndef ROCEREPLAY_MESSAGES_H
#define ROCEREPLAY_MESSAGES_H

#include <roce/flow.h>

#include "engine/engine.h"

struct message {
    uint32_t sender; /* index of its struct sender */
    uint8_t op;      /* enum eng_wr_op */
    bool solicited, complete;
    bool many;          /* of several packets */
    uint32_t psn, psns; /* first, and how many were seen (READ: how many it takes) */
    uint32_t len;
    uint32_t mtu; /* payload of its first packet, with |many| */
    roce_tstamp ts;
    uint64_t va, compare_add, swap;
    uint32_t imm;
    uint8_t flush_type, flush_level;
    uint8_t *payload; /* of |room| bytes, |got| of them captured; NULL: none */
    uint32_t room, got;
};

/* One QP that sent requests: a flow of the capture. */
struct sender {
    enum eng_service service;
    uint8_t src[16], dst[16];
    uint32_t dest_qp, src_qp;
    bool has_src_qp;
    uint32_t mtu; /* 0: unknown */
    struct message *msg;
    uint64_t n, room;
    uint32_t flow; /* while reading */
};

struct messages_cfg {
    const char *file;
    struct roce_decode_opts decode;
    const uint8_t *host; /* only QPs of this address; NULL: all */
};

/* What the capture shows of the QPs that count. */
struct messages_totals {
    uint64_t messages, bytes;
    uint64_t by_op[ENG_WR_OPS];
    uint64_t incomplete; /* of |messages|: not all of it was captured */
    uint64_t generated;  /* carry data that was not captured whole: other data take its place */
    uint64_t orphans;    /* packets of messages whose beginning was not captured */
    uint64_t unfit;      /* of services or sizes that cannot be sent again */
    uint64_t retransmitted, naks, rnr_naks, cnps;
    struct roce_hist latency;
};
struct messages {
    struct sender *sender;
    uint32_t n, room;
    struct messages_totals totals;
    uint64_t payload_bytes; /* held in memory */
    int status;             /* -1: the capture was cut short (message printed) */
};

enum { MESSAGES_LEN_MAX = 1 << 30 };

/* messages_read fills |m|. 0, or -1 with a message printed; messages_free either way. */
int messages_read(struct messages *m, const struct messages_cfg *cfg);
void messages_free(struct messages *m);

/* messages_carries tells whether |op| has payload of its own. */
bool messages_carries(uint8_t op);
const char *messages_op_name(uint8_t op); /* "send", ... */

/* The parts. message_take notes a request packet of |s|; |flags| are those of its verdict. */
void message_take(struct messages *m, struct sender *s, const struct roce_frame *frame,
                  const struct roce_packet *pkt, uint32_t flags, uint32_t psns);

#endif
