/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing metrics: families and samples in either format. */
#ifndef ROCESTAT_METRICS_WRITE_H
#define ROCESTAT_METRICS_WRITE_H

#include "rocestat/metrics.h"

struct metrics_writer {
    FILE *file;
    enum metrics_format format;
    char name[96];
    const char *suffix; /* of the family's samples */
};

/* metrics_begin begins the family |name| of |type| "counter", "gauge" or "summary". metrics_sample
 * adds a sample of it; |labels| is what stands between the braces, "" for none. metrics_seconds
 * takes ns.
 */
void metrics_begin(struct metrics_writer *w, const char *name, const char *type, const char *help);
void metrics_sample(struct metrics_writer *w, const char *labels, uint64_t value);
void metrics_seconds(struct metrics_writer *w, const char *labels, uint64_t ns);

void metrics_write_qps(struct metrics_writer *w, const struct metrics *metrics);

#endif
