/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of flows in trouble: taken on the first occasion, given back when all is settled.
 * Each pool has as many records as all flows can take and cannot run dry. */
#include "naks.h"

struct trouble *trouble_of(struct roce_flow_table *t, struct flow *f)
{
    if (f->trouble == NIL) {
        f->trouble = pool_take(&t->trouble_pool);
        struct trouble *trouble = pool_at(&t->trouble_pool, f->trouble);
        trouble->affair = trouble->rare = trouble->excess = NIL;
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
        affair->naks = NIL;
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
    if (trouble->rare == NIL) {
        trouble->rare = pool_take(&t->rare_pool);
        ((struct rare *)pool_at(&t->rare_pool, trouble->rare))->late_psn = NIL;
    }
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
        affair->has_skip || affair->repeats > 0 || affair->has_old || affair->alone ||
        affair->early[0] != NIL || affair->waits.known || affair->waits.lates > 0 ||
        affair->naks != NIL || affair->has_bad_ack)
        return false;
    for (int i = 0; i < AGAIN_MAX; i++)
        if (affair->again[i].len > 0)
            return false;
    return true;
}

void affair_settled(struct roce_flow_table *t, struct flow *f)
{
    struct trouble *trouble = trouble_peek(t, f);
    if (trouble == NULL || trouble->affair == NIL)
        return;
    naks_age(t, pool_at(&t->affair_pool, trouble->affair));
    if (!settled(pool_at(&t->affair_pool, trouble->affair)))
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
    if (affair != NULL && affair->naks != NIL)
        pool_give(&t->node_pool, affair->naks);
    if (affair != NULL)
        pool_give(&t->affair_pool, trouble->affair);
    if (trouble->rare != NIL)
        pool_give(&t->rare_pool, trouble->rare);
    for (uint32_t i = trouble->excess; i != NIL;) {
        const uint32_t next = ((struct excess *)pool_at(&t->excess_pool, i))->next;
        pool_give(&t->excess_pool, i);
        i = next;
    }
    pool_give(&t->trouble_pool, f->trouble);
    f->trouble = NIL;
}

/* ---- counters ---- */

static uint32_t *excess_find(const struct roce_flow_table *t, const struct trouble *trouble,
                             uint32_t kind)
{
    for (uint32_t i = trouble->excess; i != NIL;) {
        struct excess *excess = pool_at(&t->excess_pool, i);
        for (int k = 0; k < EXCESS_SLOTS; k++)
            if (excess->n[k] != 0 && excess->kind[k] == kind)
                return &excess->n[k];
        i = excess->next;
    }
    return NULL;
}

static uint32_t *excess_free(struct roce_flow_table *t, struct trouble *trouble, uint32_t kind)
{
    for (uint32_t i = trouble->excess; i != NIL;) {
        struct excess *excess = pool_at(&t->excess_pool, i);
        for (int k = 0; k < EXCESS_SLOTS; k++)
            if (excess->n[k] == 0) {
                excess->kind[k] = (uint8_t)kind;
                return &excess->n[k];
            }
        i = excess->next;
    }
    const uint32_t index = pool_take(&t->excess_pool);
    struct excess *excess = pool_at(&t->excess_pool, index);
    excess->next = trouble->excess;
    trouble->excess = index;
    excess->kind[0] = (uint8_t)kind;
    return &excess->n[0];
}

static void excess_add(struct roce_flow_table *t, struct trouble *trouble, uint32_t kind,
                       uint32_t n)
{
    uint32_t *at = excess_find(t, trouble, kind);
    if (at == NULL)
        at = excess_free(t, trouble, kind);
    *at += n;
}

static uint64_t excess_of(const struct roce_flow_table *t, const struct trouble *trouble,
                          uint32_t kind)
{
    const uint32_t *at = excess_find(t, trouble, kind);
    return at == NULL ? 0 : *at;
}

void trouble_add(struct roce_flow_table *t, struct flow *f, enum trouble_count count, uint32_t n)
{
    struct trouble *trouble = trouble_of(t, f);
    const uint64_t sum = (uint64_t)trouble->count[count] + n;
    trouble->count[count] = (uint16_t)sum;
    if (sum > UINT16_MAX)
        excess_add(t, trouble, EXCESS_COUNT + count, (uint32_t)(sum >> 16));
}

bool trouble_take_back(struct roce_flow_table *t, struct flow *f, enum trouble_count count)
{
    if (trouble_total(t, f, count) == 0)
        return false;
    struct trouble *trouble = trouble_peek(t, f);
    if (trouble->count[count]-- == 0)
        --*excess_find(t, trouble, EXCESS_COUNT + count);
    return true;
}

uint64_t trouble_total(const struct roce_flow_table *t, const struct flow *f,
                       enum trouble_count count)
{
    const struct trouble *trouble = trouble_peek(t, f);
    return trouble == NULL
               ? 0
               : trouble->count[count] + (excess_of(t, trouble, EXCESS_COUNT + count) << 16);
}

void trouble_nak(struct roce_flow_table *t, struct flow *f)
{
    if (f->msg_ops >> 4 != 0 || f->naks == UINT32_MAX)
        trouble_add(t, f, COUNT_SEQUENCE_NAKS, 1);
    else
        f->naks++;
}

void trouble_naks_move(struct roce_flow_table *t, struct flow *f)
{
    const uint32_t naks = naks_apart(f);
    f->naks = 0;
    if (naks > 0)
        trouble_add(t, f, COUNT_SEQUENCE_NAKS, naks);
}

uint64_t trouble_naks(const struct roce_flow_table *t, const struct flow *f)
{
    return trouble_total(t, f, COUNT_SEQUENCE_NAKS) + naks_apart(f);
}

void trouble_gap(struct roce_flow_table *t, struct flow *f, uint32_t missing)
{
    trouble_add(t, f, COUNT_GAPS, 1);
    struct trouble *trouble = trouble_peek(t, f);
    trouble->gap_psns += missing;
    if (trouble->gap_psns < missing)
        excess_add(t, trouble, EXCESS_GAP_PSNS, 1);
}

uint64_t trouble_gap_psns(const struct roce_flow_table *t, const struct flow *f)
{
    const struct trouble *trouble = trouble_peek(t, f);
    return trouble == NULL ? 0 : trouble->gap_psns + (excess_of(t, trouble, EXCESS_GAP_PSNS) << 32);
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
    excess_add(t, trouble, EXCESS_SILENT + bin, 1);
}

uint64_t trouble_silent(const struct roce_flow_table *t, const struct flow *f, uint32_t bin)
{
    const struct trouble *trouble = trouble_peek(t, f);
    if (trouble == NULL)
        return 0;
    uint64_t n = excess_of(t, trouble, EXCESS_SILENT + bin);
    for (int i = 0; i < SILENT_SLOTS; i++)
        if (trouble->silent_bin[i] == bin)
            n += trouble->silent_n[i];
    return n;
}
