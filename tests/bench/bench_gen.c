/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes large captures of well-formed RC traffic for benchmarks: bench_gen FILE FRAMES PAIRS
 * MIN_PAYLOAD MAX_PAYLOAD. Requests and their ACKs, PSNs without a gap, every ICRC right; the same
 * arguments give the same bytes. */
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
                      uint32_t msn, uint32_t payload, uint64_t va)
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
        p += roce_aeth_encode(&(struct roce_aeth){.syndrome = 0x1F, .msn = msn}, p, 64);
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

static uint32_t request(uint8_t *buf, uint32_t i, struct pair *pair, uint64_t r, uint32_t min,
                        uint32_t max)
{
    const uint32_t payload = min + (uint32_t)(r >> 40) % (max - min + 1);
    const struct roce_bth bth = {
        .opcode = r & 0x100 ? ROCE_OPCODE_RC_SEND_ONLY : ROCE_OPCODE_RC_WRITE_ONLY,
        .migreq = true,
        .pad = (4 - payload % 4) % 4,
        .pkey = ROCE_PKEY_DEFAULT,
        .dqpn = 0x20 + i,
        .ackreq = true,
        .psn = pair->psn,
    };
    pair->unanswered = true;
    return build(buf, i, false, &bth, 0, payload, r);
}

static uint32_t acknowledge(uint8_t *buf, uint32_t i, struct pair *pair, uint64_t r)
{
    const struct roce_bth bth = {.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE,
                                 .migreq = true,
                                 .pkey = ROCE_PKEY_DEFAULT,
                                 .dqpn = 0x10000 + i,
                                 .psn = pair->psn};
    pair->unanswered = false;
    pair->psn = roce_psn_add(pair->psn, 1);
    pair->msn++;
    return build(buf, i, true, &bth, pair->msn, 0, r);
}

static int generate(struct roce_writer *w, uint64_t frames, struct pair *pairs, uint32_t n_pairs,
                    uint32_t min, uint32_t max)
{
    uint64_t seed = UINT64_C(88172645463325252);
    uint8_t buf[FRAME_MAX];
    uint32_t waiting[ROUND_TRIP]; /* pair + 1 whose ACK is due when this place comes round again */
    int err = 0;
    memset(waiting, 0, sizeof(waiting));
    for (uint64_t n = 0; n < frames && err == 0; n++) {
        const uint64_t r = next_random(&seed);
        uint32_t *place = &waiting[n % ROUND_TRIP];
        uint32_t len;
        if (*place != 0) {
            len = acknowledge(buf, *place - 1, &pairs[*place - 1], r);
            *place = 0;
        } else {
            const uint32_t i = idle_pair(pairs, n_pairs, &seed);
            len = request(buf, i, &pairs[i], r, min, max);
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

static int make(struct roce_writer *w, uint64_t frames, uint32_t n_pairs, uint32_t min,
                uint32_t max, bool zero)
{
    struct pair *pairs = calloc(n_pairs, sizeof(*pairs));
    uint64_t seed = 12345;
    if (pairs == NULL)
        return ROCE_ERR_NOMEM;
    for (uint32_t i = 0; i < n_pairs && !zero; i++)
        pairs[i].psn = (uint32_t)(next_random(&seed) >> 30) & ROCE_PSN_MASK;
    const int err = generate(w, frames, pairs, n_pairs, min, max);
    free(pairs);
    return err;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: bench_gen FILE FRAMES PAIRS MIN_PAYLOAD MAX_PAYLOAD [zero]\n");
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
    err =
        make(w, strtoull(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10),
             (uint32_t)strtoul(argv[4], NULL, 10), (uint32_t)strtoul(argv[5], NULL, 10), argc > 6);
    const int closed = roce_writer_close(w);
    return err == 0 && closed == 0 ? 0 : 1;
}
