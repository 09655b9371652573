/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses, congestion marks, VLAN tags, tunnels, pause frames and strangers of a line. */
#include "common/units.h"
#include "rocedump/line_parts.h"
#include "rocedump/proto.h"

enum { ADDRESSES_WIDTH = 23 };

static char *put_pair(char *out, const struct roce_ip *ip)
{
    out = roce_fmt_addr(out, ip->src, ip->version);
    out = TEXT(out, " > ");
    return roce_fmt_addr(out, ip->dst, ip->version);
}

char *line_addresses(char *out, const struct roce_packet *pkt)
{
    const char *begin = out;
    if ((pkt->has & ROCE_HAS_IP) != 0) {
        out = put_pair(out, &pkt->ip);
    } else if ((pkt->has & ROCE_HAS_ETH) != 0) {
        out = roce_fmt_mac(out, pkt->eth.src);
        out = TEXT(out, " > ");
        out = roce_fmt_mac(out, pkt->eth.dst);
    } else if ((pkt->has & ROCE_HAS_LRH) != 0) {
        out = TEXT(out, "LID ");
        out = roce_fmt_uint(out, pkt->lrh.slid);
        out = TEXT(out, " > LID ");
        out = roce_fmt_uint(out, pkt->lrh.dlid);
    } else {
        out = TEXT(out, "? > ?");
    }
    return text_pad(out, begin, ADDRESSES_WIDTH);
}

static char *put_tag(char *out, struct roce_vlan tag)
{
    if (roce_vlan_vid(tag) != 0) {
        out = TEXT(out, " vlan ");
        out = roce_fmt_uint(out, roce_vlan_vid(tag));
    }
    out = TEXT(out, " prio ");
    out = roce_fmt_uint(out, roce_vlan_pcp(tag));
    return roce_vlan_dei(tag) ? TEXT(out, " DEI") : out;
}

static char *put_tunnel(char *out, const struct roce_tunnel *tunnel)
{
    for (const char *c = roce_tunnel_name((enum roce_tunnel_kind)tunnel->kind); *c != '\0'; c++)
        *out++ = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c == '_' ? '-' : *c);
    if (tunnel->has_key) {
        *out++ = ' ';
        out = roce_fmt_uint(out, tunnel->key);
    }
    if (tunnel->kind == ROCE_TUNNEL_ERSPAN2 || tunnel->kind == ROCE_TUNNEL_ERSPAN3) {
        out = TEXT(out, " session ");
        out = roce_fmt_uint(out, tunnel->session);
    }
    return tunnel->cut ? TEXT(out, " cut") : out;
}

static char *put_tunnels(char *out, const struct roce_packet *pkt)
{
    out = TEXT(out, " in ");
    for (uint8_t i = 0; i < pkt->n_tunnel && i < ROCE_TUNNEL_MAX; i++) {
        if (i > 0)
            out = TEXT(out, " + ");
        out = put_tunnel(out, &pkt->tunnel[i]);
    }
    if ((pkt->has & ROCE_HAS_OUTER_IP) != 0) {
        out = TEXT(out, " (");
        out = put_pair(out, &pkt->outer_ip);
        *out++ = ')';
    }
    for (uint8_t i = 0; i < pkt->n_outer_vlan && i < ROCE_VLAN_MAX; i++) {
        out = TEXT(out, " outer");
        out = put_tag(out, pkt->outer_vlan[i]);
    }
    return out;
}

char *line_network(char *out, const struct roce_packet *pkt, bool colour)
{
    if ((pkt->has & ROCE_HAS_IP) != 0 && pkt->ip.tos != 0) {
        switch (roce_ip_ecn(&pkt->ip)) {
        case ROCE_ECN_NOT_ECT:
            break;
        case ROCE_ECN_ECT1:
            out = TEXT(out, " ECT(1)");
            break;
        case ROCE_ECN_ECT0:
            out = TEXT(out, " ECT(0)");
            break;
        case ROCE_ECN_CE:
            *out++ = ' ';
            out = loud(out, colour, COLOUR_YELLOW);
            out = TEXT(out, "[CE]");
            out = calm(out, colour);
            break;
        }
        if (roce_ip_dscp(&pkt->ip) != 0) {
            out = TEXT(out, " dscp ");
            out = roce_fmt_uint(out, roce_ip_dscp(&pkt->ip));
        }
    }
    for (uint8_t i = 0; i < pkt->n_vlan && i < ROCE_VLAN_MAX; i++)
        out = put_tag(out, pkt->vlan[i]);
    if (pkt->n_tunnel > 0)
        out = put_tunnels(out, pkt);
    return out;
}

static char *put_pause_time(char *out, uint16_t quanta, uint64_t speed_bps)
{
    if (quanta == 0)
        return TEXT(out, " resume");
    out = TEXT(out, " pause ");
    if (speed_bps == 0) {
        out = roce_fmt_uint(out, quanta);
        return TEXT(out, " quanta");
    }
    out = units_us(out, roce_pause_ns(quanta, speed_bps));
    return TEXT(out, " us");
}

char *line_pause(char *out, const struct roce_view *view)
{
    const struct roce_packet *pkt = view->pkt;
    const bool pfc = pkt->kind == ROCE_KIND_PFC;
    out = pfc ? TEXT(out, " PFC") : TEXT(out, " PAUSE");
    if (pkt->status != ROCE_STATUS_OK)
        return out;
    if (!pfc)
        return put_pause_time(out, pkt->pause.quanta, view->link_speed_bps);
    for (unsigned i = 0; i < 8; i++) {
        if ((pkt->pfc.enable >> i & 1) == 0)
            continue;
        out = TEXT(out, " prio ");
        out = roce_fmt_uint(out, i);
        out = put_pause_time(out, pkt->pfc.quanta[i], view->link_speed_bps);
    }
    return (pkt->pfc.enable & 0xFF) == 0 ? TEXT(out, " no priority") : out;
}

char *line_other(char *out, const struct roce_view *view)
{
    const struct roce_packet *pkt = view->pkt;
    out = TEXT(out, " Other: ");
    if ((pkt->has & ROCE_HAS_IP) != 0)
        out = pkt->ip.version == 4 ? TEXT(out, "IPv4 / ") : TEXT(out, "IPv6 / ");
    if ((pkt->has & ROCE_HAS_UDP) != 0) {
        out = TEXT(out, "UDP ");
        out = roce_fmt_uint(out, pkt->udp.sport);
        out = TEXT(out, " > ");
        out = roce_fmt_uint(out, pkt->udp.dport);
    } else {
        out = proto_name(out, view->frame, pkt);
    }
    out = TEXT(out, " frame length ");
    return roce_fmt_uint(out, view->frame->origlen);
}

char *line_faults(char *out, const struct roce_view *view, bool colour)
{
    const struct roce_packet *pkt = view->pkt;
    if (view->icrc->status == ROCE_ICRC_BAD && roce_packet_is_roce(pkt)) {
        *out++ = ' ';
        out = loud(out, colour, COLOUR_RED);
        out = TEXT(out, "ICRC bad (expected ");
        out = roce_fmt_hex_pad(out, view->icrc->expected, 8);
        *out++ = ')';
        out = calm(out, colour);
    }
    if (pkt->status != ROCE_STATUS_OK) {
        *out++ = ' ';
        out = loud(out, colour, COLOUR_RED);
        *out++ = '[';
        out = roce_fmt_str(out, roce_status_name((enum roce_status)pkt->status));
        out = TEXT(out, ": ");
        out = roce_fmt_str(out, pkt->why != NULL ? pkt->why : "");
        *out++ = ']';
        out = calm(out, colour);
    }
    return out;
}
