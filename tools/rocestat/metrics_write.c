/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Families and samples. The older format gives the family of a counter the name of its samples. */
#include "rocestat/metrics_write.h"

#include <inttypes.h>
#include <string.h>

void metrics_begin(struct metrics_writer *w, const char *name, const char *type, const char *help)
{
    w->suffix = strcmp(type, "counter") == 0 ? "_total" : "";
    (void)snprintf(w->name, sizeof(w->name), "%s", name);
    const char *tail = w->format == METRICS_TEXT ? w->suffix : "";
    (void)fprintf(w->file, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, tail, help, name, tail, type);
}

static void begin_sample(struct metrics_writer *w, const char *labels)
{
    const bool some = labels[0] != '\0';
    (void)fprintf(w->file, "%s%s%s%s%s ", w->name, w->suffix, some ? "{" : "", labels,
                  some ? "}" : "");
}

void metrics_sample(struct metrics_writer *w, const char *labels, uint64_t value)
{
    begin_sample(w, labels);
    (void)fprintf(w->file, "%" PRIu64 "\n", value);
}

void metrics_seconds(struct metrics_writer *w, const char *labels, uint64_t ns)
{
    begin_sample(w, labels);
    (void)fprintf(w->file, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000u, ns % 1000000000u);
}
