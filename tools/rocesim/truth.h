/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What really happened, one JSON object a line: what an observer of the captures is held against.
 */
#ifndef ROCESIM_TRUTH_H
#define ROCESIM_TRUTH_H

#include "rocesim/net.h"

struct truth;

/* truth_new creates the file |path|. NULL: errno tells why. */
struct truth *truth_new(const char *path, const struct net *net);
/* truth_start writes the names, addresses and QPs that the events refer to. */
void truth_start(struct truth *truth);
void truth_engine(struct truth *truth, int node, const struct eng_trace *event);
void truth_fabric(struct truth *truth, const struct fab_trace *event);
/* truth_end closes the file and frees. 0, or the errno of the first failure. */
int truth_end(struct truth *truth);

#endif
