/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames around gaps and NAKs, kept for longer than the newest ones. */
#include <string.h>

#include "model_internal.h"

static bool is_keeping(const struct model *model, uint32_t flow)
{
    return (model->keeping[flow / 64] >> flow % 64 & 1) != 0;
}

static void set_keeping(struct model *model, uint32_t flow, bool on)
{
    if (is_keeping(model, flow) == on)
        return;
    model->keeping[flow / 64] ^= UINT64_C(1) << flow % 64;
    model->keepers += on ? 1 : UINT32_MAX;
}

static void push(struct model *model, const struct ring_record *record)
{
    struct track_rest *rest = &model->rest[record->flow];
    struct ring_record copy = *record;
    struct roce_frame frame;
    if (record->number <= rest->kept_number)
        return;
    tui_ring_frame(&model->ring, record, &frame);
    copy.before = rest->kept_newest;
    rest->kept_newest = tui_ring_push(&model->kept, &copy, &frame);
    rest->kept_number = record->number;
}

static uint32_t newest_of(const struct model *model, uint32_t flow,
                          const struct ring_record *list[KEEP_BEFORE])
{
    const struct ring_record *record = tui_ring_get(&model->ring, model->track[flow].newest);
    uint32_t n = 0;
    for (; record != NULL && n < KEEP_BEFORE; record = tui_ring_get(&model->ring, record->before))
        list[n++] = record;
    return n;
}

static void keep_before(struct model *model, uint32_t flow, uint32_t peer)
{
    const struct ring_record *own[KEEP_BEFORE], *other[KEEP_BEFORE];
    uint32_t n = newest_of(model, flow, own);
    uint32_t m = peer != ROCE_FLOW_NONE ? newest_of(model, peer, other) : 0;
    while (n > 0 || m > 0) {
        if (m == 0 || (n > 0 && own[n - 1]->number < other[m - 1]->number))
            push(model, own[--n]);
        else
            push(model, other[--m]);
    }
}

void tui_model_keep(struct model *model, uint32_t flow, uint32_t peer)
{
    if (!is_keeping(model, flow)) {
        if (model->keep_budget == 0)
            return;
        model->keep_budget--;
        keep_before(model, flow, peer);
    }
    model->rest[flow].keep = KEEP_BEHIND;
    set_keeping(model, flow, true);
    if (peer != ROCE_FLOW_NONE) {
        model->rest[peer].keep = KEEP_BEHIND;
        set_keeping(model, peer, true);
    }
}

void tui_model_keep_on(struct model *model, uint64_t mark)
{
    const struct ring_record *record = tui_ring_get(&model->ring, mark);
    const uint32_t flow = record->flow;
    if (!is_keeping(model, flow))
        return;
    push(model, record);
    if (--model->rest[flow].keep == 0)
        set_keeping(model, flow, false);
}

void tui_model_keep_forget(struct model *model, uint32_t flow)
{
    set_keeping(model, flow, false);
}
