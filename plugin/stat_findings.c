/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics > RoCEv2 Findings: what the toolkit makes of the capture, worst first. */
#include "late_table.h"
#include "stats.h"
#include "streams.h"

/* The rank keeps the order where windows sort by their first column. */
enum { RANK, SEVERITY, KIND, STREAM, FIRST_FRAME, COUNT, TEXT, HINT, COLUMNS };

static stat_tap_table_item columns[COLUMNS] = {
    [RANK] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Rank", FORMAT_UINT},
    [SEVERITY] = {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Severity", FORMAT_STRING},
    [KIND] = {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Kind", FORMAT_STRING},
    [STREAM] = {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "Stream", FORMAT_STRING},
    [FIRST_FRAME] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "First frame", FORMAT_UINT},
    [COUNT] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Count", FORMAT_UINT},
    [TEXT] = {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Finding", FORMAT_STRING},
    [HINT] = {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "What to check next", FORMAT_STRING},
};

#define STRING_ITEM(s)                                          \
    {                                                           \
        .type = TABLE_ITEM_STRING, .value = { VALUE_STRING(s) } \
    }
#define UINT_ITEM(n)                                        \
    {                                                       \
        .type = TABLE_ITEM_UINT, .value = { VALUE_UINT(n) } \
    }

static void fill(struct late_table *self)
{
    struct roce_observer *observer = analysis_observer();
    uint32_t n = 0;
    if (observer == NULL)
        return;
    const struct roce_finding *findings = roce_observer_findings(observer, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct roce_finding *finding = &findings[i];
        const struct roce_finding_info *info =
            roce_finding_info((enum roce_finding_kind)finding->kind);
        char text[ROCE_FINDING_TEXT];
        char stream[ROCE_FMT_UINT_MAX + 1] = "";
        roce_finding_text(finding, text, sizeof(text));
        if (finding->flow != ROCE_FLOW_NONE)
            *roce_fmt_uint(stream, finding->flow) = '\0';
        const stat_tap_table_item_type items[COLUMNS] = {
            [RANK] = UINT_ITEM(i + 1),
            [SEVERITY] = STRING_ITEM(roce_severity_name((enum roce_severity)finding->severity)),
            [KIND] = STRING_ITEM(info->name),
            [STREAM] = STRING_ITEM(stream),
            [FIRST_FRAME] = UINT_ITEM(finding->first_frame),
            [COUNT] = UINT_ITEM(finding->count),
            [TEXT] = STRING_ITEM(text),
            [HINT] = STRING_ITEM(info->hint),
        };
        late_table_row(self, i, items);
    }
}

static struct late_table table = {.fill = fill};

static void reset(stat_tap_table *unused)
{
    (void)unused;
    late_table_reset(&table);
}

static void init(stat_tap_table_ui *ui)
{
    late_table_open(&table, ui, "RoCEv2 findings");
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
    late_table_packet(&table, tap->first);
    return TAP_PACKET_REDRAW;
}

void stat_findings_register(void)
{
    static stat_tap_table_ui ui = {
        .group = REGISTER_PACKET_STAT_GROUP_UNSORTED,
        .title = "RoCEv2 Findings",
        .tap_name = "rocev2",
        .cli_string = "rocev2,findings",
        .stat_tap_init_cb = init,
        .packet_func = packet,
        .stat_tap_reset_table_cb = reset,
        .stat_tap_free_table_item_cb = free_item,
        .nfields = COLUMNS,
        .fields = columns,
    };
    register_stat_tap_table_ui(&ui);
}
