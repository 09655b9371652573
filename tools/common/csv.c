/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CSV writer. */
#include "common/csv.h"

#include <string.h>

void csv_init(struct csv *csv, struct out *out)
{
    *csv = (struct csv){.out = out};
}

static bool needs_quotes(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
            return true;
    return false;
}

void csv_field(struct csv *csv, const char *text, size_t n)
{
    if (csv->started)
        out_write(csv->out, ",", 1);
    csv->started = true;
    if (!needs_quotes(text, n)) {
        out_write(csv->out, text, n);
        return;
    }
    out_write(csv->out, "\"", 1);
    for (size_t i = 0; i < n; i++)
        out_write(csv->out, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    out_write(csv->out, "\"", 1);
}

void csv_end_row(struct csv *csv)
{
    out_write(csv->out, "\n", 1);
    csv->started = false;
}
