/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pacer of one QP: data leaves no faster than congestion control and the user's limit allow. */
#ifndef ENGINE_PACER_H
#define ENGINE_PACER_H

#include "qp.h"

/* pacer_ready tells whether data may leave at |now|; if not, the QP's timer is set for when it may.
 */
bool pacer_ready(struct eng_qp *qp, roce_tstamp now);
/* pacer_sent accounts for a data frame of |len| bytes. */
void pacer_sent(struct eng_qp *qp, roce_tstamp now, uint32_t len);

#endif
