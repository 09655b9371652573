/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The curves of a run as one SVG drawing: rates, queues and pauses over time. */
#ifndef ROCESIM_PLOT_H
#define ROCESIM_PLOT_H

#include "common/out.h"
#include "rocesim/series.h"

/* plot_write writes the drawing of the curves that |series| kept, the largest of each kind. */
void plot_write(const struct series *series, struct out *out);

#endif
