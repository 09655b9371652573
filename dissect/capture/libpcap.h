/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libpcap, loaded when it is asked for: Debian's brings seven libraries with it, and they take two
 * thirds of the time to load that the rest of a program takes to start. */
#ifndef CAPTURE_LIBPCAP_H
#define CAPTURE_LIBPCAP_H

#include <pcap/pcap.h>

#include <roce/capture.h>

/* The functions that are used, without their "pcap_". */
#define CAP_PCAP_FUNCTIONS(F) \
    F(activate)               \
    F(breakloop)              \
    F(close)                  \
    F(compile)                \
    F(create)                 \
    F(datalink)               \
    F(dispatch)               \
    F(freecode)               \
    F(get_selectable_fd)      \
    F(geterr)                 \
    F(offline_filter)         \
    F(open_dead)              \
    F(set_buffer_size)        \
    F(set_promisc)            \
    F(set_snaplen)            \
    F(set_timeout)            \
    F(set_tstamp_precision)   \
    F(set_tstamp_type)        \
    F(setfilter)              \
    F(setnonblock)            \
    F(stats)                  \
    F(statustostr)

struct cap_pcap {
#define MEMBER(name) __typeof__(pcap_##name) *name;
    CAP_PCAP_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* cap_pcap_load returns the functions, or NULL with the reason in |text|. The first call loads the
 * library, which then stays; all later ones return the same. Several threads may call it. */
const struct cap_pcap *cap_pcap_load(char text[ROCE_ERRTEXT_LEN]);

#endif
