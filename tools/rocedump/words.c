/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What numbers mean. */
#include "rocedump/words.h"

#include "common/units.h"
#include "rocedump/line_parts.h"
#include "rocedump/time_column.h"

static char *put_time(char *out, const struct roce_view *view)
{
    return time_text(out, view->frame->ts);
}

/* Class selectors, assured and expedited forwarding (RFC 2474, 2597, 3246). */
static char *put_dscp(char *out, const struct roce_view *view)
{
    const uint8_t dscp = roce_ip_dscp(&view->pkt->ip);
    const unsigned class = dscp >> 3, drop = dscp >> 1 & 3;
    if (dscp == 46)
        return TEXT(out, "EF");
    if (dscp % 8 == 0 && dscp != 0) {
        out = TEXT(out, "CS");
        return roce_fmt_uint(out, class);
    }
    if (dscp % 2 == 0 && class >= 1 && class <= 4 && drop >= 1) {
        out = TEXT(out, "AF");
        out = roce_fmt_uint(out, class);
        return roce_fmt_uint(out, drop);
    }
    return out;
}

static char *put_opcode(char *out, const struct roce_view *view)
{
    const char *text = roce_opcode_info(view->pkt->bth.opcode)->text;
    if (text == NULL || view->pkt->service == ROCE_SERVICE_DC)
        return out;
    return roce_fmt_str(out, text);
}

static char *put_dest_qp(char *out, const struct roce_view *view)
{
    switch (view->pkt->bth.dqpn) {
    case ROCE_QPN_SMI:
        return TEXT(out, "subnet management");
    case ROCE_QPN_GSI:
        return TEXT(out, "general services");
    case ROCE_QPN_MULTICAST:
        return TEXT(out, "multicast");
    default:
        return out;
    }
}

static char *put_pkey(char *out, const struct roce_view *view)
{
    const uint16_t pkey = view->pkt->bth.pkey;
    if (pkey == ROCE_PKEY_DEFAULT)
        return TEXT(out, "default partition, full member");
    return (pkey & 0x8000) != 0 ? TEXT(out, "full member") : TEXT(out, "limited member");
}

static char *put_syndrome(char *out, const struct roce_view *view)
{
    return line_syndrome(out, view->pkt->aeth.syndrome);
}

static char *put_placement(char *out, const struct roce_view *view)
{
    static const char *const placements[4] = {"", "global visibility", "persistence",
                                              "global visibility and persistence"};
    return roce_fmt_str(out, placements[view->pkt->feth.plt & 3]);
}

static char *put_selectivity(char *out, const struct roce_view *view)
{
    static const char *const ranges[4] = {"memory range", "whole memory region", "reserved",
                                          "reserved"};
    return roce_fmt_str(out, ranges[view->pkt->feth.sel & 3]);
}

static char *put_timeout(char *out, uint8_t exponent)
{
    const uint64_t ns = roce_cm_timeout_ns(exponent);
    if (ns < UINT64_C(10000000)) {
        out = units_us(out, ns);
        return TEXT(out, " us");
    }
    out = roce_fmt_uint(out, ns / 1000000);
    return TEXT(out, " ms");
}

static char *put_ack_timeout(char *out, const struct roce_view *view)
{
    const uint8_t exponent = view->cm.primary.ack_timeout;
    return exponent == 0 ? TEXT(out, "never") : put_timeout(out, exponent);
}

static char *put_remote_cm_timeout(char *out, const struct roce_view *view)
{
    return put_timeout(out, view->cm.remote_cm_timeout);
}

static char *put_local_cm_timeout(char *out, const struct roce_view *view)
{
    return put_timeout(out, view->cm.local_cm_timeout);
}

static char *put_target_ack_delay(char *out, const struct roce_view *view)
{
    return put_timeout(out, view->cm.target_ack_delay);
}

static char *put_service_timeout(char *out, const struct roce_view *view)
{
    return put_timeout(out, view->cm.service_timeout);
}

static char *put_rnr_retry(char *out, const struct roce_view *view)
{
    return view->cm.rnr_retry == 7 ? TEXT(out, "without end") : out;
}

static char *put_udp_checksum(char *out, const struct roce_view *view)
{
    return view->pkt->udp.checksum == 0 ? TEXT(out, "none") : out;
}

static char *put_pause(char *out, const struct roce_view *view)
{
    return view->pkt->pause.quanta == 0 ? TEXT(out, "resume") : out;
}

static const struct {
    const char *name;
    char *(*put)(char *out, const struct roce_view *view);
} meanings[] = {
    {"time_ns", put_time},
    {"dscp", put_dscp},
    {"udp.checksum", put_udp_checksum},
    {"opcode_value", put_opcode},
    {"dest_qp", put_dest_qp},
    {"pkey", put_pkey},
    {"aeth.syndrome", put_syndrome},
    {"feth.plt", put_placement},
    {"feth.sel", put_selectivity},
    {"cm.local_ack_timeout", put_ack_timeout},
    {"cm.remote_cm_timeout", put_remote_cm_timeout},
    {"cm.local_cm_timeout", put_local_cm_timeout},
    {"cm.target_ack_delay", put_target_ack_delay},
    {"cm.service_timeout", put_service_timeout},
    {"cm.rnr_retry", put_rnr_retry},
    {"pause.quanta", put_pause},
};

char *words_put(char *out, const char *name, const struct roce_view *view)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (strcmp(meanings[i].name, name) == 0)
            return meanings[i].put(out, view);
    return out;
}

const char *words_unit(const char *name)
{
    static const struct {
        const char *ending, *unit;
    } units[] = {
        {"_us", " us"},           {"_ms", " ms"},        {"time_ns", " ns"},
        {"lrh.length", " words"}, {"length", " bytes"},  {"captured", " bytes"},
        {"path_mtu", " bytes"},   {"quanta", " quanta"}, {"pad_count", " bytes"},
    };
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const size_t n = strlen(units[i].ending);
        if (len >= n && memcmp(name + len - n, units[i].ending, n) == 0)
            return units[i].unit;
    }
    return "";
}
