/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the handling of keys shares between screens, prompts and menus. */
#ifndef TUI_UI_INTERNAL_H
#define TUI_UI_INTERNAL_H

#include "ui.h"

/* ui_act adds something for the program to do. */
void ui_act(struct ui *ui, struct ui_action action);
void ui_act_kind(struct ui *ui, enum ui_action_kind kind);

/* ui_begin_prompt asks for a line that begins as |text|. */
void ui_begin_prompt(struct ui *ui, enum ui_prompt prompt, const char *text);

/* ui_apply_settings lets columns and order follow the settings. */
void ui_apply_settings(struct ui *ui);

/* ui_contains tells whether |part| occurs in |text|, whatever the case. */
bool ui_contains(const char *text, const char *part);

/* ui_current returns the flow that is open or selected, or NULL. */
const struct snap_row *ui_current(const struct ui *ui, const struct snapshot *snapshot);

/* ui_step moves |*at|, one of |count| places, by |by| as far as it goes. */
void ui_step(uint32_t *at, uint32_t count, int64_t by);

/* ui_move_frame moves the cursor of the QP screen by |by| frames. */
void ui_move_frame(struct ui *ui, const struct snapshot *snapshot, int64_t by);

/* ui_move_rows moves the cursor of the list that is shown; ui_hold_cursor lets it stay on its row's
 * flow. */
void ui_move_rows(struct ui *ui, const struct snapshot *snapshot, int64_t by);
void ui_hold_cursor(struct ui *ui, const struct snapshot *snapshot);

/* ui_hold_view: somebody looks at a place of the diagram or at one frame. */
void ui_hold_view(struct ui *ui);
void ui_pan(struct ui *ui, int columns);
void ui_zoom(struct ui *ui, double factor);

/* ui_find_next goes to the next (|by| 1) or former (-1) place where ui.find occurs; |from_here|:
 * the selected one may be it. */
void ui_find_next(struct ui *ui, const struct snapshot *snapshot, int by, bool from_here);

void ui_set_sort(struct ui *ui, int column);

void ui_show_screen(struct ui *ui, enum ui_screen screen);
void ui_back(struct ui *ui);
void ui_open_current(struct ui *ui, const struct snapshot *snapshot);
void ui_toggle_mark(struct ui *ui, const struct snapshot *snapshot);
void ui_freeze(struct ui *ui);

void ui_prompt_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key);
void ui_menu_key(struct ui *ui, const struct snapshot *snapshot, uint32_t key);
void ui_setup_key(struct ui *ui, uint32_t key);

#endif
