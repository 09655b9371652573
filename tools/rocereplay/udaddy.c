/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udaddy from both sides: the client sends its datagrams, whose immediate data tells its QP number,
 * and the server answers with as many. Nobody repeats what is lost. */
#include "common/msg.h"
#include "rocereplay/party.h"

static uint32_t received_len(const struct party *party)
{
    return ENG_GRH_LEN + party->size;
}

static void udaddy_lane(const struct party *party, struct lane_cfg *cfg)
{
    cfg->local_len = (uint64_t)party->size + received_len(party);
    cfg->max_send = (uint32_t)party->iters;
    cfg->max_recv = (uint32_t)party->iters;
    cfg->qkey = ENG_CM_UDP_QKEY;
}

static int udaddy_open(struct party *party)
{
    for (uint64_t i = 0; i < party->iters; i++)
        if (party_recv(party, party->size, received_len(party)) != 0)
            return -1;
    return 0;
}

static int send_all(struct party *party)
{
    for (uint64_t i = 0; i < party->iters; i++)
        if (party_send_imm(party, 0, party->size, party->lane.qpn) != 0)
            return -1;
    return 0;
}

static int udaddy_established(struct party *party)
{
    party->result.start = station_now(party->st);
    return party->client ? send_all(party) : 0;
}

static int end_if_done(struct party *party)
{
    if (party->n_received == party->iters && party->n_sent == party->iters)
        party_end(party);
    return 0;
}

static int udaddy_received(struct party *party, const struct eng_wc *wc)
{
    party->n_received++;
    party->result.messages++;
    party->result.bytes += wc->byte_len - ENG_GRH_LEN;
    party->result.end = wc->now;
    if (!party->client) { /* the request by SIDR has told the address alone */
        party->lane.remote.qpn = wc->has_imm ? wc->imm : wc->src_qp;
        party->lane.remote.qkey = ENG_CM_UDP_QKEY;
        if (party->n_received == party->iters)
            return send_all(party);
    }
    return end_if_done(party);
}

static int udaddy_sent(struct party *party, const struct eng_wc *wc)
{
    (void)wc;
    party->n_sent++;
    return end_if_done(party);
}

const struct party_app party_udaddy = {
    .name = "udaddy",
    .lane = udaddy_lane,
    .open = udaddy_open,
    .established = udaddy_established,
    .received = udaddy_received,
    .sent = udaddy_sent,
};
