/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base transport header, IBTA 9.2. */
#include <roce/bth.h>

#include <roce/err.h>

#include "fields.h"
#include "writer.h"

int roce_bth_decode(const uint8_t *buf, size_t len, struct roce_bth *bth)
{
    if (len < ROCE_BTH_LEN)
        return ROCE_ERR_TRUNCATED;
    bth_fields(buf, bth);
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
