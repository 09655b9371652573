/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dissector tables: UDP ports, EtherTypes, and the way past dissectors that own the source port. */
#include "rocev2.h"

#include <epan/conversation.h>
#include <epan/ipproto.h>

#include "handoff.h"

static ws_bool pref_take_over = TRUE;
static range_t *pref_ports;

struct entry {
    const char *table;
    uint32_t pattern;
    dissector_handle_t own, builtin;
};

static struct entry entries[HANDOFFS] = {
    [HANDOFF_UDP] = {"udp.port", ROCE_UDP_PORT, NULL, NULL},
    [HANDOFF_ROCEV1] = {"ethertype", ROCE_ETHERTYPE_ROCEV1, NULL, NULL},
    [HANDOFF_MAC_CONTROL] = {"ethertype", ROCE_ETHERTYPE_MAC_CONTROL, NULL, NULL},
};

/* In front of UDP stands a dissector that only looks at the ports: UDP asks the lower port first,
 * and a random source port of 69 would make a packet TFTP. */
static struct entry udp = {"ip.proto", IP_PROTO_UDP, NULL, NULL};
static dissector_table_t udp_ports;
static int proto_infiniband, proto_data;

/* Ports of the preference that are registered now, beside the standard one. */
static range_t *claimed;

static bool in_ports(uint32_t port)
{
    return port == ROCE_UDP_PORT || (pref_ports != NULL && value_is_in_range(pref_ports, port));
}

bool handoff_is_ours(const packet_info *pinfo)
{
    return in_ports(pinfo->destport) || pinfo->match_uint == pinfo->destport;
}

/* Source ports belong to the peer's random choice. When another dissector owns this one by default
 * (not by the user's Decode As), the conversation gets ours. */
static void settle_source_port(const packet_info *pinfo, const struct roce_udp *header)
{
    const dissector_handle_t theirs = dissector_get_uint_handle(udp_ports, header->sport);
    if (theirs == NULL || theirs == entries[HANDOFF_UDP].own || in_ports(header->sport) ||
        theirs != dissector_get_default_uint_handle("udp.port", header->sport) ||
        dissector_get_uint_handle(udp_ports, header->dport) != entries[HANDOFF_UDP].own)
        return;
    conversation_t *conversation = find_conversation(
        pinfo->num, &pinfo->src, &pinfo->dst, CONVERSATION_UDP, header->sport, header->dport, 0);
    if (conversation == NULL)
        conversation = conversation_new(pinfo->num, &pinfo->src, &pinfo->dst, CONVERSATION_UDP,
                                        header->sport, header->dport, 0);
    if (conversation_get_dissector(conversation, pinfo->num) == NULL)
        conversation_set_dissector(conversation, entries[HANDOFF_UDP].own);
}

static int dissect_udp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    struct roce_udp header;
    if (tvb_captured_length(tvb) >= ROCE_UDP_LEN &&
        roce_udp_decode(tvb_get_ptr(tvb, 0, ROCE_UDP_LEN), ROCE_UDP_LEN, &header) > 0 &&
        in_ports(header.dport))
        settle_source_port(pinfo, &header);
    return call_dissector_only(udp.builtin, tvb, pinfo, tree, data);
}

static void claim(struct entry *entry, bool take)
{
    const dissector_handle_t now = dissector_get_default_uint_handle(entry->table, entry->pattern);
    if (take) {
        if (now != entry->own)
            dissector_add_uint(entry->table, entry->pattern, entry->own);
    } else if (now == entry->own) {
        if (entry->builtin != NULL)
            dissector_add_uint(entry->table, entry->pattern, entry->builtin);
        else
            dissector_delete_uint(entry->table, entry->pattern, entry->own);
    }
}

void handoff_claim(void)
{
    if (entries[HANDOFF_UDP].own == NULL)
        return;
    if (claimed != NULL)
        dissector_delete_uint_range("udp.port", claimed, entries[HANDOFF_UDP].own);
    wmem_free(wmem_epan_scope(), claimed);
    claimed = NULL;
    if (pref_take_over && pref_ports != NULL) {
        claimed = range_copy(wmem_epan_scope(), pref_ports);
        dissector_add_uint_range("udp.port", claimed, entries[HANDOFF_UDP].own);
    }
    for (unsigned i = 0; i < HANDOFFS; i++)
        claim(&entries[i], pref_take_over);
    claim(&udp, pref_take_over);
}

dissector_handle_t handoff_builtin(enum handoff which)
{
    return entries[which].builtin;
}

void handoff_register_preferences(module_t *module)
{
    prefs_register_bool_preference(module, "take_over", "Dissect RoCE instead of InfiniBand",
                                   "Off: UDP port 4791 and the EtherTypes go back to the built-in "
                                   "dissectors, as if this one were not there",
                                   &pref_take_over);
    prefs_register_range_preference(module, "ports", "Further UDP ports",
                                    "Destination ports that carry RoCEv2, besides 4791",
                                    &pref_ports, 65535);
}

bool handoff_upper_protocol(const packet_info *pinfo)
{
    const int last = GPOINTER_TO_INT(wmem_list_frame_data(wmem_list_tail(pinfo->layers)));
    return last != proto_infiniband && last != proto_data && last != proto_rocev2;
}

void handoff_init(dissector_handle_t own_udp, dissector_handle_t ethertype)
{
    entries[HANDOFF_UDP].own = own_udp;
    entries[HANDOFF_ROCEV1].own = ethertype;
    entries[HANDOFF_MAC_CONTROL].own = ethertype;
    for (unsigned i = 0; i < HANDOFFS; i++)
        entries[i].builtin =
            dissector_get_default_uint_handle(entries[i].table, entries[i].pattern);
    proto_infiniband = proto_get_id_by_filter_name("infiniband");
    proto_data = proto_get_id_by_filter_name("data");
    udp_ports = find_dissector_table("udp.port");
    udp.builtin = dissector_get_default_uint_handle(udp.table, udp.pattern);
    udp.own = create_dissector_handle(dissect_udp, proto_register_protocol_in_name_only(
                                                       "RoCEv2 port arbiter", "RoCEv2 ports",
                                                       "rocev2.ports", proto_rocev2, FT_PROTOCOL));
}
