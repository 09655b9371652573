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

static int generate(struct roce_writer *w, uint64_t frames, uint32_t n_pairs, uint32_t min,
                    uint32_t max)
{
    struct pair *pairs = calloc(n_pairs, sizeof(*pairs));
    uint64_t seed = UINT64_C(88172645463325252);
    uint8_t buf[FRAME_MAX];
    int err = pairs == NULL ? ROCE_ERR_NOMEM : 0;
    for (uint64_t n = 0; n < frames && err == 0; n++) {
        const uint64_t r = next_random(&seed);
        const uint32_t i = (uint32_t)((r >> 16) % n_pairs);
        struct pair *pair = &pairs[i];
        const bool ack = pair->unanswered;
        const uint32_t payload = ack ? 0 : min + (uint32_t)(r >> 40) % (max - min + 1);
        struct roce_bth bth = {
            .migreq = true, .pkey = ROCE_PKEY_DEFAULT, .dqpn = (ack ? 0x10000 : 0x20) + i};
        if (ack) {
            pair->msn++;
            bth.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE;
            bth.psn = roce_psn_add(pair->psn, -1);
        } else {
            bth.opcode = r & 0x100 ? ROCE_OPCODE_RC_SEND_ONLY : ROCE_OPCODE_RC_WRITE_ONLY;
            bth.psn = pair->psn;
            bth.ackreq = true;
            bth.pad = (4 - payload % 4) % 4;
            pair->psn = roce_psn_add(pair->psn, 1);
        }
        pair->unanswered = !ack;
        const uint32_t len = build(buf, i, ack, &bth, pair->msn, payload, r);
        const struct roce_frame frame = {.data = buf,
                                         .caplen = len,
                                         .origlen = len,
                                         .ts = UINT64_C(1700000000000000000) + n * 700,
                                         .linktype = ROCE_LINK_ETHERNET};
        err = roce_writer_write(w, &frame);
    }
    free(pairs);
    return err;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: bench_gen FILE FRAMES PAIRS MIN_PAYLOAD MAX_PAYLOAD\n");
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
    err = generate(w, strtoull(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10),
                   (uint32_t)strtoul(argv[4], NULL, 10), (uint32_t)strtoul(argv[5], NULL, 10));
    const int closed = roce_writer_close(w);
    return err == 0 && closed == 0 ? 0 : 1;
}
