/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader as its parsers see it. */
#ifndef CAPTURE_READER_H
#define CAPTURE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <roce/capture.h>

#include "bytes.h"
#include "source.h"
#include "ticks.h"

/* No capture holds a larger packet; what claims to is garbage. */
#define CAP_CAPLEN_MAX (256u << 20)

/* What the parsers know of an interface beyond struct roce_iface. */
struct cap_iface {
    struct cap_ticks ticks;
    uint32_t linktype;
    uint32_t snaplen;
    uint32_t fcs_len;       /* bytes of FCS at the end of each frame */
    uint64_t packet_drops;  /* sum of what packets told */
    uint64_t counted_drops; /* what the last statistics block told */
};

/* A parser hands out up to |max| frames of the source's window and returns how many. It stops early
 * for want of bytes (reader->need > 0: so many from source.pos) or at a fault (reader->result < 0).
 */
typedef int (*cap_walk)(struct roce_reader *reader, struct roce_frame *frames, int max);

struct cap_live_ops;

struct roce_reader {
    struct cap_source source;
    cap_walk walk;
    const struct cap_live_ops *live; /* interfaces instead of a source; NULL: none */
    void *live_state;
    size_t need;
    uint64_t number; /* frames handed out */
    bool done;       /* every further call returns |result| */
    int result;
    char text[ROCE_ERRTEXT_LEN];

    struct roce_iface *ifaces; /* iface_count of both */
    struct cap_iface *details;
    uint32_t iface_count;
    uint32_t iface_cap;
    bool has_fcs; /* of any interface */

    bool swap;       /* byte order of the file, or of this section */
    bool nanosecond; /* pcap: unit of the second time stamp word */
    uint32_t caplen_max;
    uint32_t section; /* pcapng: first interface of this section */
    uint64_t skip;    /* pcapng: bytes of a block nobody needs */
    bool in_block;    /* pcapng: |need| is for a block that is no packet */
};

/* cap_pcap_open and cap_pcapng_open recognise a file by the first bytes in the window (at least
 * 4), read its header and set reader->walk. Return 1, 0 when it is not theirs, or a negative enum
 * roce_err with the text set. */
int cap_pcap_open(struct roce_reader *reader);
int cap_pcapng_open(struct roce_reader *reader);

/* cap_reader_fault records an error and returns it. cap_reader_packet_fault does so for the record
 * at |record| in the window, before which this call of the walk has found |n| frames. */
int cap_reader_fault(struct roce_reader *reader, int err, const char *format, ...) CAP_PRINTF(3, 4);
int cap_reader_packet_fault(struct roce_reader *reader, int n, const uint8_t *record,
                            const char *format, ...) CAP_PRINTF(4, 5);

/* cap_reader_add_iface appends a zeroed interface. Returns its index, or an error. */
int cap_reader_add_iface(struct roce_reader *reader);

/* Readers of something else than a path: |fd| stays the caller's. For tests. */
struct roce_reader *cap_reader_open_fd(int fd, const struct roce_reader_opts *opts, int *err,
                                       char text[ROCE_ERRTEXT_LEN]);
struct roce_reader *cap_reader_open_memory(const uint8_t *data, size_t len, int *err,
                                           char text[ROCE_ERRTEXT_LEN]);

#endif
