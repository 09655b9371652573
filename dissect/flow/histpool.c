/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small histograms for many flows. */
#include "histpool.h"

#include <string.h>

static bool page_add(struct hist_head *head, struct pool *pages, uint32_t bucket)
{
    const uint32_t octave = bucket / ROCE_HIST_SUB;
    const uint32_t sub = bucket % ROCE_HIST_SUB;
    if (head->last.octave == octave) {
        ((struct hist_page *)pool_at(pages, head->last.page))->count[sub]++;
        return true;
    }
    struct hist_page *nearest = NULL;
    for (uint32_t i = head->pages; i != NIL;) {
        struct hist_page *page = pool_at(pages, i);
        if (page->octave == octave) {
            page->count[sub]++;
            head->last.octave = octave;
            head->last.page = i;
            return true;
        }
        if (nearest == NULL || (page->octave > octave) == (page->octave < nearest->octave))
            nearest = page;
        i = page->next;
    }
    const uint32_t index = pool_take(pages);
    if (index != NIL) {
        struct hist_page *page = pool_at(pages, index);
        page->next = head->pages;
        page->octave = octave;
        page->count[sub] = 1;
        head->pages = index;
        return true;
    }
    if (nearest != NULL)
        nearest->count[nearest->octave < octave ? ROCE_HIST_SUB - 1 : 0]++;
    return false;
}

bool hist_head_add(struct hist_head *head, struct pool *pages, uint64_t value)
{
    if (head->count == 0) {
        head->min = value;
        head->pages = NIL;
    }
    if (value < head->min)
        head->min = value;
    if (value > head->max)
        head->max = value;
    const uint32_t bucket = roce_hist_bucket(value);
    bool good = true;
    if (head->count < HIST_INLINE) {
        head->sample[head->count] = (uint16_t)bucket;
    } else {
        if (head->count == HIST_INLINE) {
            uint16_t sample[HIST_INLINE];
            memcpy(sample, head->sample, sizeof sample);
            head->last.octave = NIL;
            for (int i = 0; i < HIST_INLINE; i++)
                good = page_add(head, pages, sample[i]) && good;
        }
        good = page_add(head, pages, bucket) && good;
    }
    head->count++;
    return good;
}

void hist_head_expand(const struct hist_head *head, const struct pool *pages, struct roce_hist *out)
{
    *out = (struct roce_hist){.count = head->count, .min = head->min, .max = head->max};
    if (head->count <= HIST_INLINE) {
        for (uint32_t i = 0; i < head->count; i++)
            out->bucket[head->sample[i]]++;
        return;
    }
    for (uint32_t i = head->pages; i != NIL;) {
        const struct hist_page *page = pool_at(pages, i);
        for (uint32_t k = 0; k < ROCE_HIST_SUB; k++)
            out->bucket[page->octave * ROCE_HIST_SUB + k] += page->count[k];
        i = page->next;
    }
}

bool hist_head_copy(struct hist_head *head, struct pool *pages, const struct hist_head *from)
{
    *head = *from;
    if (from->count <= HIST_INLINE)
        return true;
    head->pages = NIL;
    head->last.octave = NIL;
    for (uint32_t i = from->pages; i != NIL;) {
        const struct hist_page *page = pool_at(pages, i);
        const uint32_t index = pool_take(pages);
        if (index == NIL)
            return false;
        struct hist_page *copy = pool_at(pages, index);
        *copy = *page;
        copy->next = head->pages;
        head->pages = index;
        i = page->next;
    }
    return true;
}

void hist_head_drop(struct hist_head *head, struct pool *pages)
{
    if (head->count > HIST_INLINE)
        while (head->pages != NIL) {
            const uint32_t i = head->pages;
            head->pages = ((struct hist_page *)pool_at(pages, i))->next;
            pool_give(pages, i);
        }
    *head = (struct hist_head){.pages = NIL};
}
