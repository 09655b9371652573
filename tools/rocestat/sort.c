/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order of flows. */
#include "rocestat/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many rows are cheaper kept in order than sorted afterwards among all. */
enum { FEW = 64 };

struct row {
    uint64_t first, second;
    uint32_t id;
};

static const struct {
    const char *name, *text;
} columns[] = {
    {"", ""},
#define SORT(id, name, value, text) {name, text},
#include "rocestat/sort.def"
#undef SORT
};

int sort_by_name(const char *name)
{
    for (size_t i = 1; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (strcmp(columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

void sort_list(void)
{
    for (size_t i = 1; i < sizeof(columns) / sizeof(columns[0]); i++)
        (void)printf("%-14s %s\n", columns[i].name, columns[i].text);
}

static uint64_t value_of(const struct flow_view *v, enum sort_column column)
{
    switch (column) {
    case SORT_DEFAULT:
        return 0;
#define SORT(id, name, value, text) \
    case SORT_##id:                 \
        return value;
#include "rocestat/sort.def"
#undef SORT
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second > y->second ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void add(struct flow_sums *sums, const struct flow_view *view)
{
    const struct roce_flow_counters *c = &view->counters;
    sums->flows++;
    for (int i = 0; i < ROCE_LOST_COUNT; i++)
        sums->loss[i] += c->loss[i];
    sums->refused += c->loss_refused;
    sums->lossy += flow_view_lost(view) > 0;
    sums->naks += flow_view_naks(view);
    sums->rnr_naks += c->rnr_naks;
    sums->retransmitted += c->retransmitted;
    sums->ce += c->ce;
    sums->congested += c->ce > 0 || view->congestion.cnps > 0;
}

/* Reads what the order and the sums need, which is less than all that is known of a flow. */
static bool read_row(const struct roce_observer *obs, uint32_t id, enum sort_column column,
                     bool trouble_first, struct row *row, struct flow_sums *sums)
{
    struct flow_view view;
    if (!flow_view_count(obs, id, &view))
        return false;
    add(sums, &view);
    *row = (struct row){.id = id};
    if (column == SORT_DEFAULT && !trouble_first)
        return true;
    if (column == SORT_LATENCY)
        (void)roce_flow_latency(roce_observer_flows(obs), id, ROCE_LATENCY_MESSAGE, &view.message);
    row->first = column == SORT_DEFAULT ? flow_view_trouble(&view) : value_of(&view, column);
    row->second = view.counters.packets;
    return true;
}

/* Puts |row| in its place among the |n| first ones in order, of which |limit| are kept. */
static uint32_t insert(struct row *rows, uint32_t n, uint32_t limit, const struct row *row)
{
    if (n == limit && by_value(row, &rows[n - 1]) > 0)
        return n;
    uint32_t i = n < limit ? n : n - 1;
    for (; i > 0 && by_value(row, &rows[i - 1]) < 0; i--)
        rows[i] = rows[i - 1];
    rows[i] = *row;
    return n < limit ? n + 1 : n;
}

uint32_t *sort_flows(const struct roce_observer *obs, enum sort_column column, bool trouble_first,
                     uint64_t limit, uint32_t *count, struct flow_sums *sums)
{
    const struct roce_flow_table *table = roce_observer_flows(obs);
    struct roce_flow_stats stats;
    roce_flow_stats(table, &stats);
    *count = 0;
    *sums = (struct flow_sums){0};
    if (stats.flows == 0)
        return NULL;
    const uint32_t wanted = limit != 0 && limit < stats.flows ? (uint32_t)limit : stats.flows;
    const bool few = wanted <= FEW;
    struct row *rows = calloc(few ? wanted : stats.flows, sizeof(*rows));
    uint32_t *ids = calloc(wanted, sizeof(*ids));
    if (rows == NULL || ids == NULL) {
        free(rows);
        free(ids);
        return NULL;
    }
    uint32_t n = 0;
    for (uint32_t id = roce_flow_first(table); id != ROCE_FLOW_NONE;
         id = roce_flow_next(table, id)) {
        struct row row;
        if (!read_row(obs, id, column, trouble_first, &row, sums))
            continue;
        if (few)
            n = insert(rows, n, wanted, &row);
        else if (n < stats.flows)
            rows[n++] = row;
    }
    if (!few)
        qsort(rows, n, sizeof(*rows), by_value);
    if (n > wanted)
        n = wanted;
    for (uint32_t i = 0; i < n; i++)
        ids[i] = rows[i].id;
    free(rows);
    *count = n;
    return ids;
}
