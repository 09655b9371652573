/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rping from both sides: the server READs the client's text and WRITEs it to another place there;
 * SENDs of 16 bytes say where, and when. */
#include "rocereplay/rping.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "rocereplay/party.h"

/* Local memory: 16 bytes received, 16 sent, then (server) the text. The client's texts lie in the
 * target: what the server reads, then what it writes. */
enum { RECV_OFF = 0, SEND_OFF = 16, TEXT_OFF = 32, RECVS = 2, SENDS = 16 };

enum { READ_ADV, WRITE_ADV }; /* what the next 16 bytes tell */

static const char letters_first = 'A', letters_last = 'z';

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

void rping_info_encode(const struct rping_info *info, uint8_t data[RPING_INFO_LEN])
{
    put(data, info->va, 8);
    put(data + 8, info->rkey, 4);
    put(data + 12, info->size, 4);
}

void rping_info_decode(const uint8_t data[RPING_INFO_LEN], struct rping_info *info)
{
    info->va = get(data, 8);
    info->rkey = (uint32_t)get(data + 8, 4);
    info->size = (uint32_t)get(data + 12, 4);
}

void rping_text(uint8_t *buf, uint32_t size, uint64_t n)
{
    char head[48];
    const int len = snprintf(head, sizeof(head), "rdma-ping-%" PRIu64 ": ", n);
    const uint64_t letters = (uint64_t)(letters_last - letters_first) + 1;
    uint64_t letter = n % letters;
    for (uint32_t i = 0; i < size; i++) {
        if (i < (uint32_t)len) {
            buf[i] = (uint8_t)head[i];
            continue;
        }
        buf[i] = (uint8_t)((uint64_t)letters_first + letter);
        letter = (letter + 1) % letters;
    }
    buf[size - 1] = 0;
}

static void rping_lane(const struct party *party, struct lane_cfg *cfg)
{
    cfg->local_len = TEXT_OFF + 2 * (uint64_t)party->size;
    cfg->target_len = party->client ? 2 * (uint64_t)party->size : 0;
    cfg->max_send = SENDS;
    cfg->max_recv = RECVS;
}

static int rping_open(struct party *party)
{
    if (party->size == 0) {
        msg_print("rping's texts have at least a byte; give a larger --size");
        return -1;
    }
    return party_recv(party, RECV_OFF, RPING_INFO_LEN);
}

static int tell(struct party *party, uint64_t va, uint32_t rkey)
{
    const struct rping_info info = {.va = va, .rkey = rkey, .size = party->size};
    rping_info_encode(&info, party->lane.local + SEND_OFF);
    return party_send(party, SEND_OFF, RPING_INFO_LEN);
}

static int next_ping(struct party *party)
{
    party->state = READ_ADV;
    party->round_start = station_now(party->st);
    rping_text(party->lane.target, party->size, party->rounds);
    return tell(party, party->lane.target_va, lane_rkey(&party->lane));
}

static int rping_established(struct party *party)
{
    party->result.start = station_now(party->st);
    return party->client ? next_ping(party) : 0;
}

static int mismatch(const struct party *party)
{
    msg_print("rping: the text of ping %" PRIu64 " is not what it should be", party->rounds);
    return -1;
}

static void count_round(struct party *party, const struct eng_wc *wc)
{
    struct load_result *r = &party->result;
    const uint64_t latency = wc->now - party->round_start;
    r->messages++;
    r->bytes += 2 * (uint64_t)party->size;
    r->end = wc->now;
    roce_hist_add(&r->latency, latency);
    r->latency_sum += (double)latency;
    r->latency_squares += (double)latency * (double)latency;
    party->rounds++;
}

static int client_received(struct party *party, const struct eng_wc *wc)
{
    const uint8_t *text = party->lane.target;
    if (party->state == READ_ADV) {
        party->state = WRITE_ADV;
        return tell(party, party->lane.target_va + party->size, lane_rkey(&party->lane));
    }
    if (memcmp(text, text + party->size, party->size) != 0)
        return mismatch(party);
    memset(party->lane.target + party->size, 0, party->size);
    count_round(party, wc);
    if (party->rounds < party->iters)
        return next_ping(party);
    party_end(party);
    return 0;
}

static int server_received(struct party *party)
{
    struct rping_info info;
    rping_info_decode(party->lane.local + RECV_OFF, &info);
    party->peer_va = info.va;
    party->peer_rkey = info.rkey;
    if (party->state == READ_ADV) {
        if (info.size > party->size || info.size == 0) {
            msg_print("rping: texts of %u bytes; give --size", (unsigned)info.size);
            return -1;
        }
        party->peer_size = info.size;
        return party_move(party, ENG_WR_READ, TEXT_OFF, info.size);
    }
    const uint8_t *text = party->lane.local + TEXT_OFF;
    return party_move(party, ENG_WR_WRITE, TEXT_OFF,
                      (uint32_t)strnlen((const char *)text, party->peer_size - 1) + 1);
}

static int rping_received(struct party *party, const struct eng_wc *wc)
{
    if (wc->byte_len != RPING_INFO_LEN) {
        msg_print("rping: a message of %u bytes; is the peer another program?",
                  (unsigned)wc->byte_len);
        return -1;
    }
    party->n_received++;
    const int rc = party->client ? client_received(party, wc) : server_received(party);
    return rc != 0 || party->over ? rc : party_recv(party, RECV_OFF, RPING_INFO_LEN);
}

/* The server goes on when its READ or WRITE is done. */
static int rping_sent(struct party *party, const struct eng_wc *wc)
{
    uint8_t *text = party->lane.local + TEXT_OFF;
    if (party->client || wc->wr_op == ENG_WR_SEND)
        return 0;
    if (wc->wr_op == ENG_WR_READ) {
        rping_text(text + party->size, party->peer_size, party->rounds);
        if (memcmp(text, text + party->size, party->peer_size) != 0)
            return mismatch(party);
        party->state = WRITE_ADV;
    } else {
        party->rounds++;
        party->state = READ_ADV;
    }
    return party_send(party, SEND_OFF, RPING_INFO_LEN);
}

const struct party_app party_rping = {
    .name = "rping",
    .lane = rping_lane,
    .open = rping_open,
    .established = rping_established,
    .received = rping_received,
    .sent = rping_sent,
};
