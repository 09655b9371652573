/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interfaces of this machine. */
#include <roce/capture.h>

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* First line of a file of the interface in sysfs; false without. */
static bool read_attribute(const char *name, const char *attribute, char *line, int size)
{
    char path[160];
    (void)snprintf(path, sizeof(path), "/sys/class/net/%.64s/%s", name, attribute);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    const bool ok = fgets(line, size, file) != NULL;
    (void)fclose(file);
    line[ok ? strcspn(line, "\n") : 0] = '\0';
    return ok;
}

/* Megabits a second; -1 when there is no link. */
static uint64_t speed_of(const char *name)
{
    char line[32];
    if (!read_attribute(name, "speed", line, sizeof(line)))
        return 0;
    const long long mbps = strtoll(line, NULL, 10);
    return mbps > 0 ? (uint64_t)mbps * 1000000u : 0;
}

static void read_driver(const char *name, char driver[32])
{
    char path[160], target[256];
    (void)snprintf(path, sizeof(path), "/sys/class/net/%.64s/device/driver", name);
    const ssize_t len = readlink(path, target, sizeof(target) - 1);
    if (len <= 0)
        return;
    target[len] = '\0';
    const char *base = strrchr(target, '/');
    (void)snprintf(driver, 32, "%.31s", base != NULL ? base + 1 : target);
}

static bool ask(int fd, unsigned long what, const char *name, struct ifreq *request)
{
    memset(request, 0, sizeof(*request));
    (void)snprintf(request->ifr_name, sizeof(request->ifr_name), "%.*s", IFNAMSIZ - 1, name);
    return fd >= 0 && ioctl(fd, what, request) == 0;
}

static void describe(int fd, const char *name, struct roce_live_iface *iface)
{
    struct ifreq request;
    memset(iface, 0, sizeof(*iface));
    (void)snprintf(iface->name, sizeof(iface->name), "%.63s", name);
    if (ask(fd, SIOCGIFFLAGS, name, &request)) {
        const int flags = request.ifr_flags;
        iface->up = (flags & IFF_UP) != 0;
        iface->running = (flags & IFF_RUNNING) != 0;
        iface->loopback = (flags & IFF_LOOPBACK) != 0;
    }
    if (ask(fd, SIOCGIFMTU, name, &request) && request.ifr_mtu > 0)
        iface->mtu = (uint32_t)request.ifr_mtu;
    iface->speed_bps = speed_of(name);
    read_driver(name, iface->driver);
}

int roce_live_list(struct roce_live_iface *list, uint32_t max)
{
    struct if_nameindex *names = if_nameindex();
    if (names == NULL)
        return ROCE_ERR_IO;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint32_t n = 0;
    for (const struct if_nameindex *at = names; at->if_index != 0 && at->if_name != NULL; at++) {
        if (n < max)
            describe(fd, at->if_name, &list[n]);
        n++;
    }
    if (fd >= 0)
        (void)close(fd);
    if_freenameindex(names);
    return (int)n;
}
