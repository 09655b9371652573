/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues, and the names of what they tell. */
#include "cq.h"

#include <roce/err.h>
#include <stdlib.h>

#include "device.h"

struct eng_cq *eng_cq_new(struct eng_dev *dev, uint32_t capacity)
{
    if (capacity == 0)
        return NULL;
    struct eng_cq *cq = malloc(sizeof(*cq) + (size_t)capacity * sizeof(cq->ring[0]));
    if (cq == NULL)
        return NULL;
    *cq = (struct eng_cq){.dev = dev, .capacity = capacity};
    list_add(&dev->cqs, &cq->node);
    return cq;
}

void eng_cq_del(struct eng_cq *cq)
{
    if (cq == NULL)
        return;
    list_remove(&cq->node);
    free(cq);
}

void cq_push(struct eng_cq *cq, const struct eng_wc *wc)
{
    if (cq->count == cq->capacity) {
        cq->overrun = true;
        cq->dev->cq_overrun = true;
        return;
    }
    const uint32_t room = cq->capacity - cq->head;
    cq->ring[cq->count < room ? cq->head + cq->count : cq->count - room] = *wc;
    cq->count++;
}

int eng_cq_poll(struct eng_cq *cq, struct eng_wc *wc, int n)
{
    if (cq->count == 0 && cq->overrun)
        return ROCE_ERR_OVERFLOW;
    int got = 0;
    for (; got < n && cq->count > 0; got++) {
        wc[got] = cq->ring[cq->head];
        cq->head = cq->head + 1 == cq->capacity ? 0 : cq->head + 1;
        cq->count--;
    }
    return got;
}

const char *eng_wc_status_text(enum eng_wc_status status)
{
    switch (status) {
    case ENG_WC_SUCCESS:
        return "success";
    case ENG_WC_LOC_LEN_ERR:
        return "local length error";
    case ENG_WC_LOC_QP_OP_ERR:
        return "local QP operation error";
    case ENG_WC_LOC_EEC_OP_ERR:
        return "local EE context operation error";
    case ENG_WC_LOC_PROT_ERR:
        return "local protection error";
    case ENG_WC_WR_FLUSH_ERR:
        return "work request flushed";
    case ENG_WC_MW_BIND_ERR:
        return "memory window bind error";
    case ENG_WC_BAD_RESP_ERR:
        return "bad response";
    case ENG_WC_LOC_ACCESS_ERR:
        return "local access error";
    case ENG_WC_REM_INV_REQ_ERR:
        return "remote invalid request error";
    case ENG_WC_REM_ACCESS_ERR:
        return "remote access error";
    case ENG_WC_REM_OP_ERR:
        return "remote operational error";
    case ENG_WC_RETRY_EXC_ERR:
        return "transport retry counter exceeded";
    case ENG_WC_RNR_RETRY_EXC_ERR:
        return "RNR retry counter exceeded";
    case ENG_WC_LOC_RDD_VIOL_ERR:
        return "local RDD violation";
    case ENG_WC_REM_INV_RD_REQ_ERR:
        return "remote invalid RD request";
    case ENG_WC_REM_ABORT_ERR:
        return "aborted by the remote side";
    case ENG_WC_INV_EECN_ERR:
        return "invalid EE context number";
    case ENG_WC_INV_EEC_STATE_ERR:
        return "invalid EE context state";
    case ENG_WC_FATAL_ERR:
        return "fatal error";
    case ENG_WC_RESP_TIMEOUT_ERR:
        return "response timeout";
    case ENG_WC_GENERAL_ERR:
        return "general error";
    }
    return "unknown status";
}
