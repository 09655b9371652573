/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both ends of a run in this process. */
#ifndef ROCEREPLAY_PAIR_H
#define ROCEREPLAY_PAIR_H

#include "rocereplay/station.h"

/* pair_run runs what the options of |st| ask for, between |st| and its twin. An exit status. */
int pair_run(struct station *st);

#endif
