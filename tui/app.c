/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop between terminal, state and counting thread. */
#include "app.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/colour.h"
#include "common/msg.h"

#include "player.h"
#include "save.h"
#include "term.h"
#include "view.h"

enum { INPUTS_MAX = 256, SAVE_POLL_MS = 50, IDLE_MS = 1000 };

struct app {
    const struct top_opts *opts;
    struct player *player;
    struct ui ui;
    struct snapshot *shown;
    struct canvas *canvas;
    struct save *save;
    struct snap_want asked; /* of the newest request */
    uint64_t next_ns;       /* when the next snapshot is asked for */
    bool end, changed, anew;
    bool fetched;    /* slices of |shown| were looked for in the file */
    bool opened;     /* --qp was looked for */
    bool end_unseen; /* the capture has ended behind what is shown */
};

static void request(struct app *app)
{
    app->asked = ui_want(&app->ui);
    tui_player_request(app->player, &app->asked);
    app->next_ns = clock_monotonic_ns() + app->ui.settings.interval;
}

static bool wants_more(const struct app *app)
{
    const struct snap_want want = ui_want(&app->ui);
    return (want.hosts && !app->asked.hosts) || want.latencies > app->asked.latencies ||
           want.detail != app->asked.detail || want.detail_serial != app->asked.detail_serial;
}

static bool resize(struct app *app)
{
    int rows, cols;
    tui_term_size(&rows, &cols);
    struct canvas *canvas = tui_canvas_new(rows, cols, app->ui.ascii);
    if (canvas == NULL)
        return false;
    tui_canvas_del(app->canvas);
    app->canvas = canvas;
    app->ui.rows = canvas->rows;
    app->ui.cols = canvas->cols;
    app->changed = app->anew = true;
    ui_settle(&app->ui, app->shown);
    return true;
}

static void draw(struct app *app)
{
    struct canvas *canvas = app->canvas;
    struct ui *ui = &app->ui;
    memset(canvas->cell, 0, (size_t)canvas->rows * (size_t)canvas->cols * sizeof(canvas->cell[0]));
    if (!ui->status.live)
        ui->status.elapsed_ns = app->shown->now - app->shown->first;
    if (ui->screen == SCREEN_QP && ui->tab == TAB_HEADERS && ui->status.seekable && !app->fetched) {
        tui_save_fetch(app->opts->file, app->shown);
        app->fetched = true;
    }
    view_draw(ui, app->shown, canvas);
    tui_term_show(canvas, app->anew);
    app->anew = app->changed = false;
}

/* ---- what the user asked for ---- */

static void set_filter(struct app *app)
{
    struct roce_filter_error error;
    struct roce_filter *filter = NULL;
    const char *text = app->ui.path;
    if (text[strspn(text, " \t")] != '\0') {
        filter = roce_filter_compile(text, &error);
        if (filter == NULL) {
            ui_filter_done(&app->ui, text, error.text, error.offset);
            return;
        }
        if (roce_filter_needs_icrc(filter) && app->opts->common.no_icrc) {
            ui_filter_done(&app->ui, text, "--no-icrc leaves the ICRC unchecked", SIZE_MAX);
            roce_filter_del(filter);
            return;
        }
    }
    tui_player_filter(app->player, filter);
    ui_filter_done(&app->ui, filter != NULL ? text : "", NULL, 0);
    request(app);
}

static void add_flow(const struct app *app, struct save_job *job, const struct snap_row *row)
{
    const struct snap_row *peer =
        row->peer != ROCE_FLOW_NONE ? tui_snapshot_row(app->shown, row->peer) : NULL;
    const struct snap_row *both[] = {row, peer};
    for (int i = 0; i < 2; i++) {
        if (both[i] == NULL || job->flows == sizeof(job->flow) / sizeof(job->flow[0]))
            continue;
        struct save_flow *flow = &job->flow[job->flows++];
        memcpy(flow->src, both[i]->src, 16);
        memcpy(flow->dst, both[i]->dst, 16);
        flow->dest_qp = both[i]->dest_qp;
        flow->id = both[i]->id;
    }
}

static bool choose_flows(const struct app *app, struct save_job *job)
{
    const struct ui *ui = &app->ui;
    if (ui->save_what == SAVE_MARKED) {
        for (uint32_t i = 0; i < ui->marks; i++) {
            const struct snap_row *row = tui_snapshot_row(app->shown, ui->mark[i].id);
            if (row != NULL && row->serial == ui->mark[i].serial)
                add_flow(app, job, row);
        }
        return job->flows > 0;
    }
    if (ui->save_what == SAVE_QP || ui->save_what == SAVE_WINDOW) {
        if (ui->screen == SCREEN_QP && app->shown->detail.valid)
            add_flow(app, job, &app->shown->detail.row);
        else if (ui->screen != SCREEN_QP && ui->cursor_at < ui->n_order)
            add_flow(app, job, &app->shown->row[ui->order[ui->cursor_at]]);
        return job->flows > 0;
    }
    return true;
}

static void start_save(struct app *app)
{
    struct ui *ui = &app->ui;
    struct save_job job = {.opts = app->opts, .last_frame = ui->status.position};
    if (tui_save_path_fault(ui->path, ui->fault, sizeof(ui->fault)))
        return;
    if (access(ui->path, F_OK) == 0 && !ui->overwrite) {
        (void)snprintf(ui->fault, sizeof(ui->fault), "it exists; Enter once more overwrites it");
        ui->overwrite = true;
        return;
    }
    ui->mode = MODE_SCREEN;
    if (ui->save_what == SAVE_TABLE) {
        const int error = tui_save_table(ui->path, app->shown, ui->order, ui->n_order);
        if (error != 0)
            ui_say(ui, true, "%.100s: %s", ui->path, strerror(error));
        else
            ui_say(ui, false, "%u rows saved to %.150s", ui->n_order, ui->path);
        return;
    }
    if (app->save != NULL) {
        ui_say(ui, true, "Still saving; try again.");
        return;
    }
    if (!choose_flows(app, &job)) {
        ui_say(ui, true, "That QP is gone.");
        return;
    }
    (void)memcpy(job.path, ui->path, sizeof(job.path));
    if (ui->save_what == SAVE_FILTERED)
        (void)memcpy(job.filter, ui->filter, sizeof(job.filter));
    if (ui->save_what == SAVE_WINDOW) {
        job.from = ui->from;
        job.until = ui->until;
    }
    if (!ui->status.seekable) {
        job.from_rings = tui_player_copy_rings(app->player, &job.newest, &job.kept);
        if (!job.from_rings) {
            ui_say(ui, true, "out of memory");
            return;
        }
    }
    app->save = tui_save_start(&job);
    ui_say(ui, app->save == NULL, app->save == NULL ? "out of memory" : "Saving...");
}

static void check_save(struct app *app)
{
    char text[512];
    bool failed;
    if (app->save == NULL || !tui_save_done(app->save, text, sizeof(text), &failed))
        return;
    app->save = NULL;
    ui_say(&app->ui, failed, "%.250s", text);
    app->changed = true;
}

static void save_settings(struct app *app)
{
    const char *path = app->opts->config_path;
    const int error = path[0] != '\0' ? tui_settings_save(&app->ui.settings, path) : ENOENT;
    if (error != 0)
        ui_say(&app->ui, true, "%.150s: %s", path[0] != '\0' ? path : "rocetop.conf",
               strerror(error));
    else
        ui_say(&app->ui, false, "Settings written to %.200s", path);
}

static void act(struct app *app, const struct ui_action *action)
{
    switch (action->kind) {
    case ACTION_NONE:
        break;
    case ACTION_QUIT:
        app->end = true;
        break;
    case ACTION_REDRAW:
        app->anew = true;
        break;
    case ACTION_PAUSE:
        tui_player_pause(app->player, action->on);
        break;
    case ACTION_SPEED:
        tui_player_speed(app->player, action->number);
        break;
    case ACTION_STEP:
        tui_player_step(app->player);
        break;
    case ACTION_SEEK: {
        const double to = (double)app->shown->now + action->number * 1e9;
        const roce_tstamp first = app->shown->first;
        tui_player_seek(app->player, to > (double)first ? (roce_tstamp)to : first, 0);
        break;
    }
    case ACTION_SEEK_TIME:
        tui_player_seek(app->player, action->ts, 0);
        break;
    case ACTION_SEEK_FRAME:
        tui_player_seek(app->player, 0, action->frame);
        break;
    case ACTION_FILTER:
        set_filter(app);
        break;
    case ACTION_RESET:
        tui_player_reset(app->player);
        ui_say(&app->ui, false, "Counters are reset.");
        request(app);
        break;
    case ACTION_SAVE:
        start_save(app);
        break;
    case ACTION_TUNE:
        tui_player_tune(app->player, &app->ui.settings);
        break;
    case ACTION_SAVE_SETTINGS:
        save_settings(app);
        break;
    }
}

/* ---- the loop ---- */

static void read_terminal(struct app *app)
{
    struct term_input input;
    for (int i = 0; i < INPUTS_MAX && !app->end; i++) {
        bool gone = false;
        if (!tui_term_read(&input, &gone)) {
            app->end = app->end || gone;
            return;
        }
        if (input.mouse)
            ui_mouse(&app->ui, app->shown, input.y, input.x, input.wheel, input.twice);
        else
            ui_key(&app->ui, app->shown, input.key);
        app->changed = true;
        for (struct ui_action action = ui_next_action(&app->ui); action.kind != ACTION_NONE;
             action = ui_next_action(&app->ui))
            act(app, &action);
        if (wants_more(app))
            request(app);
    }
}

/* --qp, or a screen about one QP, opens it as soon as there is one. */
static void open_first(struct app *app)
{
    const struct snapshot *s = app->shown;
    const bool wanted = app->opts->has_qpn || app->ui.screen == SCREEN_QP;
    if (app->opened || !wanted || app->ui.n_order == 0)
        return;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        const struct snap_row *row = app->opts->has_qpn ? &s->row[i] : &s->row[app->ui.order[0]];
        if (!app->opts->has_qpn || row->dest_qp == app->opts->qpn) {
            if (app->ui.screen == SCREEN_QP)
                app->ui.before = SCREEN_OVERVIEW;
            ui_open(&app->ui, row, 0);
            app->opened = true;
            request(app);
            return;
        }
    }
}

static bool is_over(enum ui_run run)
{
    return run == RUN_ENDED || run == RUN_FAILED;
}

/* Reads the player's state. The end is told only together with what there is at the end. */
static void read_status(struct app *app)
{
    const enum ui_run before = app->ui.status.run;
    const uint64_t merged = app->ui.status.merged, downs = app->ui.status.downs;
    tui_player_status(app->player, &app->ui.status);
    app->end_unseen = is_over(app->ui.status.run) && !app->shown->over;
    if (app->end_unseen)
        app->ui.status.run = !is_over(before)      ? before
                             : app->ui.status.live ? RUN_LIVE
                                                   : RUN_PLAYING;
    if (merged == 0 && app->ui.status.merged > 0)
        ui_say(&app->ui, true,
               "The receive offload merges packets, which hides them: ethtool -K %.40s"
               " gro off lro off",
               app->ui.status.name);
    if (app->ui.status.run == RUN_FAILED && before != RUN_FAILED)
        ui_say(&app->ui, true, "%s; this is what came before.", app->ui.status.error);
    if (app->ui.status.downs > downs)
        ui_say(&app->ui, true, "%.60s went down; frames come again once it is up.",
               app->ui.status.name);
}

/* Whether the model has gone on since the snapshot that is shown was taken. */
static bool is_stale(const struct app *app)
{
    return app->ui.status.frames != app->shown->totals.packets || app->end_unseen;
}

static bool moves(const struct app *app)
{
    const enum ui_run run = app->ui.status.run;
    return run == RUN_LIVE || run == RUN_PLAYING || run == RUN_SEEKING;
}

static void take(struct app *app)
{
    const enum ui_run run = app->ui.status.run;
    const bool taken = tui_player_take(app->player, &app->shown);
    read_status(app);
    if (taken) {
        app->fetched = false;
        ui_settle(&app->ui, app->shown);
        open_first(app);
    }
    /* Something else happened: a pause, the end, a place that was looked for is reached. */
    const bool arrived = app->end_unseen || !moves(app);
    if (!app->ui.frozen && arrived && is_stale(app))
        request(app);
    app->changed = app->changed || taken || run != app->ui.status.run;
}

static int timeout_ms(const struct app *app)
{
    const uint64_t now = clock_monotonic_ns();
    if (app->save != NULL)
        return SAVE_POLL_MS;
    if (app->ui.frozen)
        return IDLE_MS;
    const uint64_t left = app->next_ns > now ? app->next_ns - now : 0;
    return left > IDLE_MS * UINT64_C(1000000) ? IDLE_MS : (int)(left / 1000000) + 1;
}

/* It is time for a new snapshot, or at least for a look at what is always shown. */
static void tick(struct app *app)
{
    read_status(app);
    app->changed = app->changed || moves(app);
    if (!app->ui.frozen && (moves(app) || is_stale(app)))
        request(app);
    else
        app->next_ns = clock_monotonic_ns() + IDLE_MS * UINT64_C(1000000);
}

static void loop(struct app *app)
{
    struct pollfd fds[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = tui_term_signal_fd(), .events = POLLIN},
        {.fd = tui_player_fd(app->player), .events = POLLIN},
    };
    while (!app->end) {
        if (app->changed || app->anew)
            draw(app);
        if (poll(fds, 3, timeout_ms(app)) < 0 && errno != EINTR)
            return;
        const struct term_signals signals = tui_term_signals();
        if (signals.end || (signals.resized && !resize(app)))
            return;
        if (fds[2].revents != 0)
            take(app);
        if (fds[0].revents != 0)
            read_terminal(app);
        check_save(app);
        if (clock_monotonic_ns() >= app->next_ns)
            tick(app);
    }
}

static bool prepare(struct app *app, const struct top_opts *opts)
{
    const bool utf8 = opts->settings.charset == CHARSET_UTF8 ||
                      (opts->settings.charset == CHARSET_AUTO && tui_term_utf8());
    app->shown = tui_snapshot_new();
    if (app->shown == NULL || ui_init(&app->ui, &opts->settings, !utf8) != 0)
        return false;
    if (opts->first_screen < 0)
        app->ui.mode = (enum ui_mode) - opts->first_screen;
    else
        app->ui.screen = (enum ui_screen)opts->first_screen;
    app->ui.tab = (enum ui_tab)opts->first_tab;
    if (opts->filter != NULL)
        (void)snprintf(app->ui.filter, sizeof(app->ui.filter), "%s", opts->filter);
    (void)snprintf(app->ui.status.bpf, sizeof(app->ui.status.bpf), "%.90s", opts->bpf);
    return true;
}

static int show(struct app *app, const struct top_opts *opts)
{
    const int when =
        opts->common.colour != COLOUR_AUTO ? opts->common.colour : opts->settings.color;
    if (tui_term_open(colour_wanted((enum colour_when)when, STDOUT_FILENO), opts->settings.mouse) !=
        0)
        return EXIT_IO;
    /* Before the start: a short file may be over as soon as it begins, which is to be told. */
    tui_player_status(app->player, &app->ui.status);
    if (!resize(app) || tui_player_start(app->player) != 0) {
        tui_term_close();
        msg_print("out of memory");
        return EXIT_IO;
    }
    request(app);
    loop(app);
    tui_term_close();
    /* Why there was nothing more is worth a line that stays. */
    tui_player_status(app->player, &app->ui.status);
    if (app->ui.status.error[0] == '\0')
        return EXIT_DONE;
    if (app->ui.status.live)
        msg_print("%s", app->ui.status.error);
    else
        msg_file(app->ui.status.name, "%s", app->ui.status.error);
    return EXIT_IO;
}

int tui_app_run(const struct top_opts *opts, struct source *source, struct roce_filter *filter)
{
    static struct app app;
    int status = EXIT_IO;
    app.opts = opts;
    app.player = tui_player_new(opts, source, filter);
    if (app.player == NULL || !prepare(&app, opts))
        msg_print("out of memory; use a smaller --max-flows or ring_mib");
    else
        status = show(&app, opts);
    tui_save_wait(app.save);
    tui_player_del(app.player);
    tui_canvas_del(app.canvas);
    tui_snapshot_del(app.shown);
    ui_free(&app.ui);
    return status;
}
