/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interface counters over rtnetlink: unlike sysfs it is that of the socket's network namespace, and
 * open before root is given up. */
#include "live_counters.h"

#if defined(__linux__)

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

int live_counters_open(void)
{
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

/* Frames that the adapter had no room for, and those that the queue in front of the protocols had
 * none for. rx_fifo_errors and rx_over_errors are part of the former with most drivers. */
static uint64_t dropped_of(struct rtattr *attr)
{
    struct rtnl_link_stats64 stats;
    memset(&stats, 0, sizeof(stats));
    const size_t len = RTA_PAYLOAD(attr);
    memcpy(&stats, RTA_DATA(attr), len < sizeof(stats) ? len : sizeof(stats));
    return stats.rx_dropped + stats.rx_missed_errors;
}

static enum live_counters read_answer(struct nlmsghdr *header, int len, uint64_t *dropped)
{
    if (!NLMSG_OK(header, (unsigned)len))
        return LIVE_COUNTERS_UNKNOWN;
    if (header->nlmsg_type == NLMSG_ERROR) {
        struct nlmsgerr *error = NLMSG_DATA(header);
        return error->error == -ENODEV ? LIVE_COUNTERS_GONE : LIVE_COUNTERS_UNKNOWN;
    }
    if (header->nlmsg_type != RTM_NEWLINK)
        return LIVE_COUNTERS_UNKNOWN;
    struct ifinfomsg *info = NLMSG_DATA(header);
    int left = (int)IFLA_PAYLOAD(header);
    for (struct rtattr *attr = IFLA_RTA(info); RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
        if (attr->rta_type != IFLA_STATS64)
            continue;
        *dropped = dropped_of(attr);
        return LIVE_COUNTERS_OK;
    }
    return LIVE_COUNTERS_UNKNOWN;
}

enum live_counters live_counters_dropped(int fd, int ifindex, uint64_t *dropped)
{
    const struct {
        struct nlmsghdr header;
        struct ifinfomsg info;
    } request = {
        .header = {.nlmsg_len = sizeof(request),
                   .nlmsg_type = RTM_GETLINK,
                   .nlmsg_flags = NLM_F_REQUEST},
        .info = {.ifi_family = AF_UNSPEC, .ifi_index = ifindex},
    };
    union {
        struct nlmsghdr header;
        char bytes[16384];
    } answer;
    if (fd < 0 || send(fd, &request, sizeof(request), 0) < 0)
        return LIVE_COUNTERS_UNKNOWN;
    const ssize_t len = recv(fd, &answer, sizeof(answer), 0);
    return len > 0 ? read_answer(&answer.header, (int)len, dropped) : LIVE_COUNTERS_UNKNOWN;
}

#else
typedef int live_counters_needs_linux;
#endif
