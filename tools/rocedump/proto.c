/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What frames that are not RoCE are. */
#include "rocedump/proto.h"

#include <stdio.h>

#include <roce/fmt.h>

#include "common/text.h"

enum { NAMED_MAX = 6 };

/* A kind of frame is one number: class in the high half, protocol in the low. */
enum class { CLASS_ETHERTYPE, CLASS_IP, CLASS_LINK, CLASS_FAULT, CLASS_NOTHING };

struct name {
    uint32_t number;
    const char *name;
};

static const struct name ethertypes[] = {
    {0x0800, "IPv4"},
    {0x0806, "ARP"},
    {0x0842, "Wake-on-LAN"},
    {0x8035, "RARP"},
    {0x86DD, "IPv6"},
    {0x8808, "other MAC control"},
    {0x8809, "LACP and slow protocols"},
    {0x8847, "MPLS"},
    {0x8848, "MPLS"},
    {0x8863, "PPPoE discovery"},
    {0x8864, "PPPoE"},
    {0x888E, "802.1X"},
    {0x8906, "FCoE"},
    {0x88CC, "LLDP"},
    {0x88E5, "MACsec"},
    {0x88F7, "PTP"},
    {0x8914, "FIP"},
    {0x9000, "loopback test"},
};

static const struct name protocols[] = {
    {0, "IPv6 hop-by-hop"},
    {1, "ICMP"},
    {2, "IGMP"},
    {4, "IP in IP"},
    {6, "TCP"},
    {17, "other UDP"},
    {41, "IPv6 in IP"},
    {47, "GRE"},
    {50, "ESP"},
    {51, "AH"},
    {58, "ICMPv6"},
    {59, "IPv6 without payload"},
    {89, "OSPF"},
    {103, "PIM"},
    {112, "VRRP"},
    {132, "SCTP"},
};

static const char *look_up(const struct name *names, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}

static uint32_t key_of(const struct roce_frame *frame, const struct roce_packet *pkt)
{
    if (pkt->status == ROCE_STATUS_UNKNOWN && pkt->layer == ROCE_LAYER_LINK)
        return (uint32_t)CLASS_LINK << 16 | (frame->linktype & 0xFFFF);
    if ((pkt->has & ROCE_HAS_IP) != 0)
        return (uint32_t)CLASS_IP << 16 | pkt->ip.proto;
    if (pkt->status == ROCE_STATUS_TRUNCATED || pkt->status == ROCE_STATUS_MALFORMED)
        return (uint32_t)CLASS_FAULT << 16 | pkt->status;
    if (pkt->ethertype != 0)
        return (uint32_t)CLASS_ETHERTYPE << 16 | pkt->ethertype;
    return (uint32_t)CLASS_NOTHING << 16;
}

static char *put_kind(char *out, uint32_t key)
{
    const uint32_t number = key & 0xFFFF;
    const char *name = NULL;
    switch ((enum class)(key >> 16)) {
    case CLASS_ETHERTYPE:
        if (number < 0x0600) /* a length: 802.3 with LLC, as spanning tree uses it */
            return TEXT(out, "802.3 LLC");
        name = look_up(ethertypes, sizeof(ethertypes) / sizeof(ethertypes[0]), number);
        if (name != NULL)
            return roce_fmt_str(out, name);
        out = TEXT(out, "ethertype ");
        return roce_fmt_hex_pad(out, number, 4);
    case CLASS_IP:
        name = look_up(protocols, sizeof(protocols) / sizeof(protocols[0]), number);
        if (name != NULL)
            return roce_fmt_str(out, name);
        out = TEXT(out, "IP protocol ");
        return roce_fmt_uint(out, number);
    case CLASS_LINK:
        out = TEXT(out, "link type ");
        return roce_fmt_uint(out, number);
    case CLASS_FAULT:
        return roce_fmt_str(out, roce_status_name((enum roce_status)number));
    case CLASS_NOTHING:
        break;
    }
    return TEXT(out, "unknown");
}

char *proto_name(char *out, const struct roce_frame *frame, const struct roce_packet *pkt)
{
    return put_kind(out, key_of(frame, pkt));
}

void census_add(struct census *census, const struct roce_frame *frame,
                const struct roce_packet *pkt)
{
    census->frames++;
    switch ((enum roce_kind)pkt->kind) {
    case ROCE_KIND_ROCEV2:
    case ROCE_KIND_ROCEV1:
    case ROCE_KIND_IB:
        census->roce++;
        return;
    case ROCE_KIND_PFC:
    case ROCE_KIND_PAUSE:
        census->pause++;
        return;
    case ROCE_KIND_OTHER:
        break;
    }
    const uint32_t key = key_of(frame, pkt);
    uint32_t i = 0;
    while (i < census->kinds && census->kind[i].key != key)
        i++;
    if (i == CENSUS_KINDS_MAX) {
        census->rest++;
        return;
    }
    if (i == census->kinds) {
        census->kind[census->kinds].key = key;
        census->kind[census->kinds++].count = 0;
    }
    census->kind[i].count++;
}

size_t census_text(const struct census *census, char text[CENSUS_TEXT_MAX])
{
    char *p = text;
    p = TEXT(p, "0 RoCE packets in ");
    p = roce_fmt_uint(p, census->frames);
    if (census->frames == 0)
        p = TEXT(p, ": the capture holds no frames");
    bool used[CENSUS_KINDS_MAX] = {false};
    uint64_t left = census->frames - census->roce - census->pause;
    for (int n = 0; n < NAMED_MAX; n++) {
        uint32_t best = CENSUS_KINDS_MAX;
        for (uint32_t i = 0; i < census->kinds; i++)
            if (!used[i] &&
                (best == CENSUS_KINDS_MAX || census->kind[i].count > census->kind[best].count))
                best = i;
        if (best == CENSUS_KINDS_MAX)
            break;
        used[best] = true;
        left -= census->kind[best].count;
        p = n == 0 ? TEXT(p, ": ") : TEXT(p, ", ");
        p = roce_fmt_uint(p, census->kind[best].count);
        *p++ = ' ';
        p = put_kind(p, census->kind[best].key);
    }
    if (left > 0) {
        p = TEXT(p, ", ");
        p = roce_fmt_uint(p, left);
        p = TEXT(p, " of other kinds");
    }
    *p = '\0';
    return (size_t)(p - text);
}
