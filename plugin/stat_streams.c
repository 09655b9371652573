/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics > RoCEv2 Streams: one row a stream, with the observer's own counters. */
#include "late_table.h"
#include "stats.h"
#include "streams.h"

enum column_id {
#define COLUMN(id, name, type, value) COLUMN_##id,
#include "streams.def"
#undef COLUMN
    COLUMNS
};

static stat_tap_table_item columns[COLUMNS] = {
#define COLUMN(id, name, type, value) \
    [COLUMN_##id] = {TABLE_ITEM_##type, TAP_ALIGN_RIGHT, name, FORMAT_##type},
#include "streams.def"
#undef COLUMN
};

static GHashTable *chosen; /* streams that the filter lets through; NULL none */

static const char *addr_text(char *out, const uint8_t addr[16], uint8_t version)
{
    *roce_fmt_addr(out, addr, version) = '\0';
    return out;
}

static const char *hex_text(char *out, uint32_t qpn, bool known)
{
    *(known ? roce_fmt_hex_pad(out, qpn, 6) : out) = '\0';
    return out;
}

static uint64_t total_naks(const struct roce_flow_counters *c)
{
    uint64_t n = 0;
    for (unsigned i = 0; i <= ROCE_NAK_MAX; i++)
        n += c->naks[i];
    return n;
}

static uint64_t total_completed(const struct roce_flow_counters *c)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < ROCE_MESSAGE_OPS; i++)
        n += c->messages[i].completed;
    return n;
}

static void fill_row(struct late_table *self, guint row, const struct roce_flow_table *flows,
                     uint32_t id)
{
    struct roce_flow_info f;
    struct roce_flow_counters c;
    struct roce_hist_summary latency = {0};
    char src[ROCE_FMT_ADDR_MAX + 1], dst[ROCE_FMT_ADDR_MAX + 1], text[2][ROCE_FMT_HEX_MAX + 1];
    if (!roce_flow_info(flows, id, &f) || !roce_flow_counters(flows, id, &c))
        return;
    roce_flow_latency(flows, id, ROCE_LATENCY_MESSAGE, &latency);
    stat_tap_table_item_type items[COLUMNS] = {
#define COLUMN(column, name, kind, expr) \
    [COLUMN_##column] = {.type = TABLE_ITEM_##kind, .value = {VALUE_##kind(expr)}},
#include "streams.def"
#undef COLUMN
    };
    late_table_row(self, row, items);
}

static void fill(struct late_table *self)
{
    const struct roce_observer *observer = analysis_observer();
    if (observer == NULL || chosen == NULL)
        return;
    const struct roce_flow_table *flows = roce_observer_flows(observer);
    guint row = 0;
    for (uint32_t id = roce_flow_first(flows); id != ROCE_FLOW_NONE; id = roce_flow_next(flows, id))
        if (g_hash_table_contains(chosen, GUINT_TO_POINTER(id)))
            fill_row(self, row++, flows, id);
}

static struct late_table table = {.fill = fill};

static void reset(stat_tap_table *unused)
{
    (void)unused;
    if (chosen != NULL)
        g_hash_table_remove_all(chosen);
    late_table_reset(&table);
}

static void init(stat_tap_table_ui *ui)
{
    if (chosen == NULL)
        chosen = g_hash_table_new(NULL, NULL);
    g_hash_table_remove_all(chosen);
    late_table_open(&table, ui, "RoCEv2 streams");
}

static void free_item(stat_tap_table *shown, guint row, guint column,
                      stat_tap_table_item_type *item)
{
    late_table_free_item(&table, shown, row, column, item);
}

static tap_packet_status packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                const void *data, tap_flags_t flags)
{
    const struct tap_data *tap = data;
    (void)tapdata;
    (void)pinfo;
    (void)edt;
    (void)flags;
    if (tap->rec == NULL || chosen == NULL)
        return TAP_PACKET_DONT_REDRAW;
    if (g_hash_table_add(chosen, GUINT_TO_POINTER(tap->rec->flow)))
        table.filled = false;
    late_table_packet(&table, tap->first);
    return TAP_PACKET_REDRAW;
}

void stat_streams_register(void)
{
    static stat_tap_table_ui ui = {
        .group = REGISTER_PACKET_STAT_GROUP_UNSORTED,
        .title = "RoCEv2 Streams",
        .tap_name = "rocev2",
        .cli_string = "rocev2,streams",
        .stat_tap_init_cb = init,
        .packet_func = packet,
        .stat_tap_reset_table_cb = reset,
        .stat_tap_free_table_item_cb = free_item,
        .nfields = COLUMNS,
        .fields = columns,
    };
    register_stat_tap_table_ui(&ui);
}
