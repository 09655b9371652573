/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of READ data. */
#include "ahead.h"

#include <string.h>

static void drop_range(struct ahead *a, uint32_t i)
{
    a->n--;
    memmove(&a->range[i], &a->range[i + 1], (a->n - i) * sizeof(a->range[0]));
}

static bool insert(struct ahead *a, uint32_t i, uint32_t packet)
{
    if (a->n == AHEAD_MAX)
        return false;
    memmove(&a->range[i + 1], &a->range[i], (a->n - i) * sizeof(a->range[0]));
    a->range[i].begin = packet;
    a->range[i].end = packet + 1;
    a->n++;
    return true;
}

bool ahead_add(struct ahead *a, uint32_t packet)
{
    uint32_t i = 0;
    while (i < a->n && a->range[i].end < packet)
        i++;
    if (i == a->n || packet + 1 < a->range[i].begin)
        return insert(a, i, packet);
    if (packet < a->range[i].begin)
        a->range[i].begin = packet;
    if (packet == a->range[i].end)
        a->range[i].end++;
    if (i + 1 < a->n && a->range[i].end == a->range[i + 1].begin) {
        a->range[i].end = a->range[i + 1].end;
        drop_range(a, i + 1);
    }
    return true;
}

uint32_t ahead_take(struct ahead *a, uint32_t next)
{
    while (a->n > 0 && a->range[0].begin <= next) {
        if (a->range[0].end > next)
            next = a->range[0].end;
        drop_range(a, 0);
    }
    return next;
}
