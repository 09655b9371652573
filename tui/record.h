/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot as JSON. */
#ifndef TUI_RECORD_H
#define TUI_RECORD_H

#include "common/json.h"

#include "ui.h"

#define RECORD_SCHEMA "rocetop/1"

/* tui_record_snapshot writes one object; rows in the order of |ui|. */
void tui_record_snapshot(struct json *json, const struct ui *ui, const struct snapshot *snapshot);

#endif
