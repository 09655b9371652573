/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other extended transport headers (IBTA 9.3, annexes A14 XRC and A19 MPE). Each _decode reads
 * exactly the named length from |buf| and returns it, or ROCE_ERR_TRUNCATED and leaves the output
 * alone; each _encode returns the length or ROCE_ERR_NOSPACE. Values are host order; only the
 * wire's bits are kept. */
#ifndef ROCE_XTH_H
#define ROCE_XTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_RDETH_LEN          4
#define ROCE_DETH_LEN           8
#define ROCE_XRCETH_LEN         4
#define ROCE_FETH_LEN           4
#define ROCE_RETH_LEN           16
#define ROCE_ATOMIC_ETH_LEN     28
#define ROCE_ATOMIC_ACK_ETH_LEN 8
#define ROCE_IMM_LEN            4
#define ROCE_IETH_LEN           4

struct roce_rdeth {
    uint32_t ee_context; /* 24 bits */
};
struct roce_deth {
    uint32_t qkey;
    uint32_t src_qp; /* 24 bits */
};
struct roce_xrceth {
    uint32_t srq; /* 24 bits */
};
struct roce_feth {
    uint8_t plt;       /* placement type: bit 0 global visibility, bit 1 persistence; 4 bits */
    uint8_t sel;       /* selectivity: 0 memory range, 1 whole MR, 2-3 reserved */
    uint32_t reserved; /* 26 bits, 0 */
};
struct roce_reth {
    uint64_t va;
    uint32_t rkey;
    uint32_t dma_length; /* bytes, at most 2^31 */
};
struct roce_atomic_eth {
    uint64_t va;
    uint32_t rkey;
    uint64_t swap_add;
    uint64_t compare; /* ignored by FetchAdd */
};
struct roce_atomic_ack_eth {
    uint64_t original;
};
struct roce_ieth {
    uint32_t rkey;
};

int roce_rdeth_decode(const uint8_t *buf, size_t len, struct roce_rdeth *h);
int roce_rdeth_encode(const struct roce_rdeth *h, uint8_t *buf, size_t len);
int roce_deth_decode(const uint8_t *buf, size_t len, struct roce_deth *h);
int roce_deth_encode(const struct roce_deth *h, uint8_t *buf, size_t len);
int roce_xrceth_decode(const uint8_t *buf, size_t len, struct roce_xrceth *h);
int roce_xrceth_encode(const struct roce_xrceth *h, uint8_t *buf, size_t len);
int roce_feth_decode(const uint8_t *buf, size_t len, struct roce_feth *h);
int roce_feth_encode(const struct roce_feth *h, uint8_t *buf, size_t len);
int roce_reth_decode(const uint8_t *buf, size_t len, struct roce_reth *h);
int roce_reth_encode(const struct roce_reth *h, uint8_t *buf, size_t len);
int roce_atomic_eth_decode(const uint8_t *buf, size_t len, struct roce_atomic_eth *h);
int roce_atomic_eth_encode(const struct roce_atomic_eth *h, uint8_t *buf, size_t len);
int roce_atomic_ack_eth_decode(const uint8_t *buf, size_t len, struct roce_atomic_ack_eth *h);
int roce_atomic_ack_eth_encode(const struct roce_atomic_ack_eth *h, uint8_t *buf, size_t len);
int roce_imm_decode(const uint8_t *buf, size_t len, uint32_t *imm);
int roce_imm_encode(uint32_t imm, uint8_t *buf, size_t len);
int roce_ieth_decode(const uint8_t *buf, size_t len, struct roce_ieth *h);
int roce_ieth_encode(const struct roce_ieth *h, uint8_t *buf, size_t len);

#ifdef __cplusplus
}
#endif
#endif
