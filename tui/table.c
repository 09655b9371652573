/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of QPs. */
#include "table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "text.h"

static const struct table_column_info columns[COLUMN_COUNT] = {
#define COLUMN(id, title, width, kind, help) {title, width, KIND_##kind, help},
#include "columns.def"
#undef COLUMN
};

const struct table_column_info *tui_table_column(enum table_column column)
{
    return &columns[column];
}

int tui_table_column_by_name(const char *title)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcasecmp(columns[i].title, title) == 0)
            return i;
    return -1;
}

int tui_table_choose(const char *titles, uint8_t list[COLUMN_COUNT])
{
    bool used[COLUMN_COUNT] = {false};
    int n = 0;
    if (titles[strspn(titles, " ,")] == '\0') {
        for (int i = 0; i < COLUMN_COUNT; i++)
            list[i] = (uint8_t)i;
        return COLUMN_COUNT;
    }
    while (*(titles += strspn(titles, " ,")) != '\0') {
        char word[16];
        const size_t len = strcspn(titles, " ,");
        (void)snprintf(word, sizeof(word), "%.*s", len < 15 ? (int)len : 15, titles);
        const int column = tui_table_column_by_name(word);
        if (column < 0 || used[column])
            return -1;
        used[column] = true;
        list[n++] = (uint8_t)column;
        titles += len;
    }
    return n;
}

uint64_t tui_table_trouble(const struct snap_row *row)
{
    return row->resent + row->naks + row->rnr_naks + row->lost + row->icrc_bad;
}

static enum canvas_style count_cell(char *buf, uint64_t n, bool has, enum canvas_style bad)
{
    if (!has) {
        tui_text_set(buf, "-");
        return STYLE_PLAIN;
    }
    (void)tui_text_count(buf, n);
    return n > 0 ? bad : STYLE_PLAIN;
}

static enum canvas_style rate_cell(char *buf, double value, bool has, int decimals)
{
    if (has)
        (void)tui_text_fixed(buf, value, decimals);
    else
        tui_text_set(buf, "-");
    return STYLE_PLAIN;
}

/* "n/a": the peer flow, which completes messages, was not captured. */
static enum canvas_style latency_cell(char *buf, const struct snap_row *row, uint64_t ns)
{
    const bool answered = row->service == ROCE_SERVICE_RC || row->service == ROCE_SERVICE_XRC;
    if (row->has_latency)
        (void)tui_text_time(buf, ns);
    else
        tui_text_set(buf,
                     row->requests > 0 && answered && row->peer == ROCE_FLOW_NONE ? "n/a" : "-");
    return STYLE_PLAIN;
}

static void service_cell(char *buf, const struct snap_row *row)
{
    const char *name = roce_service_name((enum roce_service)row->service);
    size_t i = 0;
    for (; name[i] != '\0' && i < 4; i++)
        buf[i] = (char)toupper((unsigned char)name[i]);
    buf[i] = '\0';
}

enum canvas_style tui_table_text(const struct snapshot *snapshot, const struct snap_row *row,
                                 enum table_column column, int width,
                                 const struct settings *settings, char *buf)
{
    const bool bytes = settings->units == UNITS_BYTES;
    switch (column) {
    case COLUMN_DQPN:
        (void)snprintf(buf, TUI_TEXT_MAX, "%06" PRIx32, row->dest_qp);
        return STYLE_PLAIN;
    case COLUMN_SRC:
        (void)tui_text_addr(buf, row->src, row->ip_version, width);
        return STYLE_PLAIN;
    case COLUMN_DST:
        (void)tui_text_addr(buf, row->dst, row->ip_version, width);
        return STYLE_PLAIN;
    case COLUMN_OP:
        (void)snprintf(buf, TUI_TEXT_MAX, "%s", row->op);
        return STYLE_PLAIN;
    case COLUMN_RATE:
        return rate_cell(buf, row->bps / (bytes ? 8e9 : 1e9), snapshot->has_rates, 1);
    case COLUMN_MPPS:
        return rate_cell(buf, row->pps / 1e6, snapshot->has_rates, 2);
    case COLUMN_GAP:
        return count_cell(buf, row->gap_psns, row->has_track, STYLE_WARN);
    case COLUMN_REX:
        return count_cell(buf, row->resent, row->has_track, STYLE_WARN);
    case COLUMN_CNPS:
        if (snapshot->has_rates)
            (void)tui_text_rate(buf, row->cnps_per_second);
        else
            tui_text_set(buf, "-");
        return STYLE_PLAIN;
    case COLUMN_P99:
        return latency_cell(buf, row, row->p99_ns);
    case COLUMN_P50:
        return latency_cell(buf, row, row->p50_ns);
    case COLUMN_NAK:
        return count_cell(buf, row->naks, true, STYLE_WARN);
    case COLUMN_RNR:
        return count_cell(buf, row->rnr_naks, true, STYLE_WARN);
    case COLUMN_LOST:
        return count_cell(buf, row->lost, true, STYLE_ERROR);
    case COLUMN_ICRC:
        return count_cell(buf, row->icrc_bad, true, STYLE_ERROR);
    case COLUMN_CE:
        (void)tui_text_percent(buf, row->ce, row->packets - row->cnps);
        return STYLE_PLAIN;
    case COLUMN_PKTS:
        (void)tui_text_count5(buf, row->packets);
        return STYLE_PLAIN;
    case COLUMN_BYTES:
        (void)tui_text_count5(buf, row->bytes);
        return STYLE_PLAIN;
    case COLUMN_MSGS:
        return count_cell(buf, row->messages, row->peer != ROCE_FLOW_NONE, STYLE_PLAIN);
    case COLUMN_TYPE:
        service_cell(buf, row);
        return STYLE_PLAIN;
    case COLUMN_SQPN:
        if (row->has_src_qp)
            (void)snprintf(buf, TUI_TEXT_MAX, "%06" PRIx32, row->src_qp);
        else
            tui_text_set(buf, "-");
        return STYLE_PLAIN;
    case COLUMN_DSCP:
        (void)snprintf(buf, TUI_TEXT_MAX, "%u%s", row->dscp, row->dscp_varies ? "*" : "");
        return STYLE_PLAIN;
    case COLUMN_MTU:
        return count_cell(buf, row->path_mtu, row->path_mtu > 0, STYLE_PLAIN);
    case COLUMN_LAST:
        (void)tui_text_clock(buf, row->last_ts, 0);
        return STYLE_PLAIN;
    case COLUMN_COUNT:
        break;
    }
    buf[0] = '\0';
    return STYLE_PLAIN;
}

/* What a column of numbers is sorted by; what is not known comes last. */
static double number_of(const struct snap_row *row, enum table_column column)
{
    switch (column) {
    case COLUMN_RATE:
        return row->bps;
    case COLUMN_MPPS:
        return row->pps;
    case COLUMN_GAP:
        return row->has_track ? (double)row->gap_psns : -1;
    case COLUMN_REX:
        return row->has_track ? (double)row->resent : -1;
    case COLUMN_CNPS:
        return row->cnps_per_second;
    case COLUMN_P99:
        return row->has_latency ? (double)row->p99_ns : -1;
    case COLUMN_P50:
        return row->has_latency ? (double)row->p50_ns : -1;
    case COLUMN_NAK:
        return (double)row->naks;
    case COLUMN_RNR:
        return (double)row->rnr_naks;
    case COLUMN_LOST:
        return (double)row->lost;
    case COLUMN_ICRC:
        return (double)row->icrc_bad;
    case COLUMN_CE:
        return row->packets > row->cnps ? (double)row->ce / (double)(row->packets - row->cnps) : -1;
    case COLUMN_PKTS:
        return (double)row->packets;
    case COLUMN_BYTES:
        return (double)row->bytes;
    case COLUMN_MSGS:
        return (double)row->messages;
    case COLUMN_DSCP:
        return row->dscp;
    case COLUMN_MTU:
        return row->path_mtu;
    case COLUMN_LAST:
        return (double)row->last_ts;
    case COLUMN_DQPN:
    case COLUMN_SRC:
    case COLUMN_DST:
    case COLUMN_OP:
    case COLUMN_TYPE:
    case COLUMN_SQPN:
    case COLUMN_COUNT:
        break;
    }
    return 0;
}

static int compare_names(const struct snap_row *a, const struct snap_row *b,
                         enum table_column column)
{
    switch (column) {
    case COLUMN_SRC:
        return memcmp(a->src, b->src, 16);
    case COLUMN_DST:
        return memcmp(a->dst, b->dst, 16);
    case COLUMN_OP:
        return strcmp(a->op, b->op);
    case COLUMN_TYPE:
        return (int)a->service - (int)b->service;
    case COLUMN_SQPN:
        return (a->src_qp > b->src_qp) - (a->src_qp < b->src_qp);
    default:
        return (a->dest_qp > b->dest_qp) - (a->dest_qp < b->dest_qp);
    }
}

/* qsort has no context: what is compared travels with the places. */
struct sort_item {
    const struct snap_row *row;
    double number;
    enum table_column column;
    bool inverted;
};

static int compare(const void *x, const void *y)
{
    const struct sort_item *a = x, *b = y;
    int c = 0;
    if (columns[a->column].kind == KIND_NAME)
        c = compare_names(a->row, b->row, a->column);
    else
        c = (a->number < b->number) - (a->number > b->number);
    if (c != 0)
        return a->inverted ? -c : c;
    const uint64_t t = tui_table_trouble(a->row), u = tui_table_trouble(b->row);
    if (t != u)
        return t < u ? 1 : -1;
    if (a->row->packets != b->row->packets)
        return a->row->packets < b->row->packets ? 1 : -1;
    return a->row->id < b->row->id ? -1 : 1;
}

uint32_t tui_table_sort(const struct snapshot *snapshot, enum table_column column, bool inverted,
                        uint32_t *order)
{
    uint32_t n = 0;
    struct sort_item *item = calloc(snapshot->n_rows + 1, sizeof(*item));
    if (item == NULL)
        return 0;
    for (uint32_t i = 0; i < snapshot->n_rows; i++) {
        const struct snap_row *row = &snapshot->row[i];
        if (row->matched)
            item[n++] = (struct sort_item){row, number_of(row, column), column, inverted};
    }
    qsort(item, n, sizeof(*item), compare);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (uint32_t)(item[i].row - snapshot->row);
    free(item);
    return n;
}

static bool contains(const char *text, const char *part)
{
    const size_t n = strlen(part);
    for (; *text != '\0'; text++)
        if (strncasecmp(text, part, n) == 0)
            return true;
    return n == 0;
}

bool tui_table_matches(const struct snap_row *row, const char *text)
{
    char buf[TUI_TEXT_MAX];
    (void)snprintf(buf, sizeof(buf), "0x%06" PRIx32, row->dest_qp);
    if (contains(buf, text))
        return true;
    /* 0x12 finds 000012. */
    if (strncasecmp(text, "0x", 2) == 0 && strtoul(text, NULL, 16) == row->dest_qp)
        return true;
    return contains(tui_text_addr(buf, row->src, row->ip_version, 45), text) ||
           contains(tui_text_addr(buf, row->dst, row->ip_version, 45), text) ||
           contains(row->op, text) ||
           contains(roce_service_name((enum roce_service)row->service), text);
}
