/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File > Export Objects > RoCEv2: messages put together from their packets. A message that was not
 * captured whole is left out. */
#include <epan/export_object.h>
#include <epan/to_str.h>

#include "facts.h"
#include "stats.h"

#define MESSAGES_OPEN 4096                 /* messages under way at once */
#define MESSAGE_MAX   (256U * 1024 * 1024) /* longer ones are left out */

int tap_rocev2_export = -1;

struct message {
    GByteArray *bytes;
    uint32_t next_psn;
    guint frame;
};

static GHashTable *under_way; /* stream -> struct message: the one that is under way */

static void message_free(gpointer data)
{
    struct message *message = data;
    if (message->bytes != NULL)
        g_byte_array_free(message->bytes, TRUE);
    g_free(message);
}

static void reset(void)
{
    if (under_way != NULL)
        g_hash_table_destroy(under_way);
    under_way = NULL;
}

static bool carries(const struct tap_data *tap)
{
    const struct roce_packet *pkt = tap->pkt;
    const uint32_t there = tap->payload == NULL ? 0 : tvb_captured_length(tap->payload);
    if (tap->rec == NULL || (pkt->has & ROCE_HAS_PAYLOAD) == 0 || there != pkt->payload_len ||
        says(tap->rec, ROCE_V_DUP | ROCE_V_MIRROR_DUP | ROCE_V_READ_RESPONSE_DUP))
        return false;
    return pkt->op == ROCE_OP_SEND || pkt->op == ROCE_OP_WRITE || pkt->op == ROCE_OP_READ_RESPONSE;
}

static void add_entry(export_object_list_t *list, const struct tap_data *tap, packet_info *pinfo,
                      const struct message *message)
{
    static const char *const kinds[] = {"send", "write", "read"};
    const unsigned kind = tap->pkt->op == ROCE_OP_SEND ? 0 : tap->pkt->op == ROCE_OP_WRITE ? 1 : 2;
    char *host = address_to_str(NULL, &pinfo->net_src);
    export_object_entry_t *entry = g_new0(export_object_entry_t, 1);
    entry->pkt_num = message->frame;
    entry->hostname = g_strdup_printf("%s QP 0x%06x", host, tap->flow.dest_qp);
    entry->content_type = g_strdup(kinds[kind]);
    entry->filename =
        g_strdup_printf("stream%u-frame%u-%s.bin", tap->flow.id, message->frame, kinds[kind]);
    entry->payload_len = message->bytes->len;
    entry->payload_data = g_memdup2(message->bytes->data, message->bytes->len);
    list->add_entry(list->gui_data, entry);
    wmem_free(NULL, host);
}

static tap_packet_status packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                const void *data, tap_flags_t flags)
{
    const struct tap_data *tap = data;
    (void)edt;
    (void)flags;
    if (!carries(tap))
        return TAP_PACKET_DONT_REDRAW;
    const struct roce_packet *pkt = tap->pkt;
    if (under_way == NULL)
        under_way = g_hash_table_new_full(NULL, NULL, NULL, message_free);
    const gpointer key = GUINT_TO_POINTER(tap->rec->flow);
    if (pkt->pos == ROCE_POS_FIRST || pkt->pos == ROCE_POS_ONLY) {
        if (g_hash_table_size(under_way) >= MESSAGES_OPEN)
            g_hash_table_remove_all(under_way);
        struct message *fresh = g_new0(struct message, 1);
        fresh->bytes = g_byte_array_new();
        fresh->frame = pinfo->num;
        fresh->next_psn = pkt->bth.psn;
        g_hash_table_insert(under_way, key, fresh);
    }
    struct message *message = g_hash_table_lookup(under_way, key);
    if (message == NULL)
        return TAP_PACKET_DONT_REDRAW;
    if (message->next_psn != pkt->bth.psn ||
        message->bytes->len + (uint64_t)pkt->payload_len > MESSAGE_MAX) {
        g_hash_table_remove(under_way, key);
        return TAP_PACKET_DONT_REDRAW;
    }
    if (tap->payload != NULL)
        g_byte_array_append(message->bytes, tvb_get_ptr(tap->payload, 0, (int)pkt->payload_len),
                            pkt->payload_len);
    message->next_psn = roce_psn_add(pkt->bth.psn, 1);
    if (pkt->pos != ROCE_POS_LAST && pkt->pos != ROCE_POS_ONLY)
        return TAP_PACKET_DONT_REDRAW;
    if (message->bytes->len > 0)
        add_entry(tapdata, tap, pinfo, message);
    g_hash_table_remove(under_way, key);
    return TAP_PACKET_REDRAW;
}

void export_register(void)
{
    tap_rocev2_export = register_export_object(proto_rocev2, packet, reset);
}
