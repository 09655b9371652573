/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the kernel from answering. */
#include "port/guard.h"

#include <errno.h>
#include <linux/filter.h>
#include <roce/err.h>
#include <roce/net.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fault(int fd, const uint8_t ip[16], char text[PORT_TEXT_MAX])
{
    const int why = errno;
    char name[NETIF_IP_TEXT];
    netif_ip_text(ip, name);
    if (why == EADDRINUSE)
        (void)snprintf(text, PORT_TEXT_MAX,
                       "UDP port %d of %s is taken; end the other program, or remove the rdma link "
                       "(rxe) there",
                       ROCE_UDP_PORT, name);
    else
        (void)snprintf(text, PORT_TEXT_MAX, "UDP port %d of %s: %s", ROCE_UDP_PORT, name,
                       strerror(why));
    if (fd >= 0)
        (void)close(fd);
    return why == EADDRINUSE ? ROCE_ERR_STATE : ROCE_ERR_IO;
}

int guard_open(const struct netif *netif, const uint8_t ip[16], char text[PORT_TEXT_MAX])
{
    static struct sock_filter drop[] = {{.code = BPF_RET | BPF_K, .k = 0}};
    const struct sock_fprog program = {.len = 1, .filter = drop};
    struct sockaddr_storage at;
    const socklen_t len = netif_sockaddr(ip, ROCE_UDP_PORT, netif->index, &at);
    const int fd = socket(at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fault(fd, ip, text);
    /* The filter comes first: what is dropped by it costs no buffer and no copy. */
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0 ||
        bind(fd, (struct sockaddr *)&at, len) != 0)
        return fault(fd, ip, text);
    return fd;
}
