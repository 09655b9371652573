/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scalar types and the borrowed frame that every room shares. */
#ifndef ROCE_TYPES_H
#define ROCE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t roce_tstamp;  /* nanoseconds since the epoch, UTC */
typedef int64_t roce_duration; /* nanoseconds */

/* Link types, by their number in pcap and pcapng files (tcpdump.org/linktypes.html). */
enum roce_linktype {
    ROCE_LINK_ETHERNET = 1,
    ROCE_LINK_RAW_BSD = 12, /* raw IP as some BSDs number it */
    ROCE_LINK_RAW = 101,
    ROCE_LINK_SLL = 113,
    ROCE_LINK_ERF = 197,
    ROCE_LINK_IPV4 = 228,
    ROCE_LINK_IPV6 = 229,
    ROCE_LINK_INFINIBAND = 247,
    ROCE_LINK_SLL2 = 276,
};

/* struct roce_frame is one captured frame, borrowed: |data| belongs to whoever handed the frame out
 * and is valid until that source says otherwise (see capture.h). */
struct roce_frame {
    const uint8_t *data;
    uint32_t caplen;   /* bytes at |data| */
    uint32_t origlen;  /* bytes the frame had on the wire, without FCS; >= 0, may be below |caplen|
                          in odd files */
    roce_tstamp ts;    /* 0 when the source has no time stamp */
    uint64_t number;   /* 1-based position in the capture, as Wireshark numbers frames */
    uint32_t iface;    /* 0-based interface of the capture */
    uint32_t linktype; /* enum roce_linktype, or a number that this library does not know */
};

#ifdef __cplusplus
}
#endif
#endif
