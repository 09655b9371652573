/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Management datagram header (IBTA 13.4.3): the first 24 bytes of the 256-byte payload on QP 0
 * and 1. */
#ifndef ROCE_MAD_H
#define ROCE_MAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_MAD_HDR_LEN  24
#define ROCE_MAD_LEN      256
#define ROCE_MAD_CLASS_CM 0x07
#define ROCE_GSI_QKEY     UINT32_C(0x80010000)

struct roce_mad {
    uint8_t base_version, mgmt_class, class_version, method;
    uint16_t status, class_specific;
    uint64_t tid;
    uint16_t attr_id;
    uint32_t attr_mod;
};

int roce_mad_decode(const uint8_t *buf, size_t len, struct roce_mad *mad);
int roce_mad_encode(const struct roce_mad *mad, uint8_t *buf, size_t len);

/* roce_mad_class_name returns "cm", "sa", "perf", "smi", ... or NULL. */
const char *roce_mad_class_name(uint8_t mgmt_class);

#ifdef __cplusplus
}
#endif
#endif
