/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of nodes and flows, one or a range: h1..h8. */
#ifndef ROCESIM_NAMES_H
#define ROCESIM_NAMES_H

#include "rocesim/scenario.h"

struct names {
    char prefix[SIM_NAME_MAX];
    bool numbered;
    uint32_t first, n; /* n is 1 without a range */
};

/* names_read reads |word|. Returns 0, or -1: it is none, or the range is empty or too long. */
int names_read(struct names *names, const char *word);
/* names_get writes the |i|th name. */
void names_get(const struct names *names, uint32_t i, char out[SIM_NAME_MAX]);

#endif
