/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissector: decodes with the shared core, adds a tree, and hands the packet on to the built-in
 * InfiniBand dissector where that one can read it. */
#include "rocev2.h"

#include <epan/conversation.h>
#include <epan/exceptions.h>
#include <epan/ipproto.h>
#include <epan/prefs.h>

#include "facts.h"
#include "handoff.h"
#include "plugin.h"
#include "stats.h"

enum tree_order { TREE_OWN, TREE_BOTH, TREE_BUILTIN_FIRST };

int proto_rocev2 = -1;
int tap_rocev2 = -1;
static int proto_others = -1;

static gint pref_tree = TREE_BOTH;
static ws_bool pref_check_icrc = TRUE;
static ws_bool pref_rd = FALSE;
static guint pref_link_speed; /* Gb/s */

/* What the built-in dissector makes sense of; of the rest it would say "malformed" or "unknown". */
static bool builtin_reads(const struct roce_packet *pkt)
{
    if (pkt->sliced || pkt->status == ROCE_STATUS_TRUNCATED || (pkt->has & ROCE_HAS_BTH) == 0)
        return false;
    switch ((enum roce_service)pkt->service) {
    case ROCE_SERVICE_DC:
        return true;
    case ROCE_SERVICE_CNP:
    case ROCE_SERVICE_XRC:
    case ROCE_SERVICE_VENDOR:
    case ROCE_SERVICE_UNKNOWN:
        return false;
    case ROCE_SERVICE_RC:
    case ROCE_SERVICE_UC:
    case ROCE_SERVICE_RD:
    case ROCE_SERVICE_UD:
        break;
    }
    switch ((enum roce_op)pkt->op) {
    case ROCE_OP_FLUSH:
    case ROCE_OP_ATOMIC_WRITE:
        return WS_AT_LEAST(4, 4);
    case ROCE_OP_NONE:
        return false;
    case ROCE_OP_SEND:
    case ROCE_OP_WRITE:
    case ROCE_OP_READ:
    case ROCE_OP_ATOMIC:
    case ROCE_OP_RESYNC:
    case ROCE_OP_READ_RESPONSE:
    case ROCE_OP_ACK:
    case ROCE_OP_ATOMIC_ACK:
    case ROCE_OP_CNP:
        break;
    }
    return true;
}

/* Protocols named in front of |count| layers stay; what a dissector that gave up has added goes. */
static void cut_layers(packet_info *pinfo, guint count)
{
    while (wmem_list_count(pinfo->layers) > count)
        wmem_list_remove_frame(pinfo->layers, wmem_list_tail(pinfo->layers));
}

/* Hands the packet on. The built-in dissector overwrites the addresses with LIDs on some packets,
 * and lets a payload dissector's exception pass: a heuristic that reads behind the end of a short
 * payload, or forgets its own reassembly, is no fault of a packet whose lengths agree. Returns
 * false when that happened. */
static bool call_builtin(dissector_handle_t builtin, tvbuff_t *tvb, packet_info *pinfo,
                         proto_tree *tree)
{
    address src, dst, net_src, net_dst, dl_src, dl_dst;
    copy_address_shallow(&src, &pinfo->src);
    copy_address_shallow(&dst, &pinfo->dst);
    copy_address_shallow(&net_src, &pinfo->net_src);
    copy_address_shallow(&net_dst, &pinfo->net_dst);
    copy_address_shallow(&dl_src, &pinfo->dl_src);
    copy_address_shallow(&dl_dst, &pinfo->dl_dst);
    const char *const proto = pinfo->current_proto;
    const guint layers = wmem_list_count(pinfo->layers);
    volatile bool whole = true;
    TRY
    {
        call_dissector_only(builtin, tvb, pinfo, tree, NULL);
    }
    CATCH3(ReportedBoundsError, ContainedBoundsError, DissectorError)
    {
        whole = false;
    }
    FINALLY
    {
        copy_address_shallow(&pinfo->src, &src);
        copy_address_shallow(&pinfo->dst, &dst);
        copy_address_shallow(&pinfo->net_src, &net_src);
        copy_address_shallow(&pinfo->net_dst, &net_dst);
        copy_address_shallow(&pinfo->dl_src, &dl_src);
        copy_address_shallow(&pinfo->dl_dst, &dl_dst);
    }
    ENDTRY;
    if (!whole) {
        cut_layers(pinfo, layers + 1);
        pinfo->current_proto = proto;
    }
    return whole;
}

static void view_management(struct view *view)
{
    const struct roce_packet *pkt = view->pkt;
    if ((pkt->has & ROCE_HAS_MAD) == 0)
        return;
    const uint8_t *mad = view->frame->data + pkt->payload_off;
    view->has_mad = roce_mad_decode(mad, pkt->payload_captured, &view->mad) > 0;
    if (!view->has_mad || view->mad.mgmt_class != ROCE_MAD_CLASS_CM)
        return;
    view->has_cm = roce_cm_decode(view->mad.attr_id, mad + ROCE_MAD_HDR_LEN,
                                  pkt->payload_captured - ROCE_MAD_HDR_LEN, &view->cm) > 0;
}

static const char *protocol_name(const struct roce_packet *pkt)
{
    switch ((enum roce_kind)pkt->kind) {
    case ROCE_KIND_ROCEV1:
        return "RoCEv1";
    case ROCE_KIND_PFC:
        return "PFC";
    case ROCE_KIND_PAUSE:
        return "PAUSE";
    case ROCE_KIND_ROCEV2:
    case ROCE_KIND_IB:
    case ROCE_KIND_OTHER:
        break;
    }
    return "RoCEv2";
}

/* A protocol above InfiniBand keeps its name, and its text unless ours says more. */
static void show_columns(const struct view *view, bool ulp)
{
    char line[INFO_ROOM];
    column_info *const columns = view->pinfo->cinfo;
    if (ulp && !view->has_cm) {
        info_tail(view, line);
        col_append_str(columns, COL_INFO, line);
        return;
    }
    if (!ulp)
        col_set_str(columns, COL_PROTOCOL, protocol_name(view->pkt));
    info_line(view, line);
    col_add_str(columns, COL_INFO, line);
}

/* The captured payload. Listeners run where nobody catches an exception: what does not lie whole in
 * the tvb, because lengths contradict each other, is not handed to them. */
static tvbuff_t *payload_tvb(const struct view *view)
{
    const struct roce_packet *pkt = view->pkt;
    const uint32_t length = tvb_captured_length(view->tvb);
    if ((pkt->has & ROCE_HAS_PAYLOAD) == 0 || pkt->payload_captured == 0)
        return NULL;
    const uint32_t at = pkt->payload_off - view->base;
    if (at > length || pkt->payload_captured > length - at)
        return NULL;
    return tvb_new_subset_length(view->tvb, (int)at, (int)pkt->payload_captured);
}

static void queue_tap(const struct view *view)
{
    const bool listened = have_tap_listener(tap_rocev2);
    const bool exported = have_tap_listener(tap_rocev2_export);
    if (!listened && !exported)
        return;
    struct tap_data *data = wmem_new0(view->pinfo->pool, struct tap_data);
    struct roce_packet *pkt = wmem_new(view->pinfo->pool, struct roce_packet);
    *pkt = *view->pkt;
    data->pkt = pkt;
    data->rec = view->rec;
    if (view->rec != NULL)
        data->flow = *view->flow;
    data->length = view->frame->origlen;
    data->first = !view->pinfo->fd->visited;
    data->payload = payload_tvb(view);
    if (listened)
        tap_queue_packet(tap_rocev2, view->pinfo, data);
    if (exported)
        tap_queue_packet(tap_rocev2_export, view->pinfo, data);
}

/* State moves once, when a frame is seen first; errors that quote a packet are no packet. */
static const struct record *record_for(const struct view *view, enum decoded how)
{
    const packet_info *pinfo = view->pinfo;
    if (pinfo->flags.in_error_pkt || how == DECODED_REBUILT)
        return NULL;
    if (pinfo->fd->visited) {
        analysis_settle();
        return analysis_find(pinfo->num);
    }
    return analysis_add(view->frame, view->pkt, view->icrc);
}

static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data,
                   dissector_handle_t builtin)
{
    struct roce_frame frame;
    struct roce_packet pkt;
    struct roce_icrc icrc = {.status = ROCE_ICRC_UNCHECKED, .reason = ROCE_ICRC_NOT_ASKED};
    struct roce_flow_info flow;
    struct view view = {.pinfo = pinfo,
                        .tvb = tvb,
                        .frame = &frame,
                        .pkt = &pkt,
                        .icrc = &icrc,
                        .flow = &flow,
                        .link_speed_bps = analysis_prefs.link_speed_bps};
    const enum decoded how = decode_packet(tvb, pinfo, pref_rd, &frame, &pkt, &view.base);
    if (how == DECODED_NOT)
        return builtin == NULL ? 0 : call_dissector_only(builtin, tvb, pinfo, tree, data);
    if (pref_check_icrc && how != DECODED_REBUILT && roce_packet_is_roce(&pkt))
        roce_icrc_check(&frame, &pkt, &icrc);
    view.rec = record_for(&view, how);
    if (view.rec != NULL && !analysis_flow(view.rec->flow, &flow))
        view.rec = NULL;
    if (view.rec != NULL) {
        view.message = analysis_message(view.rec);
        if (is_nak(&pkt))
            view.refusal = analysis_refusal(pinfo->num);
    }
    view_management(&view);

    const bool pause = pkt.kind == ROCE_KIND_PFC || pkt.kind == ROCE_KIND_PAUSE;
    const bool hand_on = builtin != NULL && (pause ? pkt.status == ROCE_STATUS_OK
                                                   : pref_tree != TREE_OWN && builtin_reads(&pkt));
    bool whole = true;
    bool ulp = false;
    if (!hand_on || pref_tree != TREE_BUILTIN_FIRST)
        tree_build(&view, tree);
    if (hand_on) {
        whole = call_builtin(builtin, tvb, pinfo, tree);
        ulp = whole && !pause && handoff_upper_protocol(pinfo);
    }
    if (hand_on && pref_tree == TREE_BUILTIN_FIRST)
        tree_build(&view, tree);
    if (!whole && pkt.status == ROCE_STATUS_OK)
        expert_ulp_gave_up(pinfo, NULL);
    show_columns(&view, ulp);
    queue_tap(&view);
    return (int)tvb_captured_length(tvb);
}

static int dissect_udp_payload(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    /* The port table is asked for the source port too, but that is mere entropy here. */
    if (!handoff_is_ours(pinfo))
        return 0;
    return dissect(tvb, pinfo, tree, data, handoff_builtin(HANDOFF_UDP));
}

static int dissect_ethertype(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    const enum handoff which =
        pinfo->match_uint == ROCE_ETHERTYPE_MAC_CONTROL ? HANDOFF_MAC_CONTROL : HANDOFF_ROCEV1;
    return dissect(tvb, pinfo, tree, data, handoff_builtin(which));
}

/* Behind all other dissectors: frames that did not come here. Without RoCE there is nothing to do.
 */
static int dissect_other(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    struct roce_frame frame;
    struct roce_packet pkt;
    (void)tvb;
    (void)tree;
    (void)data;
    if (!pinfo->fd->visited && analysis_began() && decode_frame(pinfo, &frame, &pkt) &&
        !roce_packet_is_roce(&pkt))
        analysis_other(&frame, &pkt);
    return 0;
}

static void init_file(void)
{
    handoff_claim();
    analysis_init();
}

static void apply_preferences(void)
{
    analysis_prefs.link_speed_bps = (uint64_t)pref_link_speed * 1000000000U;
    handoff_claim();
}

static void register_preferences(void)
{
    static const enum_val_t orders[] = {
        {"own", "RoCEv2 only (fastest; no upper protocols)", TREE_OWN},
        {"both", "RoCEv2, then InfiniBand and upper protocols", TREE_BOTH},
        {"builtin-first", "InfiniBand and upper protocols, then RoCEv2", TREE_BUILTIN_FIRST},
        {NULL, NULL, 0}};
    module_t *module = prefs_register_protocol(proto_rocev2, apply_preferences);
    handoff_register_preferences(module);
    prefs_register_enum_preference(module, "tree", "Show",
                                   "Whether the built-in InfiniBand dissector sees the packet too",
                                   &pref_tree, orders, FALSE);
    prefs_register_bool_preference(module, "check_icrc", "Check the invariant CRC",
                                   "Compute the ICRC of each packet and compare", &pref_check_icrc);
    prefs_register_uint_preference(module, "link_speed", "Link speed in Gb/s",
                                   "Turns pause quanta into time; 0: unknown", 10,
                                   &pref_link_speed);
    prefs_register_bool_preference(module, "rd", "Opcodes 0x40-0x5f are Reliable Datagram",
                                   "Otherwise they are NVIDIA's Dynamically Connected transport",
                                   &pref_rd);
}

void proto_register_rocev2(void)
{
    proto_rocev2 = proto_register_protocol("RDMA over Converged Ethernet", "RoCEv2", "rocev2");
    proto_others =
        proto_register_protocol_in_name_only("RoCEv2 observer of other frames", "RoCEv2 others",
                                             "rocev2.others", proto_rocev2, FT_PROTOCOL);
    tree_register();
    expert_register();
    tap_rocev2 = register_tap("rocev2");
    register_preferences();
    register_init_routine(init_file);
    register_cleanup_routine(analysis_cleanup);
    tap_register();
}

void proto_reg_handoff_rocev2(void)
{
    handoff_init(create_dissector_handle(dissect_udp_payload, proto_rocev2),
                 create_dissector_handle(dissect_ethertype, proto_rocev2));
    register_postdissector(create_dissector_handle(dissect_other, proto_others));
    apply_preferences();
}
