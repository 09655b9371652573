/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program on a terminal. */
#ifndef TUI_APP_H
#define TUI_APP_H

#include "options.h"
#include "source.h"

/* tui_app_run shows |source|, which it takes over, until the user leaves; returns the exit status.
 * |filter| may be NULL and is taken over. */
int tui_app_run(const struct top_opts *opts, struct source *source, struct roce_filter *filter);

#endif
