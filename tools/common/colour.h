/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether to colour the output, and with what. */
#ifndef TOOLS_COLOUR_H
#define TOOLS_COLOUR_H

#include <stdbool.h>

/* The order is that of the words of --color. */
enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

#define COLOUR_RED    "\033[31m"
#define COLOUR_YELLOW "\033[33m"
#define COLOUR_CYAN   "\033[36m"
#define COLOUR_BOLD   "\033[1m"
#define COLOUR_OFF    "\033[0m"

/* colour_wanted decides for |fd|: --color first, then NO_COLOR (no-color.org: set and not empty),
 * then whether a terminal that knows colour is there. */
bool colour_wanted(enum colour_when when, int fd);

#endif
