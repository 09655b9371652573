/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batch mode. A file's refreshes follow its own clock: the same file gives the same screens. */
#include "batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/msg.h"
#include "common/signals.h"

#include "player.h"
#include "record.h"
#include "save.h"
#include "view.h"

enum { SILENT_REFRESHES = 10 };

struct batch {
    const struct top_opts *opts;
    struct source *source;
    struct model *model;
    struct ui ui;
    struct snapshot *snapshot;
    struct out out;
    struct json json;
    uint64_t printed;
    uint64_t started_ns;
    uint32_t said;    /* tui_source_watch */
    roce_tstamp next; /* when the next screen is due, in the capture's time; 0: not yet known */
    struct model_batch frames;
};

static void snap(struct batch *batch)
{
    struct ui *ui = &batch->ui;
    struct snap_want want = ui_want(ui);
    const bool json = batch->opts->common.json || batch->opts->common.ndjson;
    const bool data = json || batch->opts->csv;
    if (data)
        want.latencies = SNAP_LATENCIES_ALL;
    else if (want.latencies == SNAP_LATENCIES_DUE)
        want.latencies = SNAP_LATENCIES_NONE;
    want.hosts = want.hosts || json;
    tui_model_snapshot(batch->model, &want, batch->snapshot);
    ui_settle(ui, batch->snapshot);
    /* Text shows a screenful of rows. */
    for (uint32_t i = ui->top; i < ui->n_order && i < ui->top + (uint32_t)ui->rows && !data; i++)
        tui_model_latency(batch->model, &batch->snapshot->row[ui->order[i]]);
}

/* The QP that --qp names, else the worst. */
static void open_qp(struct batch *batch)
{
    const struct snapshot *s = batch->snapshot;
    const struct snap_row *row = NULL;
    for (uint32_t i = 0; i < s->n_rows && row == NULL && batch->opts->has_qpn; i++)
        if (s->row[i].dest_qp == batch->opts->qpn)
            row = &s->row[i];
    if (row == NULL && !batch->opts->has_qpn && batch->ui.n_order > 0)
        row = &s->row[batch->ui.order[0]];
    if (row != NULL)
        ui_open(&batch->ui, row, 0);
}

static void fill_status(struct batch *batch, bool ended)
{
    struct ui_status *s = &batch->ui.status;
    struct source_info info;
    tui_source_info(batch->source, &info);
    s->live = info.live;
    s->run = info.live ? RUN_LIVE : ended ? RUN_ENDED : RUN_PLAYING;
    s->has_drops = info.has_drops;
    s->dropped_kernel = info.dropped_kernel;
    s->dropped_iface = info.dropped_iface;
    s->merged = info.merged;
    s->consumed = info.consumed;
    s->size = info.size;
    s->frames = tui_model_frames(batch->model);
    s->speed = batch->opts->speed_factor;
    memcpy(s->name, info.name, sizeof(s->name));
    (void)snprintf(s->bpf, sizeof(s->bpf), "%.90s", batch->opts->bpf);
    tui_model_dropped(batch->model, info.dropped_kernel + info.dropped_iface,
                      tui_source_clock(batch->source));
}

static bool print(struct batch *batch, bool ended)
{
    struct ui *ui = &batch->ui;
    const struct top_opts *opts = batch->opts;
    fill_status(batch, ended);
    snap(batch);
    if (ui->screen == SCREEN_QP) {
        open_qp(batch);
        snap(batch);
        if (ui->tab == TAB_HEADERS && opts->file != NULL)
            tui_save_fetch(opts->file, batch->snapshot);
    }
    ui->status.elapsed_ns = ui->status.live ? clock_monotonic_ns() - batch->started_ns
                                            : batch->snapshot->now - batch->snapshot->first;
    if (opts->common.json || opts->common.ndjson) {
        if (opts->common.ndjson || ended || batch->printed + 1 == opts->iterations)
            tui_record_snapshot(&batch->json, ui, batch->snapshot);
    } else if (opts->csv) {
        if (ended || batch->printed + 1 == opts->iterations)
            tui_save_rows(&batch->out, batch->snapshot, ui->order, ui->n_order);
    } else {
        struct canvas *canvas = tui_canvas_new(opts->rows, opts->cols, ui->ascii);
        if (canvas == NULL)
            return false;
        if (batch->printed > 0)
            out_str(&batch->out, "\n");
        view_draw(ui, batch->snapshot, canvas);
        tui_canvas_print(canvas, &batch->out);
        tui_canvas_del(canvas);
    }
    batch->printed++;
    out_flush(&batch->out);
    return out_ok(&batch->out);
}

static bool enough(const struct batch *batch)
{
    return batch->opts->iterations != 0 && batch->printed >= batch->opts->iterations;
}

/* Prints the screens that are due before a frame at |ts|. Returns whether to go on. */
static bool print_due(struct batch *batch, roce_tstamp ts)
{
    const uint64_t interval = batch->opts->settings.interval;
    if (ts == 0)
        return true;
    /* Without -n a file is printed once, at its end; a live capture again and again. */
    if (batch->opts->iterations == 0 && !batch->ui.status.live && !batch->opts->common.ndjson) {
        batch->next = UINT64_MAX;
        return true;
    }
    if (batch->next == 0)
        batch->next = ts + interval;
    while (ts >= batch->next) {
        tui_model_advance(batch->model, batch->next);
        if (!print(batch, false) || enough(batch))
            return false;
        /* A long silence is a few refreshes, not many. */
        batch->next += interval;
        if (ts > batch->next + SILENT_REFRESHES * interval)
            batch->next += (ts - batch->next) / interval * interval;
    }
    return true;
}

static bool wait_until_due(struct batch *batch, roce_tstamp ts)
{
    const double speed = batch->opts->speed_factor;
    static roce_tstamp first;
    if (speed == 0 || batch->ui.status.live || ts == 0)
        return true;
    if (first == 0 || ts < first)
        first = ts;
    const uint64_t due = batch->started_ns + (uint64_t)((double)(ts - first) / speed);
    for (uint64_t now = clock_monotonic_ns(); now < due && !signals_interrupted();
         now = clock_monotonic_ns()) {
        const uint64_t ns = due - now < 50000000 ? due - now : 50000000;
        const struct timespec nap = {.tv_nsec = (long)ns};
        (void)nanosleep(&nap, NULL);
    }
    return !signals_interrupted();
}

/* Counts the batch and prints what falls due between its frames. */
static bool feed(struct batch *batch)
{
    int from = 0;
    while (from < batch->frames.count) {
        if (!print_due(batch, batch->frames.frame[from].ts) ||
            !wait_until_due(batch, batch->frames.frame[from].ts))
            return false;
        int to = from + 1;
        while (to < batch->frames.count && batch->opts->speed_factor == 0 &&
               batch->frames.frame[to].ts < batch->next)
            to++;
        tui_model_feed(batch->model, &batch->frames, from, to);
        from = to;
    }
    return true;
}

/* What the user of a terminal sees in the first row. */
static void answer(struct batch *batch)
{
    const struct ui_status *s = &batch->ui.status;
    fill_status(batch, false);
    tui_source_watch(batch->source, &batch->said);
    if (signals_asked())
        msg_print("%" PRIu64 " packets captured, %" PRIu64 " processed, %" PRIu64
                  " dropped by the kernel, %" PRIu64 " by the interface",
                  s->frames, s->frames, s->dropped_kernel, s->dropped_iface);
}

/* No frame has come for a while. Returns whether to go on. */
static bool wait_on(struct batch *batch)
{
    const roce_tstamp now = tui_source_now(batch->source);
    const uint64_t waited = clock_monotonic_ns() - batch->started_ns;
    const bool idle = now == 0 && waited > (batch->printed + 1) * batch->opts->settings.interval;
    if ((idle && !print(batch, false)) || !print_due(batch, now) || enough(batch))
        return false;
    tui_model_advance(batch->model, now);
    return true;
}

static int loop(struct batch *batch)
{
    int n;
    fill_status(batch, false);
    for (;;) {
        answer(batch);
        /* Interfaces are read to the last frame that came before a signal: then 0 comes. */
        n = tui_source_next(batch->source, &batch->frames);
        if (n > 0 && !feed(batch)) {
            if (!signals_interrupted())
                return EXIT_DONE;
            break;
        }
        if (n == ROCE_ERR_AGAIN && !wait_on(batch))
            return EXIT_DONE;
        if (n <= 0 && n != ROCE_ERR_AGAIN)
            break;
    }
    tui_model_finish(batch->model);
    (void)print(batch, true);
    if (n >= 0)
        return EXIT_DONE;
    /* Which of the interfaces it was is in the text. */
    if (batch->ui.status.live)
        msg_print("%s; the last screen shows what came before", tui_source_text(batch->source));
    else
        msg_file(batch->ui.status.name, "%s; the last screen shows what came before",
                 tui_source_text(batch->source));
    return EXIT_IO;
}

static bool wants_ascii(const struct top_opts *opts)
{
    const char *locale = getenv("LC_ALL");
    if (locale == NULL || locale[0] == '\0')
        locale = getenv("LC_CTYPE");
    if (locale == NULL || locale[0] == '\0')
        locale = getenv("LANG");
    if (opts->settings.charset != CHARSET_AUTO)
        return opts->settings.charset == CHARSET_ASCII;
    return locale == NULL || (strstr(locale, "UTF-8") == NULL && strstr(locale, "utf8") == NULL);
}

int tui_batch_run(const struct top_opts *opts, struct source *source, struct roce_filter *filter)
{
    static struct batch batch;
    struct source_info info;
    int status = EXIT_IO;
    batch.opts = opts;
    batch.source = source;
    batch.started_ns = clock_monotonic_ns();
    tui_source_info(source, &info);
    const struct model_opts how = tui_player_model_opts(opts, &info);
    batch.model = tui_model_new(&how);
    batch.snapshot = tui_snapshot_new();
    if (batch.model == NULL || batch.snapshot == NULL ||
        ui_init(&batch.ui, &opts->settings, wants_ascii(opts)) != 0 ||
        out_init(&batch.out, STDOUT_FILENO) != 0) {
        msg_print("out of memory; use a smaller --max-flows or ring_mib");
    } else {
        batch.ui.rows = opts->rows;
        batch.ui.cols = opts->cols;
        if (opts->first_screen < 0)
            batch.ui.mode = (enum ui_mode) - opts->first_screen;
        else
            batch.ui.screen = (enum ui_screen)opts->first_screen;
        batch.ui.tab = (enum ui_tab)opts->first_tab;
        if (opts->filter != NULL)
            (void)snprintf(batch.ui.filter, sizeof(batch.ui.filter), "%s", opts->filter);
        json_init(&batch.json, &batch.out);
        tui_model_filter(batch.model, filter);
        status = loop(&batch);
        const int error = out_end(&batch.out);
        if (error != 0) {
            msg_file("standard output", "%s; not everything was printed", strerror(error));
            status = EXIT_IO;
        }
    }
    ui_free(&batch.ui);
    tui_snapshot_del(batch.snapshot);
    tui_model_del(batch.model);
    roce_filter_del(filter);
    tui_source_close(source);
    return status;
}
