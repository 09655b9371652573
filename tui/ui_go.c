/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From screen to screen: opening, going back, marks, the view that stands still. */
#include <stdio.h>
#include <string.h>

#include "ui_internal.h"

void ui_act(struct ui *ui, struct ui_action action)
{
    if (ui->actions < UI_ACTIONS)
        ui->action[ui->actions++] = action;
}

void ui_act_kind(struct ui *ui, enum ui_action_kind kind)
{
    ui_act(ui, (struct ui_action){.kind = kind});
}

void ui_begin_prompt(struct ui *ui, enum ui_prompt prompt, const char *text)
{
    ui->mode = MODE_PROMPT;
    ui->prompt = prompt;
    (void)snprintf(ui->text, sizeof(ui->text), "%s", text);
    ui->text_at = strlen(ui->text);
    ui->fault[0] = '\0';
    ui->fault_at = SIZE_MAX;
    ui->overwrite = false;
}

const struct snap_row *ui_current(const struct ui *ui, const struct snapshot *snapshot)
{
    if (ui->screen == SCREEN_QP)
        return snapshot->detail.valid ? &snapshot->detail.row : NULL;
    return ui->cursor_at < ui->n_order ? &snapshot->row[ui->order[ui->cursor_at]] : NULL;
}

void ui_set_sort(struct ui *ui, int column)
{
    ui->sort = (enum table_column)((column + COLUMN_COUNT) % COLUMN_COUNT);
    ui->inverted = false;
    (void)snprintf(ui->settings.sort, SETTING_TEXT_MAX, "%s", tui_table_column(ui->sort)->title);
    /* An order that was kept is the old one's. */
    if (ui->place_room > 0)
        memset(ui->place, 0, ui->place_room * sizeof(*ui->place));
}

void ui_show_screen(struct ui *ui, enum ui_screen screen)
{
    ui->screen = screen;
    ui->top = 0;
}

void ui_back(struct ui *ui)
{
    if (ui->screen == SCREEN_QP)
        ui_show_screen(ui, ui->before);
    else if (ui->screen != SCREEN_OVERVIEW)
        ui_show_screen(ui, SCREEN_OVERVIEW);
    else
        ui_act_kind(ui, ACTION_QUIT);
}

void ui_open_current(struct ui *ui, const struct snapshot *snapshot)
{
    if (ui->screen == SCREEN_QP) {
        ui->tab = TAB_HEADERS;
        return;
    }
    if (ui->screen == SCREEN_EVENTS) {
        const struct log *log = &snapshot->log;
        const uint64_t at = ui->event_at != 0 ? ui->event_at : log->count;
        if (at == 0)
            return;
        const struct log_entry *entry = &log->entry[(at - 1) % LOG_ENTRIES];
        const struct snap_row *row =
            entry->has_flow ? tui_snapshot_row(snapshot, entry->flow) : NULL;
        if (row != NULL)
            ui_open(ui, row, entry->frame);
        else
            ui_say(ui, true, "This event belongs to no QP.");
        return;
    }
    const struct snap_row *row = ui_current(ui, snapshot);
    if ((ui->screen == SCREEN_OVERVIEW || ui->screen == SCREEN_QPS) && row != NULL)
        ui_open(ui, row, 0);
}

void ui_toggle_mark(struct ui *ui, const struct snapshot *snapshot)
{
    const struct snap_row *row = ui_current(ui, snapshot);
    if (row == NULL)
        return;
    for (uint32_t i = 0; i < ui->marks; i++) {
        if (ui->mark[i].id == row->id && ui->mark[i].serial == row->serial) {
            ui->mark[i] = ui->mark[--ui->marks];
            ui_move_rows(ui, snapshot, ui->screen == SCREEN_QP ? 0 : 1);
            return;
        }
    }
    if (ui->marks == UI_MARKS_MAX) {
        ui_say(ui, true, "At most %d marks.", (int)UI_MARKS_MAX);
        return;
    }
    ui->mark[ui->marks++] = (struct ui_flow){row->id, row->serial};
    if (ui->screen != SCREEN_QP)
        ui_move_rows(ui, snapshot, 1);
}

void ui_freeze(struct ui *ui)
{
    ui->frozen = !ui->frozen;
    ui->frozen_frames = ui->status.frames;
    if (!ui->frozen)
        ui->frame_follow = true;
}
