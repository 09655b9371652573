/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases: requests that come twice, and atomics. */
#include <roce/psn.h>
#include <string.h>

#include "rocereplay/check.h"

enum { ATOMICS = 6, LEN = 64 };

void check_dup_send(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft first = check_request(c, ROCE_OPCODE_RC_SEND_ONLY);
    first.payload_len = LEN;
    check_send(c, &first);
    if (!check_ack(c, c->psn, 1, "SEND"))
        return;
    struct craft second = first;
    second.bth.psn = roce_psn_add(c->psn, 1);
    check_send(c, &second);
    if (!check_ack(c, c->psn + 1, 2, "the second SEND"))
        return;
    check_send(c, &first);
    if (check_ack(c, c->psn + 1, 2, "the first SEND again") && check_quiet(c, "after that"))
        check_completions(c, 2, "after a repeated SEND");
}

void check_dup_write(struct check *c)
{
    uint8_t data[2][LEN];
    if (!check_open(c))
        return;
    struct craft write[2];
    for (unsigned i = 0; i < 2; i++) {
        memset(data[i], i == 0 ? 0xA5 : 0x3C, LEN);
        write[i] = check_request(c, ROCE_OPCODE_RC_WRITE_ONLY);
        write[i].payload = data[i];
        write[i].payload_len = write[i].reth.dma_length = LEN;
        check_send(c, &write[i]);
        if (!check_ack(c, c->psn, i + 1, "WRITE"))
            return;
        c->psn = roce_psn_add(c->psn, 1);
    }
    check_send(c, &write[0]);
    if (check_ack(c, c->psn - 1, 2, "the first WRITE again"))
        check_memory(c, 0, data[1], LEN, "the repeated WRITE was executed again");
}

static uint64_t word(const uint8_t *p)
{
    uint64_t
        v; /* atomics work on the host's own order: both sides' x86 and ARM are little-endian */
    v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static bool result(struct check *c, uint32_t psn, uint64_t original, const char *to)
{
    char text[96];
    const struct check_seen *seen = check_answer(c);
    if (seen == NULL)
        check_fail(c, "no answer to %s", to);
    else if (seen->pkt.op != ROCE_OP_ATOMIC_ACK || seen->pkt.bth.psn != (psn & ROCE_PSN_MASK))
        check_fail(c, "%s was answered by %s (frame %llu)", to, check_describe(seen, text),
                   (unsigned long long)seen->frame);
    else if (seen->pkt.atomic_ack_eth.original != original)
        check_fail(c, "%s returned 0x%llx, not 0x%llx (frame %llu)", to,
                   (unsigned long long)seen->pkt.atomic_ack_eth.original,
                   (unsigned long long)original, (unsigned long long)seen->frame);
    return !c->settled;
}

/* The first word of the peer's memory; where nobody filled it for us, as it says itself. */
static bool word_at_first(struct check *c, uint64_t *value)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = check_fill(i);
    *value = word(bytes);
    if (c->run->limits.kind == NULL)
        return true;
    const struct craft add = check_request(c, ROCE_OPCODE_RC_FETCH_ADD);
    check_send(c, &add);
    const struct check_seen *seen = check_answer(c);
    c->psn = roce_psn_add(c->psn, 1);
    if (seen != NULL && seen->pkt.op == ROCE_OP_ATOMIC_ACK)
        *value = seen->pkt.atomic_ack_eth.original;
    else
        check_fail(c, "no answer to a FetchAdd of 0");
    return !c->settled;
}

static bool holds(struct check *c, uint64_t value, const char *what)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    return check_memory(c, 0, bytes, 8, what);
}

void check_dup_fetch_add(struct check *c)
{
    uint64_t before;
    if (!check_open(c) || !word_at_first(c, &before))
        return;
    struct craft add = check_request(c, ROCE_OPCODE_RC_FETCH_ADD);
    add.atomic.swap_add = 5;
    check_send(c, &add);
    if (!result(c, c->psn, before, "FetchAdd"))
        return;
    check_send(c, &add);
    if (result(c, c->psn, before, "FetchAdd again"))
        holds(c, before + 5, "the repeated FetchAdd was added again");
}

void check_dup_cmp_swap(struct check *c)
{
    uint64_t before;
    if (!check_open(c) || !word_at_first(c, &before))
        return;
    struct craft swap = check_request(c, ROCE_OPCODE_RC_CMP_SWAP);
    swap.atomic.compare = before;
    swap.atomic.swap_add = 77;
    check_send(c, &swap);
    if (!result(c, c->psn, before, "CmpSwap"))
        return;
    /* Back to the first value, so that a second execution would swap again. */
    struct craft back = swap;
    back.bth.psn = roce_psn_add(c->psn, 1);
    back.atomic.compare = 77;
    back.atomic.swap_add = before;
    check_send(c, &back);
    if (!result(c, c->psn + 1, 77, "the CmpSwap back"))
        return;
    check_send(c, &swap);
    if (result(c, c->psn, before, "the first CmpSwap again"))
        holds(c, before, "the repeated CmpSwap was executed again");
}

/* A responder may remember more than was agreed: then the result must be the old one. */
void check_dup_atomic_old(struct check *c)
{
    uint64_t before;
    if (!check_open(c) || !word_at_first(c, &before))
        return;
    const uint32_t first = c->psn;
    struct craft add = check_request(c, ROCE_OPCODE_RC_FETCH_ADD);
    add.atomic.swap_add = 1;
    for (unsigned i = 0; i < ATOMICS; i++) {
        add.bth.psn = roce_psn_add(first, i);
        check_send(c, &add);
        if (!result(c, first + i, before + i, "FetchAdd"))
            return;
    }
    add.bth.psn = first;
    check_send(c, &add);
    const struct check_seen *seen = check_next(c, c->run->quiet_ns);
    if (seen != NULL && (seen->pkt.op != ROCE_OP_ATOMIC_ACK || seen->pkt.bth.psn != first ||
                         seen->pkt.atomic_ack_eth.original != before)) {
        char text[96];
        check_fail(c, "an old atomic was answered by %s (frame %llu)", check_describe(seen, text),
                   (unsigned long long)seen->frame);
        return;
    }
    holds(c, before + ATOMICS, "an old atomic was executed again");
}

void check_atomic_result(struct check *c)
{
    uint64_t before;
    if (!check_open(c) || !word_at_first(c, &before))
        return;
    struct craft craft = check_request(c, ROCE_OPCODE_RC_FETCH_ADD);
    craft.atomic.swap_add = UINT64_MAX; /* wraps: less one */
    check_send(c, &craft);
    if (!result(c, c->psn, before, "FetchAdd"))
        return;
    craft = check_request(c, ROCE_OPCODE_RC_CMP_SWAP);
    craft.bth.psn = roce_psn_add(c->psn, 1);
    craft.atomic.compare = before; /* not so any more */
    craft.atomic.swap_add = 1;
    check_send(c, &craft);
    if (!result(c, c->psn + 1, before - 1, "a CmpSwap that does not match"))
        return;
    craft.bth.psn = roce_psn_add(c->psn, 2);
    craft.atomic.compare = before - 1;
    craft.atomic.swap_add = 1234;
    check_send(c, &craft);
    if (result(c, c->psn + 2, before - 1, "a CmpSwap that matches"))
        holds(c, 1234, "the CmpSwap that matches did not swap");
}
