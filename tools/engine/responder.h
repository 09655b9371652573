/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The receiving half of a QP: requests are checked, executed, answered. */
#ifndef ENGINE_RESPONDER_H
#define ENGINE_RESPONDER_H

#include <roce/aeth.h>

#include "qp.h"

/* responder_start sets the PSN of the first request expected. */
void responder_start(struct eng_qp *qp, uint32_t psn);
/* responder_request takes in a request of RC or XRC, responder_uc one of UC. */
void responder_request(struct eng_qp *qp, roce_tstamp now, const struct rx *rx);
void responder_uc(struct eng_qp *qp, roce_tstamp now, const struct rx *rx);
/* responder_silence forgets all answers that wait to be sent. */
void responder_silence(struct eng_qp *qp);

/* What may become of a request, in the responder's parts. */
enum verdict {
    DONE,
    NO_RECEIVE,       /* RNR */
    INVALID_REQUEST,  /* NAK 0x61 */
    TOO_LONG,         /* NAK 0x61: a SEND longer than its receive */
    REMOTE_ACCESS,    /* NAK 0x62 */
    REMOTE_OPERATION, /* NAK 0x63: the receive's own memory is at fault */
    INVALIDATE_FAILED /* no answer at all */
};

/* recv_take makes sure that |qp| holds a receive, from |srq| or, if that is NULL, its own queue.
 * False: there is none. */
bool recv_take(struct eng_qp *qp, struct eng_srq *srq);

/* message_packet executes one packet of a SEND or WRITE, checked from the resources on. */
enum verdict message_packet(struct eng_qp *qp, roce_tstamp now, const struct rx *rx);

/* READ, atomics, FLUSH, ATOMIC WRITE: answer_request executes one that comes first,
 * answer_duplicate answers one that came before, if it is remembered. */
enum verdict answer_request(struct eng_qp *qp, roce_tstamp now, const struct rx *rx);
bool answer_duplicate(struct eng_qp *qp, uint64_t psn, const struct rx *rx);

/* The order of what is to be sent: answers and ACKs by their PSNs, then a NAK. */
void response_ack(struct eng_qp *qp, uint64_t psn);
void response_nak(struct eng_qp *qp, uint64_t psn, uint8_t syndrome);
enum response_kind { RESPONSE_NONE, RESPONSE_SHORT, RESPONSE_DATA };
enum response_kind response_next(const struct eng_qp *qp);
/* response_write makes the next one in |buf| and returns its length, or 0. */
int response_write(struct eng_qp *qp, roce_tstamp now, uint8_t *buf);

static inline struct answer *answer_at(const struct eng_qp *qp, uint32_t index)
{
    return &qp->answers[index & qp->answer_mask];
}

#endif
