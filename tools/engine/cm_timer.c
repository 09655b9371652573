/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timers of connections: a binary heap of those that have one. */
#include "engine/cm_conn.h"

static roce_tstamp expiry_at(const struct eng_cm *cm, uint32_t slot)
{
    return cm->conns[cm->heap[slot]].expiry;
}

static void place(struct eng_cm *cm, uint32_t slot, uint32_t index)
{
    cm->heap[slot] = index;
    cm->conns[index].heap_slot = slot;
}

static void swap(struct eng_cm *cm, uint32_t a, uint32_t b)
{
    const uint32_t index = cm->heap[a];
    place(cm, a, cm->heap[b]);
    place(cm, b, index);
}

static void settle(struct eng_cm *cm, uint32_t slot)
{
    while (slot > 0 && expiry_at(cm, slot) < expiry_at(cm, (slot - 1) / 2)) {
        swap(cm, slot, (slot - 1) / 2);
        slot = (slot - 1) / 2;
    }
    for (;;) {
        uint32_t least = slot;
        for (uint32_t child = 2 * slot + 1; child <= 2 * slot + 2 && child < cm->n_heap; child++)
            if (expiry_at(cm, child) < expiry_at(cm, least))
                least = child;
        if (least == slot)
            return;
        swap(cm, slot, least);
        slot = least;
    }
}

void cm_timer_set(struct eng_cm_conn *c, roce_tstamp expiry)
{
    struct eng_cm *cm = c->cm;
    c->expiry = expiry;
    if (expiry != ENG_NEVER) {
        if (c->heap_slot == CM_NONE)
            place(cm, cm->n_heap++, (uint32_t)(c - cm->conns));
        settle(cm, c->heap_slot);
        return;
    }
    if (c->heap_slot == CM_NONE)
        return;
    const uint32_t slot = c->heap_slot;
    c->heap_slot = CM_NONE;
    cm->n_heap--;
    if (slot == cm->n_heap)
        return;
    place(cm, slot, cm->heap[cm->n_heap]);
    settle(cm, slot);
}
