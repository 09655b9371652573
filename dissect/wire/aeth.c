/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ACK extended transport header and the three code tables of its syndrome, IBTA 9.3.5. */
#include <roce/aeth.h>

#include <roce/err.h>

#include "cursor.h"
#include "writer.h"

/* Table 44: credit code to receive WQEs. */
static const uint16_t credits[31] = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

/* Table 45: RNR timer code to units of 10 us; code 0 (655.36 ms) does not fit and stands below. */
static const uint16_t rnr_10us[32] = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static const struct {
    const char *name, *text;
} naks[ROCE_NAK_MAX + 1] = {
    [ROCE_NAK_PSN_SEQUENCE_ERROR] = {"psn_sequence_error", "PSN sequence error"},
    [ROCE_NAK_INVALID_REQUEST] = {"invalid_request", "invalid request"},
    [ROCE_NAK_REMOTE_ACCESS_ERROR] = {"remote_access_error", "remote access error"},
    [ROCE_NAK_REMOTE_OPERATIONAL_ERROR] = {"remote_operational_error", "remote operational error"},
    [ROCE_NAK_INVALID_RD_REQUEST] = {"invalid_rd_request", "invalid RD request"},
};

int roce_aeth_decode(const uint8_t *buf, size_t len, struct roce_aeth *aeth)
{
    if (len < ROCE_AETH_LEN)
        return ROCE_ERR_TRUNCATED;
    aeth->syndrome = buf[0];
    aeth->msn = load_be24(buf + 1);
    return ROCE_AETH_LEN;
}

int roce_aeth_encode(const struct roce_aeth *aeth, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, aeth->syndrome, 1);
    writer_be(&w, aeth->msn, 3);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_AETH_LEN;
}

enum roce_aeth_kind roce_aeth_kind(uint8_t syndrome)
{
    if (syndrome & 0x80)
        return ROCE_AETH_RESERVED;
    return (enum roce_aeth_kind)(syndrome >> 5);
}

int32_t roce_aeth_credits(uint8_t code)
{
    return code < sizeof(credits) / sizeof(credits[0]) ? credits[code] : -1;
}

uint64_t roce_aeth_rnr_ns(uint8_t code)
{
    code &= 0x1F;
    return code == 0 ? UINT64_C(655360000) : rnr_10us[code] * UINT64_C(10000);
}

const char *roce_nak_name(uint8_t code)
{
    return code <= ROCE_NAK_MAX ? naks[code].name : NULL;
}

const char *roce_nak_text(uint8_t code)
{
    return code <= ROCE_NAK_MAX ? naks[code].text : NULL;
}
