/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel knows of an interface. */
#include "port/netif.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <roce/err.h>
#include <roce/net.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool link_local(const uint8_t ip[16])
{
    return ip[0] == 0xFE && (ip[1] & 0xC0) == 0x80; /* RFC 4291 2.4 */
}

static const uint8_t v4_prefix[12] = {[10] = 0xFF, [11] = 0xFF};

bool netif_is_ipv4(const uint8_t ip[16])
{
    return memcmp(ip, v4_prefix, sizeof(v4_prefix)) == 0;
}

bool netif_from_sockaddr(const struct sockaddr *sa, uint8_t ip[16])
{
    if (sa == NULL)
        return false;
    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sa, sizeof(in));
        const uint8_t *a = (const uint8_t *)&in.sin_addr;
        roce_ip_v4(ip, a[0], a[1], a[2], a[3]);
        return true;
    }
    if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, sa, sizeof(in6));
        memcpy(ip, &in6.sin6_addr, 16);
        return true;
    }
    return false;
}

socklen_t netif_sockaddr(const uint8_t ip[16], uint16_t port, int index,
                         struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (netif_is_ipv4(ip)) {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&in.sin_addr, ip + 12, 4);
        memcpy(out, &in, sizeof(in));
        return sizeof(in);
    }
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&in6.sin6_addr, ip, 16);
    if (link_local(ip))
        in6.sin6_scope_id = (uint32_t)index;
    memcpy(out, &in6, sizeof(in6));
    return sizeof(in6);
}

static void find_addresses(struct netif *out)
{
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next) {
        uint8_t ip[16];
        if (strcmp(a->ifa_name, out->name) != 0 || !netif_from_sockaddr(a->ifa_addr, ip))
            continue;
        if (a->ifa_addr->sa_family == AF_INET) {
            if (!out->has_ipv4)
                memcpy(out->ipv4, ip, 16);
            out->has_ipv4 = true;
        } else if (!out->has_ipv6 || (link_local(out->ipv6) && !link_local(ip))) {
            memcpy(out->ipv6, ip, 16);
            out->has_ipv6 = true;
        }
    }
    freeifaddrs(all);
}

static int fault(int err, char text[PORT_TEXT_MAX], const char *what)
{
    (void)snprintf(text, PORT_TEXT_MAX, "%s", what);
    return err;
}

static int ask(int fd, struct netif *out, char text[PORT_TEXT_MAX])
{
    struct ifreq req = {0};
    memcpy(req.ifr_name, out->name, sizeof(out->name));
    if (ioctl(fd, SIOCGIFINDEX, &req) != 0)
        return fault(ROCE_ERR_UNKNOWN, text, "no such interface; ip link lists them");
    out->index = req.ifr_ifindex;
    if (ioctl(fd, SIOCGIFFLAGS, &req) != 0 || (req.ifr_flags & IFF_UP) == 0)
        return fault(ROCE_ERR_STATE, text, "the interface is down; ip link set up");
    if (ioctl(fd, SIOCGIFHWADDR, &req) != 0)
        return fault(ROCE_ERR_UNSUPPORTED, text, "the interface has no MAC address");
    out->loopback = req.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK;
    if (req.ifr_hwaddr.sa_family != ARPHRD_ETHER && !out->loopback)
        return fault(ROCE_ERR_UNSUPPORTED, text, "not an Ethernet interface; RoCE needs one");
    memcpy(out->mac, req.ifr_hwaddr.sa_data, 6);
    if (ioctl(fd, SIOCGIFMTU, &req) != 0)
        return fault(ROCE_ERR_UNSUPPORTED, text, "the interface tells no MTU");
    out->mtu = (uint32_t)req.ifr_mtu;
    return 0;
}

int netif_find(const char *name, struct netif *out, char text[PORT_TEXT_MAX])
{
    *out = (struct netif){0};
    if (strlen(name) >= sizeof(out->name))
        return fault(ROCE_ERR_UNKNOWN, text, "no such interface; ip link lists them");
    memcpy(out->name, name, strlen(name));
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fault(ROCE_ERR_IO, text, "no socket to ask for the interface");
    const int rc = ask(fd, out, text);
    (void)close(fd);
    if (rc == 0)
        find_addresses(out);
    return rc;
}

void netif_ip_text(const uint8_t ip[16], char text[NETIF_IP_TEXT])
{
    const bool v4 = netif_is_ipv4(ip);
    if (inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? ip + 12 : ip, text, NETIF_IP_TEXT) == NULL)
        text[0] = '\0';
}

int netif_ip_parse(const char *text, uint8_t ip[16])
{
    uint8_t v4[4];
    if (inet_pton(AF_INET, text, v4) == 1) {
        roce_ip_v4(ip, v4[0], v4[1], v4[2], v4[3]);
        return 0;
    }
    return inet_pton(AF_INET6, text, ip) == 1 ? 0 : ROCE_ERR_SYNTAX;
}

/* Looks through the addresses of all interfaces until one is |ip| (and the interface |name|, unless
 * NULL); its interface goes to |found|. */
static bool search(const char *name, const uint8_t ip[16], char found[16])
{
    struct ifaddrs *all;
    bool is = false;
    if (getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *a = all; a != NULL && !is; a = a->ifa_next) {
        uint8_t has[16];
        if ((name != NULL && strcmp(a->ifa_name, name) != 0) ||
            !netif_from_sockaddr(a->ifa_addr, has))
            continue;
        is = memcmp(has, ip, 16) == 0;
        if (is)
            (void)snprintf(found, 16, "%.15s", a->ifa_name);
    }
    freeifaddrs(all);
    return is;
}

bool netif_owns(const char *name, const uint8_t ip[16])
{
    char found[16];
    return search(name, ip, found);
}

int netif_by_ip(const uint8_t ip[16], char name[16])
{
    return search(NULL, ip, name) ? 0 : ROCE_ERR_UNKNOWN;
}
