/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where replayed frames go. */
#include <string.h>

#include "common/clock.h"
#include "common/msg.h"
#include "rocereplay/raw.h"
#include "rocereplay/raw_port.h"

static int open_interface(struct raw *raw)
{
    const char *name = raw->opts->base.interface;
    char text[PORT_TEXT_MAX];
    if (netif_find(name, &raw->netif, text) != 0) {
        msg_file(name, "%s", text);
        return -1;
    }
    if (raw->opts->base.tx == 0) {
        raw->iface = raw_xdp_new(&raw->netif, text);
        raw->transmit = "AF_XDP";
    }
    if (raw->iface == NULL) {
        raw->iface = raw_packet_new(&raw->netif, text);
        raw->transmit = "packet socket";
    }
    if (raw->iface != NULL)
        return 0;
    msg_file(name, "%s", text);
    return -1;
}

int raw_ports(struct raw *raw, roce_tstamp first)
{
    const struct replay_opts *base = &raw->opts->base;
    char text[PORT_TEXT_MAX];
    raw->live = base->interface != NULL;
    raw->transmit = "file";
    raw->epoch = raw->live ? clock_realtime_ns() - clock_monotonic_ns() : first;
    if (raw->live && open_interface(raw) != 0)
        return -1;
    raw->port = raw->iface;
    if (base->write != NULL) {
        raw->file = raw_file_new(base->write, raw->linktype, raw->epoch, raw->port, text);
        if (raw->file == NULL) {
            msg_file(base->write, "%s; check the name and the permissions", text);
            return -1;
        }
        raw->port = raw->file;
    }
    if (base->faults.n > 0) {
        const uint64_t seed = base->has_seed ? base->seed : clock_realtime_ns();
        raw->fault = fault_new(raw->port, &base->faults, seed);
        if (raw->fault == NULL) {
            msg_print("out of memory");
            return -1;
        }
        raw->port = raw->fault;
    }
    return 0;
}

int raw_ports_close(struct raw *raw)
{
    int rc = 0;
    if (raw->file != NULL && raw_file_close(raw->file) != 0) {
        msg_file(raw->opts->base.write, "%s; the capture is not whole", raw->file->text);
        rc = -1;
    }
    port_del(raw->port);
    raw->port = raw->fault = raw->file = raw->iface = NULL;
    return rc;
}
