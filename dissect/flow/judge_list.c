/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of findings: bounded for each kind, the worst kept, the others summed up. */
#include "watch.h"

#include <string.h>

void list_reset(struct finding_list *list)
{
    list->n = 0;
    memset(list->n_of_kind, 0, sizeof list->n_of_kind);
    memset(list->more, 0, sizeof list->more);
}

static void sum_up(struct finding_list *list, const struct roce_finding *f)
{
    struct roce_finding *more = &list->more[f->kind];
    if (more->flows == 0) {
        *more = *f;
        more->more = true;
        more->has_flow = more->has_hosts = more->has_mac = false;
        more->n_frames = 0;
        more->flow = more->connection = ROCE_FLOW_NONE;
        more->has = 0;
        more->word = NULL;
        more->count = 0;
    }
    more->flows += f->more ? f->flows : 1;
    more->count += f->count;
    if (f->severity < more->severity)
        more->severity = f->severity;
    if (f->first_frame != 0 && (more->first_frame == 0 || f->first_frame < more->first_frame))
        more->first_frame = f->first_frame;
}

void list_add(struct finding_list *list, const struct roce_finding *finding)
{
    const uint8_t kind = finding->kind;
    uint16_t *index = list->of_kind[kind];
    if (finding->more) {
        sum_up(list, finding);
        return;
    }
    if (list->n_of_kind[kind] < KIND_FINDINGS) {
        index[list->n_of_kind[kind]++] = (uint16_t)list->n;
        list->item[list->n++] = *finding;
        return;
    }
    struct roce_finding *least = &list->item[index[0]];
    for (uint32_t i = 1; i < KIND_FINDINGS; i++)
        if (roce_finding_compare(least, &list->item[index[i]]) < 0)
            least = &list->item[index[i]];
    if (roce_finding_compare(finding, least) < 0) {
        sum_up(list, least);
        *least = *finding;
    } else {
        sum_up(list, finding);
    }
}

/* Shell sort: some thousand items at most, no scratch memory. */
uint32_t list_sort(const struct finding_list *list, struct roce_finding *out)
{
    uint32_t n = list->n;
    memcpy(out, list->item, n * sizeof *out);
    for (uint32_t kind = 0; kind < ROCE_FINDING_KINDS; kind++)
        if (list->more[kind].flows > 0)
            out[n++] = list->more[kind];
    for (uint32_t gap = 1093; gap > 0; gap = gap > 1 ? (gap - 1) / 3 : 0)
        for (uint32_t i = gap; i < n; i++) {
            const struct roce_finding f = out[i];
            uint32_t k = i;
            for (; k >= gap && roce_finding_compare(&f, &out[k - gap]) < 0; k -= gap)
                out[k] = out[k - gap];
            out[k] = f;
        }
    return n;
}
