/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AF_XDP as a port for recorded frames, of any length that the interface takes. */
#include <errno.h>
#include <roce/err.h>
#include <roce/net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "port/xdp.h"
#include "rocereplay/raw_port.h"

enum { CHUNKS = 2048, SNDBUF = 64 << 20 };

struct raw_xdp {
    struct port port;
    struct xdp *xdp;
};

static uint8_t *raw_room(struct port *port, size_t len)
{
    return xdp_room(((struct raw_xdp *)port)->xdp, len);
}

static int raw_commit(struct port *port, size_t len, roce_tstamp now)
{
    const int rc = xdp_commit(((struct raw_xdp *)port)->xdp, len);
    (void)now;
    if (rc != 0)
        (void)snprintf(port->text, sizeof(port->text), "a frame of %zu bytes is too long", len);
    return rc;
}

static int raw_flush(struct port *port, roce_tstamp now)
{
    const int rc = xdp_flush(((struct raw_xdp *)port)->xdp, true);
    (void)now;
    if (rc != 0)
        (void)snprintf(port->text, sizeof(port->text), "sending: %s", strerror(errno));
    return rc;
}

static void raw_del(struct port *port)
{
    xdp_del(((struct raw_xdp *)port)->xdp);
    free(port);
}

static const struct port_ops xdp_ops = {
    .room = raw_room,
    .commit = raw_commit,
    .flush = raw_flush,
    .receive = raw_receive_none,
    .next = raw_next_never,
    .fd = raw_fd_none,
    .del = raw_del,
};

struct port *raw_xdp_new(const struct netif *netif, char text[PORT_TEXT_MAX])
{
    const size_t longest = (size_t)netif->mtu + ROCE_ETH_LEN + ROCE_VLAN_LEN;
    const struct xdp_cfg cfg = {
        .index = netif->index,
        .chunks = CHUNKS,
        /* What layers above ask for when they do not know yet. */
        .longest = longest < ENG_FRAME_MAX ? ENG_FRAME_MAX : longest,
        .pieces = true,
        .no_pieces = longest <= XDP_CHUNK,
        .sndbuf = SNDBUF,
    };
    struct raw_xdp *x = calloc(1, sizeof(*x));
    if (x == NULL) {
        (void)snprintf(text, PORT_TEXT_MAX, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    x->port.ops = &xdp_ops;
    x->xdp = xdp_new(&cfg, text);
    if (x->xdp != NULL)
        return &x->port;
    free(x);
    return NULL;
}
