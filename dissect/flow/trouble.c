/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of flows in trouble: taken on the first occasion, given back when all is settled.
 * Each pool has as many records as there are flows and cannot run dry. */
#include "internal.h"

struct trouble *trouble_of(struct roce_flow_table *t, struct flow *f)
{
    if (f->trouble == NIL) {
        f->trouble = pool_take(&t->trouble_pool);
        struct trouble *trouble = pool_at(&t->trouble_pool, f->trouble);
        trouble->affair = trouble->rare = trouble->late_psn = NIL;
    }
    return pool_at(&t->trouble_pool, f->trouble);
}

struct affair *affair_of(struct roce_flow_table *t, struct flow *f)
{
    struct trouble *trouble = trouble_of(t, f);
    if (trouble->affair == NIL) {
        trouble->affair = pool_take(&t->affair_pool);
        struct affair *affair = pool_at(&t->affair_pool, trouble->affair);
        for (int i = 0; i < EARLY_MAX; i++)
            affair->early[i] = NIL;
    }
    return pool_at(&t->affair_pool, trouble->affair);
}

struct affair *affair_peek(const struct roce_flow_table *t, const struct flow *f)
{
    const struct trouble *trouble = trouble_peek(t, f);
    return trouble == NULL || trouble->affair == NIL ? NULL
                                                     : pool_at(&t->affair_pool, trouble->affair);
}

struct rare *rare_of(struct roce_flow_table *t, struct flow *f)
{
    struct trouble *trouble = trouble_of(t, f);
    if (trouble->rare == NIL)
        trouble->rare = pool_take(&t->rare_pool);
    return pool_at(&t->rare_pool, trouble->rare);
}

struct rare *rare_peek(const struct roce_flow_table *t, const struct flow *f)
{
    const struct trouble *trouble = trouble_peek(t, f);
    return trouble == NULL || trouble->rare == NIL ? NULL : pool_at(&t->rare_pool, trouble->rare);
}

static bool settled(const struct affair *affair)
{
    if (affair->ep.open || affair->ep.undecided || affair->has_nak || affair->has_rnr ||
        affair->has_skip || affair->repeats > 0 || affair->has_old || affair->early[0] != NIL ||
        affair->reread_next != affair->reread_end)
        return false;
    for (int i = 0; i < AGAIN_MAX; i++)
        if (affair->again[i].len > 0)
            return false;
    return true;
}

void affair_settled(struct roce_flow_table *t, struct flow *f)
{
    struct trouble *trouble = trouble_peek(t, f);
    if (trouble == NULL || trouble->affair == NIL ||
        !settled(pool_at(&t->affair_pool, trouble->affair)))
        return;
    pool_give(&t->affair_pool, trouble->affair);
    trouble->affair = NIL;
}

void trouble_drop(struct roce_flow_table *t, struct flow *f)
{
    const struct trouble *trouble = trouble_peek(t, f);
    if (trouble == NULL)
        return;
    const struct affair *affair = affair_peek(t, f);
    for (int i = 0; affair != NULL && i < EARLY_MAX; i++)
        if (affair->early[i] != NIL)
            pool_give(&t->node_pool, affair->early[i]);
    if (affair != NULL)
        pool_give(&t->affair_pool, trouble->affair);
    if (trouble->rare != NIL)
        pool_give(&t->rare_pool, trouble->rare);
    pool_give(&t->trouble_pool, f->trouble);
    f->trouble = NIL;
}

void trouble_silent_add(struct roce_flow_table *t, struct flow *f, uint32_t bin)
{
    struct trouble *trouble = trouble_of(t, f);
    for (int i = 0; i < SILENT_SLOTS; i++) {
        const uint16_t n = trouble->silent_n[i];
        if (n == 0 || (trouble->silent_bin[i] == bin && n < UINT16_MAX)) {
            trouble->silent_bin[i] = (uint8_t)bin;
            trouble->silent_n[i]++;
            return;
        }
    }
    rare_of(t, f)->silent[bin]++;
}

uint64_t trouble_silent(const struct roce_flow_table *t, const struct flow *f, uint32_t bin)
{
    const struct trouble *trouble = trouble_peek(t, f);
    const struct rare *rare = rare_peek(t, f);
    uint64_t n = rare != NULL ? rare->silent[bin] : 0;
    for (int i = 0; trouble != NULL && i < SILENT_SLOTS; i++)
        if (trouble->silent_bin[i] == bin)
            n += trouble->silent_n[i];
    return n;
}
