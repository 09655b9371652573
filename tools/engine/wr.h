/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work queue elements of send and receive queues, and the way between their memory and frames. */
#ifndef ENGINE_WR_H
#define ENGINE_WR_H

#include "engine/engine.h"

enum send_flag {
    SEND_SIGNALED = 1,
    SEND_SOLICITED = 2,
    SEND_FENCE = 4,
    SEND_INLINE = 8,
    SEND_ISSUED = 16, /* its first packet was made: it has PSNs */
};

/* A send, as the queue keeps it. UD: |rkey| is the destination QP, |ssn| the Q_Key. */
struct send_wqe {
    uint64_t wr_id;
    uint64_t remote_va;
    uint64_t swap;
    uint64_t compare_add; /* ATOMIC_WRITE: the 8 bytes */
    struct eng_sge sge[ENG_SGE_MAX];
    uint64_t first_psn; /* extended: see struct requester; valid when issued */
    uint32_t rkey;
    uint32_t imm;    /* or the R_Key to invalidate */
    uint32_t length; /* bytes of the message; FLUSH: of the range */
    uint32_t n_psn;
    uint32_t ssn;
    uint8_t op; /* enum eng_wr_op */
    uint8_t flags;
    uint8_t n_sge;
    uint8_t feth; /* FLUSH: selectivity << 4 | placement type */
};

struct recv_wqe {
    uint64_t wr_id;
    struct eng_sge sge[ENG_SGE_MAX];
    uint32_t n_sge;
    uint32_t length; /* sum of the entries */
};

static inline bool wr_is_read(uint8_t op)
{
    return op >= ENG_WR_READ;
}

/* wr_gather copies |len| bytes of the message of |wqe| from |off| on to |buf|; wr_scatter places
 * |len| bytes at |off| of a scatter list. Both check key, bounds and, to write, the right of each
 * region anew: regions may be gone by now. 0, or the ENG_WC_LOC_* status that the work request ends
 * with. */
int wr_gather(const struct eng_qp *qp, const struct send_wqe *wqe, uint64_t off, uint8_t *buf,
              uint32_t len);
int wr_scatter(const struct eng_pd *pd, const struct eng_sge *sge, uint32_t n_sge, uint64_t off,
               const uint8_t *buf, uint32_t len);

/* wr_recv_wqe turns |wr| into a queue element; false: the lengths add up to more than a message. */
bool wr_recv_wqe(const struct eng_recv_wr *wr, struct recv_wqe *out);

#endif
