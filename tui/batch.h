/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Screens as text and snapshots as JSON, without a terminal. */
#ifndef TUI_BATCH_H
#define TUI_BATCH_H

#include "options.h"
#include "source.h"

/* tui_batch_run prints what |opts| ask for of |source|, which it takes over, and returns the exit
 * status. |filter| may be NULL and is taken over. */
int tui_batch_run(const struct top_opts *opts, struct source *source, struct roce_filter *filter);

#endif
