/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue pairs of the flows. */
#ifndef ROCESIM_PAIRS_H
#define ROCESIM_PAIRS_H

#include "rocesim/net.h"

/* pairs_new makes and connects the QPs of all flows. 0, or -1 with the reason in |error|. */
int pairs_new(struct net *net, char error[NET_ERROR_MAX]);

#endif
