/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics > RoCEv2 > Packets: how many of which operation, mark, syndrome and remark. */
#include <epan/stats_tree.h>

#include "facts.h"
#include "stats.h"

static const char *const root = "Operations";
static const char *const ecn = "ECN";
static const char *const icrc = "Invariant CRC";
static const char *const syndromes = "Acknowledgements";
static const char *const remarks = "Remarks";
static int root_id, ecn_id, icrc_id, syndromes_id, remarks_id;

static void init(stats_tree *st)
{
    root_id = stats_tree_create_node(st, root, 0, STAT_DT_INT, TRUE);
    syndromes_id = stats_tree_create_node(st, syndromes, 0, STAT_DT_INT, TRUE);
    remarks_id = stats_tree_create_node(st, remarks, 0, STAT_DT_INT, TRUE);
    ecn_id = stats_tree_create_node(st, ecn, 0, STAT_DT_INT, TRUE);
    icrc_id = stats_tree_create_node(st, icrc, 0, STAT_DT_INT, TRUE);
}

static void count(stats_tree *st, const char *parent, int parent_id, const char *name)
{
    tick_stat_node(st, parent, 0, TRUE);
    tick_stat_node(st, name, parent_id, FALSE);
}

static void count_remarks(stats_tree *st, const struct record *rec)
{
    if (says(rec, ROCE_V_GAP))
        count(st, remarks, remarks_id, "Gap");
    if (says(rec, RECORD_OUT_OF_ORDER))
        count(st, remarks, remarks_id, "Out of order");
    else if (says(rec, ROCE_V_RETRANSMITTED))
        count(st, remarks, remarks_id,
              says(rec, ROCE_V_FILL) ? "Retransmission, fills a gap" : "Retransmission");
    if (says(rec, ROCE_V_READ_RESPONSE_GAP))
        count(st, remarks, remarks_id, "READ responses missing");
    if (says(rec, ROCE_V_READ_RESPONSE_DUP))
        count(st, remarks, remarks_id, "READ response repeated");
    if (says(rec, ROCE_V_MIRROR_DUP))
        count(st, remarks, remarks_id, "Captured twice");
    if (says(rec, ROCE_V_ACK_GHOST))
        count(st, remarks, remarks_id, "Ghost ACK");
}

static tap_packet_status packet(stats_tree *st, packet_info *pinfo, epan_dissect_t *edt,
                                const void *data, tap_flags_t flags)
{
    static const char *const marks[] = {[ROCE_ECN_NOT_ECT] = "Not-ECT",
                                        [ROCE_ECN_ECT1] = "ECT(1)",
                                        [ROCE_ECN_ECT0] = "ECT(0)",
                                        [ROCE_ECN_CE] = "CE"};
    static const char *const verdicts[] = {
        [ROCE_ICRC_OK] = "Good", [ROCE_ICRC_BAD] = "Bad", [ROCE_ICRC_UNCHECKED] = "Not judged"};
    const struct tap_data *tap = data;
    const struct roce_packet *pkt = tap->pkt;
    (void)pinfo;
    (void)edt;
    (void)flags;
    if ((pkt->has & ROCE_HAS_BTH) == 0)
        return TAP_PACKET_DONT_REDRAW;
    count(st, root, root_id, opcode_text(pkt));
    if ((pkt->has & ROCE_HAS_IP) != 0)
        count(st, ecn, ecn_id, marks[roce_ip_ecn(&pkt->ip)]);
    if (aeth_is(pkt, ROCE_AETH_NAK))
        count(st, syndromes, syndromes_id, nak_text(pkt));
    else if ((pkt->has & ROCE_H_AETH) != 0)
        count(st, syndromes, syndromes_id, aeth_kind_text(pkt));
    if (tap->rec != NULL) {
        count(st, icrc, icrc_id, verdicts[tap->rec->icrc]);
        count_remarks(st, tap->rec);
    }
    return TAP_PACKET_REDRAW;
}

void stat_counts_register(void)
{
    stats_tree_register_plugin("rocev2", "rocev2", STATS_MENU "Packets", 0, packet, init, NULL);
}
