/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes large captures of well-formed RC traffic for benchmarks: bench_gen FILE FRAMES PAIRS
 * MIN_PAYLOAD MAX_PAYLOAD [zero] [loss=PERCENT]. Requests and their ACKs, every ICRC right, PSNs
 * without a gap unless some are to be lost; the same arguments give the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/capture.h>
#include <roce/icrc.h>
#include <roce/packet.h>
#include <roce/psn.h>

#define FRAME_MAX      8192
#define PAIRS_PER_HOST 1024
#define ROUND_TRIP     13 /* frames between a request and its ACK */
#define FRAME_NS       700

struct pair {
    uint32_t psn, msn;
    bool unanswered;
    uint8_t stage; /* enum stage */
};

/* How far a request is: half of the lost ones are lost behind the mirror and sent again by
 * themselves, the others before it, so that the one behind them is captured first and draws a NAK.
 */
enum stage { STAGE_ARRIVED, STAGE_LOST_BEHIND, STAGE_LOST_BEFORE, STAGE_NAKED, STAGE_RESENT };

struct traffic {
    struct pair *pairs;
    uint32_t n_pairs, min, max, loss;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void address(uint8_t out[16], uint32_t index, bool reverse)
{
    const uint32_t host = index / PAIRS_PER_HOST;
    roce_ip_v4(out, 10, reverse ? 2 : 1, (uint8_t)(host >> 8), (uint8_t)host);
}

/* Writes one frame of pair |index|; |reverse| is the responder's direction. Returns its length. */
static uint32_t build(uint8_t *out, uint32_t index, bool reverse, const struct roce_bth *bth,
                      const struct roce_aeth *aeth, uint32_t payload, uint64_t va)
{
    const struct roce_opcode_info *info = roce_opcode_info(bth->opcode);
    const uint32_t udp_len =
        ROCE_UDP_LEN + ROCE_BTH_LEN + info->ext_len + payload + bth->pad + ROCE_ICRC_LEN;
    struct roce_ip ip = {.version = 4,
                         .tos = 0x6A,
                         .ttl = 64,
                         .proto = 17,
                         .frag = 0x4000,
                         .total_len = 20 + udp_len};
    ip.id = (uint16_t)va;
    address(ip.src, index, reverse);
    address(ip.dst, index, !reverse);
    const struct roce_eth eth = {.dst = {2, 0, 0, 0, 0, reverse ? 1 : 2},
                                 .src = {2, 0, 0, 0, 0, reverse ? 2 : 1},
                                 .ethertype = 0x0800};
    const struct roce_udp udp = {.sport = (uint16_t)(0xC000 | (index & 0x3FFF)),
                                 .dport = ROCE_UDP_PORT,
                                 .len = (uint16_t)udp_len};
    uint8_t *p = out;
    p += roce_eth_encode(&eth, p, FRAME_MAX);
    p += roce_ipv4_encode(&ip, p, FRAME_MAX - 64);
    p += roce_udp_encode(&udp, p, FRAME_MAX - 64);
    p += roce_bth_encode(bth, p, FRAME_MAX - 64);
    if (info->headers & ROCE_H_RETH)
        p += roce_reth_encode(&(struct roce_reth){.va = va, .rkey = index, .dma_length = payload},
                              p, 64);
    if (info->headers & ROCE_H_AETH)
        p += roce_aeth_encode(aeth, p, 64);
    memset(p, (int)(va & 0xFF), payload);
    memset(p + payload, 0, bth->pad);
    p += payload + bth->pad;
    const uint32_t icrc = roce_icrc_compute(out + ROCE_ETH_LEN, (size_t)(p - out) - ROCE_ETH_LEN);
    for (int i = 3; i >= 0; i--)
        *p++ = (uint8_t)(icrc >> (8 * i));
    return (uint32_t)(p - out);
}

/* Picks a QP that waits for nothing; there are always some, since few are in flight. */
static uint32_t idle_pair(const struct pair *pairs, uint32_t n_pairs, uint64_t *seed)
{
    uint32_t i = (uint32_t)((next_random(seed) >> 16) % n_pairs);
    while (pairs[i].unanswered)
        i = (i + 1) % n_pairs;
    return i;
}

static uint32_t request(uint8_t *buf, const struct traffic *t, uint32_t i, uint32_t psn, uint64_t r)
{
    const uint32_t payload = t->min + (uint32_t)(r >> 40) % (t->max - t->min + 1);
    const struct roce_bth bth = {
        .opcode = r & 0x100 ? ROCE_OPCODE_RC_SEND_ONLY : ROCE_OPCODE_RC_WRITE_ONLY,
        .migreq = true,
        .pad = (4 - payload % 4) % 4,
        .pkey = ROCE_PKEY_DEFAULT,
        .dqpn = 0x20 + i,
        .ackreq = true,
        .psn = psn,
    };
    return build(buf, i, false, &bth, NULL, payload, r);
}

static uint32_t answer(uint8_t *buf, uint32_t i, const struct pair *pair, uint8_t syndrome,
                       uint64_t r)
{
    const struct roce_bth bth = {.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE,
                                 .migreq = true,
                                 .pkey = ROCE_PKEY_DEFAULT,
                                 .dqpn = 0x10000 + i,
                                 .psn = syndrome == 0x1F ? roce_psn_add(pair->psn, -1) : pair->psn};
    const struct roce_aeth aeth = {.syndrome = syndrome, .msn = pair->msn};
    return build(buf, i, true, &bth, &aeth, 0, r);
}

static uint32_t begin(uint8_t *buf, const struct traffic *t, uint32_t i, uint64_t r)
{
    struct pair *pair = &t->pairs[i];
    pair->unanswered = true;
    pair->stage = STAGE_ARRIVED;
    if ((r >> 16 & 0xFFFF) % 100 < t->loss)
        pair->stage = r & 1 ? STAGE_LOST_BEHIND : STAGE_LOST_BEFORE;
    return request(buf, t, i, roce_psn_add(pair->psn, pair->stage == STAGE_LOST_BEFORE), r);
}

/* Writes what follows a request; the last of it is its ACK. */
static uint32_t go_on(uint8_t *buf, const struct traffic *t, uint32_t i, uint64_t r)
{
    struct pair *pair = &t->pairs[i];
    switch ((enum stage)pair->stage) {
    case STAGE_ARRIVED:
        pair->unanswered = false;
        pair->msn++;
        pair->psn = roce_psn_add(pair->psn, 1);
        return answer(buf, i, pair, 0x1F, r);
    case STAGE_LOST_BEFORE:
        pair->stage = STAGE_NAKED;
        return answer(buf, i, pair, 0x60, r);
    case STAGE_NAKED:
        pair->stage = STAGE_RESENT;
        return request(buf, t, i, pair->psn, r);
    case STAGE_RESENT: /* the one behind it is sent again, too, and acknowledged for both */
        pair->stage = STAGE_ARRIVED;
        pair->psn = roce_psn_add(pair->psn, 1);
        pair->msn++;
        return request(buf, t, i, pair->psn, r);
    case STAGE_LOST_BEHIND:
        break;
    }
    pair->stage = STAGE_ARRIVED;
    return request(buf, t, i, pair->psn, r);
}

static int generate(struct roce_writer *w, uint64_t frames, const struct traffic *t)
{
    uint64_t seed = UINT64_C(88172645463325252);
    uint8_t buf[FRAME_MAX];
    uint32_t waiting[ROUND_TRIP]; /* pair + 1 whose turn is when this place comes round again */
    int err = 0;
    memset(waiting, 0, sizeof(waiting));
    for (uint64_t n = 0; n < frames && err == 0; n++) {
        const uint64_t r = next_random(&seed);
        uint32_t *place = &waiting[n % ROUND_TRIP];
        uint32_t len;
        if (*place != 0) {
            const uint32_t i = *place - 1;
            len = go_on(buf, t, i, r);
            *place = t->pairs[i].unanswered ? i + 1 : 0;
        } else {
            const uint32_t i = idle_pair(t->pairs, t->n_pairs, &seed);
            len = begin(buf, t, i, r);
            *place = i + 1;
        }
        const struct roce_frame frame = {.data = buf,
                                         .caplen = len,
                                         .origlen = len,
                                         .ts =
                                             UINT64_C(1700000000000000000) + n * FRAME_NS + r % 300,
                                         .linktype = ROCE_LINK_ETHERNET};
        err = roce_writer_write(w, &frame);
    }
    return err;
}

static int make(struct roce_writer *w, uint64_t frames, struct traffic *t, bool zero)
{
    t->pairs = calloc(t->n_pairs, sizeof(*t->pairs));
    uint64_t seed = 12345;
    if (t->pairs == NULL)
        return ROCE_ERR_NOMEM;
    for (uint32_t i = 0; i < t->n_pairs && !zero; i++)
        t->pairs[i].psn = (uint32_t)(next_random(&seed) >> 30) & ROCE_PSN_MASK;
    const int err = generate(w, frames, t);
    free(t->pairs);
    return err;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: bench_gen FILE FRAMES PAIRS MIN_PAYLOAD MAX_PAYLOAD [zero] "
                        "[loss=PERCENT]\n");
        return 2;
    }
    struct traffic traffic = {.n_pairs = (uint32_t)strtoul(argv[3], NULL, 10),
                              .min = (uint32_t)strtoul(argv[4], NULL, 10),
                              .max = (uint32_t)strtoul(argv[5], NULL, 10)};
    bool zero = false;
    for (int i = 6; i < argc; i++) {
        if (strncmp(argv[i], "loss=", 5) == 0)
            traffic.loss = (uint32_t)strtoul(argv[i] + 5, NULL, 10);
        else
            zero = true;
    }
    if (traffic.n_pairs < ROUND_TRIP) {
        fprintf(stderr, "bench_gen: at least %d pairs\n", ROUND_TRIP);
        return 2;
    }
    char text[ROCE_ERRTEXT_LEN];
    int err;
    struct roce_writer *w = roce_writer_open(argv[1], roce_file_format_by_name(argv[1]),
                                             ROCE_LINK_ETHERNET, 0, &err, text);
    if (w == NULL) {
        fprintf(stderr, "bench_gen: %s: %s\n", argv[1], text);
        return 1;
    }
    err = make(w, strtoull(argv[2], NULL, 10), &traffic, zero);
    const int closed = roce_writer_close(w);
    return err == 0 && closed == 0 ? 0 : 1;
}
