/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes rows of a table of options of the lines of options.def, common.def and live.def. The
 * program defines OPT_TARGET first, its option structure with the members |common| and |live|. */
#ifndef TOOLS_OPTIONS_TABLE_H
#define TOOLS_OPTIONS_TABLE_H

#include "common/live.h"
#include "common/options.h"

#define OPTION(letter, name, arg, kind, member, help) \
    {letter, OPT_##kind, name, arg, offsetof(OPT_TARGET, member), help},
#define COMMON(letter, name, arg, kind, member, help) \
    OPTION(letter, name, arg, kind, common.member, help)
#define LIVE(letter, name, arg, kind, member, help) \
    OPTION(letter, name, arg, kind, live.member, help)

#endif
