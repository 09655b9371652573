/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys and the mouse do. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui.h"
#include "ui_internal.h"
#include "view.h"
#include "view_qp.h"

#define CTRL(c)   ((c)&0x1F)
#define SPEED_MIN 0.0625
#define SPEED_MAX 1024.0

enum { WHEEL_ROWS = 3, SEEK_SECONDS = 10 };

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

/* ---- moving ---- */

void ui_step(uint32_t *at, uint32_t count, int64_t by)
{
    const int64_t last = count > 0 ? (int64_t)count - 1 : 0;
    int64_t to = (int64_t)*at + by;
    to = to < 0 ? 0 : to > last ? last : to;
    *at = (uint32_t)to;
}

static void hold_cursor(struct ui *ui, const struct snapshot *snapshot)
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
static void hold_view(struct ui *ui)
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
    hold_view(ui);
    ui_step(&ui->frame_at, snapshot->detail.frames, by);
    ui->at = snapshot->frame[ui->frame_at].record.ts;
    const uint64_t length = ui->until - ui->from;
    if (ui->at < ui->from || ui->at > ui->until) {
        ui->from = ui->at > length / 2 ? ui->at - length / 2 : 0;
        ui->until = ui->from + length;
    }
}

static void move_rows(struct ui *ui, const struct snapshot *snapshot, int64_t by)
{
    switch (ui->screen) {
    case SCREEN_OVERVIEW:
    case SCREEN_QPS:
        ui_step(&ui->cursor_at, ui->n_order, by);
        hold_cursor(ui, snapshot);
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

static void pan(struct ui *ui, int columns)
{
    const struct qp_psn_span span = tui_qp_psn_span(ui->rows, ui->cols);
    const double per_column = (double)(ui->until - ui->from) / span.width;
    hold_view(ui);
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

static void zoom(struct ui *ui, double factor)
{
    const double length = (double)(ui->until - ui->from) * factor;
    if (length < 100 || length > 1e15)
        return;
    hold_view(ui);
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
    for (uint32_t i = from_here ? 0 : 1; i <= ui->n_order; i++) {
        const uint32_t n = ui->n_order;
        const uint32_t at = by > 0 ? (ui->cursor_at + i) % n : (ui->cursor_at + n - i % n) % n;
        if (tui_table_matches(&snapshot->row[ui->order[at]], ui->find)) {
            ui->cursor_at = at;
            hold_cursor(ui, snapshot);
            return;
        }
        if (n == 1)
            break;
    }
    ui_say(ui, true, "'%.64s' is in no row", ui->find);
}

/* ---- screens ---- */

void ui_set_sort(struct ui *ui, int column)
{
    ui->sort = (enum table_column)((column + COLUMN_COUNT) % COLUMN_COUNT);
    ui->inverted = false;
    (void)snprintf(ui->settings.sort, SETTING_TEXT_MAX, "%s", tui_table_column(ui->sort)->title);
    /* An order that was kept is the old one's. */
    if (ui->place_room > 0)
        memset(ui->place, 0, ui->place_room * sizeof(*ui->place));
}

static void show_screen(struct ui *ui, enum ui_screen screen)
{
    ui->screen = screen;
    ui->top = 0;
}

static void back(struct ui *ui)
{
    if (ui->screen == SCREEN_QP)
        show_screen(ui, ui->before);
    else if (ui->screen != SCREEN_OVERVIEW)
        show_screen(ui, SCREEN_OVERVIEW);
    else
        ui_act_kind(ui, ACTION_QUIT);
}

static void open_current(struct ui *ui, const struct snapshot *snapshot)
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

static void toggle_mark(struct ui *ui, const struct snapshot *snapshot)
{
    const struct snap_row *row = ui_current(ui, snapshot);
    if (row == NULL)
        return;
    for (uint32_t i = 0; i < ui->marks; i++) {
        if (ui->mark[i].id == row->id && ui->mark[i].serial == row->serial) {
            ui->mark[i] = ui->mark[--ui->marks];
            move_rows(ui, snapshot, ui->screen == SCREEN_QP ? 0 : 1);
            return;
        }
    }
    if (ui->marks == UI_MARKS_MAX) {
        ui_say(ui, true, "At most %d marks.", (int)UI_MARKS_MAX);
        return;
    }
    ui->mark[ui->marks++] = (struct ui_flow){row->id, row->serial};
    if (ui->screen != SCREEN_QP)
        move_rows(ui, snapshot, 1);
}

static void freeze(struct ui *ui)
{
    ui->frozen = !ui->frozen;
    ui->frozen_frames = ui->status.frames;
    if (!ui->frozen)
        ui->frame_follow = true;
}

/* Keys that only a file knows. Returns whether |key| was one. */
static bool file_key(struct ui *ui, uint32_t key)
{
    const struct ui_status *s = &ui->status;
    double speed = s->speed;
    if (key == 0 || key > 0x7F || strchr("p+-.[]:", (int)key) == NULL)
        return false;
    if (key == 'p' && (s->live || ui->frozen)) {
        freeze(ui);
        return true;
    }
    if (s->live) {
        ui_say(ui, true, "A live capture has no speed and no place to go to; p freezes the view.");
        return true;
    }
    switch (key) {
    case 'p':
        ui_act(ui, (struct ui_action){.kind = ACTION_PAUSE, .on = s->run != RUN_PAUSED});
        break;
    case '+':
        speed = speed == 0 || speed * 2 > SPEED_MAX ? 0 : speed * 2;
        ui_act(ui, (struct ui_action){.kind = ACTION_SPEED, .number = speed});
        break;
    case '-':
        speed = speed == 0 ? SPEED_MAX : speed / 2 < SPEED_MIN ? SPEED_MIN : speed / 2;
        ui_act(ui, (struct ui_action){.kind = ACTION_SPEED, .number = speed});
        break;
    case '.':
        ui_act_kind(ui, ACTION_STEP);
        break;
    case '[':
        ui_act(ui, (struct ui_action){.kind = ACTION_SEEK, .number = -SEEK_SECONDS});
        break;
    case ']':
        ui_act(ui, (struct ui_action){.kind = ACTION_SEEK, .number = SEEK_SECONDS});
        break;
    default:
        ui_begin_prompt(ui, PROMPT_GOTO, "");
        break;
    }
    return true;
}

/* Keys of the QP screen. Returns whether |key| was one. */
static bool qp_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key)
{
    const bool diagram = ui->tab == TAB_PSN;
    switch (key) {
    case 'd':
        ui->tab = TAB_PSN;
        return true;
    case 'm':
        ui->tab = TAB_MESSAGES;
        return true;
    case 'r':
        ui->tab = TAB_HEADERS;
        return true;
    case UI_KEY_F0 + 3:
    case '/':
        ui_begin_prompt(ui, PROMPT_PSN, "");
        return true;
    case UI_KEY_LEFT:
    case UI_KEY_RIGHT:
        if (diagram && snapshot->detail.frames > 0) {
            pan(ui, key == UI_KEY_LEFT ? -1 : 1);
            ui->frame_at = tui_qp_nearest(snapshot, ui->at);
        }
        return true;
    case '<':
    case '>':
        if (diagram)
            zoom(ui, key == '<' ? 2 : 0.5);
        return true;
    case '0':
        if (snapshot->detail.frames > 0) {
            ui->from = snapshot->frame[0].record.ts;
            ui->until = snapshot->frame[snapshot->detail.frames - 1].record.ts + 1;
            hold_view(ui);
        }
        return true;
    default:
        return false;
    }
}

static bool move_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key)
{
    const int page = view_list(ui).rows - 1 > 1 ? view_list(ui).rows - 1 : 1;
    switch (key) {
    case UI_KEY_UP:
    case 'k':
        move_rows(ui, snapshot, -1);
        return true;
    case UI_KEY_DOWN:
    case 'j':
        move_rows(ui, snapshot, 1);
        return true;
    case UI_KEY_PAGE_UP:
        move_rows(ui, snapshot, -page);
        return true;
    case UI_KEY_PAGE_DOWN:
        move_rows(ui, snapshot, page);
        return true;
    case UI_KEY_HOME:
    case 'g':
        move_rows(ui, snapshot, -(int64_t)UINT32_MAX);
        return true;
    case UI_KEY_END:
    case 'G':
        if (ui->screen == SCREEN_EVENTS)
            ui->event_at = 0;
        else if (ui->screen == SCREEN_QP && !ui->status.live)
            ui->frame_follow = true;
        else
            move_rows(ui, snapshot, UINT32_MAX);
        return true;
    case UI_KEY_LEFT:
        ui->first_column -= ui->first_column > 0;
        return true;
    case UI_KEY_RIGHT:
        ui->first_column += ui->first_column + view_columns_shown(ui) < ui->columns;
        return true;
    default:
        return false;
    }
}

static bool table_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key)
{
    switch (key) {
    case UI_KEY_F0 + 6:
        ui->mode = MODE_SORT;
        ui->menu_at = ui->sort;
        return true;
    case '<':
    case ',':
        ui_set_sort(ui, (int)ui->sort - 1);
        return true;
    case '>':
        ui_set_sort(ui, (int)ui->sort + 1);
        return true;
    case 'I':
    case 'z':
        ui->inverted = !ui->inverted;
        return true;
    case 'o':
        ui->settings.order = ui->settings.order == ORDER_LIVE ? ORDER_FROZEN : ORDER_LIVE;
        return true;
    case 't':
        ui->mode = MODE_COLUMNS;
        ui->menu_at = 0;
        return true;
    case 'w':
        ui->settings.wide = !ui->settings.wide;
        return true;
    case ' ':
        toggle_mark(ui, snapshot);
        return true;
    case 'U':
        ui->marks = 0;
        return true;
    default:
        return false;
    }
}

static bool view_key(struct ui *ui, uint32_t key)
{
    switch (key) {
    case 'Z':
        freeze(ui);
        return true;
    case 'u':
        ui->settings.units = ui->settings.units == UNITS_BITS ? UNITS_BYTES : UNITS_BITS;
        return true;
    case 'b':
        ui->settings.graph = ui->settings.graph == GRAPH_BARS ? GRAPH_LINES : GRAPH_BARS;
        return true;
    case 'L':
        ui->settings.log_scale = !ui->settings.log_scale;
        return true;
    case 'l':
        if (ui->screen == SCREEN_EVENTS)
            ui->settings.level = (ui->settings.level + 1) % LOG_LEVELS;
        return true;
    case UI_KEY_REDRAW:
    case CTRL('r'):
        ui_act_kind(ui, ACTION_REDRAW);
        return true;
    default:
        return false;
    }
}

static void screen_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key)
{
    if (ui->screen == SCREEN_QP && qp_key(ui, snapshot, key))
        return;
    if (file_key(ui, key) || move_key(ui, snapshot, key) || table_key(ui, snapshot, key) ||
        view_key(ui, key))
        return;
    switch (key) {
    case 'q':
    case UI_KEY_F0 + 10:
    case UI_KEY_ESCAPE:
        back(ui);
        break;
    case 'Q':
        ui_act_kind(ui, ACTION_QUIT);
        break;
    case UI_KEY_F0 + 1:
    case '?':
    case 'h':
        ui->mode = MODE_HELP;
        break;
    case UI_KEY_F0 + 2:
    case 's':
        ui->mode = MODE_SAVE;
        ui->menu_at = ui->screen == SCREEN_QP ? SAVE_QP : SAVE_ALL;
        break;
    case UI_KEY_F0 + 3:
    case '/':
        ui_begin_prompt(ui, PROMPT_FIND, ui->find);
        break;
    case 'n':
        ui_find_next(ui, snapshot, 1, false);
        break;
    case 'N':
        ui_find_next(ui, snapshot, -1, false);
        break;
    case UI_KEY_F0 + 4:
    case UI_KEY_F0 + 7:
    case '\\':
    case 'f':
        ui_begin_prompt(ui, PROMPT_FILTER, ui->filter);
        break;
    case UI_KEY_F0 + 5:
    case CTRL('l'):
        ui->mode = MODE_CONFIRM_RESET;
        break;
    case UI_KEY_F0 + 8:
        ui->mode = MODE_SETUP;
        break;
    case UI_KEY_TAB:
    case '\t':
        show_screen(ui, (enum ui_screen)((ui->screen + 1) % SCREEN_TABS));
        break;
    case UI_KEY_BACK_TAB:
        show_screen(ui, (enum ui_screen)((ui->screen + SCREEN_TABS - 1) % SCREEN_TABS));
        break;
    case UI_KEY_ENTER:
    case '\n':
    case '\r':
    case 'r':
        open_current(ui, snapshot);
        if (key == 'r' && ui->screen == SCREEN_QP)
            ui->tab = TAB_HEADERS;
        break;
    default:
        if (key >= '1' && key < '1' + SCREEN_TABS)
            show_screen(ui, (enum ui_screen)(key - '1'));
        break;
    }
}

void ui_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key)
{
    ui->message[0] = '\0';
    switch (ui->mode) {
    case MODE_SCREEN:
        screen_key(ui, snapshot, key);
        break;
    case MODE_HELP:
        ui->mode = MODE_SCREEN;
        break;
    case MODE_SETUP:
        ui_setup_key(ui, key);
        break;
    case MODE_SORT:
    case MODE_COLUMNS:
    case MODE_SAVE:
        ui_menu_key(ui, snapshot, key);
        break;
    case MODE_PROMPT:
        ui_prompt_key(ui, snapshot, key);
        break;
    case MODE_CONFIRM_RESET:
        ui->mode = MODE_SCREEN;
        if (key == 'y' || key == 'Y')
            ui_act_kind(ui, ACTION_RESET);
        break;
    }
    ui_settle(ui, snapshot);
}

static void click_row(struct ui *ui, const struct snapshot *snapshot, int row, bool twice)
{
    if (ui->screen == SCREEN_OVERVIEW || ui->screen == SCREEN_QPS) {
        if (ui->top + (uint32_t)row < ui->n_order) {
            ui->cursor_at = ui->top + (uint32_t)row;
            hold_cursor(ui, snapshot);
        }
    } else if (ui->screen == SCREEN_PFC) {
        ui->priority_at = (uint32_t)row < 8 ? (uint32_t)row : 7;
    } else if (ui->screen == SCREEN_HOSTS) {
        ui->host_at = ui->host_top + (uint32_t)row;
    } else if (ui->screen == SCREEN_QP && ui->tab == TAB_HEADERS) {
        ui_move_frame(ui, snapshot, (int64_t)ui->frame_top + row - ui->frame_at);
    }
    if (twice)
        open_current(ui, snapshot);
}

void ui_mouse(struct ui *ui, const struct snapshot *snapshot, int y, int x, int wheel, bool twice)
{
    const struct view_list list = view_list(ui);
    const int tabs = ui->screen == SCREEN_OVERVIEW ? 3 : 2;
    ui->message[0] = '\0';
    if (ui->mode != MODE_SCREEN) {
        if (ui->mode == MODE_HELP)
            ui->mode = MODE_SCREEN;
        return;
    }
    if (wheel != 0) {
        if (ui->screen == SCREEN_QP && ui->tab == TAB_PSN)
            zoom(ui, wheel > 0 ? 2 : 0.5);
        else
            move_rows(ui, snapshot, wheel * WHEEL_ROWS);
    } else if (y == tabs && ui->screen != SCREEN_QP) {
        const int tab = view_tab_at(x);
        if (tab >= 0)
            show_screen(ui, (enum ui_screen)tab);
    } else if (y == tabs) {
        ui->tab = x < 12 ? TAB_PSN : x < 23 ? TAB_MESSAGES : TAB_HEADERS;
    } else if (y == list.y - 1 && ui->screen <= SCREEN_QPS) {
        const int column = view_column_at(ui, x);
        if (column == (int)ui->sort)
            ui->inverted = !ui->inverted;
        else if (column >= 0)
            ui_set_sort(ui, column);
    } else if (ui->screen == SCREEN_QP && ui->tab == TAB_PSN && ui->until > ui->from) {
        const struct qp_psn_span span = tui_qp_psn_span(ui->rows, ui->cols);
        if (y >= span.y && y < span.y + span.rows && x >= span.x && snapshot->detail.frames > 0) {
            hold_view(ui);
            ui->at = ui->from + (uint64_t)((double)(ui->until - ui->from) * (x - span.x) /
                                           (span.width > 1 ? span.width - 1 : 1));
            ui->frame_at = tui_qp_nearest(snapshot, ui->at);
        }
    } else if (y >= list.y && y < list.y + list.rows) {
        click_row(ui, snapshot, y - list.y, twice);
    }
    ui_settle(ui, snapshot);
}
