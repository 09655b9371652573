/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Protection domains and memory regions: keys, rights, bounds. */
#ifndef ENGINE_MR_H
#define ENGINE_MR_H

#include <string.h>

#include "engine/engine.h"
#include "list.h"

struct eng_pd {
    struct node node; /* first: the device's list */
    struct eng_dev *dev;
};

struct eng_mr {
    struct eng_dev *dev;
    struct eng_pd *pd;
    uint8_t *mem; /* NULL: no memory stands behind it */
    uint64_t va, len;
    uint32_t key; /* L_Key and R_Key: slot << 8 | generation */
    unsigned access;
    bool invalidated; /* by the peer: the R_Key is refused, the L_Key stays as with a window */
};

struct mr_slot {
    struct eng_mr *mr;
    uint8_t generation;
};

/* mr_local finds the region of L_Key |key| when |len| bytes at |va| lie in it and it gives
 * |access|; mr_remote the one of an R_Key. NULL: refused. */
struct eng_mr *mr_local(const struct eng_pd *pd, uint32_t key, uint64_t va, uint64_t len,
                        unsigned access);
struct eng_mr *mr_remote(const struct eng_pd *pd, uint32_t key, uint64_t va, uint64_t len,
                         unsigned access);
/* mr_remote_all finds the region of R_Key |key| whatever its bounds. */
struct eng_mr *mr_remote_all(const struct eng_pd *pd, uint32_t key, unsigned access);

/* The 8 bytes at |va|, which lie in the region, as the host's integer. */
uint64_t mr_load(const struct eng_mr *mr, uint64_t va);
void mr_store(struct eng_mr *mr, uint64_t va, uint64_t value);

static inline void mr_read(const struct eng_mr *mr, uint64_t va, uint8_t *buf, size_t len)
{
    if (mr->mem != NULL)
        memcpy(buf, mr->mem + (va - mr->va), len);
    else
        memset(buf, 0, len);
}

static inline void mr_write(const struct eng_mr *mr, uint64_t va, const uint8_t *buf, size_t len)
{
    if (mr->mem != NULL)
        memcpy(mr->mem + (va - mr->va), buf, len);
}

#endif
