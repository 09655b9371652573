/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cable in memory. */
#include "port/loopback.h"

#include <roce/err.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "port/line.h"

enum {
    CAPACITY = 1024,
    WIRE_OVERHEAD = 24, /* bytes a frame takes besides its own: preamble 8, FCS 4, gap 12 */
};

struct way {
    struct loopback_way cfg;
    struct line *line;
    struct loopback_count count;
    roce_tstamp free_at; /* the last frame's end has left */
    bool refused;        /* somebody wants to send as soon as it has */
};
struct cable {
    struct way way[2];
    struct eng_rng rng;
    size_t frame_len;
    unsigned ends;
};
struct end {
    struct port port;
    struct cable *cable;
    struct way *out, *in;
    roce_tstamp now; /* as told last */
};

static uint8_t *end_room(struct port *port, size_t len)
{
    const struct end *end = (struct end *)port;
    end->out->refused = end->out->free_at > end->now;
    if (end->out->refused || len > end->cable->frame_len)
        return NULL;
    return line_room(end->out->line);
}

static bool chance(struct cable *cable, uint32_t millionths)
{
    return millionths != 0 && eng_rng_next(&cable->rng) % 1000000 < millionths;
}

static bool lost(struct cable *cable, const struct way *way, uint64_t index)
{
    return (index < 64 && (way->cfg.drop_mask >> index & 1) != 0) || chance(cable, way->cfg.drop);
}

static int end_commit(struct port *port, size_t len, roce_tstamp now)
{
    struct end *end = (struct end *)port;
    struct way *way = end->out;
    const uint8_t *frame = line_room(way->line);
    const uint64_t index = way->count.sent++;
    roce_tstamp at = now;
    if (way->cfg.rate_bps != 0) {
        at = now + (len + WIRE_OVERHEAD) * 8000000000U / way->cfg.rate_bps;
        way->free_at = at;
    }
    at += way->cfg.delay_ns;
    if (lost(end->cable, way, index)) {
        way->count.dropped++; /* its room is used again */
        return 0;
    }
    if (chance(end->cable, way->cfg.reorder)) {
        way->count.reordered++;
        at += way->cfg.reorder_ns;
    }
    line_put(way->line, len, at);
    if (chance(end->cable, way->cfg.dup) && line_copy(way->line, frame, len, at) == 0)
        way->count.duplicated++;
    return 0;
}

static int end_flush(struct port *port, roce_tstamp now)
{
    ((struct end *)port)->now = now;
    return 0;
}

static int end_receive(struct port *port, roce_tstamp now, struct roce_frame *frame)
{
    struct end *end = (struct end *)port;
    size_t len;
    end->now = now;
    const uint8_t *data = line_take(end->in->line, now, &len);
    if (data == NULL)
        return 0;
    *frame = (struct roce_frame){.data = data,
                                 .caplen = (uint32_t)len,
                                 .origlen = (uint32_t)len,
                                 .ts = now,
                                 .linktype = ROCE_LINK_ETHERNET};
    return 1;
}

static roce_tstamp end_next(const struct port *port)
{
    const struct end *end = (const struct end *)port;
    const roce_tstamp arrival = line_next(end->in->line);
    return end->out->refused && end->out->free_at < arrival ? end->out->free_at : arrival;
}

static int end_fd(const struct port *port)
{
    (void)port;
    return -1;
}

static void cable_del(struct cable *cable)
{
    line_del(cable->way[0].line);
    line_del(cable->way[1].line);
    free(cable);
}

static void end_del(struct port *port)
{
    struct cable *cable = ((struct end *)port)->cable;
    free(port);
    if (--cable->ends == 0)
        cable_del(cable);
}

static const struct port_ops end_ops = {
    .room = end_room,
    .commit = end_commit,
    .flush = end_flush,
    .receive = end_receive,
    .next = end_next,
    .fd = end_fd,
    .del = end_del,
};

int loopback_new(const struct loopback_cfg *cfg, struct port *ends[2])
{
    struct cable *cable = calloc(1, sizeof(*cable));
    struct end *end[2] = {calloc(1, sizeof(struct end)), calloc(1, sizeof(struct end))};
    if (cable == NULL || end[0] == NULL || end[1] == NULL)
        goto out;
    cable->frame_len = cfg->frame_len != 0 ? cfg->frame_len : ENG_FRAME_MAX;
    cable->rng.state = cfg->seed;
    cable->ends = 2;
    for (int i = 0; i < 2; i++) {
        cable->way[i].cfg = cfg->way[i];
        cable->way[i].line =
            line_new(cfg->capacity != 0 ? cfg->capacity : CAPACITY, cable->frame_len);
        if (cable->way[i].line == NULL)
            goto out;
    }
    for (int i = 0; i < 2; i++) {
        end[i]->port.ops = &end_ops;
        end[i]->cable = cable;
        end[i]->out = &cable->way[i];
        end[i]->in = &cable->way[1 - i];
        ends[i] = &end[i]->port;
    }
    return 0;
out:
    if (cable != NULL)
        cable_del(cable);
    free(end[0]);
    free(end[1]);
    return ROCE_ERR_NOMEM;
}

void loopback_count(const struct port *end, struct loopback_count *out)
{
    *out = ((const struct end *)end)->out->count;
}
