/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Incidents: one bounded record for each kind of finding and flow, with the frames that show it. */
#include "watch.h"
#include "space.h"

#include <stdlib.h>
#include <string.h>

struct watch_trouble *trouble_watched(const struct roce_observer *obs, uint32_t flow)
{
    const struct watch_ext *ext = watch_ext(obs, flow);
    return ext == NULL || ext->trouble == 0 ? NULL : &obs->incidents->trouble[ext->trouble - 1];
}

struct watch_trouble *trouble_at(struct roce_observer *obs, uint32_t flow)
{
    struct incidents *in = obs->incidents;
    struct watch_ext *ext = flow == ROCE_FLOW_NONE ? NULL : watch_ext(obs, flow);
    if (ext == NULL)
        return NULL;
    if (ext->trouble != 0)
        return &in->trouble[ext->trouble - 1];
    uint32_t index = in->trouble_free;
    if (index != 0)
        in->trouble_free = in->trouble[index - 1].next;
    else if (in->trouble_fresh < TROUBLE_MAX)
        index = ++in->trouble_fresh;
    else
        return NULL;
    in->trouble[index - 1] = (struct watch_trouble){.flow = flow};
    ext->trouble = index;
    return &in->trouble[index - 1];
}

static struct incident *find(const struct incidents *in, const struct watch_trouble *trouble,
                             uint8_t kind)
{
    for (uint32_t i = trouble == NULL ? 0 : trouble->incidents; i != 0;
         i = in->incident[i - 1].next)
        if (in->incident[i - 1].kind == kind)
            return &in->incident[i - 1];
    return NULL;
}

const struct incident *incident_peek(const struct roce_observer *obs, uint32_t flow,
                                     enum roce_finding_kind kind)
{
    return find(obs->incidents, trouble_watched(obs, flow), (uint8_t)kind);
}

static struct incident *take(struct incidents *in, struct watch_trouble *trouble, uint8_t kind)
{
    uint32_t index = in->incident_free;
    if (index != 0)
        in->incident_free = in->incident[index - 1].next;
    else if (in->incident_fresh < INCIDENT_MAX)
        index = ++in->incident_fresh;
    else
        return NULL;
    in->incident[index - 1] = (struct incident){.next = trouble->incidents, .kind = kind};
    trouble->incidents = index;
    return &in->incident[index - 1];
}

struct incident *incident_add(struct roce_observer *obs, uint32_t flow, enum roce_finding_kind kind,
                              uint64_t frame)
{
    struct incidents *in = obs->incidents;
    struct watch_trouble *trouble = trouble_at(obs, flow);
    struct incident *incident = find(in, trouble, (uint8_t)kind);
    if (incident == NULL && trouble != NULL)
        incident = take(in, trouble, (uint8_t)kind);
    if (incident == NULL) {
        if (flow != ROCE_FLOW_NONE)
            in->lost++;
        incident = &in->plain[kind];
        incident->kind = (uint8_t)kind;
    }
    incident->count++;
    incident_frame(incident, frame);
    return incident;
}

void incident_frame(struct incident *incident, uint64_t frame)
{
    if (frame == 0)
        return;
    if (incident->first_frame == 0 || frame < incident->first_frame)
        incident->first_frame = frame;
    uint8_t at = incident->n_frames;
    while (at > 0 && incident->frames[at - 1] > frame)
        at--;
    if ((at > 0 && incident->frames[at - 1] == frame) || at == ROCE_FINDING_FRAMES)
        return;
    if (incident->n_frames < ROCE_FINDING_FRAMES)
        incident->n_frames++;
    memmove(&incident->frames[at + 1], &incident->frames[at],
            (size_t)(incident->n_frames - 1 - at) * sizeof incident->frames[0]);
    incident->frames[at] = frame;
}

void incident_set(struct incident *incident, uint32_t index, uint64_t value)
{
    incident->has |= (uint8_t)(1U << index);
    incident->value[index] = value;
}

void incident_max(struct incident *incident, uint32_t index, uint64_t value)
{
    if ((incident->has >> index & 1) == 0 || value > incident->value[index])
        incident_set(incident, index, value);
}

void incident_sum(struct incident *incident, uint32_t index, uint64_t value)
{
    incident_set(incident, index, incident->value[index] + value);
}

void incident_swap(struct roce_observer *obs, uint32_t a, uint32_t b, enum roce_finding_kind kind)
{
    struct incidents *in = obs->incidents;
    struct watch_trouble *trouble[2] = {trouble_at(obs, a), trouble_at(obs, b)};
    uint32_t taken[2] = {0, 0};
    if (trouble[0] == NULL || trouble[1] == NULL)
        return;
    for (int side = 0; side < 2; side++)
        for (uint32_t *link = &trouble[side]->incidents; *link != 0;
             link = &in->incident[*link - 1].next)
            if (in->incident[*link - 1].kind == kind) {
                taken[side] = *link;
                *link = in->incident[*link - 1].next;
                break;
            }
    for (int side = 0; side < 2; side++)
        if (taken[side] != 0) {
            in->incident[taken[side] - 1].next = trouble[1 - side]->incidents;
            trouble[1 - side]->incidents = taken[side];
        }
}

void incidents_evict(struct roce_observer *obs, uint32_t flow)
{
    struct incidents *in = obs->incidents;
    struct watch_ext *ext = watch_ext(obs, flow);
    if (ext == NULL || ext->trouble == 0)
        return;
    struct watch_trouble *trouble = &in->trouble[ext->trouble - 1];
    for (uint32_t i = trouble->incidents; i != 0;) {
        const uint32_t next = in->incident[i - 1].next;
        in->incident[i - 1] = (struct incident){.next = in->incident_free};
        in->incident_free = i;
        i = next;
    }
    *trouble = (struct watch_trouble){.flow = ROCE_FLOW_NONE, .next = in->trouble_free};
    in->trouble_free = ext->trouble;
    ext->trouble = 0;
}

struct incidents *incidents_new(void)
{
    struct incidents *in = calloc(1, sizeof *in);
    if (in == NULL)
        return NULL;
    in->trouble = space_new(TROUBLE_MAX, sizeof *in->trouble);
    in->incident = space_new(INCIDENT_MAX, sizeof *in->incident);
    in->evicted.item = space_new(LIST_MAX, sizeof *in->evicted.item);
    in->current.item = space_new(LIST_MAX, sizeof *in->current.item);
    in->sorted = space_new(LIST_MAX, sizeof *in->sorted);
    if (in->trouble == NULL || in->incident == NULL || in->evicted.item == NULL ||
        in->current.item == NULL || in->sorted == NULL) {
        incidents_del(in);
        return NULL;
    }
    return in;
}

void incidents_del(struct incidents *in)
{
    if (in == NULL)
        return;
    space_del(in->trouble, TROUBLE_MAX, sizeof *in->trouble);
    space_del(in->incident, INCIDENT_MAX, sizeof *in->incident);
    space_del(in->evicted.item, LIST_MAX, sizeof *in->evicted.item);
    space_del(in->current.item, LIST_MAX, sizeof *in->current.item);
    space_del(in->sorted, LIST_MAX, sizeof *in->sorted);
    free(in);
}
