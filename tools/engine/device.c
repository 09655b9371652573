/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device: making and freeing, the table of QPs. */
#include "device.h"

#include <assert.h>
#include <stdlib.h>

#include "qp.h"

#define DEFAULT_MAX_QP UINT32_C(1024)
#define DEFAULT_MAX_MR UINT32_C(1024)
#define QP_LIMIT       UINT32_C(1000000)
#define MR_LIMIT       (UINT32_C(1) << 24) /* a key has 24 bits of slot */
#define FIRST_QPN      UINT32_C(16)        /* below: special, and easily mistaken for it */

static bool is_zero(const uint8_t ip[16])
{
    static const uint8_t zero[16];
    return memcmp(ip, zero, sizeof(zero)) == 0;
}

static uint32_t clamp(uint32_t value, uint32_t normal, uint32_t most)
{
    if (value == 0)
        return normal;
    return value < most ? value : most;
}

struct eng_dev *eng_dev_new(const struct eng_dev_cfg *cfg)
{
    struct eng_dev *dev = calloc(1, sizeof(*dev));
    if (dev == NULL)
        return NULL;
    dev->cfg = *cfg;
    dev->cfg.max_qp = clamp(cfg->max_qp, DEFAULT_MAX_QP, QP_LIMIT);
    dev->cfg.max_mr = clamp(cfg->max_mr, DEFAULT_MAX_MR, MR_LIMIT);
    dev->rng.state = cfg->seed;
    dev->any_ip = is_zero(cfg->ip);
    list_init(&dev->pds);
    list_init(&dev->cqs);
    list_init(&dev->srqs);
    uint32_t slots = 16;
    while (slots < 2 * dev->cfg.max_qp)
        slots *= 2;
    dev->qp_mask = slots - 1;
    dev->next_qpn = FIRST_QPN + (uint32_t)(eng_rng_next(&dev->rng) % 0xFFFF00);
    dev->qps = calloc(slots, sizeof(struct eng_qp *));
    dev->mrs = calloc(dev->cfg.max_mr, sizeof(*dev->mrs));
    dev->timers.entries = calloc((size_t)dev->cfg.max_qp + 1, sizeof(*dev->timers.entries));
    dev->cnps = calloc(CNP_QUEUE, sizeof(*dev->cnps));
    if (dev->qps == NULL || dev->mrs == NULL || dev->timers.entries == NULL || dev->cnps == NULL) {
        eng_dev_del(dev);
        return NULL;
    }
    /* Keys of another life of the program should not fit by chance. */
    const uint8_t generation = (uint8_t)eng_rng_next(&dev->rng);
    for (uint32_t i = 0; i < dev->cfg.max_mr; i++)
        dev->mrs[i].generation = generation;
    return dev;
}

void eng_dev_del(struct eng_dev *dev)
{
    if (dev == NULL)
        return;
    for (uint32_t i = 0; dev->n_qp > 0;) {
        if (dev->qps[i] != NULL)
            eng_qp_del(dev->qps[i]); /* another may move to this slot */
        else
            i = (i + 1) & dev->qp_mask;
    }
    if (dev->mrs != NULL)
        for (uint32_t i = 0; i < dev->cfg.max_mr; i++)
            eng_mr_del(dev->mrs[i].mr);
    while (dev->srqs.next != &dev->srqs)
        eng_srq_del((struct eng_srq *)dev->srqs.next);
    while (dev->cqs.next != &dev->cqs)
        eng_cq_del((struct eng_cq *)dev->cqs.next);
    while (dev->pds.next != &dev->pds)
        eng_pd_del((struct eng_pd *)dev->pds.next);
    free(dev->qps);
    free(dev->mrs);
    free(dev->timers.entries);
    free(dev->cnps);
    free(dev);
}

/* Fibonacci hashing: QPNs are often consecutive. */
static uint32_t slot_of(const struct eng_dev *dev, uint32_t qpn)
{
    return (qpn * UINT32_C(0x9E3779B1) >> 7) & dev->qp_mask;
}

struct eng_qp *device_find_qp(const struct eng_dev *dev, uint32_t qpn)
{
    for (uint32_t i = slot_of(dev, qpn); dev->qps[i] != NULL; i = (i + 1) & dev->qp_mask)
        if (dev->qps[i]->qpn == qpn)
            return dev->qps[i];
    return NULL;
}

static uint32_t free_qpn(struct eng_dev *dev)
{
    for (;;) {
        const uint32_t qpn = dev->next_qpn++;
        if (dev->next_qpn >= ROCE_QPN_MULTICAST)
            dev->next_qpn = FIRST_QPN;
        if (device_find_qp(dev, qpn) == NULL)
            return qpn;
    }
}

bool device_add_qp(struct eng_dev *dev, struct eng_qp *qp, uint32_t qpn)
{
    if (dev->n_qp >= dev->cfg.max_qp || qpn >= ROCE_QPN_MULTICAST)
        return false;
    if (qpn == 0)
        qpn = free_qpn(dev);
    else if (device_find_qp(dev, qpn) != NULL)
        return false;
    uint32_t i = slot_of(dev, qpn);
    while (dev->qps[i] != NULL)
        i = (i + 1) & dev->qp_mask;
    dev->qps[i] = qp;
    dev->n_qp++;
    qp->qpn = qpn;
    return true;
}

void device_remove_qp(struct eng_dev *dev, struct eng_qp *qp)
{
    uint32_t hole = slot_of(dev, qp->qpn);
    while (dev->qps[hole] != qp) {
        assert(dev->qps[hole] != NULL);
        hole = (hole + 1) & dev->qp_mask;
    }
    /* Entries behind the hole move up when their search would begin at or before it. */
    for (uint32_t i = (hole + 1) & dev->qp_mask; dev->qps[i] != NULL; i = (i + 1) & dev->qp_mask) {
        const uint32_t home = slot_of(dev, dev->qps[i]->qpn);
        if (((i - home) & dev->qp_mask) >= ((i - hole) & dev->qp_mask)) {
            dev->qps[hole] = dev->qps[i];
            hole = i;
        }
    }
    dev->qps[hole] = NULL;
    dev->n_qp--;
}

void device_settle(struct eng_dev *dev, roce_tstamp now)
{
    /* Flushing may run over further queues; every QP enters the error state once, so this ends. */
    while (dev->cq_overrun) {
        dev->cq_overrun = false;
        for (uint32_t i = 0; i <= dev->qp_mask; i++) {
            struct eng_qp *qp = dev->qps[i];
            if (qp != NULL && qp->state != ENG_ERR && qp->state != ENG_RESET &&
                (qp->send_cq->overrun || qp->recv_cq->overrun))
                qp_error(qp, now);
        }
    }
}

void eng_dev_stats(const struct eng_dev *dev, struct eng_dev_stats *out)
{
    *out = dev->stats;
}
