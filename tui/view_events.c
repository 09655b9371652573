/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events: what happened, in order. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "view_parts.h"

bool view_event_shown(const struct ui *ui, const struct snapshot *snapshot,
                      const struct log_entry *entry)
{
    if (entry->level < ui->settings.level)
        return false;
    if (!snapshot->filtered || !entry->has_flow)
        return true;
    const struct snap_row *row = tui_snapshot_row(snapshot, entry->flow);
    return row != NULL && row->matched;
}

static enum canvas_style style_of(const struct log_entry *entry)
{
    switch ((enum log_level)entry->level) {
    case LOG_ERR:
        return STYLE_ERROR;
    case LOG_WARN:
        return STYLE_WARN;
    case LOG_NOTE:
        return STYLE_PLAIN;
    case LOG_INFO:
    case LOG_LEVELS:
        break;
    }
    return STYLE_DIM;
}

void tui_parts_event(const struct snapshot *snapshot, struct canvas *canvas, int y,
                     const struct log_entry *entry, bool overview, bool selected)
{
    char clock[TUI_TEXT_MAX], qp[16] = "-", psn[16] = "-", detail[512];
    const enum canvas_style style = selected ? STYLE_CURSOR : style_of(entry);
    const bool gap = entry->type == LOG_TYPE_GAP || entry->type == LOG_TYPE_LOSS;
    (void)tui_log_detail(detail, sizeof(detail), entry,
                         gap && tui_snapshot_unsure(snapshot, entry->ts));
    if (entry->has_flow)
        (void)snprintf(qp, sizeof(qp), "%06" PRIx32, entry->dest_qp);
    if (entry->has_psn)
        (void)snprintf(psn, sizeof(psn), "%" PRIu32, entry->psn);
    if (selected)
        tui_canvas_style(canvas, y, 0, canvas->cols, STYLE_CURSOR);
    if (overview && entry->has_flow)
        (void)tui_canvas_printf(canvas, y, 1, style, "%s %-4s %-8s %s psn %s, %s",
                                tui_text_clock(clock, entry->ts, 3),
                                tui_log_level_word((enum log_level)entry->level),
                                tui_log_word((enum log_type)entry->type), qp, psn, detail);
    else if (overview)
        (void)tui_canvas_printf(canvas, y, 1, style, "%s %-4s %-8s %s",
                                tui_text_clock(clock, entry->ts, 3),
                                tui_log_level_word((enum log_level)entry->level),
                                tui_log_word((enum log_type)entry->type), detail);
    else
        (void)tui_canvas_printf(canvas, y, 0, style, "%c %s  %-5s  %-8s  %-6s  %-8s  %s",
                                selected ? '>' : ' ', tui_text_clock(clock, entry->ts, 6),
                                tui_log_level_word((enum log_level)entry->level),
                                tui_log_word((enum log_type)entry->type), qp, psn, detail);
    if (selected)
        tui_canvas_style(canvas, y, 0, canvas->cols, STYLE_CURSOR);
}

void view_events(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    static const struct log_entry *entry[LOG_ENTRIES];
    const struct log *log = &snapshot->log;
    const struct view_list list = view_list(ui);
    const uint64_t kept = log->count < LOG_ENTRIES ? log->count : LOG_ENTRIES;
    uint32_t n = 0, selected = 0;
    for (uint64_t i = kept; i > 0; i--) {
        const struct log_entry *e = &log->entry[(log->count - i) % LOG_ENTRIES];
        if (!view_event_shown(ui, snapshot, e))
            continue;
        if (e->seq <= ui->event_at)
            selected = n;
        entry[n++] = e;
    }
    if (ui->event_at == 0 && n > 0)
        selected = n - 1;
    char line[UI_TEXT_LEN + 128];
    (void)snprintf(line, sizeof(line),
                   "events %" PRIu64 ", shown %" PRIu32 "   level >= %s   filter: %s", log->count,
                   n, tui_log_level_word((enum log_level)ui->settings.level),
                   ui->filter[0] != '\0' ? ui->filter : "-");
    const char *follow = ui->event_at == 0 ? "follow: on" : "follow: off (End)";
    const int room = canvas->cols - (int)strlen(follow) - 3;
    (void)tui_canvas_text(canvas, 1, 1, room, STYLE_PLAIN, line);
    tui_canvas_right(canvas, 1, canvas->cols - 1, STYLE_PLAIN, follow);
    tui_parts_tabs(ui, canvas, 2, kept < log->count ? "older ones are forgotten" : "");
    (void)tui_canvas_printf(canvas, 3, 0, STYLE_BOLD, "  %-15s  %-5s  %-8s  %-6s  %-8s  %s", "TIME",
                            "LEVEL", "TYPE", "QP", "PSN", "DETAIL");
    if (n == 0)
        (void)tui_canvas_text(canvas, list.y, 2, canvas->cols - 2, STYLE_DIM,
                              "none so far (l lowers the level)");
    /* As much as fits with the selected one in view. */
    const uint32_t rows = (uint32_t)list.rows;
    uint32_t top = n > rows ? n - rows : 0;
    if (selected < top)
        top = selected;
    for (uint32_t i = 0; i < rows && top + i < n; i++)
        tui_parts_event(snapshot, canvas, list.y + (int)i, entry[top + i], false,
                        top + i == selected);
    const int y = canvas->rows - 3;
    if (y > list.y + (int)n) {
        (void)tui_canvas_text(
            canvas, y, 1, canvas->cols - 1, STYLE_DIM,
            "capture drops mark every gap of the same second \"unsure\", not \"lost\"");
        (void)tui_canvas_text(
            canvas, y + 1, 1, canvas->cols - 1, STYLE_DIM,
            "repeats are folded (x12); thresholds: F8 or [events] in the rc file");
    }
}
