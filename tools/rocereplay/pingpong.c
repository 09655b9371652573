/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of ibv_*_pingpong. */
#include "rocereplay/pingpong.h"

#include <roce/err.h>
#include <roce/psn.h>
#include <stdio.h>
#include <string.h>

#include "rocereplay/hexfield.h"

enum { GID_OFF = 19 };

void pingpong_encode(const struct remote *remote, char record[PINGPONG_LEN])
{
    (void)snprintf(record, PINGPONG_LEN, "0000:%06x:%06x:", (unsigned)(remote->qpn & ROCE_PSN_MASK),
                   (unsigned)(remote->psn & ROCE_PSN_MASK));
    for (int i = 0; i < 16; i++)
        (void)snprintf(record + GID_OFF + 2 * i, 3, "%02x", remote->ip[i]);
}

int pingpong_decode(const char record[PINGPONG_LEN], struct remote *remote)
{
    uint64_t lid, qpn, psn;
    const char *at = record, *end = record + PINGPONG_LEN;
    *remote = (struct remote){0};
    if (!hexfield(&at, end, 4, &lid) || !hexfield_colon(&at, end) || !hexfield(&at, end, 6, &qpn) ||
        !hexfield_colon(&at, end) || !hexfield(&at, end, 6, &psn) || !hexfield_colon(&at, end))
        return ROCE_ERR_SYNTAX;
    for (int i = 0; i < 16; i++) {
        uint64_t byte;
        if (!hexfield(&at, end, 2, &byte))
            return ROCE_ERR_SYNTAX;
        remote->ip[i] = (uint8_t)byte;
    }
    remote->qpn = (uint32_t)qpn;
    remote->psn = (uint32_t)psn;
    return *at == '\0' ? 0 : ROCE_ERR_SYNTAX;
}
