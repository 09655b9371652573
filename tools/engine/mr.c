/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Protection domains and memory regions. */
#include "mr.h"

#include <roce/err.h>
#include <stdlib.h>

#include "device.h"

struct eng_pd *eng_pd_new(struct eng_dev *dev)
{
    struct eng_pd *pd = calloc(1, sizeof(*pd));
    if (pd == NULL)
        return NULL;
    pd->dev = dev;
    list_add(&dev->pds, &pd->node);
    return pd;
}

void eng_pd_del(struct eng_pd *pd)
{
    if (pd == NULL)
        return;
    list_remove(&pd->node);
    free(pd);
}

/* Slots are taken in turn, so that a key is used again as late as possible. */
static struct mr_slot *free_slot(struct eng_dev *dev, uint32_t *index)
{
    for (uint32_t n = 0; n < dev->cfg.max_mr; n++) {
        *index = dev->next_mr;
        dev->next_mr = dev->next_mr + 1 == dev->cfg.max_mr ? 0 : dev->next_mr + 1;
        if (dev->mrs[*index].mr == NULL)
            return &dev->mrs[*index];
    }
    return NULL;
}

struct eng_mr *eng_mr_new(struct eng_pd *pd, void *mem, uint64_t len, uint64_t va, unsigned access,
                          int *err)
{
    int unused;
    if (err == NULL)
        err = &unused;
    /* IBTA 10.6.3.1: remote write and atomic rights need the local one; the range must not wrap. */
    *err = ROCE_ERR_INVALID;
    if ((access & (ENG_REMOTE_WRITE | ENG_REMOTE_ATOMIC)) != 0 && !(access & ENG_LOCAL_WRITE))
        return NULL;
    if (len > UINT64_MAX - va)
        return NULL;
    *err = ROCE_ERR_FULL;
    uint32_t index;
    struct mr_slot *slot = free_slot(pd->dev, &index);
    if (slot == NULL)
        return NULL;
    *err = ROCE_ERR_NOMEM;
    struct eng_mr *mr = calloc(1, sizeof(*mr));
    if (mr == NULL)
        return NULL;
    slot->generation++;
    if (index == 0 && slot->generation == 0)
        slot->generation = 1; /* key 0 reads as "no key" to people */
    *mr = (struct eng_mr){.dev = pd->dev,
                          .pd = pd,
                          .mem = mem,
                          .va = va,
                          .len = len,
                          .key = index << 8 | slot->generation,
                          .access = access};
    slot->mr = mr;
    *err = 0;
    return mr;
}

void eng_mr_del(struct eng_mr *mr)
{
    if (mr == NULL)
        return;
    mr->dev->mrs[mr->key >> 8].mr = NULL;
    free(mr);
}

uint32_t eng_mr_lkey(const struct eng_mr *mr)
{
    return mr->key;
}

uint32_t eng_mr_rkey(const struct eng_mr *mr)
{
    return mr->key;
}

static struct eng_mr *find(const struct eng_pd *pd, uint32_t key, unsigned access)
{
    const struct eng_dev *dev = pd->dev;
    if (key >> 8 >= dev->cfg.max_mr)
        return NULL;
    struct eng_mr *mr = dev->mrs[key >> 8].mr;
    if (mr == NULL || mr->key != key || mr->pd != pd || (mr->access & access) != access)
        return NULL;
    return mr;
}

static bool in_bounds(const struct eng_mr *mr, uint64_t va, uint64_t len)
{
    return va >= mr->va && va - mr->va <= mr->len && len <= mr->len - (va - mr->va);
}

struct eng_mr *mr_local(const struct eng_pd *pd, uint32_t key, uint64_t va, uint64_t len,
                        unsigned access)
{
    struct eng_mr *mr = find(pd, key, access);
    return mr != NULL && in_bounds(mr, va, len) ? mr : NULL;
}

struct eng_mr *mr_remote_all(const struct eng_pd *pd, uint32_t key, unsigned access)
{
    struct eng_mr *mr = find(pd, key, access);
    return mr != NULL && !mr->invalidated ? mr : NULL;
}

struct eng_mr *mr_remote(const struct eng_pd *pd, uint32_t key, uint64_t va, uint64_t len,
                         unsigned access)
{
    struct eng_mr *mr = mr_remote_all(pd, key, access);
    return mr != NULL && in_bounds(mr, va, len) ? mr : NULL;
}

uint64_t mr_load(const struct eng_mr *mr, uint64_t va)
{
    uint64_t value;
    mr_read(mr, va, (uint8_t *)&value, sizeof(value));
    return value;
}

void mr_store(struct eng_mr *mr, uint64_t va, uint64_t value)
{
    mr_write(mr, va, (const uint8_t *)&value, sizeof(value));
}
