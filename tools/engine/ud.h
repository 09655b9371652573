/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unreliable datagrams. */
#ifndef ENGINE_UD_H
#define ENGINE_UD_H

#include "qp.h"

/* ud_write makes the packet of |wqe|, the one at the cursor, in |buf| and completes it. Returns its
 * length, or 0 when its memory is refused. */
int ud_write(struct eng_qp *qp, roce_tstamp now, const struct send_wqe *wqe, uint8_t *buf);
/* ud_receive takes in a datagram. */
void ud_receive(struct eng_qp *qp, roce_tstamp now, const struct rx *rx);
/* ud_prio returns the priority that the next datagram leaves with. */
uint8_t ud_prio(const struct eng_qp *qp);

#endif
