/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters that somebody saved at a host: what --diff-counters reads. */
#ifndef ROCESTAT_SAVED_H
#define ROCESTAT_SAVED_H

#include <roce/observer.h>

struct saved {
    bool has[ROCE_HW_COUNT];       /* the file names the counter */
    bool two[ROCE_HW_COUNT];       /* twice: |value| is the second less the first */
    bool went_back[ROCE_HW_COUNT]; /* it was reset in between: |value| means nothing */
    uint64_t value[ROCE_HW_COUNT];
    uint8_t addr[16]; /* HOST of the option, as struct roce_ip, when |has_addr| */
    bool has_addr;
    const char *path;
};

/* saved_read reads "[HOST=]FILE": pairs of a counter's name and a number in any of the layouts of
 * "rdma statistic", "ethtool -S", "grep . hw_counters" and "NAME VALUE"; a name that comes twice is
 * a snapshot before and one after. Returns 0, or an exit status with the mistake reported. */
int saved_read(struct saved *saved, const char *argument);

/* saved_host returns the index of the host that the file belongs to: the one that was named, else
 * the one that agrees in most counters that are not 0. ROCE_FLOW_NONE when there is none. */
uint32_t saved_host(const struct saved *saved, const struct roce_observer *obs, uint32_t hosts);

#endif
