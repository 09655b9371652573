/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters by time. */
#include "series.h"

void tui_bin_add(struct bin *sum, const struct bin *bin)
{
#define BIN(name) sum->name += bin->name;
#include "bins.def"
#undef BIN
    for (int i = 0; i < SERIES_PRIORITIES; i++) {
        sum->paused_ns[i] += bin->paused_ns[i];
        sum->xoff[i] += bin->xoff[i];
        sum->xon[i] += bin->xon[i];
    }
}

void tui_series_begin(struct series *series, roce_tstamp start, uint64_t length_ns, bool grows)
{
    series->start = start;
    series->length_ns = length_ns;
    series->grows = grows;
    series->count = series->first = 0;
    series->open = (struct bin){0};
}

roce_tstamp tui_series_end(const struct series *series)
{
    return series->start + (series->count + UINT64_C(1)) * series->length_ns;
}

/* Called when the open bin is empty and an even number of bins lies before it. */
static void merge(struct series *series)
{
    for (uint32_t i = 0; i + 1 < series->count; i += 2) {
        struct bin sum = series->bin[i];
        tui_bin_add(&sum, &series->bin[i + 1]);
        series->bin[i / 2] = sum;
    }
    series->count /= 2;
    series->length_ns *= 2;
}

void tui_series_close(struct series *series)
{
    if (series->count < SERIES_BINS) {
        series->bin[(series->first + series->count++) % SERIES_BINS] = series->open;
    } else {
        series->bin[series->first] = series->open;
        series->first = (series->first + 1) % SERIES_BINS;
        series->start += series->length_ns;
    }
    series->open = (struct bin){0};
    if (series->grows && series->count == SERIES_BINS)
        merge(series);
}

void tui_series_skip(struct series *series, roce_tstamp ts)
{
    if (!series->grows) {
        const uint64_t bins = (ts - series->start) / series->length_ns;
        if (bins >= series->count + UINT64_C(2) * SERIES_BINS) {
            /* Nothing that is kept now would be left. */
            tui_series_close(series);
            for (uint32_t i = 0; i < SERIES_BINS; i++)
                tui_series_close(series);
            series->start += (ts - tui_series_end(series)) / series->length_ns * series->length_ns;
        }
    }
    while (tui_series_end(series) <= ts)
        tui_series_close(series);
}

const struct bin *tui_series_at(const struct series *series, uint32_t index)
{
    return &series->bin[(series->first + index) % SERIES_BINS];
}
