/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the NIC of each host should have counted, as far as the wire shows it. */
#ifndef ROCE_HWCOUNTERS_H
#define ROCE_HWCOUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum roce_hw {
#define HW(id, side, name, text) ROCE_HW_##id,
#include <roce/hwcounters.def>
#undef HW
    ROCE_HW_COUNT
};

enum roce_hw_side { ROCE_HW_SIDE_IN, ROCE_HW_SIDE_OUT };

/* roce_hw_name returns the kernel's name of the counter, roce_hw_text what it counts here; both
 * static, never NULL. roce_hw_by_name returns the counter or ROCE_ERR_UNKNOWN. */
const char *roce_hw_name(enum roce_hw hw);
const char *roce_hw_text(enum roce_hw hw);
enum roce_hw_side roce_hw_side(enum roce_hw hw);
int roce_hw_by_name(const char *name);

/* struct roce_host is one IP address that sent or received RoCE. */
struct roce_host {
    uint8_t addr[16]; /* as struct roce_ip */
    uint8_t ip_version;
    uint32_t flows_out, flows_in; /* flows it sends; flows towards it */
    uint64_t packets_out, packets_in;
    uint64_t bytes_out, bytes_in;
    uint64_t hw[ROCE_HW_COUNT];
};

/* roce_host_has tells whether the capture can show |hw| of |host|: frames of the counter's side
 * were captured. Otherwise the counter is unknown, not 0. */
static inline bool roce_host_has(const struct roce_host *host, enum roce_hw hw)
{
    return roce_hw_side(hw) == ROCE_HW_SIDE_IN ? host->packets_in > 0 : host->packets_out > 0;
}

#ifdef __cplusplus
}
#endif
#endif
