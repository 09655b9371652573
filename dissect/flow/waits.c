/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a requester that stepped back waits for: the next response PSN it has no answer to, as far
 * as the answers captured since tell. A READ or atomic that is issued again was mostly answered
 * before, so that only the answers to its newest copy say what became of it. */
#include "waits.h"

/* The number of answers that came late up to the one to |psn|; 0: it is none of them. */
static uint8_t lates_to(const struct waits *w, uint32_t psn)
{
    for (uint8_t i = 0; i < w->lates; i++)
        if (w->late[i] == psn)
            return (uint8_t)(i + 1);
    return 0;
}

void waits_begin(struct waits *w, uint32_t psn, uint32_t until, bool again)
{
    const uint8_t settled = lates_to(w, psn);
    if (settled > 0) {
        w->lates = (uint8_t)(w->lates - settled);
        for (uint8_t i = 0; i < w->lates; i++)
            w->late[i] = w->late[i + settled];
        w->until = until;
        w->known = roce_psn_diff(w->psn, until) < 0;
        return;
    }
    *w = (struct waits){.known = true, .psn = psn, .until = until, .again = again};
}

/* Whether the PSNs before |psn| are acknowledged as far as the requester can know. */
static bool behind(const struct waits *w, uint32_t psn)
{
    return roce_psn_diff(psn, w->psn) <= 0;
}

void waits_ask(struct waits *w, uint32_t psn, uint32_t n)
{
    if (!w->known)
        return;
    uint8_t kept = 0;
    for (uint8_t i = 0; i < w->asks; i++)
        if (!behind(w, roce_psn_add(w->ask[i].psn, w->ask[i].len)))
            w->ask[kept++] = w->ask[i];
    w->asks = kept;
    if (kept == WAITS_ASKS)
        w->known = false;
    else
        w->ask[w->asks++] = (struct psn_range){psn, n};
}

/* The first PSN before |end| that only a READ response or an atomic ACK answers; |end|: none.
 * |*whole|: it begins a READ whose responses are all before |end|. */
static uint32_t first_asked(const struct waits *w, uint32_t end, bool *whole)
{
    uint32_t first = end;
    *whole = false;
    for (uint8_t i = 0; i < w->asks; i++) {
        const struct psn_range *ask = &w->ask[i];
        if (behind(w, roce_psn_add(ask->psn, ask->len)))
            continue;
        const uint32_t from = behind(w, ask->psn) ? w->psn : ask->psn;
        if (roce_psn_diff(from, first) >= 0)
            continue;
        first = from;
        *whole = from == ask->psn && ask->len > 1 &&
                 roce_psn_diff(end, roce_psn_add(ask->psn, ask->len)) >= 0;
    }
    return first;
}

/* All before |end| is acknowledged, and answers to READs and atomics there are skipped. */
static bool skips(struct waits *w, uint32_t end)
{
    bool whole;
    const uint32_t asked = first_asked(w, end, &whole);
    if (asked == end)
        return false;
    if (asked == w->psn && w->again) {
        w->partly = w->partly || !whole;
        return true;
    }
    w->psn = asked;
    w->passed = true;
    w->whole = whole;
    return true;
}

static void reached(struct waits *w, uint32_t next)
{
    w->psn = next;
    w->again = w->passed = w->whole = w->partly = false;
    w->known = roce_psn_diff(next, w->until) < 0;
}

void waits_answer(struct waits *w, uint32_t psn)
{
    if (!w->known || roce_psn_diff(psn, w->psn) < 0)
        return;
    if (w->passed && psn == w->psn) {
        if (w->lates < WAITS_LATES)
            w->late[w->lates++] = psn;
    } else if (w->passed || skips(w, psn)) {
        return;
    }
    reached(w, roce_psn_add(psn, 1));
}

void waits_acknowledge(struct waits *w, uint32_t psn)
{
    if (!w->known || w->passed || roce_psn_diff(psn, w->psn) < 0 || skips(w, roce_psn_add(psn, 1)))
        return;
    reached(w, roce_psn_add(psn, 1));
}

static uint32_t asked_len(const struct waits *w, uint32_t psn)
{
    for (uint8_t i = 0; i < w->asks; i++)
        if (w->ask[i].psn == psn)
            return w->ask[i].len;
    return 0;
}

bool waits_asked(const struct waits *w, uint32_t psn)
{
    return w->known && asked_len(w, psn) > 0;
}

bool waits_ignored(const struct waits *w, uint32_t psn)
{
    return w->known && psn == w->psn && !w->partly && asked_len(w, psn) > 1;
}

bool waits_skipped(const struct waits *w, uint32_t *psn, uint32_t *end)
{
    if (!w->known || !w->passed)
        return false;
    *psn = *end = w->psn;
    for (uint8_t i = 0; i < w->asks; i++)
        if (((w->psn - w->ask[i].psn) & ROCE_PSN_MASK) < w->ask[i].len)
            *end = roce_psn_add(w->ask[i].psn, w->ask[i].len);
    return true;
}

enum waits_answered waits_answered(const struct waits *w, uint32_t psn)
{
    if (lates_to(w, psn) > 0)
        return WAITS_CAME_LATE;
    if (!w->known || roce_psn_diff(psn, w->psn) > 0)
        return WAITS_UNKNOWN;
    if (psn != w->psn)
        return WAITS_CAME;
    return !w->passed ? WAITS_NOT_YET : w->whole ? WAITS_IGNORED : WAITS_PASSED;
}
