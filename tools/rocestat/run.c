/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pipeline. */
#include "rocestat/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/colour.h"
#include "common/input.h"
#include "common/msg.h"
#include "common/progress.h"
#include "common/selection.h"
#include "common/signals.h"
#include "rocestat/feed.h"
#include "rocestat/headless.h"
#include "rocestat/keep.h"
#include "rocestat/report.h"

struct run {
    const struct stat_opts *opts;
    struct feed *feed;
    struct roce_observer *obs;
    const struct roce_flow_table *flows;
    struct journal journal;
    struct interval interval;
    struct saved saved;
    struct keep keep;
    struct headless *headless; /* NULL: nobody watches from outside */
    uint32_t said;             /* live_watch */
    bool live;                 /* from interfaces */
    const struct feed_batch *last;
    struct report report;
    struct out out, series;
    FILE *series_file;
    struct progress progress;
    uint64_t read, counted, dropped;
    int status;
};

static int out_of_memory(void)
{
    msg_print("out of memory; give less to --max-flows");
    return EXIT_IO;
}

static int open_observer(struct run *run)
{
    const struct stat_opts *opts = run->opts;
    if (journal_init(&run->journal, opts, &run->out) != 0)
        return out_of_memory();
    const struct roce_observer_opts how = {
        .max_flows = (uint32_t)opts->max_flows,
        .link_speed_bps = opts->common.link_speed_bps,
        .storm_ms = (uint32_t)opts->storm_ms,
        .timeout_exp = (uint8_t)opts->timeout_exp,
        .idle_ns = opts->forget_ns,
        .idle_keep = ROCE_FLOW_IDLE_KEEP,
        .ops = headless_ops(run->headless, journal_ops(&run->journal)),
    };
    run->obs = roce_observer_new(&how);
    if (run->obs == NULL)
        return out_of_memory();
    run->journal.obs = run->obs;
    run->flows = roce_observer_flows(run->obs);
    feed_flows(run->feed, run->flows);
    if (interval_init(&run->interval, opts->interval_ns, run->obs,
                      opts->tables[TABLE_FLOWS] && opts->mode != MODE_TEXT) != 0)
        return out_of_memory();
    run->report.obs = run->obs;
    run->report.journal = &run->journal;
    return EXIT_DONE;
}

/* The series waits on disk for its place in the report. */
static int open_series(struct run *run)
{
    if (run->opts->interval_ns == 0 || run->opts->mode == MODE_NDJSON)
        return EXIT_DONE;
    run->series_file = tmpfile();
    if (run->series_file == NULL || out_init(&run->series, fileno(run->series_file)) != 0) {
        msg_print("--interval: no temporary file (%s); use --ndjson", strerror(errno));
        return EXIT_IO;
    }
    run->report.series = &run->series;
    return EXIT_DONE;
}

static void note(struct run *run, const struct feed_batch *batch, int i,
                 const struct roce_verdict *verdict)
{
    const struct roce_frame *frame = &batch->frame[i];
    if (interval_over(&run->interval, frame)) {
        if (run->interval.frames > 0)
            report_interval(&run->report, &run->interval);
        interval_next(&run->interval, frame);
        if (run->live)
            out_flush(&run->out);
    }
    interval_add(&run->interval, frame, &batch->packet[i], batch->checked ? &batch->icrc[i] : NULL,
                 verdict);
}

/* A flow's state is asked of memory this many packets before it is needed. */
enum { AHEAD = 16 };

/* What is printed of an interval, and what metrics count, has to be read between two frames. */
static void observe_singly(struct run *run, const struct feed_batch *batch, int n)
{
    for (int i = 0; i < n; i++) {
        struct roce_verdict verdict;
        if (i + AHEAD < n)
            roce_observer_prefetch(run->obs, &batch->packet[i + AHEAD]);
        (void)roce_observer_update(run->obs, &batch->frame[i], &batch->packet[i],
                                   batch->checked ? &batch->icrc[i] : NULL, &verdict);
        if (run->interval.length_ns != 0)
            note(run, batch, i, &verdict);
        if (run->headless != NULL)
            headless_count(run->headless, &batch->frame[i], &batch->packet[i],
                           batch->checked ? &batch->icrc[i] : NULL, &verdict);
    }
}

static void observe(struct run *run, const struct feed_batch *batch)
{
    const uint64_t limit = run->opts->common.count;
    int n = batch->count;
    if (limit != 0 && (uint64_t)n > limit - run->counted)
        n = (int)(limit - run->counted);
    run->counted += (uint64_t)n;
    const int kept = keep_write(&run->keep, batch->frame, n);
    if (kept != EXIT_DONE)
        run->status = kept;
    if (run->interval.length_ns != 0 || run->headless != NULL)
        observe_singly(run, batch, n);
    else
        roce_observer_update_batch(
            run->obs, &(struct roce_batch){.n = n,
                                           .frame = batch->frame,
                                           .digest = batch->digested ? batch->digest : NULL,
                                           .decode = batch->decode,
                                           .packet = batch->packet,
                                           .icrc = batch->checked ? batch->icrc : NULL});
}

static void answer_ask(const struct run *run)
{
    msg_print("%" PRIu64 " packets captured, %" PRIu64 " processed, %" PRIu64
              " dropped by the capturer",
              run->read, run->counted, run->dropped);
}

static bool finished(const struct run *run)
{
    /* Interfaces are read to the last frame that came before the signal. */
    return (signals_interrupted() && !run->live) || run->status != EXIT_DONE ||
           !out_ok(&run->out) ||
           (run->opts->common.count != 0 && run->counted >= run->opts->common.count);
}

/* An interval ends although no frame comes to end it: by our clock, once those that are under way
 * are here. The adapter's clock may be another. */
static void look_around(struct run *run)
{
    const uint64_t now = clock_realtime_ns();
    if (run->opts->live.clock == LIVE_CLOCK_HOST &&
        interval_passed(&run->interval, now, UINT64_C(1000000) * LIVE_WAIT_MS)) {
        report_interval(&run->report, &run->interval);
        interval_skip(&run->interval, now);
    }
    out_flush(&run->out);
    keep_flush(&run->keep);
}

static void take(struct run *run, struct feed_batch *batch)
{
    run->read += (uint64_t)batch->read;
    run->dropped = batch->dropped;
    if (batch->has_dropped)
        roce_observer_dropped(run->obs, batch->dropped);
    if (batch->selection_err != 0) {
        run->status = selection_fault(run->opts->bpf, batch->selection_err, batch->text);
        return;
    }
    observe(run, batch);
    for (uint32_t i = 0; i < batch->ifaces; i++)
        live_watch_one(&batch->iface[i], i, &run->said);
    if (batch->idle)
        look_around(run);
    if (run->headless != NULL)
        headless_tick(run->headless, batch->iface, batch->idle);
    if (signals_asked())
        answer_ask(run);
    progress_update(&run->progress, batch->consumed, batch->size);
}

static void read_all(struct run *run)
{
    struct feed_batch *batch = feed_next(run->feed);
    progress_init(&run->progress, batch->size);
    while (batch->read > 0 || batch->idle) {
        take(run, batch);
        if (finished(run))
            break;
        batch = feed_next(run->feed);
    }
    progress_end(&run->progress);
    run->last = batch;
    if (run->headless != NULL)
        headless_end(run->headless, batch->iface);
    if (signals_asked())
        answer_ask(run);
    if (batch->read <= 0 && batch->has_dropped)
        roce_observer_dropped(run->obs, batch->dropped);
    run->report.capture.has_dropped = batch->has_dropped;
    run->report.capture.dropped = batch->dropped;
    if (batch->read < 0 && run->status == EXIT_DONE) {
        run->report.capture.cut_short = true;
        run->status = EXIT_IO;
    }
    const struct roce_iface *iface = roce_reader_iface(feed_reader(run->feed), 0);
    run->report.capture.linktype = iface != NULL ? iface->linktype : 0;
    if (run->interval.started && run->interval.frames > 0)
        report_interval(&run->report, &run->interval);
}

static void print_report(struct run *run)
{
    struct report *report = &run->report;
    const struct stat_opts *opts = run->opts;
    const bool text = opts->mode == MODE_TEXT;
    roce_observer_finish(run->obs);
    roce_observer_totals(run->obs, &report->totals);
    report->ids = sort_flows(run->obs, (enum sort_column)opts->sort_column, text,
                             opts->top != 0 ? opts->top
                             : text         ? TOP_TEXT
                                            : 0,
                             &report->shown, &report->sums);
    if (stat_opts_wants(opts, TABLE_HOSTS)) {
        report->hosts = roce_observer_hosts(run->obs);
        if (report->saved != NULL)
            report->saved_host = saved_host(report->saved, run->obs, report->hosts);
        if (report->saved != NULL && report->saved_host == ROCE_FLOW_NONE)
            msg_file(report->saved->path, "%s; the counters are left out",
                     report->saved->has_addr ? "no host of that address in the capture"
                                             : "no host in the capture");
    }
    journal_sort(&run->journal);
    switch (opts->mode) {
    case MODE_TEXT:
        report_text(report);
        break;
    case MODE_JSON:
        report_json(report);
        break;
    case MODE_NDJSON:
        report_ndjson(report);
        break;
    case MODE_CSV:
        report_csv(report);
        break;
    }
}

static bool fails(const struct run *run)
{
    uint32_t n;
    const struct roce_finding *finding = roce_observer_findings(run->obs, &n);
    for (uint32_t i = 0; i < n; i++)
        if (finding[i].severity <= run->opts->fail_severity ||
            run->opts->fail_kind[finding[i].kind])
            return true;
    return false;
}

static void report_summary(const struct run *run)
{
    struct roce_flow_stats s;
    if (run->opts->common.verbose == 0)
        return;
    roce_flow_stats(run->flows, &s);
    msg_print("%" PRIu64 " packets read, %" PRIu64
              " counted; flows %u, connections %u, evicted %" PRIu64 "; %" PRIu64
              " bytes of state, at most %" PRIu64 " a flow; %" PRIu64 " dropped by the capturer",
              run->read, run->counted, s.flows, s.connections, s.evicted, s.memory,
              s.memory_per_flow_max, run->dropped);
}

/* How it ended, for the reader of the report. */
static void report_end(struct run *run)
{
    if (run->live) {
        if (!run->opts->common.quiet)
            live_counts(run->last->iface, run->last->ifaces, run->read, run->counted, "counted");
        if (run->report.capture.cut_short)
            msg_print("%s", feed_text(run->feed));
    } else if (run->report.capture.cut_short) {
        msg_file(input_name(run->opts->file),
                 "%s; packets read before: %" PRIu64 "; fetch the file again", feed_text(run->feed),
                 run->read);
    }
}

static void go(struct run *run)
{
    const struct stat_opts *opts = run->opts;
    if (opts->diff_counters != NULL) {
        run->status = saved_read(&run->saved, opts->diff_counters);
        run->report.saved = &run->saved;
    }
    if (run->status == EXIT_DONE)
        run->status = headless_new(opts, &run->headless);
    if (run->status == EXIT_DONE)
        run->feed = feed_open(opts, &run->status);
    if (run->feed == NULL)
        return;
    run->status = keep_open(&run->keep, opts, feed_reader(run->feed));
    if (run->status == EXIT_DONE)
        run->status = open_observer(run);
    if (run->status == EXIT_DONE)
        run->status = open_series(run);
    if (run->status == EXIT_DONE && run->headless != NULL)
        run->status = headless_start(run->headless, run->obs);
    if (run->status != EXIT_DONE)
        return;
    read_all(run);
    const int kept = keep_close(&run->keep);
    if (run->status == EXIT_DONE)
        run->status = kept;
    if (run->status == EXIT_USAGE)
        return;
    print_report(run);
    out_flush(&run->out);
    report_summary(run);
    report_end(run);
    if (run->status == EXIT_DONE && fails(run))
        run->status = EXIT_FOUND;
}

int run(const struct stat_opts *opts)
{
    static struct run state;
    struct run *run = &state;
    *run = (struct run){.opts = opts, .live = live_wanted(&opts->live)};
    run->report.opts = opts;
    run->report.out = &run->out;
    run->report.capture.file = opts->file;
    run->report.colour = colour_wanted((enum colour_when)opts->common.colour, STDOUT_FILENO);
    if (out_init(&run->out, STDOUT_FILENO) != 0)
        return out_of_memory();
    signals_catch();
    go(run);
    const int error = out_end(&run->out);
    if (error != 0) {
        msg_file("standard output", "%s; not everything was printed", strerror(error));
        run->status = EXIT_IO;
    }
    if (run->series_file != NULL) {
        if (out_end(&run->series) != 0 && run->status == EXIT_DONE) {
            msg_print("--interval: the temporary file could not be written; use --ndjson");
            run->status = EXIT_IO;
        }
        (void)fclose(run->series_file);
    }
    free(run->report.ids);
    journal_free(&run->journal);
    interval_free(&run->interval);
    headless_del(run->headless);
    /* Its threads may still be hashing for the table of flows. */
    feed_close(run->feed);
    roce_observer_del(run->obs);
    return run->status;
}
