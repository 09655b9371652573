/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-flow counters that need more room than a counter: opcodes, UDP source ports, operations. */
#include "internal.h"

#include <string.h>

/* As many records as flows: neither pool can run dry. */
static struct wide *wide_of(struct roce_flow_table *t, struct flow *f)
{
    if (f->wide == NIL) {
        f->wide = pool_take(&t->wide_pool);
        ((struct wide *)pool_at(&t->wide_pool, f->wide))->spill = NIL;
    }
    return pool_at(&t->wide_pool, f->wide);
}

static const struct wide *wide_peek(const struct roce_flow_table *t, const struct flow *f)
{
    return f->wide == NIL ? NULL : pool_at(&t->wide_pool, f->wide);
}

struct spill *spill_of(struct roce_flow_table *t, struct flow *f)
{
    struct wide *wide = wide_of(t, f);
    if (wide->spill == NIL) {
        wide->spill = pool_take(&t->spill_pool);
        ((struct spill *)pool_at(&t->spill_pool, wide->spill))->op_blocks = NIL;
    }
    return pool_at(&t->spill_pool, wide->spill);
}

const struct spill *spill_peek(const struct roce_flow_table *t, const struct flow *f)
{
    const struct wide *wide = wide_peek(t, f);
    return wide == NULL || wide->spill == NIL ? NULL : pool_at(&t->spill_pool, wide->spill);
}

void count_drop(struct roce_flow_table *t, struct flow *f)
{
    const struct wide *wide = wide_peek(t, f);
    if (wide == NULL)
        return;
    const struct spill *spill = spill_peek(t, f);
    if (spill != NULL) {
        for (uint32_t i = spill->op_blocks; i != NIL;) {
            const uint32_t next = ((struct op_block *)pool_at(&t->op_pool, i))->next;
            pool_give(&t->op_pool, i);
            i = next;
        }
        pool_give(&t->spill_pool, wide->spill);
    }
    if (wide->n_port == PORTS_MANY)
        pool_give(&t->port_pool, wide->ports);
    pool_give(&t->wide_pool, f->wide);
    f->wide = NIL;
}

static void count_spilled(struct roce_flow_table *t, struct flow *f, uint8_t opcode)
{
    struct spill *spill = spill_of(t, f);
    for (uint32_t i = spill->op_blocks; i != NIL;) {
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
    if (spill->op_blocks == NIL) {
        spill->op_blocks = index;
        return;
    }
    uint32_t last = spill->op_blocks;
    while (((struct op_block *)pool_at(&t->op_pool, last))->next != NIL)
        last = ((struct op_block *)pool_at(&t->op_pool, last))->next;
    ((struct op_block *)pool_at(&t->op_pool, last))->next = index;
}

/* |f->n_op| tells how many slots are in use, first those in |f|. */
void count_opcode_slow(struct roce_flow_table *t, struct flow *f, uint8_t opcode)
{
    uint32_t i = 0;
    while (i < HOT_SLOTS && i < f->n_op && f->hot_op[i] != opcode)
        i++;
    uint32_t *count = &f->hot_count[i];
    uint8_t *op = &f->hot_op[i];
    if (i == HOT_SLOTS) {
        struct wide *wide = wide_of(t, f);
        while (i < f->n_op && wide->op[i - HOT_SLOTS] != opcode)
            i++;
        if (i == HOT_SLOTS + OPCODE_SLOTS) {
            count_spilled(t, f, opcode);
            return;
        }
        count = &wide->op_count[i - HOT_SLOTS];
        op = &wide->op[i - HOT_SLOTS];
    }
    *op = opcode;
    if (i == f->n_op)
        f->n_op++;
    if (++*count == 0)
        spill_of(t, f)->op_high[i]++;
}

static void add_opcode(struct opcode_counts *out, uint8_t opcode, uint64_t count)
{
    if (count > 0 && out->count[opcode] == 0)
        out->used[out->n++] = opcode;
    out->count[opcode] += count;
}

void count_opcodes(const struct roce_flow_table *t, const struct flow *f, struct opcode_counts *out)
{
    const struct wide *wide = wide_peek(t, f);
    const struct spill *spill = spill_peek(t, f);
    out->n = 0;
    for (uint32_t i = 0; i < f->n_op; i++) {
        const uint8_t opcode = i < HOT_SLOTS ? f->hot_op[i] : wide->op[i - HOT_SLOTS];
        const uint64_t high = spill != NULL ? spill->op_high[i] : 0;
        add_opcode(out, opcode,
                   (i < HOT_SLOTS ? f->hot_count[i] : wide->op_count[i - HOT_SLOTS]) | high << 32);
    }
    if (spill == NULL)
        return;
    for (uint32_t i = spill->op_blocks; i != NIL;) {
        const struct op_block *block = pool_at(&t->op_pool, i);
        for (int k = 0; k < BLOCK_SLOTS && block->count[k] > 0; k++)
            add_opcode(out, block->op[k], block->count[k]);
        i = block->next;
    }
}

uint64_t count_requests(const struct roce_flow_table *t, const struct flow *f)
{
    uint64_t opcodes[256] = {0}, sum = 0;
    struct opcode_counts counts;
    counts.count = opcodes;
    count_opcodes(t, f, &counts);
    for (uint32_t i = 0; i < counts.n; i++) {
        const struct roce_opcode_info *info = roce_opcode_info(counts.used[i]);
        if (info->op < ROCE_OP_CNP && !info->response)
            sum += opcodes[counts.used[i]];
    }
    return sum;
}

static bool port_mark(struct roce_flow_table *t, const struct wide *wide, uint16_t port)
{
    uint8_t *bits = pool_at(&t->port_pool, wide->ports);
    const uint8_t bit = (uint8_t)(1 << port % 8);
    if (bits[port / 8] & bit)
        return false;
    bits[port / 8] |= bit;
    return true;
}

void count_port(struct ctx *c, uint16_t port)
{
    struct flow *f = c->f;
    const uint16_t before = f->sport;
    f->sport = port;
    if (!(f->flags & F_PORT)) {
        f->flags |= F_PORT;
        c->v->flags |= ROCE_V_NEW_PORT;
        return;
    }
    struct wide *wide = wide_of(c->t, f);
    if (wide->n_port == 0)
        wide->port[wide->n_port++] = before;
    if (wide->n_port != PORTS_MANY) {
        for (int i = 0; i < wide->n_port; i++)
            if (wide->port[i] == port)
                return;
        c->v->flags |= ROCE_V_NEW_PORT;
        if (wide->n_port < PORT_SLOTS) {
            wide->port[wide->n_port++] = port;
            return;
        }
        const uint32_t bitmap = pool_take(&c->t->port_pool);
        if (bitmap == NIL) {
            f->flags |= F_PORTS_MIN;
            return;
        }
        const uint16_t first[PORT_SLOTS] = {wide->port[0], wide->port[1], wide->port[2]};
        wide->ports = bitmap;
        wide->n_port = PORTS_MANY;
        for (int i = 0; i < PORT_SLOTS; i++)
            port_mark(c->t, wide, first[i]);
    }
    if (port_mark(c->t, wide, port))
        c->v->flags |= ROCE_V_NEW_PORT;
}

uint32_t count_ports(const struct roce_flow_table *t, const struct flow *f)
{
    const struct wide *wide = wide_peek(t, f);
    if (wide == NULL || wide->n_port == 0)
        return f->flags & F_PORT ? 1 : 0;
    if (wide->n_port != PORTS_MANY)
        return wide->n_port + ((f->flags & F_PORTS_MIN) ? 1u : 0u);
    const uint8_t *bits = pool_at(&t->port_pool, wide->ports);
    uint32_t n = 0;
    for (int i = 0; i < 65536 / 8; i++)
        for (uint8_t b = bits[i]; b != 0; b = (uint8_t)(b & (b - 1)))
            n++;
    return n;
}
