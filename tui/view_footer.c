/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last row: keys, prompts, messages. */
#include <string.h>

#include "view_parts.h"

/* Keys of the last row: pairs of key and what it does, the needful first; those that do not fit are
 * left out, the last never. What p does depends on the moment. */
static const char *const *footer_keys(const struct ui *ui)
{
    static const char *const overview[] = {
        "F1",      "Help",    "F2",    "Save", "F3",    "Find",   "F4",     "Filter", "F5",
        "Clear",   "F6",      "Sort",  "F8",   "Setup", "p",      "Freeze", "Enter",  "Open",
        "1-5 Tab", "Screens", "Space", "Mark", "I",     "Invert", "o",      "Order",  "u",
        "Units",   "b",       "Lines", "q",    "Quit",  NULL};
    static const char *const overview_file[] = {
        "F1", "Help",  "F2", "Save",  "F4",      "Filter",  "F6",    "Sort", "p",  "Pause",
        "+-", "Speed", "[]", "Seek",  "Enter",   "Open",    "F3",    "Find", "F5", "Clear",
        "F8", "Setup", ":",  "Go to", "1-5 Tab", "Screens", "Space", "Mark", "I",  "Invert",
        "o",  "Order", "u",  "Units", "b",       "Lines",   "q",     "Quit", NULL};
    static const char *const qps[] = {
        "F1",    "Help",  "F2", "Save",   "F3",      "Find",    "F4",    "Filter", "F6", "Sort",
        "Space", "Mark",  "t",  "Cols",   "o",       "Order",   "Enter", "Open",   "F5", "Clear",
        "F8",    "Setup", "p",  "Freeze", "1-5 Tab", "Screens", "< >",   "Column", "I",  "Invert",
        "w",     "Wide",  "u",  "Units",  "q",       "Back",    NULL};
    static const char *const pfc[] = {
        "F1", "Help",   "F2",      "Save",    "F4", "Filter", "F8", "Setup", "u", "Units",
        "p",  "Freeze", "1-5 Tab", "Screens", "F5", "Clear",  "q",  "Back",  NULL};
    static const char *const events[] = {
        "F1", "Help",   "F2",      "Save",    "F3",    "Find",
        "F4", "Filter", "l",       "Level",   "Enter", "Open QP",
        "p",  "Freeze", "1-5 Tab", "Screens", "n/N",   "Next/Prev found",
        "F8", "Setup",  "q",       "Back",    NULL};
    static const char *const events_file[] = {
        "F1",     "Help",  "F2",      "Save",    "F4",
        "Filter", "l",     "Level",   "Enter",   "Open QP",
        "p",      "Pause", "+-",      "Speed",   "[]",
        "Seek",   "F3",    "Find",    "n/N",     "Next/Prev found",
        ":",      "Go to", "1-5 Tab", "Screens", "F8",
        "Setup",  "q",     "Back",    NULL};
    static const char *const psn[] = {
        "F1",  "Help",     "F2", "Save(this QP)", "F3",         "Goto psn", "n/N", "Next/Prev gap",
        "< >", "Zoom",     "r",  "Headers",       "Left Right", "Move",     "0",   "All",
        "m",   "Messages", "p",  "Freeze",        "q",          "Back",     NULL};
    static const char *const headers[] = {
        "F1",  "Help",          "F2", "Save(this QP)", "F3", "Goto psn",
        "n/N", "Next/Prev gap", "d",  "Diagram",       "m",  "Messages",
        "p",   "Freeze",        "q",  "Back",          NULL};
    static const char *const messages[] = {"F1", "Help",    "F2", "Save(this QP)", "d", "Diagram",
                                           "r",  "Headers", "p",  "Freeze",        "q", "Back",
                                           NULL};
    static const char *const setup[] = {"Up/Down", "Choose", "Left/Right", "Change",
                                        "Enter",   "Edit",   "w",          "Write file",
                                        "Esc",     "Back",   NULL};
    static const char *const help[] = {"any key", "Back", NULL};
    static const char *const menu[] = {"Up/Down", "Choose", "Enter", "Take", "Esc", "Back", NULL};
    static const char *const columns[] = {"Up/Down", "Choose", "Space", "Show/Hide",
                                          "Esc",     "Back",   NULL};
    const bool file = !ui->status.live;
    switch (ui->mode) {
    case MODE_HELP:
        return help;
    case MODE_SETUP:
        return setup;
    case MODE_SORT:
    case MODE_SAVE:
        return menu;
    case MODE_COLUMNS:
        return columns;
    case MODE_SCREEN:
    case MODE_PROMPT:
    case MODE_CONFIRM_RESET:
        break;
    }
    switch (ui->screen) {
    case SCREEN_OVERVIEW:
        return file ? overview_file : overview;
    case SCREEN_QPS:
        return qps;
    case SCREEN_PFC:
    case SCREEN_HOSTS:
        return pfc;
    case SCREEN_EVENTS:
        return file ? events_file : events;
    case SCREEN_QP:
        break;
    }
    return ui->tab == TAB_PSN ? psn : ui->tab == TAB_HEADERS ? headers : messages;
}

static const char *pause_word(const struct ui *ui)
{
    if (ui->frozen)
        return "Resume";
    if (ui->status.live)
        return "Freeze";
    switch (ui->status.run) {
    case RUN_PAUSED:
        return "Play";
    case RUN_ENDED:
    case RUN_FAILED:
        return "Again";
    case RUN_LIVE:
    case RUN_PLAYING:
    case RUN_SEEKING:
        break;
    }
    return "Pause";
}

static const char *prompt_label(enum ui_prompt prompt)
{
    switch (prompt) {
    case PROMPT_FIND:
        return "Find: ";
    case PROMPT_FILTER:
        return "Filter (as rocedump -Y): ";
    case PROMPT_PATH:
        return "Save to: ";
    case PROMPT_GOTO:
        return "Go to (12:34:56, +90s or frame number): ";
    case PROMPT_PSN:
        return "Go to PSN: ";
    case PROMPT_SETTING:
        return "Value: ";
    }
    return "";
}

/* What one might type, while nothing is. */
static const char *prompt_example(const struct ui *ui)
{
    switch (ui->prompt) {
    case PROMPT_FIND:
        return ui->screen == SCREEN_EVENTS ? "nak, rexmit, 10.0.0.1 ..."
                                           : "0x12, 10.0.0.1, write, ack ...";
    case PROMPT_FILTER:
        return "gap, qp == 0x12, op == cnp ...; empty: all";
    case PROMPT_PATH:
        return "a file's name; .pcap or .pcapng";
    case PROMPT_PSN:
        return "5123 or 0x1403";
    case PROMPT_GOTO:
    case PROMPT_SETTING:
        break;
    }
    return "";
}

static void draw_prompt(const struct ui *ui, struct canvas *canvas)
{
    const int y = canvas->rows - 1;
    const int begin =
        tui_canvas_text(canvas, y, 0, canvas->cols / 2, STYLE_BOLD, prompt_label(ui->prompt));
    const int room = canvas->cols - begin - 1;
    /* Long text scrolls so that the cursor is in view. */
    const int skip = (int)ui->text_at > room ? (int)ui->text_at - room : 0;
    (void)tui_canvas_text(canvas, y, begin, room, STYLE_PLAIN, ui->text + skip);
    const int at = begin + (int)ui->text_at - skip;
    tui_canvas_style(canvas, y, at, at + 1, STYLE_CURSOR);
    if (ui->text[ui->text_at] == '\0')
        tui_canvas_put(canvas, y, at, '_', STYLE_CURSOR);
    if (ui->text[0] == '\0')
        (void)tui_canvas_text(canvas, y, at + 2, canvas->cols - at - 2, STYLE_DIM,
                              prompt_example(ui));
    if (ui->fault[0] == '\0')
        return;
    tui_canvas_clear(canvas, y - 1, 0, canvas->cols);
    (void)tui_canvas_text(canvas, y - 1, 0, canvas->cols, STYLE_ERROR, ui->fault);
    if (ui->fault_at != SIZE_MAX)
        tui_canvas_style(canvas, y, begin + (int)ui->fault_at - skip,
                         begin + (int)ui->fault_at - skip + 1, STYLE_ERROR);
}

/* What takes the beginner on, and the way out, are shown in any width. */
static bool is_needed(const char *const *key)
{
    return key[2] == NULL || strcmp(key[0], "Enter") == 0 || strcmp(key[0], "r") == 0;
}

static void draw_keys(const struct ui *ui, struct canvas *canvas, int y, const char *const *keys)
{
    int reserved = 0, x = 0;
    for (const char *const *key = keys; *key != NULL; key += 2)
        if (is_needed(key))
            reserved += (int)(strlen(key[0]) + strlen(key[1])) + 2;
    for (const char *const *key = keys; *key != NULL; key += 2) {
        const char *what = strcmp(key[0], "p") == 0 ? pause_word(ui) : key[1];
        const int width = (int)(strlen(key[0]) + strlen(what));
        const bool word = key[0][0] != 'F' || key[0][1] > '9';
        if (is_needed(key))
            reserved -= width + 2;
        else if (x + width + word + 1 + reserved > canvas->cols + 1)
            continue;
        if (x + width + word > canvas->cols)
            break;
        x = tui_canvas_text(canvas, y, x, canvas->cols - x, STYLE_KEY, key[0]);
        x += word;
        x = tui_canvas_text(canvas, y, x, canvas->cols - x, STYLE_PLAIN, what);
        x++;
    }
}

void tui_parts_footer(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    const int y = canvas->rows - 1;
    (void)snapshot;
    tui_canvas_clear(canvas, y, 0, canvas->cols);
    if (ui->mode == MODE_PROMPT) {
        draw_prompt(ui, canvas);
        return;
    }
    if (ui->mode == MODE_CONFIRM_RESET) {
        (void)tui_canvas_text(canvas, y, 0, canvas->cols, STYLE_WARN,
                              "Reset all counters? y: yes, any other key: no");
        return;
    }
    if (ui->message[0] != '\0') {
        (void)tui_canvas_text(canvas, y, 0, canvas->cols,
                              ui->message_bad ? STYLE_ERROR : STYLE_BOLD, ui->message);
        return;
    }
    draw_keys(ui, canvas, y, footer_keys(ui));
}
