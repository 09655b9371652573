/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who pauses whom: priority flow control (802.1Qbb) and 802.3x PAUSE, by sender and priority. */
#ifndef ROCE_PAUSE_H
#define ROCE_PAUSE_H

#include <roce/packet.h>
#include <roce/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_PAUSE_PRIORITY   8 /* priority of 802.3x PAUSE, which stops them all */
#define ROCE_STORM_MS_DEFAULT 100
#define ROCE_PAUSE_VICTIMS    8

/* struct roce_pause_entry is what one sender said about one priority. Pause frames from a MAC
 * address stop the traffic *towards* it. Durations need the link speed: quanta are bit times. */
struct roce_pause_entry {
    uint8_t mac[6];
    uint8_t priority;    /* 0..7, or ROCE_PAUSE_PRIORITY */
    uint64_t xoff, xon;  /* frames with a pause time, and with 0 */
    uint64_t refresh;    /* of xoff: came while the priority was paused. Without the link speed:
                            without an XON in between */
    uint16_t quanta_max; /* longest pause time asked for */
    bool has_paused;     /* the link speed is known: the next three mean something */
    uint64_t paused_ns;  /* union of the pauses up to the newest frame of the capture */
    uint64_t longest_ns; /* longest of them without a gap */
    uint64_t storms;     /* pauses without a gap longer than the storm limit */
    bool paused_now;     /* paused at the newest frame of the capture; false without link speed */
    uint64_t silences;   /* times that a flow of the priority stopped with the pause and went on
                            after it */
    uint32_t victims;    /* flows of these, at most ROCE_PAUSE_VICTIMS are told apart */
    uint32_t victim[ROCE_PAUSE_VICTIMS]; /* flow ids */
    uint64_t first_frame, last_frame;
    uint64_t storm_frame; /* XOFF that began the first storm; 0 without */
    roce_tstamp first_ts, last_ts;
};

/* roce_packet_priority returns the priority a frame has for PFC: PCP of the outermost tag of its
 * Ethernet header; without a tag the upper three bits of the DSCP, which is what switches and NICs
 * that trust DSCP use unless told otherwise. |*tagged| (may be NULL) says which. */
static inline uint8_t roce_packet_priority(const struct roce_packet *pkt, bool *tagged)
{
    const bool pcp = pkt->n_vlan > 0;
    if (tagged != NULL)
        *tagged = pcp;
    if (pcp)
        return roce_vlan_pcp(pkt->vlan[0]);
    return (pkt->has & ROCE_HAS_IP) != 0 ? pkt->ip.tos >> 5 : 0;
}

#ifdef __cplusplus
}
#endif
#endif
