/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sending half of a QP: work requests to packets. */
#ifndef ENGINE_REQUESTER_H
#define ENGINE_REQUESTER_H

#include "qp.h"

/* requester_start sets the PSN of the first request. */
void requester_start(struct eng_qp *qp, uint32_t psn);
/* requester_ready tells whether a packet may be sent now, the pacer left aside. */
bool requester_ready(const struct eng_qp *qp);
/* requester_write makes the next packet in |buf|. Returns its length, or 0: there was none after
 * all. */
int requester_write(struct eng_qp *qp, roce_tstamp now, uint8_t *buf);
/* requester_seek puts the cursor to |psn|, which is outstanding or the next one. */
void requester_seek(struct eng_qp *qp, uint64_t psn);
/* requester_arm starts the ACK timer afresh. */
void requester_arm(struct eng_qp *qp, roce_tstamp now);
/* requester_arm_late starts it with the longest time that it may have. */
void requester_arm_late(struct eng_qp *qp, roce_tstamp now);

/* requester_guard makes sure, when nothing can be sent, that what is outstanding has a timer. */
void requester_guard(struct eng_qp *qp, roce_tstamp now);

/* completer_response takes in a response. */
void completer_response(struct eng_qp *qp, roce_tstamp now, const struct rx *rx);

/* retry_go_back sends again from |psn| on, if a retry is left; else the oldest send fails. */
void retry_go_back(struct eng_qp *qp, roce_tstamp now, uint64_t psn, enum eng_cause cause);
/* retry_rnr begins the wait that an RNR NAK of timer |code| asks for. */
void retry_rnr(struct eng_qp *qp, roce_tstamp now, uint8_t code);
/* Their timers. */
void retry_ack_timeout(struct eng_qp *qp, roce_tstamp now);
void retry_rnr_over(struct eng_qp *qp, roce_tstamp now);

#endif
