/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work of a host: posting messages, taking completions. */
#ifndef ROCESIM_LOAD_H
#define ROCESIM_LOAD_H

#include "rocesim/net.h"

#define LOAD_VA UINT64_C(0x100000000) /* of every host's memory */

/* load_start begins the flows whose time has come; load_next tells when the next one's does. */
void load_start(struct net_host *host, roce_tstamp now);
roce_tstamp load_next(const struct net_host *host);
/* load_poll takes completions and posts what follows them. */
void load_poll(struct net_host *host, roce_tstamp now);
/* load_receives posts the receives that the flow's QP |qp| begins with. */
void load_receives(struct net *net, struct net_qp *qp);

#endif
