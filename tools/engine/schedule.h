/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which QP may send next: lists of those that are ready, by class and priority. */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include "engine/engine.h"

/* schedule puts |qp| on the lists of what it has to send. It is called after anything that may have
 * made it ready; a QP that turns out to have nothing leaves its list when its turn comes. */
void schedule(struct eng_qp *qp, roce_tstamp now);
/* schedule_remove takes |qp| off all lists. */
void schedule_remove(struct eng_qp *qp);

#endif
