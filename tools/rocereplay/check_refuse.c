/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases: requests that are refused, and what is left behind. */
#include <roce/psn.h>
#include <string.h>

#include "engine/engine.h"
#include "rocereplay/check.h"

enum { LEN = 64, RNR_CODE = 18, REGION_MIN = 65536, CODE_MASK = 0x1F };

/* The peer's memory as it was at first. */
static bool untouched(struct check *c, uint64_t off, uint32_t len)
{
    uint8_t expected[LEN];
    for (uint32_t i = 0; i < len; i++)
        expected[i] = check_fill(off + i);
    return check_memory(c, off, expected, len, "the peer's memory was changed");
}

static const uint8_t junk[LEN] = {0xDE, 0xAD, 0xBE, 0xEF, 1, 2, 3, 4, 5, 6, 7, 8};

static struct craft write_of(const struct check *c, uint64_t off)
{
    struct craft write = check_request(c, ROCE_OPCODE_RC_WRITE_ONLY);
    write.reth.va += off;
    write.payload = junk;
    write.payload_len = write.reth.dma_length = LEN;
    return write;
}

static void send_part(struct check *c, uint8_t opcode, uint32_t len, bool ackreq)
{
    struct craft craft = check_request(c, opcode);
    craft.payload_len = len;
    craft.bth.ackreq = ackreq;
    check_send(c, &craft);
    c->psn = roce_psn_add(c->psn, 1);
}

void check_rnr_nak(struct check *c)
{
    char text[96];
    c->want.receives = 0;
    c->want.min_rnr_timer = RNR_CODE;
    if (!check_open(c))
        return;
    send_part(c, ROCE_OPCODE_RC_SEND_ONLY, LEN, true);
    const struct check_seen *seen = check_answer(c);
    uint8_t wanted = ROCE_AETH_RNR_NAK << 5 | RNR_CODE;
    if (seen != NULL && c->want.min_rnr_timer == CHECK_UNKNOWN)
        wanted = ROCE_AETH_RNR_NAK << 5 | (seen->pkt.aeth.syndrome & CODE_MASK);
    if (seen == NULL)
        check_fail(c, "no RNR NAK");
    else if (seen->pkt.op != ROCE_OP_ACK || seen->pkt.aeth.syndrome != wanted ||
             seen->pkt.bth.psn != roce_psn_add(c->psn, -1) || seen->pkt.aeth.msn != 0)
        check_fail(c, "%s (frame %llu) is no RNR NAK 0x%02x of PSN %u, MSN 0",
                   check_describe(seen, text), (unsigned long long)seen->frame, wanted,
                   (unsigned)roce_psn_add(c->psn, -1));
}

static bool refused(struct check *c)
{
    const struct check_seen *seen = check_answer(c);
    if (seen == NULL || seen->pkt.op != ROCE_OP_ACK ||
        roce_aeth_kind(seen->pkt.aeth.syndrome) != ROCE_AETH_RNR_NAK)
        check_unseen(c, "no RNR NAK came, see rnr.nak");
    return !c->settled;
}

void check_rnr_silence(struct check *c)
{
    c->want.receives = 0;
    if (!check_open(c))
        return;
    for (int i = 0; i < 3; i++)
        send_part(c, ROCE_OPCODE_RC_SEND_ONLY, LEN, true);
    if (refused(c))
        check_quiet(c, "behind the RNR NAK");
}

void check_rnr_repair(struct check *c)
{
    c->want.receives = 0;
    c->want.late_receives = 4;
    if (!check_open(c))
        return;
    send_part(c, ROCE_OPCODE_RC_SEND_ONLY, LEN, true);
    if (!refused(c) || !check_start(c))
        return;
    c->psn = roce_psn_add(c->psn, -1);
    send_part(c, ROCE_OPCODE_RC_SEND_ONLY, LEN, true);
    if (check_ack(c, c->psn - 1, 1, "the SEND once refused"))
        check_completions(c, 1, "after it");
}

void check_bad_middle(struct check *c)
{
    if (!check_open(c))
        return;
    send_part(c, ROCE_OPCODE_RC_SEND_MIDDLE, c->run->mtu, true);
    check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn - 1, "SEND Middle without First");
}

static bool begin_message(struct check *c)
{
    if (check_open(c))
        send_part(c, ROCE_OPCODE_RC_SEND_FIRST, c->run->mtu, false);
    return c->opened;
}

void check_bad_only(struct check *c)
{
    if (!begin_message(c))
        return;
    send_part(c, ROCE_OPCODE_RC_SEND_ONLY, LEN, true);
    check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn - 1, "SEND Only inside a message");
}

void check_bad_read(struct check *c)
{
    if (!begin_message(c))
        return;
    struct craft read = check_request(c, ROCE_OPCODE_RC_READ_REQUEST);
    read.reth.dma_length = LEN;
    check_send(c, &read);
    check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn, "READ inside a message");
}

void check_bad_mix(struct check *c)
{
    if (!begin_message(c))
        return;
    send_part(c, ROCE_OPCODE_RC_WRITE_LAST, LEN, true);
    check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn - 1, "WRITE Last behind SEND First");
}

void check_bad_rkey(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft write = write_of(c, 0);
    write.reth.rkey ^= 0x00FF0055;
    check_send(c, &write);
    if (check_nak(c, ROCE_NAK_REMOTE_ACCESS_ERROR, c->psn, "WRITE with a wrong R_Key"))
        untouched(c, 0, LEN);
}

void check_bad_range(struct check *c)
{
    if (!check_open(c))
        return;
    if (c->offer.len < REGION_MIN) {
        check_unseen(c, c->offer.len == 0 ? "where the peer's memory ends is not told"
                                          : "the peer's region is too small");
        return;
    }
    struct craft write = write_of(c, c->offer.len - LEN / 2);
    check_send(c, &write);
    if (check_nak(c, ROCE_NAK_REMOTE_ACCESS_ERROR, c->psn, "WRITE beyond the region"))
        untouched(c, c->offer.len - LEN / 2, LEN / 2);
}

void check_bad_region(struct check *c)
{
    c->want.mr_access = ENG_LOCAL_WRITE | ENG_REMOTE_READ;
    if (!check_open(c))
        return;
    struct craft write = write_of(c, 0);
    check_send(c, &write);
    if (check_nak(c, ROCE_NAK_REMOTE_ACCESS_ERROR, c->psn, "WRITE to a region for READs"))
        untouched(c, 0, LEN);
}

void check_bad_read_rkey(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft read = check_request(c, ROCE_OPCODE_RC_READ_REQUEST);
    read.reth.rkey ^= 0x00FF0055;
    read.reth.dma_length = LEN;
    check_send(c, &read);
    check_nak(c, ROCE_NAK_REMOTE_ACCESS_ERROR, c->psn, "READ with a wrong R_Key");
}

void check_bad_rights(struct check *c)
{
    c->want.access = ENG_LOCAL_WRITE | ENG_REMOTE_READ;
    if (!check_open(c))
        return;
    struct craft write = write_of(c, 0);
    check_send(c, &write);
    if (check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn, "WRITE to a QP without that right"))
        untouched(c, 0, LEN);
}

void check_zero_rkey(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft write = write_of(c, 0);
    write.reth.rkey ^= 0x00FF0055;
    write.payload_len = write.reth.dma_length = 0;
    check_send(c, &write);
    check_ack(c, c->psn, 1, "WRITE of no bytes with a wrong R_Key");
}

void check_bad_atomic(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft add = check_request(c, ROCE_OPCODE_RC_FETCH_ADD);
    add.atomic.va += 4;
    add.atomic.swap_add = 1;
    check_send(c, &add);
    if (check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn, "FetchAdd at an odd address"))
        untouched(c, 0, 16);
}

void check_bad_short(struct check *c)
{
    if (!begin_message(c))
        return;
    send_part(c, ROCE_OPCODE_RC_SEND_MIDDLE, c->run->mtu - 4U, true);
    check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn - 1, "a Middle of MTU - 4 bytes");
}

void check_bad_empty(struct check *c)
{
    if (!begin_message(c))
        return;
    send_part(c, ROCE_OPCODE_RC_SEND_LAST, 0, true);
    check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn - 1, "a Last of no bytes");
}

void check_bad_long(struct check *c)
{
    c->want.recv_size = LEN / 2;
    if (!check_open(c))
        return;
    send_part(c, ROCE_OPCODE_RC_SEND_ONLY, LEN, true);
    check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn - 1, "SEND of 64 bytes for a receive of 32");
}

void check_bad_length(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft write = write_of(c, 0);
    write.reth.dma_length = 2 * LEN;
    check_send(c, &write);
    check_nak(c, ROCE_NAK_INVALID_REQUEST, c->psn,
              "WRITE Only of 64 bytes with a DMA length of 128");
}

/* The frame has 64 bytes, the pad count would make them 61 of another message length. */
void check_bad_pad(struct check *c)
{
    char text[96];
    if (!check_open(c))
        return;
    struct craft write = write_of(c, 0);
    write.own_pad = true;
    write.bth.pad = 3;
    check_send(c, &write);
    const struct check_seen *seen = check_next(c, c->run->quiet_ns);
    if (seen != NULL &&
        (seen->pkt.op != ROCE_OP_ACK ||
         seen->pkt.aeth.syndrome != (ROCE_AETH_NAK << 5 | ROCE_NAK_INVALID_REQUEST)))
        check_fail(c, "answered by %s (frame %llu)", check_describe(seen, text),
                   (unsigned long long)seen->frame);
    else
        check_note(c, seen == NULL ? "no answer" : "invalid request");
}

void check_fatal_silence(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft write = write_of(c, 0);
    write.reth.rkey ^= 0x00FF0055;
    check_send(c, &write);
    if (check_answer(c) == NULL) {
        check_unseen(c, "no NAK came, see nak.rkey");
        return;
    }
    send_part(c, ROCE_OPCODE_RC_SEND_ONLY, LEN, true);
    send_part(c, ROCE_OPCODE_RC_SEND_ONLY, LEN, true);
    if (check_quiet(c, "after the fatal NAK"))
        check_completions(c, 0, "after the fatal NAK");
}
