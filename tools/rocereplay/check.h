/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay check: a conformance run against a live peer. Each case of check.def opens fresh QPs
 * at the peer, sends it frames made by hand and judges what comes back. */
#ifndef ROCEREPLAY_CHECK_H
#define ROCEREPLAY_CHECK_H

#include <roce/packet.h>

#include "port/port.h"
#include "rocereplay/check_craft.h"
#include "rocereplay/check_line.h"
#include "rocereplay/target.h"

enum check_verdict { CHECK_PASS, CHECK_FAIL, CHECK_NOT_OBSERVABLE };

/* How the peer's QPs come to be. open: 0, CHECK_NOT_HERE when this kind of peer has no such QP, or
 * -1 (the run cannot go on; a message is printed). What cannot be asked of the peer is changed in
 * |want| to what it has. */
enum {
    CHECK_NOT_HERE = 1,
    CHECK_PROMPT = 2,  /* of start: a message of ours makes the peer's program send */
    CHECK_UNKNOWN = 32 /* a timer code that nobody tells */
};
struct check_peer_ops {
    int (*open)(void *ctx, struct check_want *want, struct check_offer *offer);
    int (*start)(void *ctx); /* the peer posts its late receives, then its work */
    int (*status)(void *ctx, struct check_status *status); /* CHECK_NOT_HERE: cannot tell */
    void (*close)(void *ctx);
};

/* A frame that came from the peer. */
struct check_seen {
    roce_tstamp at;
    uint64_t frame; /* number in the evidence */
    struct roce_packet pkt;
    const uint8_t *payload;
    bool icrc_ok;
};

enum { CHECK_SEEN_MAX = 512, CHECK_TEXT = 240 };

/* Of a peer that was not made to be checked. */
struct check_target_limits {
    const struct target_kind *kind; /* NULL: none */
    uint64_t room;                  /* bytes of its receives and messages */
};

struct check_case;

/* A run: the wire, the peer, and how long is waited for what. */
struct check_run {
    struct port *port;
    struct craft_path path;
    roce_tstamp (*now)(void *ctx);
    /* sleeps (or computes) until a frame may have come, at most until |until| */
    int (*idle)(void *ctx, roce_tstamp until);
    void *ctx;
    const struct check_peer_ops *peer;
    void *peer_ctx;
    struct check_target_limits limits;
    const char *why;     /* of the last CHECK_NOT_HERE; NULL: not told */
    struct port *record; /* counts frames; NULL: |frames| does */
    uint16_t mtu;
    uint8_t timeout;              /* code of the ACK timeout that requester cases ask for */
    uint64_t answer_ns;           /* an answer that is due comes within this */
    uint64_t quiet_ns;            /* none that is not due within this */
    uint64_t slack_ns;            /* what the peer's timers may be late beyond the standard */
    uint64_t frames;              /* sent and received so far, as they stand in the evidence */
    uint32_t n_opened;            /* QPs so far: ours are numbered by it */
    uint8_t (*memory)[CRAFT_MAX]; /* CHECK_SEEN_MAX frames of the present case */
    bool exact;                   /* time is computed: nothing is seen late */
    bool broken;                  /* the wire or the peer is gone */
};

/* One case under way. */
struct check {
    struct check_run *run;
    const struct check_case *what;
    struct check_want want;
    struct check_offer offer;
    uint32_t psn;         /* of our next request */
    uint32_t witness_psn; /* the same of the second QP */
    uint32_t taken_msn;   /* messages of the peer's own accord */
    uint64_t sent_len;    /* of the SEND under way */
    bool opened;
    struct check_seen seen[CHECK_SEEN_MAX];
    uint32_t n_seen, n_taken; /* |n_taken|: looked at by check_next */
    uint64_t first_frame, last_frame;
    uint64_t looked; /* frame that was looked at last; 0: what was due did not come */
    enum check_verdict verdict;
    bool settled;
    char text[CHECK_TEXT]; /* why, for people */
};

struct check_case {
    const char *id, *rule, *section;
    void (*judge)(struct check *c);
};
extern const struct check_case check_cases[];
extern const unsigned check_n_cases;
#define CASE(function, id, section, rule) void check_##function(struct check *c);
#include "rocereplay/check.def"
#undef CASE

struct check_result {
    const struct check_case *what;
    enum check_verdict verdict;
    uint64_t first_frame, last_frame; /* 0: none */
    char text[CHECK_TEXT];
};

/* check_run_case judges one case into |result|; 0, or -1 when the run cannot go on. */
int check_run_case(struct check_run *run, const struct check_case *what,
                   struct check_result *result);

/* ---- tools of the cases (check_probe.c) ---- */

/* check_open opens what |c->want| says (check_default fills it); false: the case is settled. */
void check_default(struct check *c);
bool check_open(struct check *c);
bool check_start(struct check *c);

void check_fail(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check_unseen(struct check *c, const char *why);
void check_note(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* check_request begins a frame of |opcode| at the next PSN, which check_send does not move. */
struct craft check_request(const struct check *c, uint8_t opcode);
struct craft check_response(const struct check *c, uint8_t opcode, uint32_t psn, uint8_t syndrome,
                            uint32_t msn);
void check_send(struct check *c, const struct craft *craft);
/* check_post sends it whatever the peer's limits are. */
void check_post(struct check *c, const struct craft *craft);

/* check_next returns the next frame for our QP, waiting up to |ns|; NULL: none. */
const struct check_seen *check_next(struct check *c, uint64_t ns);
const struct check_seen *check_answer(struct check *c); /* within run->answer_ns */
/* check_pause lets |ns| pass while frames are taken in. */
void check_pause(struct check *c, uint64_t ns);
/* check_quiet tells whether nothing more comes; fails the case otherwise, saying |when|. */
bool check_quiet(struct check *c, const char *when);

/* Expectations: they fail the case when not met. */
bool check_ack(struct check *c, uint32_t psn, uint32_t msn, const char *to);
bool check_nak(struct check *c, uint8_t code, uint32_t psn, const char *to);
bool check_memory(struct check *c, uint64_t off, const uint8_t *expected, uint32_t len,
                  const char *what);
bool check_read_memory(struct check *c, uint64_t off, uint8_t *data, uint32_t len);
bool check_completions(struct check *c, uint64_t received, const char *what);
bool check_sent(struct check *c, uint64_t sent, uint64_t error, const char *what);

/* check_fill is what the peer's memory holds at first. */
static inline uint8_t check_fill(uint64_t off)
{
    return (uint8_t)(off ^ off >> 8);
}

const char *check_describe(const struct check_seen *seen, char text[96]);

#endif
