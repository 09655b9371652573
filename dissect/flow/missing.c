/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the newest transmission of a stream did not get here whole: it was sent before, and is
 * missing now that it was sent again, or came with a wrong ICRC. */
#include "episode.h"

#include "naks.h"

void missing_add(struct roce_flow_table *t, struct flow *f, uint32_t psn, uint32_t len)
{
    struct affair *affair = affair_of(t, f);
    affair->again[affair->again_next].psn = psn;
    affair->again[affair->again_next].len = len;
    affair->again_next = (uint8_t)((affair->again_next + 1) % AGAIN_MAX);
}

/* Which of the ranges has |psn|; AGAIN_MAX: none. */
static int missing_at(const struct affair *affair, uint32_t psn, uint32_t *n)
{
    for (int i = 0; i < AGAIN_MAX; i++) {
        const uint32_t into = (psn - affair->again[i].psn) & ROCE_PSN_MASK;
        *n = affair->again[i].len - into;
        if (into < affair->again[i].len)
            return i;
    }
    *n = 0;
    return AGAIN_MAX;
}

uint32_t missing_take(struct affair *affair, uint32_t psn)
{
    uint32_t n;
    const int i = missing_at(affair, psn, &n);
    if (i < AGAIN_MAX)
        affair->again[i].len = 0;
    return n;
}

static uint32_t missing_now(const struct roce_flow_table *t, const struct flow *f, uint32_t psn)
{
    uint32_t n;
    missing_at(affair_peek(t, f), psn, &n);
    return n == 0 && hole_find(t, f->holes, psn) != NIL ? MISSING_HOLE : n;
}

void missing_lost(struct episode *ep, uint32_t missing)
{
    ep->in_hole = missing == MISSING_HOLE;
    ep->missing = ep->in_hole ? 0 : missing;
}

void missing_kept(struct flow *f, struct affair *affair, uint32_t upto)
{
    if (!affair->alone || roce_psn_diff(upto, affair->alone_psn) <= 0)
        return;
    affair->alone = false;
    f->flags |= F_SELECTIVE;
    for (int i = 0; i < AGAIN_MAX; i++)
        if (affair->again[i].psn == affair->alone_psn)
            affair->again[i].len = 0;
}

/* What is missing when the NAK passes counts: by the time it is obeyed, another resent stream may
 * have begun. */
void missing_naked(struct roce_flow_table *t, struct flow *f, uint32_t psn)
{
    struct affair *affair = affair_of(t, f);
    uint32_t missing;
    missing_kept(f, affair, psn);
    if (affair->has_nak && affair->nak_psn != psn)
        naks_keep(t, affair);
    missing = missing_now(t, f, psn);
    if (missing > 0 || !affair->has_nak || affair->nak_psn != psn)
        affair->nak_missing = missing;
}

void missing_came(struct affair *affair, uint32_t psn, uint32_t n)
{
    for (int i = 0; i < AGAIN_MAX; i++) {
        const uint32_t into = (psn - affair->again[i].psn) & ROCE_PSN_MASK;
        if (into >= affair->again[i].len)
            continue;
        const uint32_t gone = into + n;
        affair->again[i].psn = roce_psn_add(psn, n);
        affair->again[i].len = affair->again[i].len > gone ? affair->again[i].len - gone : 0;
    }
}
