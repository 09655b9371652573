/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys do. */
#include <string.h>

#include "ui_internal.h"
#include "view.h"
#include "view_qp.h"

#define CTRL(c)   ((c)&0x1F)
#define SPEED_MIN 0.0625
#define SPEED_MAX 1024.0

enum { SEEK_SECONDS = 10 };

/* Keys that only a file knows. Returns whether |key| was one. */
static bool file_key(struct ui *ui, uint32_t key)
{
    const struct ui_status *s = &ui->status;
    double speed = s->speed;
    if (key == 0 || key > 0x7F || strchr("p+-.[]:", (int)key) == NULL)
        return false;
    if (key == 'p' && (s->live || ui->frozen)) {
        ui_freeze(ui);
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
            ui_pan(ui, key == UI_KEY_LEFT ? -1 : 1);
            ui->frame_at = tui_qp_nearest(snapshot, ui->at);
        }
        return true;
    case '<':
    case '>':
        if (diagram)
            ui_zoom(ui, key == '<' ? 2 : 0.5);
        return true;
    case '0':
        if (snapshot->detail.frames > 0) {
            ui->from = snapshot->frame[0].record.ts;
            ui->until = snapshot->frame[snapshot->detail.frames - 1].record.ts + 1;
            ui_hold_view(ui);
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
        ui_move_rows(ui, snapshot, -1);
        return true;
    case UI_KEY_DOWN:
    case 'j':
        ui_move_rows(ui, snapshot, 1);
        return true;
    case UI_KEY_PAGE_UP:
        ui_move_rows(ui, snapshot, -page);
        return true;
    case UI_KEY_PAGE_DOWN:
        ui_move_rows(ui, snapshot, page);
        return true;
    case UI_KEY_HOME:
    case 'g':
        ui_move_rows(ui, snapshot, -(int64_t)UINT32_MAX);
        return true;
    case UI_KEY_END:
    case 'G':
        if (ui->screen == SCREEN_EVENTS)
            ui->event_at = 0;
        else if (ui->screen == SCREEN_QP && !ui->status.live)
            ui->frame_follow = true;
        else
            ui_move_rows(ui, snapshot, UINT32_MAX);
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
        ui_toggle_mark(ui, snapshot);
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
        ui_freeze(ui);
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
        ui_back(ui);
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
        ui_show_screen(ui, (enum ui_screen)((ui->screen + 1) % SCREEN_TABS));
        break;
    case UI_KEY_BACK_TAB:
        ui_show_screen(ui, (enum ui_screen)((ui->screen + SCREEN_TABS - 1) % SCREEN_TABS));
        break;
    case UI_KEY_ENTER:
    case '\n':
    case '\r':
    case 'r':
        ui_open_current(ui, snapshot);
        if (key == 'r' && ui->screen == SCREEN_QP)
            ui->tab = TAB_HEADERS;
        break;
    default:
        if (key >= '1' && key < '1' + SCREEN_TABS)
            ui_show_screen(ui, (enum ui_screen)(key - '1'));
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
