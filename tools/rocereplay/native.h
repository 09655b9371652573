/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rocereplay's own exchange: one line of JSON each way over TCP says all that both ends need. */
#ifndef ROCEREPLAY_NATIVE_H
#define ROCEREPLAY_NATIVE_H

#include "rocereplay/lane.h"

/* What one end offers: how the run shall be (the client decides), its QPs and their memory. */
struct native_offer {
    enum eng_service service; /* of QPs that tell none of their own */
    enum eng_wr_op op;
    uint16_t mtu;
    uint32_t size, depth, places;
    uint64_t iters, duration_ns; /* |iters| 0: by time */
    bool verify, bidirectional;
    uint8_t rd_atomic;
    uint8_t ip[16];
    uint32_t n;
    struct remote *qp; /* |n| of them, owned by whoever holds the offer */
};

enum { NATIVE_LINE_MAX = 16 << 20 };

/* native_encode writes the line, with its newline, to a string that the caller frees; NULL without
 * memory. */
char *native_encode(const struct native_offer *offer);
/* native_decode reads it. 0, or a negative enum roce_err: ROCE_ERR_SYNTAX, ROCE_ERR_INVALID (a
 * value out of range or missing), ROCE_ERR_NOMEM. */
int native_decode(const char *line, struct native_offer *offer);
void native_free(struct native_offer *offer);

/* What the server has seen when all is over. */
struct native_report {
    uint64_t messages, bytes, mismatches, lost;
};
int native_report_encode(const struct native_report *report, char *line, size_t room);
int native_report_decode(const char *line, struct native_report *report);

/* native_client runs a load against the peer that listens at |ip|; native_serve answers the peer
 * behind |fd|. An exit status. */
int native_client(struct station *st, const uint8_t ip[16]);
int native_serve(struct station *st, int fd);

#endif
