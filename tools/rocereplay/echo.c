/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ucmatose from both sides: the server sends its messages, the client answers with as many, and
 * the server disconnects. */
#include "common/msg.h"
#include "rocereplay/party.h"

static void echo_lane(const struct party *party, struct lane_cfg *cfg)
{
    cfg->local_len = 2 * (uint64_t)party->size;
    cfg->max_send = (uint32_t)party->iters;
    cfg->max_recv = (uint32_t)party->iters;
}

static int echo_open(struct party *party)
{
    for (uint64_t i = 0; i < party->iters; i++)
        if (party_recv(party, party->size, party->size) != 0)
            return -1;
    return 0;
}

static int send_all(struct party *party)
{
    for (uint64_t i = 0; i < party->iters; i++)
        if (party_send(party, 0, party->size) != 0)
            return -1;
    return 0;
}

static int echo_established(struct party *party)
{
    party->result.start = party->round_start = station_now(party->st);
    return party->client ? 0 : send_all(party);
}

static int end_if_done(struct party *party)
{
    party->done = party->n_received == party->iters && party->n_sent == party->iters;
    if (party->done && !party->client)
        party_end(party);
    return 0;
}

static int echo_received(struct party *party, const struct eng_wc *wc)
{
    party->n_received++;
    party->result.messages++;
    party->result.bytes += wc->byte_len;
    party->result.end = wc->now;
    if (party->client && party->n_received == party->iters)
        return send_all(party);
    return end_if_done(party);
}

static int echo_sent(struct party *party, const struct eng_wc *wc)
{
    (void)wc;
    party->n_sent++;
    return end_if_done(party);
}

const struct party_app party_echo = {
    .name = "ucmatose",
    .lane = echo_lane,
    .open = echo_open,
    .established = echo_established,
    .received = echo_received,
    .sent = echo_sent,
};
