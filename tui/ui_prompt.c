/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prompts, menus and the Setup screen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <roce/psn.h>

#include "common/units.h"

#include "ui.h"
#include "ui_internal.h"

#define CTRL(c) ((c)&0x1F)

/* ---- prompts ---- */

static void go_to_psn(struct ui *ui, const struct snapshot *snapshot)
{
    char *end;
    const unsigned long psn = strtoul(ui->text, &end, 0);
    if (end == ui->text || *end != '\0' || psn > ROCE_PSN_MASK) {
        (void)snprintf(ui->fault, sizeof(ui->fault), "a PSN is a number below 16777216");
        return;
    }
    for (uint32_t i = 0; i < snapshot->detail.frames; i++) {
        if (snapshot->frame[i].record.has_bth && snapshot->frame[i].record.psn == psn) {
            ui->mode = MODE_SCREEN;
            ui_move_frame(ui, snapshot, (int64_t)i - ui->frame_at);
            return;
        }
    }
    (void)snprintf(ui->fault, sizeof(ui->fault), "PSN %lu is in none of the frames that are kept",
                   psn);
}

static void go_to(struct ui *ui, const struct snapshot *snapshot)
{
    unsigned h, m;
    double s;
    char *end;
    struct ui_action action = {.kind = ACTION_SEEK_TIME};
    if (sscanf(ui->text, "%u:%u:%lf", &h, &m, &s) == 3 && h < 24 && m < 60 && s < 61) {
        const time_t day = (time_t)(snapshot->now / 1000000000);
        struct tm tm;
        if (localtime_r(&day, &tm) == NULL)
            return;
        tm.tm_hour = (int)h;
        tm.tm_min = (int)m;
        tm.tm_sec = 0;
        action.ts = (roce_tstamp)mktime(&tm) * 1000000000 + (roce_tstamp)(s * 1e9);
    } else if (ui->text[0] == '+') {
        uint64_t ns;
        if (units_parse_duration(ui->text + 1, &ns) != 0) {
            (void)snprintf(ui->fault, sizeof(ui->fault), "a time has a unit: +90s, +250ms");
            return;
        }
        action.ts = snapshot->first + ns;
    } else {
        action.kind = ACTION_SEEK_FRAME;
        action.frame = strtoull(ui->text, &end, 10);
        if (end == ui->text || *end != '\0' || action.frame == 0) {
            (void)snprintf(
                ui->fault, sizeof(ui->fault),
                "give a time of day, + and a time from the beginning, or a frame number");
            return;
        }
    }
    ui->mode = MODE_SCREEN;
    ui_act(ui, action);
}

static void take_prompt(struct ui *ui, const struct snapshot *snapshot)
{
    char wrong[160];
    ui->fault[0] = '\0';
    ui->fault_at = SIZE_MAX;
    switch (ui->prompt) {
    case PROMPT_FIND:
        (void)snprintf(ui->find, sizeof(ui->find), "%s", ui->text);
        ui->mode = MODE_SCREEN;
        if (ui->find[0] != '\0')
            ui_find_next(ui, snapshot, 1, ui->screen != SCREEN_EVENTS);
        break;
    case PROMPT_FILTER:
        /* The program answers by ui_filter_done. */
        (void)snprintf(ui->path, sizeof(ui->path), "%s", ui->text);
        ui_act_kind(ui, ACTION_FILTER);
        break;
    case PROMPT_PATH:
        if (ui->text[0] == '\0') {
            ui->mode = MODE_SCREEN;
            break;
        }
        (void)snprintf(ui->path, sizeof(ui->path), "%s", ui->text);
        ui_act_kind(ui, ACTION_SAVE);
        break;
    case PROMPT_GOTO:
        go_to(ui, snapshot);
        break;
    case PROMPT_PSN:
        go_to_psn(ui, snapshot);
        break;
    case PROMPT_SETTING: {
        const char *key = tui_settings_at(ui->setup_at)->key;
        const char *fault = tui_settings_set(&ui->settings, key, ui->text, wrong, sizeof(wrong));
        if (fault == NULL && strcmp(key, "columns") == 0) {
            uint8_t list[COLUMN_COUNT];
            if (tui_table_choose(ui->text, list) < 0)
                fault = "columns are named by their titles, each once";
        }
        if (fault == NULL && strcmp(key, "sort") == 0 && tui_table_column_by_name(ui->text) < 0)
            fault = "there is no such column";
        if (fault != NULL) {
            (void)snprintf(ui->fault, sizeof(ui->fault), "%s", fault);
            break;
        }
        ui->mode = MODE_SETUP;
        ui_apply_settings(ui);
        ui_act_kind(ui, ACTION_TUNE);
        break;
    }
    }
}

void ui_apply_settings(struct ui *ui)
{
    const int n = tui_table_choose(ui->settings.columns, ui->column);
    ui->columns = n > 0 ? n : tui_table_choose("", ui->column);
    const int sort = tui_table_column_by_name(ui->settings.sort);
    if (sort >= 0)
        ui->sort = (enum table_column)sort;
}

static void delete_before(struct ui *ui)
{
    size_t from = ui->text_at;
    if (from == 0)
        return;
    do
        from--;
    while (from > 0 && ((unsigned char)ui->text[from] & 0xC0) == 0x80);
    memmove(ui->text + from, ui->text + ui->text_at, strlen(ui->text + ui->text_at) + 1);
    ui->text_at = from;
}

static void insert(struct ui *ui, uint32_t key)
{
    char bytes[4];
    const size_t n = (size_t)tui_canvas_encode(key, bytes), len = strlen(ui->text);
    if (key < ' ' || key == 0x7F || key > 0xFFFF || len + n >= sizeof(ui->text))
        return;
    memmove(ui->text + ui->text_at + n, ui->text + ui->text_at, len - ui->text_at + 1);
    memcpy(ui->text + ui->text_at, bytes, n);
    ui->text_at += n;
}

void ui_prompt_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key)
{
    const size_t len = strlen(ui->text);
    if (key != UI_KEY_ENTER && key != '\n' && key != '\r')
        ui->overwrite = false;
    switch (key) {
    case UI_KEY_ESCAPE:
    case UI_KEY_F0 + 10:
    case CTRL('g'):
        ui->mode = ui->prompt == PROMPT_SETTING ? MODE_SETUP : MODE_SCREEN;
        ui->fault[0] = '\0';
        break;
    case UI_KEY_ENTER:
    case '\n':
    case '\r':
        take_prompt(ui, snapshot);
        break;
    case UI_KEY_BACKSPACE:
    case CTRL('h'):
    case 0x7F:
        delete_before(ui);
        break;
    case UI_KEY_DELETE:
        if (ui->text_at < len) {
            do
                ui->text_at++;
            while (((unsigned char)ui->text[ui->text_at] & 0xC0) == 0x80);
            delete_before(ui);
        }
        break;
    case CTRL('u'):
        ui->text[0] = '\0';
        ui->text_at = 0;
        break;
    case UI_KEY_LEFT:
        while (ui->text_at > 0 && ((unsigned char)ui->text[--ui->text_at] & 0xC0) == 0x80)
            ;
        break;
    case UI_KEY_RIGHT:
        while (ui->text_at < len && ((unsigned char)ui->text[++ui->text_at] & 0xC0) == 0x80)
            ;
        break;
    case UI_KEY_HOME:
    case CTRL('a'):
        ui->text_at = 0;
        break;
    case UI_KEY_END:
    case CTRL('e'):
        ui->text_at = len;
        break;
    default:
        insert(ui, key);
        break;
    }
}

/* ---- menus ---- */

static void begin_save(struct ui *ui, const struct snapshot *snapshot, enum ui_save what)
{
    const struct snap_row *row = ui_current(ui, snapshot);
    char path[64];
    if (what == SAVE_MARKED && ui->marks == 0) {
        ui_say(ui, true, "No QP is marked; Space marks one.");
        return;
    }
    if (what == SAVE_FILTERED && ui->filter[0] == '\0') {
        ui_say(ui, true, "There is no filter; F4 sets one.");
        return;
    }
    if ((what == SAVE_QP || what == SAVE_WINDOW) && row == NULL) {
        ui_say(ui, true, "No QP is selected.");
        return;
    }
    if (what == SAVE_WINDOW && ui->screen != SCREEN_QP) {
        ui_say(ui, true, "Open a QP first (Enter): its diagram chooses the time.");
        return;
    }
    ui->save_what = what;
    if (what == SAVE_TABLE)
        (void)snprintf(path, sizeof(path), "rocetop.csv");
    else if (what == SAVE_QP || what == SAVE_WINDOW)
        (void)snprintf(path, sizeof(path), "rocetop-qp%06" PRIx32 ".pcapng", row->dest_qp);
    else
        (void)snprintf(path, sizeof(path), "rocetop.pcapng");
    ui_begin_prompt(ui, PROMPT_PATH, path);
}

static void toggle_column(struct ui *ui, uint8_t column)
{
    bool shown[COLUMN_COUNT] = {false};
    int n = 0;
    for (int i = 0; i < ui->columns; i++)
        shown[ui->column[i]] = true;
    if (column == COLUMN_DQPN)
        return;
    shown[column] = !shown[column];
    ui->settings.columns[0] = '\0';
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (!shown[i])
            continue;
        const size_t used = strlen(ui->settings.columns);
        (void)snprintf(ui->settings.columns + used, SETTING_TEXT_MAX - used, "%s%s",
                       used > 0 ? "," : "", tui_table_column((enum table_column)i)->title);
        ui->column[n++] = (uint8_t)i;
    }
    ui->columns = n;
    if (n == COLUMN_COUNT)
        ui->settings.columns[0] = '\0';
    ui->first_column = 0;
}

void ui_menu_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key)
{
    const uint32_t count = ui->mode == MODE_SAVE ? SAVE_TABLE + 1 : COLUMN_COUNT;
    const enum ui_mode mode = ui->mode;
    switch (key) {
    case UI_KEY_UP:
    case 'k':
        ui_step(&ui->menu_at, count, -1);
        return;
    case UI_KEY_DOWN:
    case 'j':
        ui_step(&ui->menu_at, count, 1);
        return;
    case UI_KEY_PAGE_UP:
    case UI_KEY_HOME:
        ui->menu_at = 0;
        return;
    case UI_KEY_PAGE_DOWN:
    case UI_KEY_END:
        ui->menu_at = count - 1;
        return;
    case UI_KEY_ENTER:
    case '\n':
    case '\r':
    case ' ':
        if (mode == MODE_COLUMNS) {
            toggle_column(ui, (uint8_t)ui->menu_at);
            return;
        }
        ui->mode = MODE_SCREEN;
        if (mode == MODE_SORT)
            ui_set_sort(ui, (int)ui->menu_at);
        else
            begin_save(ui, snapshot, (enum ui_save)ui->menu_at);
        return;
    default:
        break;
    }
    if (mode == MODE_SAVE) {
        static const char letters[] = "amfqwt";
        const char *at = key > 0 && key < 0x7F ? strchr(letters, (int)key) : NULL;
        ui->mode = MODE_SCREEN;
        if (at != NULL && *at != '\0' && key != 'q')
            begin_save(ui, snapshot, (enum ui_save)(at - letters));
        else if (key == 'q')
            begin_save(ui, snapshot, SAVE_QP);
        return;
    }
    ui->mode = MODE_SCREEN;
}

void ui_setup_key(struct ui *ui, uint32_t key)
{
    char value[SETTING_TEXT_MAX];
    switch (key) {
    case UI_KEY_UP:
    case 'k':
        ui_step(&ui->setup_at, (uint32_t)tui_settings_count(), -1);
        break;
    case UI_KEY_DOWN:
    case 'j':
        ui_step(&ui->setup_at, (uint32_t)tui_settings_count(), 1);
        break;
    case UI_KEY_LEFT:
    case UI_KEY_RIGHT:
    case ' ':
    case '+':
    case '-':
        tui_settings_step(&ui->settings, ui->setup_at, key == UI_KEY_LEFT || key == '-' ? -1 : 1);
        ui_apply_settings(ui);
        ui_act_kind(ui, ACTION_TUNE);
        break;
    case UI_KEY_ENTER:
    case '\n':
    case '\r':
        ui_begin_prompt(ui, PROMPT_SETTING, tui_settings_get(&ui->settings, ui->setup_at, value));
        break;
    case 'w':
        ui_act_kind(ui, ACTION_SAVE_SETTINGS);
        break;
    default:
        ui->mode = MODE_SCREEN;
        break;
    }
}
