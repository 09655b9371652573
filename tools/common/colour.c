/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The colour decision. */
#include "common/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_wanted(enum colour_when when, int fd)
{
    switch (when) {
    case COLOUR_ALWAYS:
        return true;
    case COLOUR_NEVER:
        return false;
    case COLOUR_AUTO:
        break;
    }
    const char *no_color = getenv("NO_COLOR");
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    const char *term = getenv("TERM");
    return isatty(fd) && term != NULL && strcmp(term, "dumb") != 0;
}
