/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs over connections of the RDMA connection manager: loads against rocereplay serve, rping and
 * ucmatose from either side. */
#ifndef ROCEREPLAY_CM_RUN_H
#define ROCEREPLAY_CM_RUN_H

#include "rocereplay/lane.h"

/* cm_open makes |st->cm|. 0, or -1 with a message printed. */
int cm_open(struct station *st);

/* cm_client runs against the program at |ip|; cm_serve answers all that connect. An exit status. */
int cm_client(struct station *st, const uint8_t ip[16]);
int cm_serve(struct station *st);

/* Connections alone, for those who have work of their own for the lanes: cm_run_meet asks the
 * program at |ip| for one for each. 0, or -1 with a message printed; cm_run_new NULL. cm_run_del
 * ends them. */
struct cm_run;
struct cm_run *cm_run_new(struct station *st, struct lane *lanes, uint32_t n);
int cm_run_meet(struct cm_run *run, const uint8_t ip[16]);
void cm_run_del(struct cm_run *run);

#endif
