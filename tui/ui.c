/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the user interface. */
#include "ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"
#include "view_qp.h"

/* Frames before and behind a gap that the diagram begins with. */
enum { AROUND_BEFORE = 30, AROUND_BEHIND = 60, AROUND_MIN = 8, SILENCE_FACTOR = 8 };

int ui_init(struct ui *ui, const struct settings *settings, bool ascii)
{
    *ui = (struct ui){.settings = *settings, .ascii = ascii, .rows = 24, .cols = 80};
    ui->screen = ui->before = (enum ui_screen)settings->screen;
    ui->cursor.id = ui->open.id = ROCE_FLOW_NONE;
    ui->columns = tui_table_choose(settings->columns, ui->column);
    if (ui->columns <= 0)
        ui->columns = tui_table_choose("", ui->column);
    const int sort = tui_table_column_by_name(settings->sort);
    ui->sort = sort >= 0 ? (enum table_column)sort : COLUMN_GAP;
    ui->fault_at = SIZE_MAX;
    ui->order = calloc(SNAP_ROWS_MAX, sizeof(*ui->order));
    return ui->order != NULL ? 0 : -1;
}

void ui_free(struct ui *ui)
{
    free(ui->order);
    free(ui->place);
    ui->order = ui->place = NULL;
}

void ui_say(struct ui *ui, bool bad, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(ui->message, sizeof(ui->message), format, args);
    va_end(args);
    ui->message_bad = bad;
}

bool ui_is_marked(const struct ui *ui, const struct snap_row *row)
{
    for (uint32_t i = 0; i < ui->marks; i++)
        if (ui->mark[i].id == row->id && ui->mark[i].serial == row->serial)
            return true;
    return false;
}

int ui_screen_by_name(const char *name, int *tab)
{
    static const struct {
        const char *name;
        int screen, tab;
    } names[] = {
        {"overview", SCREEN_OVERVIEW, TAB_PSN}, {"qps", SCREEN_QPS, TAB_PSN},
        {"pfc", SCREEN_PFC, TAB_PSN},           {"events", SCREEN_EVENTS, TAB_PSN},
        {"hosts", SCREEN_HOSTS, TAB_PSN},       {"qp", SCREEN_QP, TAB_PSN},
        {"messages", SCREEN_QP, TAB_MESSAGES},  {"headers", SCREEN_QP, TAB_HEADERS},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i].name, name) == 0) {
            *tab = names[i].tab;
            return names[i].screen;
        }
    }
    return -1;
}

struct ui_action ui_next_action(struct ui *ui)
{
    const struct ui_action action = ui->action[0];
    if (ui->actions == 0)
        return (struct ui_action){.kind = ACTION_NONE};
    ui->actions--;
    memmove(&ui->action[0], &ui->action[1], ui->actions * sizeof(ui->action[0]));
    return action;
}

struct snap_want ui_want(const struct ui *ui)
{
    return (struct snap_want){
        .hosts = ui->screen == SCREEN_HOSTS,
        .latencies = ui->sort == COLUMN_P99 || ui->sort == COLUMN_P50 ? SNAP_LATENCIES_ALL
                                                                      : SNAP_LATENCIES_DUE,
        .detail = ui->screen == SCREEN_QP ? ui->open.id : ROCE_FLOW_NONE,
        .detail_serial = ui->open.serial,
    };
}

void ui_open(struct ui *ui, const struct snap_row *row, uint64_t frame)
{
    if (ui->screen != SCREEN_QP)
        ui->before = ui->screen;
    ui->screen = SCREEN_QP;
    ui->open = (struct ui_flow){row->id, row->serial};
    ui->rehook = true;
    ui->jump_frame = frame;
    ui->frame_follow = true;
}

void ui_filter_done(struct ui *ui, const char *text, const char *fault, size_t offset)
{
    if (fault == NULL) {
        (void)snprintf(ui->filter, sizeof(ui->filter), "%s", text);
        ui->mode = MODE_SCREEN;
        ui->fault[0] = '\0';
        return;
    }
    ui->mode = MODE_PROMPT;
    ui->prompt = PROMPT_FILTER;
    (void)snprintf(ui->text, sizeof(ui->text), "%s", text);
    (void)snprintf(ui->fault, sizeof(ui->fault), "%s", fault);
    ui->text_at = strlen(ui->text);
    ui->fault_at = offset;
}

/* ---- order of the table ---- */

static bool place_room(struct ui *ui, const struct snapshot *snapshot)
{
    const uint32_t wanted = snapshot->n_rows > 0 ? snapshot->row[snapshot->n_rows - 1].id + 1 : 0;
    if (wanted <= ui->place_room)
        return true;
    uint32_t *place = realloc(ui->place, wanted * sizeof(*place));
    if (place == NULL)
        return false;
    memset(place + ui->place_room, 0, (wanted - ui->place_room) * sizeof(*place));
    ui->place = place;
    ui->place_room = wanted;
    return true;
}

struct placed {
    uint32_t place, row;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Rows that had a place keep their order; new ones follow, sorted. */
static void freeze_order(struct ui *ui, const struct snapshot *snapshot)
{
    struct placed *list = calloc(ui->n_order + 1, sizeof(*list));
    if (list == NULL || !place_room(ui, snapshot)) {
        free(list);
        return;
    }
    for (uint32_t i = 0; i < ui->n_order; i++) {
        const uint32_t place = ui->place[snapshot->row[ui->order[i]].id];
        list[i].row = ui->order[i];
        list[i].place = place != 0 ? place : SNAP_ROWS_MAX + 1 + i;
    }
    qsort(list, ui->n_order, sizeof(*list), by_place);
    for (uint32_t i = 0; i < ui->n_order; i++) {
        ui->order[i] = list[i].row;
        ui->place[snapshot->row[list[i].row].id] = i + 1;
    }
    free(list);
}

static void settle_order(struct ui *ui, const struct snapshot *snapshot)
{
    ui->n_order = tui_table_sort(snapshot, ui->sort, ui->inverted, ui->order);
    if (ui->settings.order == ORDER_FROZEN) {
        freeze_order(ui, snapshot);
    } else if (ui->place_room > 0) {
        memset(ui->place, 0, ui->place_room * sizeof(*ui->place));
    }
    /* The cursor stays on its flow; before the user moved it, on the first row. */
    if (ui->cursor.id != ROCE_FLOW_NONE) {
        for (uint32_t i = 0; i < ui->n_order; i++) {
            const struct snap_row *row = &snapshot->row[ui->order[i]];
            if (row->id == ui->cursor.id && row->serial == ui->cursor.serial) {
                ui->cursor_at = i;
                break;
            }
        }
    } else {
        ui->cursor_at = 0;
    }
    if (ui->cursor_at >= ui->n_order)
        ui->cursor_at = ui->n_order > 0 ? ui->n_order - 1 : 0;
}

/* Keeps |at| in view, with |margin| rows around it. */
static uint32_t scroll(uint32_t top, uint32_t at, uint32_t count, uint32_t rows, uint32_t margin)
{
    const uint32_t above = at > margin ? at - margin : 0;
    if (above < top)
        top = above;
    if (at + margin >= top + rows)
        top = at + margin + 1 - rows;
    if (top + rows > count)
        top = count > rows ? count - rows : 0;
    return top;
}

/* ---- the QP that is open ---- */

static void show_all(struct ui *ui, const struct snapshot *snapshot)
{
    const uint32_t n = snapshot->detail.frames;
    ui->from = snapshot->frame[0].record.ts;
    ui->until = snapshot->frame[n - 1].record.ts;
    if (ui->until <= ui->from)
        ui->until = ui->from + 1000;
}

static uint64_t passed(roce_tstamp from, roce_tstamp to)
{
    return to > from ? to - from : 0;
}

/* Whether the silence from |from| to |to| would leave too little of a window for the |span| before.
 */
static bool is_silence(roce_tstamp from, roce_tstamp to, uint64_t span)
{
    return passed(from, to) / SILENCE_FACTOR > span;
}

/* The first and last frame to show around |at|: before a long silence, and up to one behind what
 * was resent. */
static uint32_t first_around(const struct snapshot *snapshot, uint32_t at)
{
    const struct snap_frame *frame = snapshot->frame;
    uint32_t i = at;
    while (i > 0 && at - i < AROUND_BEFORE) {
        const roce_tstamp ts = frame[i].record.ts;
        if (at - i >= AROUND_MIN &&
            is_silence(frame[i - 1].record.ts, ts, passed(ts, frame[at].record.ts)))
            break;
        i--;
    }
    return i;
}

static uint32_t last_around(const struct snapshot *snapshot, uint32_t at)
{
    const struct snap_frame *frame = snapshot->frame;
    bool resent = false;
    uint32_t i = at;
    while (i + 1 < snapshot->detail.frames && i - at < AROUND_BEHIND) {
        const roce_tstamp ts = frame[i].record.ts;
        if (resent && i - at >= AROUND_MIN &&
            is_silence(ts, frame[i + 1].record.ts, passed(frame[at].record.ts, ts)))
            break;
        i++;
        resent = resent || (frame[i].record.flags & ROCE_V_RETRANSMITTED) != 0;
    }
    return i;
}

/* The window around frame |at|. */
static void show_around(struct ui *ui, const struct snapshot *snapshot, uint32_t at)
{
    const uint32_t first = first_around(snapshot, at), last = last_around(snapshot, at);
    ui->from = snapshot->frame[first].record.ts;
    ui->until = snapshot->frame[last].record.ts;
    if (ui->until <= ui->from)
        ui->until = ui->from + 1000;
    ui->at = snapshot->frame[at].record.ts;
    ui->frame_at = at;
}

static void hook(struct ui *ui, const struct snapshot *snapshot)
{
    const uint32_t n = snapshot->detail.frames;
    uint32_t at = n - 1;
    bool found = false;
    for (uint32_t i = n; i > 0 && !found; i--) {
        const struct ring_record *r = &snapshot->frame[i - 1].record;
        found = ui->jump_frame != 0 ? r->number <= ui->jump_frame : (r->flags & ROCE_V_GAP) != 0;
        at = found ? i - 1 : at;
    }
    /* Without a gap the newest thing that matters. */
    for (uint32_t i = n; i > 0 && !found; i--) {
        found = tui_qp_frame_matters(&snapshot->frame[i - 1]);
        at = found ? i - 1 : at;
    }
    if (found) {
        show_around(ui, snapshot, at);
        ui->frame_follow = false;
    } else {
        show_all(ui, snapshot);
        ui->at = ui->until;
        ui->frame_at = n - 1;
    }
    ui->rehook = false;
    ui->jump_frame = 0;
}

static void settle_detail(struct ui *ui, const struct snapshot *snapshot)
{
    const uint32_t n = snapshot->detail.frames;
    if (!snapshot->detail.valid || n == 0)
        return;
    if (ui->rehook) {
        hook(ui, snapshot);
    } else if (ui->frame_follow) {
        /* As long as nobody looks at something else, the newest frames. */
        show_all(ui, snapshot);
        ui->at = ui->until;
        ui->frame_at = n - 1;
    } else {
        ui->frame_at = tui_qp_nearest(snapshot, ui->at);
    }
    const struct view_list list = view_list(ui);
    if (ui->frame_at >= n)
        ui->frame_at = n - 1;
    ui->frame_top =
        scroll(ui->frame_top, ui->frame_at, n, (uint32_t)list.rows, (uint32_t)list.rows / 3);
}

void ui_settle(struct ui *ui, const struct snapshot *snapshot)
{
    const struct view_list list = view_list(ui);
    settle_order(ui, snapshot);
    ui->top = scroll(ui->top, ui->cursor_at, ui->n_order, (uint32_t)list.rows, 0);
    if (ui->host_at >= snapshot->n_hosts)
        ui->host_at = snapshot->n_hosts > 0 ? snapshot->n_hosts - 1 : 0;
    ui->host_top = scroll(ui->host_top, ui->host_at, snapshot->n_hosts, (uint32_t)list.rows, 0);
    if (ui->first_column >= ui->columns)
        ui->first_column = ui->columns - 1;
    if (ui->screen == SCREEN_QP)
        settle_detail(ui, snapshot);
}
