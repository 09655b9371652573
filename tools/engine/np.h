/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notification point of DCQCN: congestion marks become CNPs. */
#ifndef ENGINE_NP_H
#define ENGINE_NP_H

#include "qp.h"

/* np_marked takes note of a CE-marked packet for |qp|. */
void np_marked(struct eng_qp *qp, roce_tstamp now, const struct rx *rx);
/* np_received hands a CNP to the reaction point. */
void np_received(struct eng_qp *qp, roce_tstamp now);
/* np_write makes the oldest CNP that waits in |buf|. Returns its length, or 0: none, or paused. */
int np_write(struct eng_dev *dev, roce_tstamp now, uint8_t *buf);
/* np_waiting returns the priority of the oldest CNP that waits as a bit, or 0. */
unsigned np_waiting(const struct eng_dev *dev);

#endif
