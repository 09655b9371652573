/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parties. */
#include "rocereplay/party.h"

#include <roce/err.h>
#include <string.h>

#include "common/msg.h"

static const uint8_t magic[8] = {'r', 'o', 'c', 'e', 'k', 'i', 't', '1'};

static void put(uint8_t *p, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> 8 * (n - 1 - i));
}

static uint64_t get(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

void party_hello_encode(const struct party_hello *hello, uint8_t data[PARTY_HELLO_LEN])
{
    memset(data, 0, PARTY_HELLO_LEN);
    memcpy(data, magic, sizeof(magic));
    put(data + 8, hello->size, 4);
    put(data + 12, hello->places, 4);
    put(data + 16, hello->rkey, 4);
    data[20] = hello->verify;
    put(data + 24, hello->va, 8);
}

int party_hello_decode(const uint8_t *data, size_t len, struct party_hello *hello)
{
    if (len < PARTY_HELLO_LEN || memcmp(data, magic, sizeof(magic)) != 0)
        return ROCE_ERR_UNKNOWN;
    *hello = (struct party_hello){
        .size = (uint32_t)get(data + 8, 4),
        .places = (uint32_t)get(data + 12, 4),
        .rkey = (uint32_t)get(data + 16, 4),
        .verify = data[20] != 0,
        .va = get(data + 24, 8),
    };
    return 0;
}

int party_open(struct party *party, struct station *st, const struct party_app *app, uint32_t slot,
               bool client)
{
    const struct replay_opts *opts = st->opts;
    struct lane_cfg cfg = {
        .service = (enum eng_service)opts->service, .max_send = 4, .max_recv = 4};
    party->st = st;
    party->app = app;
    party->slot = slot;
    party->client = client;
    party->size = opts->size;
    party->iters = opts->iters;
    party->used = true;
    app->lane(party, &cfg);
    if (lane_open(&party->lane, st, &cfg) != 0)
        return -1;
    return app->open(party);
}

void party_close(struct party *party)
{
    if (!party->used)
        return;
    if (party->conn != NULL)
        eng_cm_release(party->conn, station_now(party->st));
    lane_close(&party->lane);
    *party = (struct party){0};
}

struct eng_cm_param party_param(struct party *party)
{
    struct eng_cm_param param = lane_cm_param(&party->lane);
    param.ctx = party;
    if (!party->client)
        param.ack_timeout = 0;
    return param;
}

static int checked(const struct party *party, int rc)
{
    if (rc == 0)
        return 0;
    msg_print("QP 0x%x: cannot post: %s", (unsigned)party->lane.qpn, roce_strerror(rc));
    return -1;
}

int party_recv(struct party *party, uint64_t off, uint32_t len)
{
    const struct eng_recv_wr wr = {
        .wr_id = party->slot, .n_sge = len != 0, .sge = {lane_local(&party->lane, off, len)}};
    return checked(party, eng_post_recv(party->lane.qp, station_now(party->st), &wr));
}

static int post_send(struct party *party, enum eng_wr_op op, uint64_t off, uint32_t len,
                     uint32_t imm)
{
    const struct eng_send_wr wr = {
        .wr_id = party->slot,
        .op = op,
        .signaled = true,
        .n_sge = len != 0,
        .sge = {lane_local(&party->lane, off, len)},
        .imm = imm,
        .remote_va = party->peer_va,
        .rkey = party->peer_rkey,
        .ah = party->lane.ah,
        .dest_qpn = party->lane.remote.qpn,
        .qkey = party->lane.remote.qkey,
    };
    return checked(party, eng_post_send(party->lane.qp, station_now(party->st), &wr));
}

int party_send(struct party *party, uint64_t off, uint32_t len)
{
    return post_send(party, ENG_WR_SEND, off, len, 0);
}

int party_send_imm(struct party *party, uint64_t off, uint32_t len, uint32_t imm)
{
    return post_send(party, ENG_WR_SEND_IMM, off, len, imm);
}

int party_move(struct party *party, enum eng_wr_op op, uint64_t off, uint32_t len)
{
    return post_send(party, op, off, len, 0);
}

void party_end(struct party *party)
{
    if (party->lane.cfg.service == ENG_UD ||
        eng_cm_disconnect(party->conn, station_now(party->st)) != 0)
        party->over = true;
}

void party_fail(struct party *party)
{
    party->failed = true;
    party_end(party);
}
