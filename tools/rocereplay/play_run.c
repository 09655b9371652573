/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stub */
#include "rocereplay/play.h"
int stateful_play(const struct play_opts *opts)
{
    (void)opts;
    return 1;
}
