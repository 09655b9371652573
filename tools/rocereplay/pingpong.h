/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exchange and the game of ibv_{rc,uc,ud,srq}_pingpong. */
#ifndef ROCEREPLAY_PINGPONG_H
#define ROCEREPLAY_PINGPONG_H

#include "rocereplay/lane.h"

enum { PINGPONG_LEN = 52, PINGPONG_SRQ_RECORDS = 256 };

/* pingpong_encode writes the record "LLLL:QQQQQQ:PPPPPP:GID" of |remote| with its NUL. */
void pingpong_encode(const struct remote *remote, char record[PINGPONG_LEN]);
/* pingpong_decode reads it. 0, or ROCE_ERR_SYNTAX. */
int pingpong_decode(const char record[PINGPONG_LEN], struct remote *remote);

/* pingpong_client plays against the program at |ip|; pingpong_serve against the one behind |fd|. An
 * exit status. */
int pingpong_client(struct station *st, const uint8_t ip[16]);
int pingpong_serve(struct station *st, int fd);
/* pingpong_meet exchanges records with the server at |ip| and connects |lane|; no game follows. 0,
 * or -1 with a message printed. */
int pingpong_meet(struct station *st, struct lane *lane, const uint8_t ip[16]);

#endif
