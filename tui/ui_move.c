/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moving: through lists and the diagram, to what is looked for. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "ui_internal.h"
#include "view.h"
#include "view_qp.h"

/* ---- moving ---- */

void ui_step(uint32_t *at, uint32_t count, int64_t by)
{
    const int64_t last = count > 0 ? (int64_t)count - 1 : 0;
    int64_t to = (int64_t)*at + by;
    to = to < 0 ? 0 : to > last ? last : to;
    *at = (uint32_t)to;
}

void ui_hold_cursor(struct ui *ui, const struct snapshot *snapshot)
{
    if (ui->cursor_at >= ui->n_order)
        return;
    const struct snap_row *row = &snapshot->row[ui->order[ui->cursor_at]];
    ui->cursor = (struct ui_flow){row->id, row->serial};
}

/* The next event of the list before or behind the selected one that |text| occurs in ("": any). */
static bool move_event(struct ui *ui, const struct snapshot *snapshot, int64_t by, const char *text)
{
    const struct log *log = &snapshot->log;
    const uint64_t oldest = log->count > LOG_ENTRIES ? log->count - LOG_ENTRIES + 1 : 1;
    uint64_t at = ui->event_at != 0 ? ui->event_at : log->count, found = 0;
    while (by != 0) {
        at += by > 0 ? 1 : (uint64_t)-1;
        if (at < oldest || at > log->count)
            break;
        const struct log_entry *entry = &log->entry[(at - 1) % LOG_ENTRIES];
        char detail[512], whole[640];
        if (!view_event_shown(ui, snapshot, entry))
            continue;
        (void)snprintf(whole, sizeof(whole), "%s %06" PRIx32 " %s",
                       tui_log_word((enum log_type)entry->type), entry->dest_qp,
                       tui_log_detail(detail, sizeof(detail), entry, false));
        if (!ui_contains(whole, text))
            continue;
        found = at;
        by += by > 0 ? -1 : 1;
    }
    if (found != 0)
        ui->event_at = found;
    return found != 0;
}

/* The view stands still while somebody looks at frames that a live capture will soon overwrite. */
void ui_hold_view(struct ui *ui)
{
    ui->frame_follow = false;
    if (ui->status.live && !ui->frozen) {
        ui->frozen = true;
        ui->frozen_frames = ui->status.frames;
        ui_say(ui, false, "The view stands still while you look; counting goes on. p goes on.");
    }
}

void ui_move_frame(struct ui *ui, const struct snapshot *snapshot, int64_t by)
{
    if (snapshot->detail.frames == 0)
        return;
    ui_hold_view(ui);
    ui_step(&ui->frame_at, snapshot->detail.frames, by);
    ui->at = snapshot->frame[ui->frame_at].record.ts;
    const uint64_t length = ui->until - ui->from;
    if (ui->at < ui->from || ui->at > ui->until) {
        ui->from = ui->at > length / 2 ? ui->at - length / 2 : 0;
        ui->until = ui->from + length;
    }
}

void ui_move_rows(struct ui *ui, const struct snapshot *snapshot, int64_t by)
{
    switch (ui->screen) {
    case SCREEN_OVERVIEW:
    case SCREEN_QPS:
        ui_step(&ui->cursor_at, ui->n_order, by);
        ui_hold_cursor(ui, snapshot);
        break;
    case SCREEN_PFC:
        ui_step(&ui->priority_at, 8, by);
        break;
    case SCREEN_EVENTS:
        (void)move_event(ui, snapshot, by, "");
        break;
    case SCREEN_HOSTS:
        ui_step(&ui->host_at, snapshot->n_hosts, by);
        break;
    case SCREEN_QP:
        ui_move_frame(ui, snapshot, by);
        break;
    }
}

/* ---- the diagram ---- */

void ui_pan(struct ui *ui, int columns)
{
    const struct qp_psn_span span = tui_qp_psn_span(ui->rows, ui->cols);
    const double per_column = (double)(ui->until - ui->from) / span.width;
    ui_hold_view(ui);
    double at = (double)ui->at + columns * per_column;
    at = at < 0 ? 0 : at;
    ui->at = (roce_tstamp)at;
    const uint64_t length = ui->until - ui->from;
    if (ui->at < ui->from) {
        ui->from = ui->from > length / 4 ? ui->from - length / 4 : 0;
        ui->until = ui->from + length;
    } else if (ui->at > ui->until) {
        ui->from += length / 4;
        ui->until += length / 4;
    }
}

void ui_zoom(struct ui *ui, double factor)
{
    const double length = (double)(ui->until - ui->from) * factor;
    if (length < 100 || length > 1e15)
        return;
    ui_hold_view(ui);
    const double before = (double)(ui->at > ui->from ? ui->at - ui->from : 0) * factor;
    const double from = (double)ui->at - before;
    ui->from = from > 0 ? (roce_tstamp)from : 0;
    ui->until = ui->from + (uint64_t)length;
}

static bool jump(struct ui *ui, const struct snapshot *snapshot, int by)
{
    const int64_t n = snapshot->detail.frames;
    for (int64_t i = (int64_t)ui->frame_at + by; i >= 0 && i < n; i += by) {
        if (tui_qp_frame_matters(&snapshot->frame[i])) {
            ui_move_frame(ui, snapshot, i - (int64_t)ui->frame_at);
            return true;
        }
    }
    ui_say(ui, false, "%s",
           by > 0 ? "Nothing further." : "Nothing before, in the frames that are kept.");
    return false;
}

/* ---- searching ---- */

bool ui_contains(const char *text, const char *part)
{
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (part[i] != '\0' &&
               tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (part[i] == '\0')
            return true;
    }
    return part[0] == '\0';
}

void ui_find_next(struct ui *ui, const struct snapshot *snapshot, int by, bool from_here)
{
    if (ui->screen == SCREEN_QP) {
        (void)jump(ui, snapshot, by);
        return;
    }
    if (ui->find[0] == '\0') {
        ui_begin_prompt(ui, PROMPT_FIND, "");
        return;
    }
    if (ui->screen == SCREEN_EVENTS) {
        if (!move_event(ui, snapshot, by > 0 ? -1 : 1, ui->find))
            ui_say(ui, true, "'%.64s' is in no further event", ui->find);
        return;
    }
    const uint32_t n = ui->n_order;
    for (uint32_t i = from_here ? 0 : 1; n > 0 && i <= n; i++) {
        const uint32_t at = by > 0 ? (ui->cursor_at + i) % n : (ui->cursor_at + n - i % n) % n;
        if (tui_table_matches(&snapshot->row[ui->order[at]], ui->find)) {
            ui->cursor_at = at;
            ui_hold_cursor(ui, snapshot);
            return;
        }
        if (n == 1)
            break;
    }
    ui_say(ui, true, "'%.64s' is in no row", ui->find);
}
