/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small histograms for many flows. */
#include "histpool.h"

static bool page_add(struct hist_head *head, struct pool *pages, uint32_t bucket)
{
    const uint32_t octave = bucket / ROCE_HIST_SUB;
    const uint32_t sub = bucket % ROCE_HIST_SUB;
    struct hist_page *nearest = NULL;
    for (uint32_t i = head->pages; i != NIL;) {
        struct hist_page *page = pool_at(pages, i);
        if (page->octave == octave) {
            page->count[sub]++;
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
        if (head->count == HIST_INLINE)
            for (int i = 0; i < HIST_INLINE; i++)
                good = page_add(head, pages, head->sample[i]) && good;
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
