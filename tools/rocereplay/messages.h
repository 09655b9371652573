/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages that the QPs of a capture sent: each once, in order, with the time of its first
 * packet, and its payload where all of it was captured. */
#ifndef ROCEREPLAY_MESSAGES_H
#define ROCEREPLAY_MESSAGES_H

#include <roce/flow.h>

#include "engine/engine.h"

/* One request packet, as it was captured first. */
struct packet {
    uint64_t psn; /* unwrapped: it goes on where 24 bits end */
    roce_tstamp ts;
    uint64_t data; /* its payload, as an offset; PACKET_NO_DATA: not captured whole */
    uint64_t va, compare_add, swap;
    uint32_t len; /* bytes of payload */
    uint32_t dma_len, imm;
    uint8_t op;  /* enum eng_wr_op; with immediate: as its last packet says */
    uint8_t pos; /* enum roce_pos */
    uint8_t flush_type, flush_level;
    bool has_reth, solicited;
};
#define PACKET_NO_DATA UINT64_MAX

struct message {
    uint8_t op; /* enum eng_wr_op */
    bool solicited, complete;
    bool captured; /* all its data are */
    uint32_t len;
    roce_tstamp ts;          /* when its first packet came */
    uint64_t first, packets; /* of the sender's */
};

/* One QP that sent requests: a flow of the capture. */
struct sender {
    enum eng_service service;
    uint8_t src[16], dst[16];
    uint32_t dest_qp;
    uint32_t mtu; /* 0: unknown */
    struct packet *packet;
    uint64_t n_packets, packets_room;
    struct message *msg;
    uint64_t n;
    uint64_t highest; /* PSN so far */
    uint32_t flow;    /* while reading */
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
    uint8_t *data; /* payload of all packets */
    uint64_t n_data, data_room;
    int status; /* -1: the capture was cut short (message printed) */
};

enum { MESSAGES_LEN_MAX = 1 << 30 };

/* messages_read fills |m|. 0, or -1 with a message printed; messages_free either way. */
int messages_read(struct messages *m, const struct messages_cfg *cfg);
void messages_free(struct messages *m);

/* messages_carries tells whether |op| has payload of its own. */
bool messages_carries(uint8_t op);
const char *messages_op_name(uint8_t op); /* "send", ... */

/* messages_copy writes the |msg->len| bytes of data of |msg| to |out|; it must be |captured|. */
void messages_copy(const struct messages *m, const struct sender *s, const struct message *msg,
                   uint8_t *out);

/* The parts. packet_take notes a request packet of |s|; |flags| are those of its verdict.
 * packets_join makes the messages of |s| of them, and counts. -1 without memory. */
void packet_take(struct messages *m, struct sender *s, const struct roce_frame *frame,
                 const struct roce_packet *pkt, uint32_t flags);
int packets_join(struct messages *m, struct sender *s);

#endif
