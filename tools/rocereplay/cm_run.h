/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs over connections of the RDMA connection manager: loads against rocereplay serve, rping and
 * ucmatose from either side. */
#ifndef ROCEREPLAY_CM_RUN_H
#define ROCEREPLAY_CM_RUN_H

#include "rocereplay/station.h"

/* cm_client runs against the program at |ip|; cm_serve answers all that connect. An exit status. */
int cm_client(struct station *st, const uint8_t ip[16]);
int cm_serve(struct station *st);

#endif
