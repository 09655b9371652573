/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user sees of the snapshot, and what keys do to it. Nothing here knows a terminal. */
#ifndef TUI_UI_H
#define TUI_UI_H

#include "canvas.h"
#include "settings.h"
#include "snapshot.h"
#include "table.h"

enum ui_screen {
    SCREEN_OVERVIEW,
    SCREEN_QPS,
    SCREEN_PFC,
    SCREEN_EVENTS,
    SCREEN_HOSTS,
    SCREEN_TABS, /* those above have a place in the row of tabs */
    SCREEN_QP = SCREEN_TABS,
};

enum ui_tab { TAB_PSN, TAB_MESSAGES, TAB_HEADERS };

enum ui_mode {
    MODE_SCREEN,
    MODE_HELP,
    MODE_SETUP,
    MODE_SORT,    /* menu */
    MODE_COLUMNS, /* menu */
    MODE_SAVE,    /* menu */
    MODE_PROMPT,
    MODE_CONFIRM_RESET,
};

enum ui_prompt { PROMPT_FIND, PROMPT_FILTER, PROMPT_PATH, PROMPT_GOTO, PROMPT_PSN, PROMPT_SETTING };

/* Keys: characters by their code point, others by these. */
enum ui_key {
    KEY_CODES = 0x110000,
    UI_KEY_UP,
    UI_KEY_DOWN,
    UI_KEY_LEFT,
    UI_KEY_RIGHT,
    UI_KEY_PAGE_UP,
    UI_KEY_PAGE_DOWN,
    UI_KEY_HOME,
    UI_KEY_END,
    UI_KEY_BACKSPACE,
    UI_KEY_DELETE,
    UI_KEY_ENTER,
    UI_KEY_ESCAPE,
    UI_KEY_TAB,
    UI_KEY_BACK_TAB,
    UI_KEY_REDRAW,
    UI_KEY_F0, /* F1 is UI_KEY_F0 + 1 */
    UI_KEY_F12 = UI_KEY_F0 + 12,
    UI_KEYS,
};

/* What of the program's state the screens show besides the snapshot. */
enum ui_run { RUN_LIVE, RUN_PLAYING, RUN_PAUSED, RUN_SEEKING, RUN_ENDED, RUN_FAILED };

struct ui_status {
    enum ui_run run;
    bool live, seekable, has_drops;
    char name[96];
    char bpf[96];
    uint64_t dropped_kernel, dropped_iface, merged, downs;
    uint64_t consumed, size;
    uint64_t frames;     /* counted by now */
    uint64_t position;   /* the same, or the frame that is being gone to */
    uint64_t elapsed_ns; /* live: since the start; file: of the capture's time */
    double speed;        /* of a file; 0: max */
    char error[160];     /* RUN_FAILED, or the capture was cut short */
};

/* What the program shall do for the user. */
enum ui_action_kind {
    ACTION_NONE,
    ACTION_QUIT,
    ACTION_REDRAW,
    ACTION_PAUSE, /* |on| */
    ACTION_SPEED, /* |number|, 0: max */
    ACTION_STEP,
    ACTION_SEEK,       /* by |number| seconds */
    ACTION_SEEK_TIME,  /* to |ts| */
    ACTION_SEEK_FRAME, /* to |frame| */
    ACTION_FILTER,     /* ui.filter; "" none. The answer is ui_filter_done */
    ACTION_RESET,
    ACTION_SAVE, /* ui.save_what to ui.path */
    ACTION_TUNE, /* settings have changed */
    ACTION_SAVE_SETTINGS,
};

struct ui_action {
    enum ui_action_kind kind;
    bool on;
    double number;
    roce_tstamp ts;
    uint64_t frame;
};

enum ui_save { SAVE_ALL, SAVE_MARKED, SAVE_FILTERED, SAVE_QP, SAVE_WINDOW, SAVE_TABLE };

enum { UI_MARKS_MAX = 64, UI_TEXT_LEN = 512, UI_ACTIONS = 4 };

struct ui_flow {
    uint32_t id, serial; /* id ROCE_FLOW_NONE: none */
};

struct ui {
    struct settings settings;
    struct settings saved; /* before the Setup screen */
    struct ui_status status;
    enum ui_screen screen, before; /* |before|: where the QP screen goes back to */
    enum ui_tab tab;
    enum ui_mode mode;
    bool ascii;
    int rows, cols; /* of the newest drawing */

    /* the table */
    uint8_t column[COLUMN_COUNT];
    int columns;
    int first_column; /* leftmost of those that scroll */
    enum table_column sort;
    bool inverted;
    uint32_t *order; /* places of rows, SNAP_ROWS_MAX */
    uint32_t n_order;
    uint32_t *place;     /* by flow id: place + 1 in the frozen order */
    uint32_t place_room; /* entries of it */
    struct ui_flow cursor;
    uint32_t cursor_at; /* its place in |order| */
    uint32_t top;
    struct ui_flow mark[UI_MARKS_MAX];
    uint32_t marks;

    /* the QP that is open */
    struct ui_flow open;
    roce_tstamp from, until;      /* window of the diagram; 0, 0: not yet chosen */
    roce_tstamp at;               /* cursor */
    uint64_t jump_frame;          /* frame to go to once it is there; 0 none */
    bool rehook;                  /* choose the window anew with the next snapshot */
    uint32_t frame_top, frame_at; /* list of headers: into snapshot.frame */
    bool frame_follow;

    /* other screens */
    uint64_t event_at; /* seq of the selected event; 0: the newest */
    uint32_t priority_at, host_at, host_top, setup_at, menu_at, menu_top;

    bool frozen;            /* the view stands still */
    uint64_t frozen_frames; /* counted when it was frozen */
    char find[UI_TEXT_LEN];
    char filter[UI_TEXT_LEN]; /* in force */
    enum ui_prompt prompt;
    char text[UI_TEXT_LEN]; /* of the prompt */
    size_t text_at;         /* its cursor, in bytes */
    char fault[192];        /* what was wrong with it */
    size_t fault_at;        /* byte that the caret points at; SIZE_MAX none */
    bool overwrite;         /* the file was there: once more overwrites it */
    enum ui_save save_what;
    char path[UI_TEXT_LEN];
    char message[256]; /* instead of the row of keys until the next key */
    bool message_bad;
    struct ui_action action[UI_ACTIONS];
    uint32_t actions;
};

/* ui_init prepares |ui|, without memory of its own but |order|. Returns 0, or -1 without memory. */
int ui_init(struct ui *ui, const struct settings *settings, bool ascii);
void ui_free(struct ui *ui);

/* ui_settle fits the state to a new snapshot, or to what a key changed: order, cursors, window. */
void ui_settle(struct ui *ui, const struct snapshot *snapshot);

/* ui_key handles a key; ui_mouse a click into cell |y|, |x|, or with |wheel| -1 or 1 a turn of the
 * wheel. ui_settle has been called since the snapshot changed. */
void ui_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key);
void ui_mouse(struct ui *ui, const struct snapshot *snapshot, int y, int x, int wheel, bool twice);

/* ui_next_action returns the oldest thing to do and takes it away. */
struct ui_action ui_next_action(struct ui *ui);

/* ui_want tells what the next snapshot shall have. */
struct snap_want ui_want(const struct ui *ui);

/* ui_open opens the QP screen for |row|, at frame |frame| unless 0. */
void ui_open(struct ui *ui, const struct snap_row *row, uint64_t frame);

/* ui_filter_done says how setting the filter went: |fault| NULL: it is in force. */
void ui_filter_done(struct ui *ui, const char *text, const char *fault, size_t offset);

/* ui_say shows a message in the last row. */
void ui_say(struct ui *ui, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));

bool ui_is_marked(const struct ui *ui, const struct snap_row *row);

/* ui_screen_by_name returns an enum ui_screen for "overview" .. "hosts", "qp", "messages",
 * "headers" (|*tab| says which) or -1. */
int ui_screen_by_name(const char *name, int *tab);

#endif
