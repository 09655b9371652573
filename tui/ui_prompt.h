/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prompts and what settings do to the state. */
#ifndef TUI_UI_PROMPT_H
#define TUI_UI_PROMPT_H

#include "ui.h"

/* ui_begin_prompt asks for a line that begins as |text|. */
void ui_begin_prompt(struct ui *ui, enum ui_prompt prompt, const char *text);

/* ui_apply_settings lets columns and order follow the settings. */
void ui_apply_settings(struct ui *ui);

/* ui_contains tells whether |part| occurs in |text|, whatever the case. */
bool ui_contains(const char *text, const char *part);

#endif
