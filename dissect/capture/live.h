/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live capture inside the reader: what a kind of live source does, and what both kinds share. */
#ifndef CAPTURE_LIVE_H
#define CAPTURE_LIVE_H

#include "reader.h"

/* The kernel hands over a block that is not full after one to two of its timer's periods; no frame
 * is seen later than the window behind its arrival, so frames of several interfaces that are older
 * than that can be put in order. */
enum { LIVE_RETIRE_MS = 8, LIVE_WINDOW_MS = 24 };

enum { LIVE_SNAPLEN = 262144 };

/* Interface counters are asked for this often while frames come. */
#define LIVE_STATS_NS 100000000u

struct cap_live_ops {
    /* next is roce_reader_next. */
    int (*next)(struct roce_reader *reader, struct roce_frame *frames, int max);
    int (*fd)(const struct roce_reader *reader);
    void (*del)(struct roce_reader *reader);
};

/* Opens |count| interfaces, already listed in reader->ifaces by name, sets reader->live and
 * live_state. Returns 0 or a negative enum roce_err with reader->text set; in either case
 * reader->live->del is due when it was set. ROCE_ERR_UNSUPPORTED: another kind may do. */
int cap_live_rings(struct roce_reader *reader, const struct roce_live_opts *opts);
int cap_live_pcap(struct roce_reader *reader, const struct roce_live_opts *opts);

/* cap_live_fault is cap_reader_fault for the interface |index|: its name leads the text. */
int cap_live_fault(struct roce_reader *reader, uint32_t index, int err, const char *format, ...)
    CAP_PRINTF(4, 5);

/* cap_live_finish makes every further roce_reader_next return |result|, which it returns. */
int cap_live_finish(struct roce_reader *reader, int result);

static inline uint32_t cap_live_snaplen(const struct roce_live_opts *opts)
{
    return opts->snaplen == 0 || opts->snaplen > LIVE_SNAPLEN ? LIVE_SNAPLEN : opts->snaplen;
}

/* cap_live_merged_len returns the longest frame that an interface of this |mtu| receives whole:
 * Ethernet with two tags, or bare IP; 0 when that is not known. Loopback hands over what was sent
 * unsegmented by design: tell it MTU 0. */
static inline uint32_t cap_live_merged_len(uint32_t linktype, uint32_t mtu)
{
    if (mtu == 0)
        return 0;
    return linktype == ROCE_LINK_ETHERNET ? mtu + 14 + 2 * 4 : mtu;
}

#endif
