/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The items of perftest's exchange. */
#include "rocereplay/perftest.h"

#include <inttypes.h>
#include <roce/err.h>
#include <roce/psn.h>
#include <stdio.h>
#include <string.h>

#include "rocereplay/hexfield.h"

static void put64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> (56 - 8 * i));
}

static uint64_t get64(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | p[i];
    return v;
}

void perftest_encode_key(const struct remote *qp, char record[PERFTEST_KEY_LEN])
{
    int n = snprintf(record, PERFTEST_KEY_LEN, "0000:%04x:%06x:%06x:%08" PRIx32 ":%016" PRIx64 ":",
                     qp->rd_atomic, (unsigned)(qp->qpn & ROCE_PSN_MASK),
                     (unsigned)(qp->psn & ROCE_PSN_MASK), qp->rkey, qp->va);
    for (int i = 0; i < 16; i++)
        n += snprintf(record + n, (size_t)(PERFTEST_KEY_LEN - n), "%02x:", qp->ip[i]);
    (void)snprintf(record + n, (size_t)(PERFTEST_KEY_LEN - n), "00000000:");
}

int perftest_decode_key(const char record[PERFTEST_KEY_LEN], struct remote *qp)
{
    static const int digits[] = {4, 4, 6, 6, 8, 16};
    enum { LID, OUT_READS, QPN, PSN, RKEY, VA, FIELDS };
    uint64_t field[FIELDS], byte;
    const char *at = record, *end = record + PERFTEST_KEY_LEN;
    *qp = (struct remote){0};
    for (int i = 0; i < FIELDS; i++)
        if (!hexfield(&at, end, digits[i], &field[i]) || !hexfield_colon(&at, end))
            return ROCE_ERR_SYNTAX;
    for (int i = 0; i < 16; i++) {
        if (!hexfield(&at, end, 2, &byte) || !hexfield_colon(&at, end))
            return ROCE_ERR_SYNTAX;
        qp->ip[i] = (uint8_t)byte;
    }
    qp->rd_atomic = (uint8_t)(field[OUT_READS] < 128 ? field[OUT_READS] : 128);
    qp->qpn = (uint32_t)field[QPN];
    qp->psn = (uint32_t)field[PSN];
    qp->rkey = (uint32_t)field[RKEY];
    qp->va = field[VA];
    return 0;
}

/* struct pingpong_dest of a 64-bit host; the pointer-sized address is aligned. */
enum {
    CM_OUT_READS = 4,
    CM_QPN = 8,
    CM_PSN = 12,
    CM_RKEY = 16,
    CM_VA = 24,
    CM_GID = 32,
};

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void perftest_encode_key_cm(const struct remote *qp, uint8_t record[PERFTEST_KEY_CM_LEN])
{
    memset(record, 0, PERFTEST_KEY_CM_LEN);
    put32(record + CM_OUT_READS, qp->rd_atomic);
    put32(record + CM_QPN, qp->qpn);
    put32(record + CM_PSN, qp->psn);
    put32(record + CM_RKEY, qp->rkey);
    put64(record + CM_VA, qp->va);
    memcpy(record + CM_GID, qp->ip, sizeof(qp->ip));
}

void perftest_decode_key_cm(const uint8_t record[PERFTEST_KEY_CM_LEN], struct remote *qp)
{
    const uint32_t reads = get32(record + CM_OUT_READS);
    *qp = (struct remote){
        .rd_atomic = (uint8_t)(reads < 128 ? reads : 128),
        .qpn = get32(record + CM_QPN) & ROCE_PSN_MASK,
        .psn = get32(record + CM_PSN) & ROCE_PSN_MASK,
        .rkey = get32(record + CM_RKEY),
        .va = get64(record + CM_VA),
    };
    memcpy(qp->ip, record + CM_GID, sizeof(qp->ip));
}

void perftest_encode_mtu(uint16_t mtu, char item[PERFTEST_MTU_LEN])
{
    char digit = '1';
    for (unsigned m = 256; m < mtu && digit < '5'; m *= 2)
        digit++;
    item[0] = digit;
    item[1] = '\0';
}

int perftest_decode_mtu(const char item[PERFTEST_MTU_LEN], uint16_t *mtu)
{
    if (item[0] < '1' || item[0] > '5')
        return ROCE_ERR_SYNTAX;
    *mtu = (uint16_t)(256 << (item[0] - '1'));
    return 0;
}

static void put_real(uint8_t *p, double real)
{
    uint64_t v;
    memcpy(&v, &real, sizeof(v));
    put64(p, v);
}

static double get_real(const uint8_t *p)
{
    const uint64_t v = get64(p);
    double real;
    memcpy(&real, &v, sizeof(real));
    return real;
}

void perftest_encode_report(const struct perftest_report *report, uint8_t item[PERFTEST_REPORT_LEN])
{
    put64(item, report->size);
    put64(item + 8, report->iters);
    put_real(item + 16, report->peak);
    put_real(item + 24, report->average);
    put_real(item + 32, report->rate);
}

void perftest_decode_report(const uint8_t item[PERFTEST_REPORT_LEN], struct perftest_report *report)
{
    report->size = get64(item);
    report->iters = get64(item + 8);
    report->peak = get_real(item + 16);
    report->average = get_real(item + 24);
    report->rate = get_real(item + 32);
}
