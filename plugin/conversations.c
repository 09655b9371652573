/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics > Conversations and Endpoints, and the conversation filter of the packet list. A port
 * is a QP; 0 stands for a QP that is not known. */
#include "stats.h"

#include <epan/conversation_filter.h>
#include <epan/conversation_table.h>

static const char *filter_name(conv_filter_type_e filter, address_type type)
{
    const bool v6 = type == AT_IPv6;
    if (type != AT_IPv4 && type != AT_IPv6)
        return CONV_FILTER_INVALID;
    switch (filter) {
    case CONV_FT_SRC_ADDRESS:
        return v6 ? "ipv6.src" : "ip.src";
    case CONV_FT_DST_ADDRESS:
        return v6 ? "ipv6.dst" : "ip.dst";
    case CONV_FT_ANY_ADDRESS:
        return v6 ? "ipv6.addr" : "ip.addr";
    case CONV_FT_SRC_PORT:
        return "rocev2.src_qp";
    case CONV_FT_DST_PORT:
        return "rocev2.bth.dqpn";
    case CONV_FT_ANY_PORT:
        return "rocev2.qp";
    }
    return CONV_FILTER_INVALID;
}

static const char *conversation_filter_name(conv_item_t *item, conv_filter_type_e filter)
{
    return filter_name(filter, (address_type)item->src_address.type);
}

static const char *endpoint_filter_name(endpoint_item_t *item, conv_filter_type_e filter)
{
    return filter_name(filter, (address_type)item->myaddress.type);
}

static tap_packet_status conversation_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                             const void *data, tap_flags_t flags)
{
    static ct_dissector_info_t info = {conversation_filter_name};
    const struct tap_data *tap = data;
    conv_hash_t *table = tapdata;
    (void)edt;
    table->flags = flags;
    if (tap->rec == NULL)
        return TAP_PACKET_DONT_REDRAW;
    add_conversation_table_data(table, &pinfo->net_src, &pinfo->net_dst, tap->flow.src_qp,
                                tap->flow.dest_qp, 1, (int)tap->length, &pinfo->rel_ts,
                                &pinfo->abs_ts, &info, CONVERSATION_IBQP);
    return TAP_PACKET_REDRAW;
}

static tap_packet_status endpoint_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                         const void *data, tap_flags_t flags)
{
    static et_dissector_info_t info = {endpoint_filter_name};
    const struct tap_data *tap = data;
    conv_hash_t *table = tapdata;
    (void)edt;
    table->flags = flags;
    if (tap->rec == NULL)
        return TAP_PACKET_DONT_REDRAW;
    add_endpoint_table_data(table, &pinfo->net_src, tap->flow.src_qp, TRUE, 1, (int)tap->length,
                            &info, ENDPOINT_IBQP);
    add_endpoint_table_data(table, &pinfo->net_dst, tap->flow.dest_qp, FALSE, 1, (int)tap->length,
                            &info, ENDPOINT_IBQP);
    return TAP_PACKET_REDRAW;
}

static ws_bool filter_valid(packet_info *pinfo FILTER_USER_DATA)
{
    return analysis_find(pinfo->num) != NULL;
}

static char *filter_build(packet_info *pinfo FILTER_USER_DATA)
{
    const struct record *rec = analysis_find(pinfo->num);
    struct roce_flow_info flow;
    if (rec == NULL || !analysis_flow(rec->flow, &flow))
        return NULL;
    if (flow.connection != ROCE_FLOW_NONE)
        return g_strdup_printf("rocev2.connection == %u", flow.connection);
    return g_strdup_printf("rocev2.stream == %u", flow.id);
}

void conversations_register(void)
{
    register_conversation_table(proto_rocev2, FALSE, conversation_packet, endpoint_packet);
    register_conversation_filter("rocev2", "RoCEv2", filter_valid, filter_build FILTER_NO_DATA);
}
