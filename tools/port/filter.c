/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket filter of a port. */
#include "port/filter.h"

#include <assert.h>
#include <roce/net.h>

#include "port/netif.h"

enum { ETHERTYPE_OFF = 12, KEEP = 0x40000, UDP = 17, FRAGMENT = 0x1FFF };

/* Program under construction. Tests that fail jump to the end of their |block|: their places are
 * remembered and filled in when it is known. */
struct builder {
    struct sock_filter *at;
    unsigned n;
    unsigned open[32];
    unsigned n_open;
};

static void emit(struct builder *b, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
    assert(b->n < FILTER_MAX);
    b->at[b->n++] = (struct sock_filter){.code = code, .jt = jt, .jf = jf, .k = k};
}

static void load(struct builder *b, uint16_t size, uint32_t off)
{
    emit(b, (uint16_t)(BPF_LD | size | BPF_ABS), off, 0, 0);
}

/* Goes on when the loaded value is |k|, else behind the block. */
static void require(struct builder *b, uint32_t k)
{
    assert(b->n_open < 32);
    b->open[b->n_open++] = b->n;
    emit(b, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 0);
}

static void close_block(struct builder *b)
{
    while (b->n_open > 0) {
        const unsigned place = b->open[--b->n_open];
        b->at[place].jf = (uint8_t)(b->n - place - 1);
    }
}

static void keep(struct builder *b)
{
    emit(b, BPF_RET | BPF_K, KEEP, 0, 0);
}

static uint32_t word(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* UDP 4791 to |ip|, its Ethernet type at |off|; fragments but the first carry no ports. */
static void ipv4_block(struct builder *b, uint32_t off, const uint8_t ip[4])
{
    const uint32_t head = off + 2;
    load(b, BPF_H, off);
    require(b, ROCE_ETHERTYPE_IPV4);
    load(b, BPF_B, head + 9);
    require(b, UDP);
    load(b, BPF_W, head + 16);
    require(b, word(ip));
    load(b, BPF_H, head + 6);
    emit(b, BPF_ALU | BPF_AND | BPF_K, FRAGMENT, 0, 0);
    require(b, 0);
    emit(b, BPF_LDX | BPF_B | BPF_MSH, head, 0, 0);
    emit(b, BPF_LD | BPF_H | BPF_IND, head + 2, 0, 0);
    require(b, ROCE_UDP_PORT);
    keep(b);
    close_block(b);
}

static void ipv6_block(struct builder *b, uint32_t off, const uint8_t ip[16])
{
    const uint32_t head = off + 2;
    load(b, BPF_H, off);
    require(b, ROCE_ETHERTYPE_IPV6);
    load(b, BPF_B, head + 6);
    require(b, UDP);
    for (uint32_t i = 0; i < 16; i += 4) {
        load(b, BPF_W, head + 24 + i);
        require(b, word(ip + i));
    }
    load(b, BPF_H, head + ROCE_IPV6_LEN + 2);
    require(b, ROCE_UDP_PORT);
    keep(b);
    close_block(b);
}

static void family(struct builder *b, uint32_t off, const uint8_t ip[16])
{
    if (netif_is_ipv4(ip))
        ipv4_block(b, off, ip + 12);
    else
        ipv6_block(b, off, ip);
    load(b, BPF_H, off);
    require(b, ROCE_ETHERTYPE_MAC_CONTROL);
    keep(b);
    close_block(b);
}

unsigned filter_build(const uint8_t ip[16], struct sock_filter program[FILTER_MAX])
{
    struct builder b = {.at = program};
    family(&b, ETHERTYPE_OFF, ip);
    /* Drivers and the kernel take the tag away before the filter sees the frame; what still has one
     * here came with two, or from an interface that leaves it in place. */
    load(&b, BPF_H, ETHERTYPE_OFF);
    emit(&b, BPF_JMP | BPF_JEQ | BPF_K, ROCE_ETHERTYPE_VLAN, 2, 0);
    emit(&b, BPF_JMP | BPF_JEQ | BPF_K, ROCE_ETHERTYPE_QINQ, 1, 0);
    emit(&b, BPF_RET | BPF_K, 0, 0, 0);
    family(&b, ETHERTYPE_OFF + ROCE_VLAN_LEN, ip);
    emit(&b, BPF_RET | BPF_K, 0, 0, 0);
    return b.n;
}
