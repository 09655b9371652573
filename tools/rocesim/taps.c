/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures at ports. */
#include "rocesim/taps.h"

#include <errno.h>
#include <roce/capture.h>
#include <roce/icrc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"

struct tap {
    const struct sim_tap *cfg;
    struct roce_writer *writer;
    bool make_icrc;
    bool failed;
    uint64_t frames;
    char name[2 * SIM_NAME_MAX + 16];
    char path[4096];
};

/* The engine left the ICRC out: the frame of the wire has one. */
static void put_icrc(uint8_t *copy, size_t len)
{
    const struct roce_frame frame = {.data = copy,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    roce_packet_decode(&frame, NULL, &pkt);
    if (!roce_packet_is_roce(&pkt) || (pkt.has & ROCE_HAS_PAYLOAD) == 0 ||
        pkt.icrc_off + ROCE_ICRC_LEN > len)
        return;
    const uint32_t icrc = roce_icrc_compute(copy + pkt.ip_off, pkt.icrc_off - pkt.ip_off);
    for (uint32_t i = 0; i < ROCE_ICRC_LEN; i++)
        copy[pkt.icrc_off + i] = (uint8_t)(icrc >> (24 - 8 * i));
}

static void on_frame(void *ctx, roce_tstamp now, enum fab_direction direction, const uint8_t *data,
                     size_t len)
{
    struct tap *tap = ctx;
    uint8_t copy[FAB_FRAME_MAX];
    (void)direction;
    if (tap->failed || now < tap->cfg->from_ns ||
        (tap->cfg->until_ns != 0 && now >= tap->cfg->until_ns))
        return;
    struct roce_frame frame = {.data = data,
                               .caplen = (uint32_t)len,
                               .origlen = (uint32_t)len,
                               .ts = TAPS_EPOCH_NS + now,
                               .linktype = ROCE_LINK_ETHERNET};
    if (tap->make_icrc && len <= sizeof(copy)) {
        memcpy(copy, data, len);
        put_icrc(copy, len);
        frame.data = copy;
    }
    if (roce_writer_write(tap->writer, &frame) != 0) {
        tap->failed = true;
        msg_file(tap->path, "%s", strerror(errno));
    }
    tap->frames++;
}

static int open_tap(struct tap *tap, struct net *net, const char *directory)
{
    const struct scenario *s = net->scenario;
    char text[ROCE_ERRTEXT_LEN];
    int err;
    snprintf(tap->name, sizeof(tap->name), "%s_%s.pcapng", s->nodes[tap->cfg->node].name,
             s->nodes[tap->cfg->peer].name);
    if (snprintf(tap->path, sizeof(tap->path), "%s/%s", directory, tap->name) >=
        (int)sizeof(tap->path)) {
        msg_file(directory, "the path is too long; choose a shorter one");
        return -1;
    }
    tap->make_icrc = net->no_icrc;
    tap->writer = roce_writer_open(tap->path, ROCE_FILE_PCAPNG, ROCE_LINK_ETHERNET,
                                   (uint32_t)tap->cfg->snaplen, &err, text);
    if (tap->writer == NULL) {
        msg_file(tap->path, "%s", text);
        return -1;
    }
    const int port = net_port(net, tap->cfg->node, tap->cfg->peer);
    if (fab_tap_new(net->fab, tap->cfg->node, port, on_frame, tap) != 0) {
        msg_print("out of memory");
        return -1;
    }
    return 0;
}

int taps_new(struct taps *taps, struct net *net, const char *directory)
{
    const int n = net->scenario->n_taps;
    *taps = (struct taps){.tap = calloc((size_t)n + 1, sizeof(struct tap))};
    if (taps->tap == NULL) {
        msg_print("out of memory");
        return -1;
    }
    for (int i = 0; i < n; i++) {
        taps->tap[i].cfg = &net->scenario->taps[i];
        taps->n++;
        if (open_tap(&taps->tap[i], net, directory) != 0)
            return -1;
    }
    return 0;
}

int taps_end(struct taps *taps)
{
    int status = 0;
    for (int i = 0; i < taps->n; i++) {
        struct tap *tap = &taps->tap[i];
        if (tap->writer != NULL && roce_writer_close(tap->writer) != 0 && !tap->failed) {
            msg_file(tap->path, "%s", strerror(errno));
            tap->failed = true;
        }
        if (tap->failed)
            status = -1;
    }
    free(taps->tap);
    *taps = (struct taps){0};
    return status;
}

const char *taps_name(const struct taps *taps, int i)
{
    return taps->tap[i].name;
}

uint64_t taps_frames(const struct taps *taps, int i)
{
    return taps->tap[i].frames;
}
