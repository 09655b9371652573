/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to the kernel's routing tables. */
#include "port/rtnl.h"

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <roce/net.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 32768 };

static const uint8_t v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

/* Address of |ip| as the kernel wants it. */
struct addr {
    int family;
    const uint8_t *bytes;
    size_t len;
};

static struct addr addr_of(const uint8_t ip[16])
{
    if (memcmp(ip, v4_prefix, sizeof(v4_prefix)) == 0)
        return (struct addr){AF_INET, ip + 12, 4};
    return (struct addr){AF_INET6, ip, 16};
}

static void to_ip(uint8_t ip[16], const void *data, size_t len)
{
    const uint8_t *a = data;
    if (len == 4)
        roce_ip_v4(ip, a[0], a[1], a[2], a[3]);
    else if (len == 16)
        memcpy(ip, a, 16);
}

int rtnl_open(void)
{
    struct sockaddr_nl local = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_NEIGH};
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&local, sizeof(local)) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* A request with its attributes, built up in place. */
struct request {
    struct nlmsghdr head;
    union {
        struct rtmsg route;
        struct ndmsg neigh;
    } body;
    uint8_t attrs[64];
};

static void add_attr(struct request *req, unsigned short type, const void *data, size_t len)
{
    struct rtattr attr = {.rta_type = type, .rta_len = (unsigned short)RTA_LENGTH(len)};
    uint8_t *at = (uint8_t *)req + NLMSG_ALIGN(req->head.nlmsg_len);
    memcpy(at, &attr, sizeof(attr));
    memcpy(at + RTA_LENGTH(0), data, len);
    req->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(req->head.nlmsg_len) + RTA_ALIGN(RTA_LENGTH(len)));
}

/* The macros of the kernel's headers cast const away; these do what they do. */
static const void *behind(const void *p, size_t n)
{
    return (const char *)p + n;
}

typedef void attr_fn(void *ctx, const struct rtattr *attr);

/* Calls |each| for the attributes of |msg|, which begin |head| bytes behind its header. */
static void each_attr(const struct nlmsghdr *msg, size_t head, attr_fn *each, void *ctx)
{
    size_t at = NLMSG_SPACE(head);
    while (at + sizeof(struct rtattr) <= msg->nlmsg_len) {
        const struct rtattr *attr = behind(msg, at);
        if (attr->rta_len < sizeof(*attr) || attr->rta_len > msg->nlmsg_len - at)
            return;
        each(ctx, attr);
        at += RTA_ALIGN(attr->rta_len);
    }
}

static const void *attr_data(const struct rtattr *attr)
{
    return behind(attr, RTA_LENGTH(0));
}

typedef void message_fn(void *ctx, const struct nlmsghdr *msg);

enum { MORE = 1 };

/* One message of the answer: MORE, 0 at the end, or -1. */
static int take_message(const struct nlmsghdr *msg, uint32_t seq, message_fn *take, void *ctx)
{
    if (msg->nlmsg_seq != seq) /* a change that somebody else made */
        return MORE;
    if (msg->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *e = behind(msg, NLMSG_HDRLEN);
        return msg->nlmsg_len >= NLMSG_LENGTH(sizeof(*e)) && e->error == 0 ? 0 : -1;
    }
    if (msg->nlmsg_type == NLMSG_DONE)
        return 0;
    take(ctx, msg);
    return (msg->nlmsg_flags & NLM_F_MULTI) != 0 ? MORE : 0;
}

/* Sends |req| and hands each answer to |take| until it is complete. 0, or -1. */
static int talk(int fd, struct request *req, message_fn *take, void *ctx)
{
    static uint32_t seq;
    _Alignas(struct nlmsghdr) char buf[ROOM];
    req->head.nlmsg_seq = ++seq;
    if (send(fd, req, req->head.nlmsg_len, 0) < 0)
        return -1;
    for (;;) {
        const ssize_t n = recv(fd, buf, sizeof(buf), 0);
        if (n <= 0)
            return -1;
        const size_t len = (size_t)n;
        for (size_t at = 0; at + sizeof(struct nlmsghdr) <= len;) {
            const struct nlmsghdr *msg = behind(buf, at);
            if (msg->nlmsg_len < sizeof(*msg) || msg->nlmsg_len > len - at)
                return -1;
            const int rc = take_message(msg, seq, take, ctx);
            if (rc != MORE)
                return rc;
            at += NLMSG_ALIGN(msg->nlmsg_len);
        }
    }
}

struct route_answer {
    uint8_t *next_hop;
    bool found, gateway;
};

static void route_attr(void *ctx, const struct rtattr *attr)
{
    struct route_answer *answer = ctx;
    if (attr->rta_type != RTA_GATEWAY)
        return;
    to_ip(answer->next_hop, attr_data(attr), RTA_PAYLOAD(attr));
    answer->gateway = true;
}

static void route_message(void *ctx, const struct nlmsghdr *msg)
{
    struct route_answer *answer = ctx;
    if (msg->nlmsg_type != RTM_NEWROUTE)
        return;
    const struct rtmsg *route = behind(msg, NLMSG_HDRLEN);
    answer->found = route->rtm_type == RTN_UNICAST || route->rtm_type == RTN_LOCAL;
    each_attr(msg, sizeof(*route), route_attr, answer);
}

int rtnl_route(int fd, int index, const uint8_t ip[16], uint8_t next_hop[16])
{
    const struct addr addr = addr_of(ip);
    struct request req = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
                 .nlmsg_type = RTM_GETROUTE,
                 .nlmsg_flags = NLM_F_REQUEST},
        .body.route = {.rtm_family = (unsigned char)addr.family,
                       .rtm_dst_len = (unsigned char)(8 * addr.len)},
    };
    struct route_answer answer = {.next_hop = next_hop};
    memcpy(next_hop, ip, 16);
    add_attr(&req, RTA_DST, addr.bytes, addr.len);
    add_attr(&req, RTA_OIF, &index, sizeof(index));
    if (talk(fd, &req, route_message, &answer) != 0 || !answer.found)
        return -1;
    return answer.gateway ? 1 : 0;
}

struct neigh_answer {
    int index;
    const uint8_t *ip;
    uint8_t *mac;
    enum rtnl_neigh state;
    /* of the entry at hand */
    uint8_t entry_ip[16], entry_mac[6];
    bool has_mac;
};

static void neigh_attr(void *ctx, const struct rtattr *attr)
{
    struct neigh_answer *answer = ctx;
    if (attr->rta_type == NDA_DST)
        to_ip(answer->entry_ip, attr_data(attr), RTA_PAYLOAD(attr));
    if (attr->rta_type == NDA_LLADDR && RTA_PAYLOAD(attr) == 6) {
        memcpy(answer->entry_mac, attr_data(attr), 6);
        answer->has_mac = true;
    }
}

static void neigh_message(void *ctx, const struct nlmsghdr *msg)
{
    struct neigh_answer *answer = ctx;
    if (msg->nlmsg_type != RTM_NEWNEIGH)
        return;
    const struct ndmsg *neigh = behind(msg, NLMSG_HDRLEN);
    memset(answer->entry_ip, 0, 16);
    answer->has_mac = false;
    each_attr(msg, sizeof(*neigh), neigh_attr, answer);
    if (neigh->ndm_ifindex != answer->index || memcmp(answer->entry_ip, answer->ip, 16) != 0)
        return;
    if ((neigh->ndm_state & NUD_FAILED) != 0) {
        answer->state = RTNL_NEIGH_FAILED;
    } else if (answer->has_mac && (neigh->ndm_state & (NUD_INCOMPLETE | NUD_NONE)) == 0) {
        /* Stale entries serve as well: whoever is meant will say so. */
        answer->state = RTNL_NEIGH_KNOWN;
        memcpy(answer->mac, answer->entry_mac, 6);
    }
}

enum rtnl_neigh rtnl_neigh(int fd, int index, const uint8_t ip[16], uint8_t mac[6])
{
    struct request req = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ndmsg)),
                 .nlmsg_type = RTM_GETNEIGH,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body.neigh = {.ndm_family = (unsigned char)addr_of(ip).family, .ndm_ifindex = index},
    };
    struct neigh_answer answer = {.index = index, .ip = ip, .mac = mac, .state = RTNL_NEIGH_NONE};
    (void)talk(fd, &req, neigh_message, &answer);
    return answer.state;
}

bool rtnl_wait(int fd, int ms)
{
    char buf[ROOM];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0)
        return false;
    (void)recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
    return true;
}
