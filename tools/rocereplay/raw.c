/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocereplay play --raw. */
#include "rocereplay/raw.h"

#include <roce/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/msg.h"
#include "common/signals.h"
#include "rocereplay/raw_port.h"
#include "rocereplay/station.h"
#include "rocereplay/truth.h"

enum { BURST = 64 }; /* frames handed to the kernel at a time, at top speed */

static bool is_tagged(const uint8_t *frame, uint32_t len)
{
    return len > ROCE_ETH_LEN &&
           ((frame[12] == 0x81 && frame[13] == 0) || (frame[12] == 0x88 && frame[13] == 0xA8));
}

/* Rewrites |in| and tells whether it is to be sent. */
static bool prepare(struct raw *raw, const struct roce_frame *in, struct rewritten *out)
{
    struct raw_counts *c = &raw->counts;
    if (in->linktype != raw->linktype) {
        c->other_link++;
        return false;
    }
    if (in->caplen > RAW_FRAME_MAX) {
        c->too_long++;
        return false;
    }
    switch (rewrite_apply(&raw->rules, in, raw->room, out)) {
    case REWRITE_SLICED:
        c->sliced++;
        return false;
    case REWRITE_UNREPAIRABLE:
        c->unrepairable++;
        return false;
    case REWRITE_OK:
    case REWRITE_RESULTS:
        break;
    }
    if (!out->roce && raw->opts->roce_only) {
        c->not_roce++;
        return false;
    }
    if (raw->live && out->len > raw->netif.mtu + ROCE_ETH_LEN +
                                    (is_tagged(out->data, out->len) ? ROCE_VLAN_LEN : 0)) {
        c->too_long++;
        return false;
    }
    c->roce += out->roce;
    c->changed += out->changed;
    c->icrc_repaired += out->repaired;
    c->icrc_kept_bad += out->was_bad && !out->repaired;
    return true;
}

static int fault_of(const struct raw *raw, int err)
{
    const struct replay_opts *base = &raw->opts->base;
    const char *text = raw->port->text;
    msg_file(raw->live ? base->interface : base->write, "%s",
             text[0] != '\0' ? text : roce_strerror(err));
    return -1;
}

static bool over(const struct raw *raw, roce_tstamp elapsed)
{
    const struct play_opts *opts = raw->opts;
    return signals_interrupted() || (opts->limit != 0 && raw->counts.frames >= opts->limit) ||
           (opts->duration_ns != 0 && elapsed >= opts->duration_ns);
}

/* The key that lets one frame go; end of input lets all. */
static void wait_key(const struct raw *raw, uint32_t len)
{
    (void)fprintf(stderr, "frame %llu, %u bytes: Enter ",
                  (unsigned long long)raw->counts.frames + 1, len);
    int c;
    while ((c = getchar()) != '\n' && c != EOF)
        continue;
}

/* Returns 1 when sent, 0 when the replay is over, -1 with a message printed. */
static int send_live(struct raw *raw, const uint8_t *data, uint32_t len, roce_tstamp ts)
{
    struct raw_counts *c = &raw->counts;
    struct port *port = raw->port;
    const bool top = raw->opts->pace.pace == SCHEDULE_TOP;
    const uint64_t due = schedule_next(&raw->schedule, ts, len);
    roce_tstamp now = clock_monotonic_ns();
    int rc;
    if (c->frames == 0)
        c->start = now;
    if (raw->opts->one_at_a_time)
        wait_key(raw, len);
    if (!top && raw->opts->duration_ns != 0 && due >= raw->opts->duration_ns)
        return 0;
    if (!top) {
        now = schedule_wait(&raw->schedule, c->start + due, signals_interrupted);
        if (signals_interrupted())
            return 0;
    }
    rc = raw_send(port, data, len, now);
    if (rc == 0 && (!top || raw->opts->one_at_a_time || c->frames % BURST == BURST - 1))
        rc = port->ops->flush(port, now);
    c->end = now;
    if (rc < 0)
        return fault_of(raw, rc);
    if (raw->opts->stats != 0 && now >= raw->next_stats) {
        if (raw->next_stats != 0)
            raw_stats(raw, now);
        raw->next_stats = now + raw->opts->stats * 1000000000U;
    }
    return 1;
}

static int send_computed(struct raw *raw, const uint8_t *data, uint32_t len, roce_tstamp ts)
{
    const uint64_t due = schedule_next(&raw->schedule, ts, len);
    int rc = 0;
    if (raw->opts->duration_ns != 0 && due >= raw->opts->duration_ns)
        return 0;
    raw->counts.end = due;
    if (raw->fault != NULL) /* what was delayed and is due before */
        rc = raw->port->ops->flush(raw->port, due);
    if (rc == 0)
        rc = raw_send(raw->port, data, len, due);
    if (rc == 0)
        rc = raw->port->ops->flush(raw->port, due);
    return rc < 0 ? fault_of(raw, rc) : 1;
}

static int send_one(struct raw *raw, const uint8_t *data, uint32_t len, roce_tstamp ts)
{
    if (over(raw, raw->counts.end - raw->counts.start))
        return 0;
    const int rc = raw->live ? send_live(raw, data, len, ts) : send_computed(raw, data, len, ts);
    if (rc > 0) {
        raw->counts.frames++;
        raw->counts.bytes += len;
    }
    return rc;
}

static int begin(struct raw *raw, const struct roce_frame *first)
{
    raw->linktype = first->linktype;
    raw->schedule.first = first->ts;
    if (raw->opts->base.interface != NULL && raw->linktype != ROCE_LINK_ETHERNET) {
        msg_file(raw->opts->file, "link type %u is no Ethernet; it can be replayed to a file alone",
                 (unsigned)raw->linktype);
        return -1;
    }
    if (raw_ports(raw, first->ts) != 0)
        return -1;
    if (raw->fault != NULL && raw->survey.flows != NULL)
        raw_survey_teach(&raw->survey, raw->fault);
    return 0;
}

/* One pass over the file. 1: there may be another; 0: over; -1. */
static int pass_file(struct raw *raw, int *status)
{
    struct raw_source src;
    struct roce_frame frame;
    struct rewritten out;
    int rc = 1;
    if (raw_source_open(&src, raw->opts->file) != 0)
        return -1;
    while (rc > 0 && raw_source_next(&src, &frame) > 0) {
        if (raw->port == NULL && begin(raw, &frame) != 0)
            rc = -1;
        else if (prepare(raw, &frame, &out))
            rc = send_one(raw, out.data, out.len, frame.ts);
    }
    if (src.status != 0)
        *status = EXIT_IO;
    raw_source_close(&src);
    return rc;
}

/* Keeps what will be sent; or, when each pass differs, what it will be made of. */
static int preload(struct raw *raw, int *status)
{
    struct raw_source src;
    struct roce_frame frame;
    struct rewritten out;
    int rc = 0;
    if (raw_source_open(&src, raw->opts->file) != 0)
        return -1;
    while (rc == 0 && !signals_interrupted() && raw_source_next(&src, &frame) > 0) {
        if (raw->port == NULL && begin(raw, &frame) != 0)
            rc = -1;
        else if (raw->opts->loop_psn)
            rc = raw_store_add(&raw->store, &frame);
        else if (prepare(raw, &frame, &out)) {
            frame.data = out.data;
            frame.caplen = frame.origlen = out.len;
            rc = raw_store_add(&raw->store, &frame);
        }
    }
    if (src.status != 0)
        *status = EXIT_IO;
    raw_source_close(&src);
    return rc;
}

static int pass_store(struct raw *raw)
{
    struct roce_frame frame;
    int rc = 1;
    for (uint64_t i = 0; rc > 0 && i < raw->store.n; i++) {
        struct rewritten out;
        raw_store_get(&raw->store, i, &frame);
        if (!raw->opts->loop_psn)
            rc = send_one(raw, frame.data, frame.caplen, frame.ts);
        else if (prepare(raw, &frame, &out))
            rc = send_one(raw, out.data, out.len, frame.ts);
    }
    return rc;
}

/* What is still on its way: bursts not handed over, frames that were delayed. */
static int drain(struct raw *raw)
{
    struct port *port = raw->port;
    roce_tstamp now = raw->live ? clock_monotonic_ns() : raw->counts.end;
    int rc = port->ops->flush(port, now);
    while (rc == 0 && port->ops->next(port) != PORT_NEVER && !signals_interrupted()) {
        const roce_tstamp next = port->ops->next(port);
        if (raw->live)
            now = schedule_wait(&raw->schedule, next, signals_interrupted);
        else
            now = next > now ? next : now;
        rc = port->ops->flush(port, now);
    }
    raw->counts.end = now;
    return rc < 0 ? fault_of(raw, rc) : 0;
}

static int passes(struct raw *raw, int *status)
{
    const struct play_opts *opts = raw->opts;
    const bool kept = opts->preload;
    int rc = kept ? preload(raw, status) : 0;
    if (rc == 0)
        rc = 1;
    for (uint64_t i = 0; rc > 0 && (opts->loops == 0 || i < opts->loops); i++) {
        const uint64_t before = raw->counts.frames;
        if (i > 0)
            schedule_again(&raw->schedule);
        raw->survey.pass = i;
        rc = kept ? pass_store(raw) : pass_file(raw, status);
        if (raw->counts.frames == before)
            break; /* nothing in it, for ever */
        raw->counts.passes++;
    }
    if (rc >= 0 && raw->port != NULL)
        return drain(raw);
    return rc < 0 ? -1 : 0;
}

static int write_truth(struct raw *raw)
{
    struct truth none = {0};
    const struct station st = {.opts = &raw->opts->base, .fault = raw->fault};
    if (raw->opts->base.truth == NULL)
        return 0;
    return truth_write(&none, &st, "play", raw->opts->base.truth);
}

static bool needs_survey(const struct play_opts *opts)
{
    const struct fault_plan *faults = &opts->base.faults;
    bool relative = false; /* what is meant depends on the capture's connections */
    for (unsigned i = 0; i < faults->n; i++)
        relative = relative || faults->rule[i].qp_index || faults->rule[i].psn_relative ||
                   faults->rule[i].kind == FAULT_GHOST_ACK;
    return opts->loop_psn || relative;
}

static int run(struct raw *raw, int *status)
{
    const struct play_opts *opts = raw->opts;
    if (needs_survey(opts) && strcmp(opts->file, "-") == 0) {
        msg_print("relative faults and --loop-psn need to look ahead; give a file");
        return -1;
    }
    if (needs_survey(opts) && raw_survey_make(&raw->survey, opts->file, &raw->rules.decode) != 0)
        return -1;
    if (opts->loop_psn) {
        raw->rules.psn_extra = raw_survey_psn;
        raw->rules.psn_ctx = &raw->survey;
    }
    return passes(raw, status);
}

int raw_play(const struct play_opts *opts)
{
    struct raw raw = {.opts = opts, .rules = opts->rules};
    int status = EXIT_DONE;
    struct schedule_cfg pace = opts->pace;
    if (opts->base.interface == NULL && pace.pace == SCHEDULE_TOP)
        pace = (struct schedule_cfg){.pace = SCHEDULE_RECORDED, .factor = 1};
    schedule_init(&raw.schedule, &pace);
    raw.room = malloc(RAW_FRAME_MAX + REWRITE_ROOM);
    if (raw.room == NULL) {
        msg_print("out of memory");
        return EXIT_IO;
    }
    int rc = run(&raw, &status);
    if (rc == 0 && raw.port == NULL)
        msg_print("%s: no frame in it", opts->file);
    if (rc == 0)
        rc = write_truth(&raw);
    if (rc == 0)
        rc = raw_report(&raw);
    if (raw_ports_close(&raw) != 0)
        rc = -1;
    raw_survey_free(&raw.survey);
    raw_store_free(&raw.store);
    free(raw.room);
    return rc == 0 ? status : EXIT_IO;
}
