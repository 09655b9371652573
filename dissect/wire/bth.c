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
    bth->opcode = buf[0];
    bth->se = buf[1] >> 7;
    bth->migreq = (buf[1] >> 6) & 1;
    bth->pad = (buf[1] >> 4) & 3;
    bth->tver = buf[1] & 0xF;
    bth->pkey = load_be16(buf + 2);
    bth->fecn = buf[4] >> 7;
    bth->becn = (buf[4] >> 6) & 1;
    bth->resv6 = buf[4] & 0x3F;
    bth->dqpn = load_be24(buf + 5);
    bth->ackreq = buf[8] >> 7;
    bth->resv7 = buf[8] & 0x7F;
    bth->psn = load_be24(buf + 9);
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
