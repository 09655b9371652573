/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-flow counters that need more room than a counter: opcodes, UDP source ports, operations. */
#include "internal.h"

#include <string.h>

struct wide *wide_of(struct roce_flow_table *t, struct flow *f)
{
    /* As many records as flows: this cannot run dry. */
    if (f->wide == NIL) {
        f->wide = pool_take(&t->wide_pool);
        ((struct wide *)pool_at(&t->wide_pool, f->wide))->op_blocks = NIL;
    }
    return pool_at(&t->wide_pool, f->wide);
}

static void count_spilled(struct roce_flow_table *t, struct flow *f, uint8_t opcode)
{
    struct wide *wide = wide_of(t, f);
    for (uint32_t i = wide->op_blocks; i != NIL;) {
        struct op_block *block = pool_at(&t->op_pool, i);
        for (int k = 0; k < BLOCK_SLOTS; k++)
            if (block->count[k] == 0 || block->op[k] == opcode) {
                block->op[k] = opcode;
                if (block->count[k] != UINT32_MAX)
                    block->count[k]++;
                return;
            }
        i = block->next;
    }
    const uint32_t index = pool_take(&t->op_pool);
    if (index == NIL) {
        t->forgotten++;
        return;
    }
    struct op_block *block = pool_at(&t->op_pool, index);
    block->next = NIL;
    block->op[0] = opcode;
    block->count[0] = 1;
    /* At the end of the list: the search above takes the first free slot for a new opcode, which is
     * only right when no later block can hold it. */
    if (wide->op_blocks == NIL) {
        wide->op_blocks = index;
        return;
    }
    uint32_t last = wide->op_blocks;
    while (((struct op_block *)pool_at(&t->op_pool, last))->next != NIL)
        last = ((struct op_block *)pool_at(&t->op_pool, last))->next;
    ((struct op_block *)pool_at(&t->op_pool, last))->next = index;
}

static uint8_t *op_slot(struct flow *f, uint32_t i, uint32_t **count)
{
    *count = i < HOT_SLOTS ? &f->hot_count[i] : &f->op_count[i - HOT_SLOTS];
    return i < HOT_SLOTS ? &f->hot_op[i] : &f->op[i - HOT_SLOTS];
}

void count_opcode_slow(struct roce_flow_table *t, struct flow *f, uint8_t opcode)
{
    uint32_t *count;
    uint32_t i = 0;
    while (i < f->n_op && *op_slot(f, i, &count) != opcode)
        i++;
    if (i == HOT_SLOTS + OPCODE_SLOTS) {
        count_spilled(t, f, opcode);
        return;
    }
    *op_slot(f, i, &count) = opcode;
    if (i == f->n_op)
        f->n_op++;
    if (++*count == 0)
        wide_of(t, f)->op_high[i]++;
}

uint64_t count_opcodes(const struct roce_flow_table *t, const struct flow *f, uint64_t out[256])
{
    uint64_t sum = 0;
    memset(out, 0, 256 * sizeof out[0]);
    const struct wide *wide = f->wide != NIL ? pool_at(&t->wide_pool, f->wide) : NULL;
    for (uint32_t i = 0; i < f->n_op; i++) {
        const uint8_t opcode = i < HOT_SLOTS ? f->hot_op[i] : f->op[i - HOT_SLOTS];
        out[opcode] = i < HOT_SLOTS ? f->hot_count[i] : f->op_count[i - HOT_SLOTS];
        if (wide != NULL)
            out[opcode] += (uint64_t)wide->op_high[i] << 32;
        sum += out[opcode];
    }
    if (wide == NULL)
        return sum;
    for (uint32_t i = wide->op_blocks; i != NIL;) {
        const struct op_block *block = pool_at(&t->op_pool, i);
        for (int k = 0; k < BLOCK_SLOTS && block->count[k] > 0; k++) {
            out[block->op[k]] += block->count[k];
            sum += block->count[k];
        }
        i = block->next;
    }
    return sum;
}

static bool port_mark(struct roce_flow_table *t, struct flow *f, uint16_t port)
{
    uint8_t *bits = pool_at(&t->port_pool, f->ports[0]);
    const uint8_t bit = (uint8_t)(1 << port % 8);
    if (bits[port / 8] & bit)
        return false;
    bits[port / 8] |= bit;
    return true;
}

void count_port(struct ctx *c, uint16_t port)
{
    struct flow *f = c->f;
    f->flags |= F_PORT;
    f->sport = port;
    if (f->n_port != PORTS_MANY) {
        for (int i = 0; i < f->n_port; i++)
            if (f->port[i] == port)
                return;
        c->v->flags |= ROCE_V_NEW_PORT;
        if (f->n_port < PORT_SLOTS) {
            f->port[f->n_port++] = port;
            return;
        }
        const uint32_t bitmap = pool_take(&c->t->port_pool);
        if (bitmap == NIL) {
            f->flags |= F_PORTS_MIN;
            return;
        }
        const uint16_t first[PORT_SLOTS] = {f->port[0], f->port[1], f->port[2]};
        f->ports[0] = bitmap;
        f->n_port = PORTS_MANY;
        for (int i = 0; i < PORT_SLOTS; i++)
            port_mark(c->t, f, first[i]);
    }
    if (port_mark(c->t, f, port))
        c->v->flags |= ROCE_V_NEW_PORT;
}

uint32_t count_ports(const struct roce_flow_table *t, const struct flow *f)
{
    if (f->n_port != PORTS_MANY)
        return f->n_port + ((f->flags & F_PORTS_MIN) ? 1u : 0u);
    const uint8_t *bits = pool_at(&t->port_pool, f->ports[0]);
    uint32_t n = 0;
    for (int i = 0; i < 65536 / 8; i++)
        for (uint8_t b = bits[i]; b != 0; b = (uint8_t)(b & (b - 1)))
            n++;
    return n;
}
