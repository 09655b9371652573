/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extended transport headers, IBTA 9.3. */
#include <roce/xth.h>

#include <roce/bth.h>
#include <roce/err.h>

#include "cursor.h"
#include "writer.h"

/* RDETH and XRCETH: rsv 8, 24 bits. DETH: Q_Key 32, rsv 8, SrcQP 24. */
int roce_rdeth_decode(const uint8_t *buf, size_t len, struct roce_rdeth *h)
{
    if (len < ROCE_RDETH_LEN)
        return ROCE_ERR_TRUNCATED;
    h->ee_context = load_be24(buf + 1);
    return ROCE_RDETH_LEN;
}

int roce_rdeth_encode(const struct roce_rdeth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, h->ee_context & ROCE_QPN_MASK, 4);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_RDETH_LEN;
}

int roce_deth_decode(const uint8_t *buf, size_t len, struct roce_deth *h)
{
    if (len < ROCE_DETH_LEN)
        return ROCE_ERR_TRUNCATED;
    h->qkey = load_be32(buf);
    h->src_qp = load_be24(buf + 5);
    return ROCE_DETH_LEN;
}

int roce_deth_encode(const struct roce_deth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, h->qkey, 4);
    writer_be(&w, h->src_qp & ROCE_QPN_MASK, 4);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_DETH_LEN;
}

int roce_xrceth_decode(const uint8_t *buf, size_t len, struct roce_xrceth *h)
{
    if (len < ROCE_XRCETH_LEN)
        return ROCE_ERR_TRUNCATED;
    h->srq = load_be24(buf + 1);
    return ROCE_XRCETH_LEN;
}

int roce_xrceth_encode(const struct roce_xrceth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, h->srq & ROCE_QPN_MASK, 4);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_XRCETH_LEN;
}

/* FETH (annex A19): rsv 26, SEL 2, PLT 4. */
int roce_feth_decode(const uint8_t *buf, size_t len, struct roce_feth *h)
{
    if (len < ROCE_FETH_LEN)
        return ROCE_ERR_TRUNCATED;
    const uint32_t v = load_be32(buf);
    h->plt = v & 0xF;
    h->sel = (v >> 4) & 3;
    h->reserved = v >> 6;
    return ROCE_FETH_LEN;
}

int roce_feth_encode(const struct roce_feth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, (uint64_t)h->reserved << 6 | (h->sel & 3U) << 4 | (h->plt & 0xFU), 4);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_FETH_LEN;
}

int roce_reth_decode(const uint8_t *buf, size_t len, struct roce_reth *h)
{
    if (len < ROCE_RETH_LEN)
        return ROCE_ERR_TRUNCATED;
    h->va = load_be64(buf);
    h->rkey = load_be32(buf + 8);
    h->dma_length = load_be32(buf + 12);
    return ROCE_RETH_LEN;
}

int roce_reth_encode(const struct roce_reth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, h->va, 8);
    writer_be(&w, h->rkey, 4);
    writer_be(&w, h->dma_length, 4);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_RETH_LEN;
}

int roce_atomic_eth_decode(const uint8_t *buf, size_t len, struct roce_atomic_eth *h)
{
    if (len < ROCE_ATOMIC_ETH_LEN)
        return ROCE_ERR_TRUNCATED;
    h->va = load_be64(buf);
    h->rkey = load_be32(buf + 8);
    h->swap_add = load_be64(buf + 12);
    h->compare = load_be64(buf + 20);
    return ROCE_ATOMIC_ETH_LEN;
}

int roce_atomic_eth_encode(const struct roce_atomic_eth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, h->va, 8);
    writer_be(&w, h->rkey, 4);
    writer_be(&w, h->swap_add, 8);
    writer_be(&w, h->compare, 8);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_ATOMIC_ETH_LEN;
}

int roce_atomic_ack_eth_decode(const uint8_t *buf, size_t len, struct roce_atomic_ack_eth *h)
{
    if (len < ROCE_ATOMIC_ACK_ETH_LEN)
        return ROCE_ERR_TRUNCATED;
    h->original = load_be64(buf);
    return ROCE_ATOMIC_ACK_ETH_LEN;
}

int roce_atomic_ack_eth_encode(const struct roce_atomic_ack_eth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, h->original, 8);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_ATOMIC_ACK_ETH_LEN;
}

int roce_imm_decode(const uint8_t *buf, size_t len, uint32_t *imm)
{
    if (len < ROCE_IMM_LEN)
        return ROCE_ERR_TRUNCATED;
    *imm = load_be32(buf);
    return ROCE_IMM_LEN;
}

int roce_imm_encode(uint32_t imm, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, imm, 4);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_IMM_LEN;
}

int roce_ieth_decode(const uint8_t *buf, size_t len, struct roce_ieth *h)
{
    if (len < ROCE_IETH_LEN)
        return ROCE_ERR_TRUNCATED;
    h->rkey = load_be32(buf);
    return ROCE_IETH_LEN;
}

int roce_ieth_encode(const struct roce_ieth *h, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, h->rkey, 4);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_IETH_LEN;
}
