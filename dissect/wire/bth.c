/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base transport header, IBTA 9.2. */
#include <roce/bth.h>

#include <roce/err.h>

#include "cursor.h"
#include "writer.h"

/*
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +---------------+-+-+---+-------+-------------------------------+
 * |    OpCode     |S|M|Pad| TVer  |             P_Key             |
 * +-+-+-----------+-+-+---+-------+-------------------------------+
 * |F|B|   resv6   |                   DestQP                      |
 * +-+-+-----------+-----------------------------------------------+
 * |A|   resv7     |                     PSN                       |
 * +-+-------------+-----------------------------------------------+
 */
int roce_bth_decode(const uint8_t *buf, size_t len, struct roce_bth *bth)
{
    if (len < ROCE_BTH_LEN)
        return ROCE_ERR_TRUNCATED;
    /* Words first: stores to |bth| could change |buf| for all the compiler knows. */
    const uint32_t first = load_be32(buf);
    const uint32_t second = load_be32(buf + 4);
    const uint32_t third = load_be32(buf + 8);
    bth->opcode = (uint8_t)(first >> 24);
    bth->se = first >> 23 & 1;
    bth->migreq = first >> 22 & 1;
    bth->pad = first >> 20 & 3;
    bth->tver = first >> 16 & 0xF;
    bth->pkey = (uint16_t)first;
    bth->fecn = second >> 31;
    bth->becn = second >> 30 & 1;
    bth->resv6 = second >> 24 & 0x3F;
    bth->dqpn = second & ROCE_QPN_MASK;
    bth->ackreq = third >> 31;
    bth->resv7 = third >> 24 & 0x7F;
    bth->psn = third & ROCE_QPN_MASK;
    return ROCE_BTH_LEN;
}

int roce_bth_encode(const struct roce_bth *bth, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, bth->opcode, 1);
    writer_be(&w,
              (uint64_t)bth->se << 7 | (uint64_t)bth->migreq << 6 | (bth->pad & 3U) << 4 |
                  (bth->tver & 0xFU),
              1);
    writer_be(&w, bth->pkey, 2);
    writer_be(&w, (uint64_t)bth->fecn << 7 | (uint64_t)bth->becn << 6 | (bth->resv6 & 0x3FU), 1);
    writer_be(&w, bth->dqpn, 3);
    writer_be(&w, (uint64_t)bth->ackreq << 7 | (bth->resv7 & 0x7FU), 1);
    writer_be(&w, bth->psn, 3);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_BTH_LEN;
}
