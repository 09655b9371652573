/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening an AF_PACKET socket: nothing is received before filter, snap length and ring are set. */
#include "live_socket.h"

#if defined(__linux__)

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>

#include "live.h"
#include "live_filter.h"

struct open {
    struct roce_reader *reader;
    uint32_t index;
    const struct roce_live_opts *opts;
    struct ring *ring;
};

static int fault(const struct open *open, const char *what)
{
    const int err = errno;
    if (err == EPERM || err == EACCES)
        return cap_live_fault(open->reader, open->index, ROCE_ERR_PERMISSION,
                              "no permission to capture");
    if (err == ENOMEM)
        return cap_live_fault(open->reader, open->index, ROCE_ERR_NOMEM,
                              "no memory for its ring of frames");
    return cap_live_fault(open->reader, open->index, ROCE_ERR_IO, "%s (%s)", what, strerror(err));
}

static int ask(const struct open *open, unsigned long what, struct ifreq *request)
{
    const char *name = open->reader->ifaces[open->index].name;
    memset(request, 0, sizeof(*request));
    (void)snprintf(request->ifr_name, sizeof(request->ifr_name), "%.*s", IFNAMSIZ - 1, name);
    return ioctl(open->ring->fd, what, request);
}

/* What it is, and whether it can bring anything. */
static int look(const struct open *open)
{
    struct roce_iface *iface = &open->reader->ifaces[open->index];
    struct ring *ring = open->ring;
    struct ifreq request;
    if (strlen(iface->name) >= IFNAMSIZ || ask(open, SIOCGIFINDEX, &request) != 0)
        return cap_live_fault(open->reader, open->index, ROCE_ERR_UNKNOWN, "no such interface");
    ring->ifindex = request.ifr_ifindex;
    if (ask(open, SIOCGIFFLAGS, &request) != 0)
        return fault(open, "its flags cannot be read");
    if ((request.ifr_flags & IFF_UP) == 0)
        return cap_live_fault(open->reader, open->index, ROCE_ERR_STATE, "the interface is down");
    const bool loopback = (request.ifr_flags & IFF_LOOPBACK) != 0;
    if (ask(open, SIOCGIFHWADDR, &request) != 0)
        return fault(open, "its kind cannot be read");
    switch (request.ifr_hwaddr.sa_family) {
    case ARPHRD_ETHER:
    case ARPHRD_LOOPBACK:
        ring->linktype = ROCE_LINK_ETHERNET;
        break;
    case ARPHRD_NONE: /* tun, WireGuard */
        ring->linktype = ROCE_LINK_RAW;
        break;
    default:
        return cap_live_fault(open->reader, open->index, ROCE_ERR_UNSUPPORTED,
                              "neither Ethernet nor IP");
    }
    ring->skips_outgoing = loopback;
    if (ask(open, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0)
        iface->mtu = (uint32_t)request.ifr_mtu;
    ring->whole_len = cap_live_merged_len(ring->linktype, loopback ? 0 : iface->mtu);
    iface->linktype = ring->linktype;
    return 0;
}

/* Whether the adapter stamps every frame that it receives. */
static bool stamps_all(const struct open *open, struct ifreq *request)
{
    struct ethtool_ts_info info = {.cmd = ETHTOOL_GET_TS_INFO};
    const uint32_t wanted = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
    (void)snprintf(request->ifr_name, sizeof(request->ifr_name), "%.*s", IFNAMSIZ - 1,
                   open->reader->ifaces[open->index].name);
    request->ifr_data = (void *)&info;
    return ioctl(open->ring->fd, SIOCETHTOOL, request) == 0 &&
           (info.so_timestamping & wanted) == wanted &&
           (info.rx_filters & 1u << HWTSTAMP_FILTER_ALL) != 0;
}

static int use_adapter_time(const struct open *open)
{
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    if (!stamps_all(open, &request))
        return cap_live_fault(open->reader, open->index, ROCE_ERR_UNSUPPORTED,
                              "the adapter does not give all frames a time");
    struct hwtstamp_config config = {.tx_type = HWTSTAMP_TX_OFF, .rx_filter = HWTSTAMP_FILTER_ALL};
    request.ifr_data = (void *)&config;
    /* Another process may have set it, which is as good. */
    if (ioctl(open->ring->fd, SIOCSHWTSTAMP, &request) != 0 &&
        (ioctl(open->ring->fd, SIOCGHWTSTAMP, &request) != 0 ||
         config.rx_filter != HWTSTAMP_FILTER_ALL))
        return fault(open, "the adapter's clock cannot be used");
    const int kind = SOF_TIMESTAMPING_RAW_HARDWARE;
    if (setsockopt(open->ring->fd, SOL_PACKET, PACKET_TIMESTAMP, &kind, sizeof(kind)) != 0)
        return fault(open, "the adapter's clock cannot be used");
    open->reader->ifaces[open->index].adapter_time = true;
    return 0;
}

static int be_promiscuous(const struct open *open)
{
    const struct packet_mreq request = {.mr_ifindex = open->ring->ifindex,
                                        .mr_type = PACKET_MR_PROMISC};
    if (open->opts->no_promiscuous || setsockopt(open->ring->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                                                 &request, sizeof(request)) == 0)
        return 0;
    return fault(open, "no promiscuous mode");
}

static int start(const struct open *open)
{
    const struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                        .sll_protocol = htons(ETH_P_ALL),
                                        .sll_ifindex = open->ring->ifindex};
    if (bind(open->ring->fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
        return fault(open, "cannot be bound to");
    if (open->opts->fanout_group != 0 &&
        live_filter_share(open->ring->fd, open->opts->fanout_group) != 0)
        return fault(open, "its frames cannot be shared out");
    return 0;
}

int live_socket_open(struct roce_reader *reader, uint32_t index, const struct roce_live_opts *opts,
                     struct ring *ring)
{
    const struct open open = {.reader = reader, .index = index, .opts = opts, .ring = ring};
    ring->fd = -1;
    ring->iface = index;
    ring->snaplen = cap_live_snaplen(opts);
    if (strcmp(reader->ifaces[index].name, "any") == 0) /* libpcap's word for all interfaces */
        return cap_live_fault(reader, index, ROCE_ERR_UNSUPPORTED, "no single interface");
    /* A mistyped name is said to everybody, not only to those who may capture. */
    if (if_nametoindex(reader->ifaces[index].name) == 0)
        return cap_live_fault(reader, index, ROCE_ERR_UNKNOWN, "no such interface");
    ring->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (ring->fd < 0 && errno != EPERM && errno != EACCES)
        return cap_live_fault(reader, index, ROCE_ERR_UNSUPPORTED, "no packet sockets (%s)",
                              strerror(errno));
    if (ring->fd < 0)
        return fault(&open, "");
    int rc = look(&open);
    if (rc == 0)
        rc = live_filter_attach(reader, index, ring->fd, opts->filter, ring->snaplen);
    if (rc == 0 && opts->adapter_time)
        rc = use_adapter_time(&open);
    if (rc != 0)
        return rc;
    if (ring_map(ring, opts->buffer_kib) != 0) {
        if (errno == EINVAL || errno == ENOPROTOOPT)
            return cap_live_fault(reader, index, ROCE_ERR_UNSUPPORTED, "no receive ring");
        return fault(&open, "no receive ring");
    }
    rc = be_promiscuous(&open);
    return rc != 0 ? rc : start(&open);
}

void live_socket_close(struct ring *ring)
{
    ring_unmap(ring);
    if (ring->fd >= 0)
        (void)close(ring->fd);
    ring->fd = -1;
}

#else
typedef int live_socket_needs_linux;
#endif
