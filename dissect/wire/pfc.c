/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MAC control PAUSE and PFC, 802.3 annexes 31B and 31D. */
#include <roce/pfc.h>

#include <roce/err.h>

#include "cursor.h"
#include "writer.h"

int roce_pfc_decode(const uint8_t *buf, size_t len, struct roce_pfc *pfc)
{
    struct cursor c = cursor_at(buf, len);
    struct roce_pfc out;
    if (cursor_be16(&c) != ROCE_MACC_PFC && !c.overrun)
        return ROCE_ERR_UNKNOWN;
    out.enable = cursor_be16(&c);
    for (int i = 0; i < 8; i++)
        out.quanta[i] = cursor_be16(&c);
    if (c.overrun)
        return ROCE_ERR_TRUNCATED;
    *pfc = out;
    return ROCE_PFC_LEN;
}

int roce_pfc_encode(const struct roce_pfc *pfc, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, ROCE_MACC_PFC, 2);
    writer_be(&w, pfc->enable, 2);
    for (int i = 0; i < 8; i++)
        writer_be(&w, pfc->quanta[i], 2);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_PFC_LEN;
}

int roce_pause_decode(const uint8_t *buf, size_t len, struct roce_pause *pause)
{
    struct cursor c = cursor_at(buf, len);
    if (cursor_be16(&c) != ROCE_MACC_PAUSE && !c.overrun)
        return ROCE_ERR_UNKNOWN;
    const uint16_t quanta = cursor_be16(&c);
    if (c.overrun)
        return ROCE_ERR_TRUNCATED;
    pause->quanta = quanta;
    return ROCE_PAUSE_LEN;
}

int roce_pause_encode(const struct roce_pause *pause, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, ROCE_MACC_PAUSE, 2);
    writer_be(&w, pause->quanta, 2);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_PAUSE_LEN;
}

uint64_t roce_pause_ns(uint16_t quanta, uint64_t speed_bps)
{
    return speed_bps == 0 ? 0 : quanta * UINT64_C(1000000000) * ROCE_QUANTUM_BITS / speed_bps;
}
