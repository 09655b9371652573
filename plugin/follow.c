/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follow > RoCEv2 Stream: the payload of the SENDs of a connection, each PSN once. */
#include <epan/follow.h>
#include <epan/to_str.h>

#include "facts.h"
#include "stats.h"

static gchar *conversation_filter(epan_dissect_t *edt, packet_info *pinfo, guint *stream,
                                  guint *sub_stream)
{
    const struct record *rec = analysis_find(pinfo->num);
    struct roce_flow_info flow;
    (void)edt;
    if (rec == NULL || !analysis_flow(rec->flow, &flow) || flow.connection == ROCE_FLOW_NONE)
        return NULL;
    *stream = flow.connection;
    *sub_stream = 0;
    return g_strdup_printf("rocev2.connection == %u", flow.connection);
}

static gchar *index_filter(guint stream, guint sub_stream)
{
    (void)sub_stream;
    return g_strdup_printf("rocev2.connection == %u", stream);
}

static gchar *address_filter(address *src, address *dst, int src_qp, int dst_qp)
{
    const char *ip = src->type == AT_IPv6 ? "ipv6" : "ip";
    char *from = address_to_str(NULL, src);
    char *to = address_to_str(NULL, dst);
    char *filter = g_strdup_printf(
        "(%s.src == %s and rocev2.src_qp == %d and %s.dst == %s and rocev2.bth.dqpn == %d) or "
        "(%s.src == %s and rocev2.src_qp == %d and %s.dst == %s and rocev2.bth.dqpn == %d)",
        ip, from, src_qp, ip, to, dst_qp, ip, to, dst_qp, ip, from, src_qp);
    wmem_free(NULL, from);
    wmem_free(NULL, to);
    return filter;
}

static gchar *show_qp(wmem_allocator_t *allocator, guint qp)
{
    return wmem_strdup_printf(allocator, "QP 0x%06x", qp);
}

static bool belongs(const struct tap_data *tap)
{
    return tap->rec != NULL && tap->payload != NULL && tap->pkt->op == ROCE_OP_SEND &&
           is_request(tap->rec) && !says(tap->rec, ROCE_V_DUP | ROCE_V_MIRROR_DUP);
}

static tap_packet_status packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                const void *data, tap_flags_t flags)
{
    const struct tap_data *tap = data;
    follow_info_t *follow = tapdata;
    (void)edt;
    (void)flags;
    if (!belongs(tap))
        return TAP_PACKET_DONT_REDRAW;
    if (follow->client_ip.type == AT_NONE) {
        copy_address(&follow->client_ip, &pinfo->net_src);
        copy_address(&follow->server_ip, &pinfo->net_dst);
        follow->client_port = tap->flow.src_qp;
        follow->server_port = tap->flow.dest_qp;
    }
    follow_record_t *entry = g_new0(follow_record_t, 1);
    entry->is_server = !addresses_equal(&follow->client_ip, &pinfo->net_src) ||
                       follow->client_port != tap->flow.src_qp;
    entry->packet_num = pinfo->num;
    entry->abs_ts = pinfo->abs_ts;
    const guint length = tvb_captured_length(tap->payload);
    entry->data = g_byte_array_append(g_byte_array_sized_new(length),
                                      tvb_get_ptr(tap->payload, 0, (int)length), length);
    follow->bytes_written[entry->is_server] += length;
    follow->payload = g_list_prepend(follow->payload, entry);
    return TAP_PACKET_DONT_REDRAW;
}

#if WS_AT_LEAST(4, 2)
static uint32_t stream_count(void)
{
    struct roce_flow_stats stats = {0};
    if (analysis_observer() != NULL)
        roce_flow_stats(roce_observer_flows(analysis_observer()), &stats);
    return stats.created; /* a connection has the number of its first stream */
}
#endif

void follow_register(void)
{
    register_follow_stream(proto_rocev2, "rocev2", conversation_filter, index_filter,
                           address_filter, show_qp, packet FOLLOW_COUNT(stream_count));
}
