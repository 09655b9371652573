/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A peer to be checked, on the transport engine: makes the QPs that a case asks for. */
#ifndef ROCEREPLAY_CHECK_PEER_H
#define ROCEREPLAY_CHECK_PEER_H

#include "rocereplay/check_line.h"
#include "rocereplay/station.h"

struct check_peer {
    struct station *st;
    struct check_want want;
    struct eng_cq *send_cq, *recv_cq;
    struct eng_qp *qp, *witness;
    struct eng_mr *region, *buffer_mr;
    uint8_t *memory, *buffer;
    struct check_status status;
};

/* check_peer_open makes what |want| says. 0, or -1 with a message printed. */
int check_peer_open(struct check_peer *peer, struct station *st, const struct check_want *want,
                    struct check_offer *offer);
int check_peer_start(struct check_peer *peer);
void check_peer_status(struct check_peer *peer, struct check_status *status);
void check_peer_close(struct check_peer *peer);

/* check_serve answers rocereplay check behind |fd|, whose first line was |want|. An exit status. */
int check_serve(struct station *st, int fd, const struct check_want *want);

#endif
