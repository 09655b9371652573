/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The passive side of rocereplay's own loads over the connection manager. */
#include <string.h>

#include "common/msg.h"
#include "rocereplay/party.h"
#include "rocereplay/pattern.h"

#define MEMORY_MAX UINT64_C(67108864)

/* Bytes of a message: what the client told, else ours. */
static uint32_t size_of(const struct party *party)
{
    return party->hello.size != 0 ? party->hello.size : party->size;
}

/* Receives whose contents are looked at have places of their own. */
static uint32_t depth_of(const struct party *party)
{
    const uint64_t depth = party->st->opts->rx_depth, size = size_of(party);
    if (!party->hello.verify || depth * size <= MEMORY_MAX || size == 0)
        return (uint32_t)depth;
    return size > MEMORY_MAX / 4 ? 4 : (uint32_t)(MEMORY_MAX / size);
}

static uint64_t place(const struct party *party, uint64_t n)
{
    return party->hello.verify ? n % depth_of(party) * size_of(party) : 0;
}

static void load_lane(const struct party *party, struct lane_cfg *cfg)
{
    const uint64_t size = size_of(party);
    const uint64_t places = party->hello.places != 0 ? party->hello.places : 1;
    cfg->local_len = size * (party->hello.verify ? depth_of(party) : 1);
    /* What a stranger asks for is bounded. */
    cfg->target_len = places <= MEMORY_MAX / (size + 1) ? places * size : size;
    cfg->max_recv = depth_of(party);
}

static int load_opened(struct party *party)
{
    if (party->hello.size > MEMORY_MAX) {
        msg_print("a peer asks for messages of %u bytes; the most is 64 MiB",
                  (unsigned)party->hello.size);
        return -1;
    }
    pattern_fill(party->lane.target, party->lane.cfg.target_len, PATTERN_TARGET, 0);
    for (uint32_t i = 0; i < depth_of(party); i++)
        if (party_recv(party, place(party, i), size_of(party)) != 0)
            return -1;
    return 0;
}

static int load_established(struct party *party)
{
    (void)party;
    return 0;
}

static int load_received(struct party *party, const struct eng_wc *wc)
{
    const uint64_t n = party->n_received++, at = place(party, n);
    if (party->hello.verify && wc->op == ENG_WC_RECV &&
        !pattern_matches(party->lane.local + at, wc->byte_len, n, 0)) {
        msg_print("message %llu does not have the contents that it should", (unsigned long long)n);
        return -1;
    }
    return party_recv(party, at, size_of(party));
}

static int load_sent(struct party *party, const struct eng_wc *wc)
{
    (void)party;
    (void)wc;
    return 0;
}

const struct party_app party_load = {
    .name = "rocereplay",
    .lane = load_lane,
    .open = load_opened,
    .established = load_established,
    .received = load_received,
    .sent = load_sent,
};
