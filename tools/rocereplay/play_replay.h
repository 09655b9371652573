/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded messages sent again: lanes, the posting of what is due, and what came of it. */
#ifndef ROCEREPLAY_PLAY_REPLAY_H
#define ROCEREPLAY_PLAY_REPLAY_H

#include "rocereplay/lane.h"
#include "rocereplay/messages.h"
#include "rocereplay/native.h"
#include "rocereplay/play.h"
#include "rocereplay/sink.h"
#include "rocereplay/target.h"

/* One sender's part. */
struct part {
    const struct sender *sender;
    uint64_t ready, posted, done; /* messages, of all passes */
    roce_tstamp *posted_at;       /* by place, |depth| of them */
    bool failed;
};

struct replay_result {
    uint64_t messages, bytes, failed;
    uint64_t by_op[ENG_WR_OPS];
    int status; /* enum eng_wc_status of the first that failed but by a flush */
    uint32_t failed_qpn;
    roce_tstamp start, end;
    struct roce_hist latency; /* ns, from post to completion, of reliable services */
};

struct replay {
    const struct play_opts *opts;
    const struct messages *messages;
    struct station *st;
    uint32_t n; /* lanes: senders that are replayed */
    struct lane *lanes;
    struct part *part;
    struct eng_mr *mr; /* of the data of all messages */
    uint8_t *data;
    uint64_t data_va, made_off; /* behind the captured data: what takes the place of other */
    uint32_t made_len;
    uint64_t *offset;  /* of each message's data, by its place in |order| of senders */
    uint64_t total;    /* messages of one pass */
    struct due *due;   /* of one pass, in order of time */
    uint64_t at, pass; /* which of them is next */
    uint64_t readied;
    bool all_ready;
    struct schedule schedule;
    uint64_t next_due; /* ns from the start; valid with |has_due| */
    bool has_due;
    uint32_t max_len, target_len;
    struct sink *sink; /* takes what a peer answers; NULL: it does not */
    bool in_turn;      /* the next message waits for the answer to the last */
    struct replay_result result;
};
struct due {
    roce_tstamp ts;
    uint32_t part, len;
};

enum { PLAY_ANSWERS = 64 }; /* receives of a QP whose peer answers */
/* replay_open makes what |messages| need on |st|: |n| of the senders, |which| names them, with
 * |receives| for each. 0, or -1 with a message printed; replay_close either way. */
int replay_open(struct replay *r, const struct play_opts *opts, struct station *st,
                const struct messages *messages, const uint32_t *which, uint32_t n,
                uint32_t receives);
void replay_close(struct replay *r);
/* replay_run turns the station until all is done. 0, or -1 with a message printed. */
int replay_run(struct replay *r);

/* How the run went, beside what |r| knows. */
struct replay_report {
    const char *peer;
    const struct native_report *received; /* by the peer; NULL: it told nothing */
    const struct target_kind *kind;       /* NULL: no target */
    uint64_t not_carried[TARGET_REASONS]; /* messages */
};
/* replay_report prints recorded against reproduced, as text or JSON. 0, or -1. */
int replay_report(const struct replay *r, const struct replay_report *report,
                  const struct eng_qp_stats *stats);

#endif
