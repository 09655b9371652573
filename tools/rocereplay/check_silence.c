/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases: packets that are not for the QP, those that are though something was changed on their
 * way, and the unreliable services. */
#include <roce/psn.h>

#include "engine/engine.h"
#include "rocereplay/check.h"

enum { LEN = 64 };

static struct craft send_of(const struct check *c)
{
    struct craft craft = check_request(c, ROCE_OPCODE_RC_SEND_ONLY);
    craft.payload_len = LEN;
    return craft;
}

/* A wrong packet, silence; then a right one with the same PSN. */
static void dropped(struct check *c, const struct craft *wrong)
{
    check_send(c, wrong);
    if (!check_quiet(c, "to the wrong packet"))
        return;
    const struct craft right = send_of(c);
    check_send(c, &right);
    if (check_ack(c, c->psn, 1, "the right packet of the same PSN"))
        check_completions(c, 1, "after both");
}

void check_drop_icrc(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.bad_icrc = true;
    dropped(c, &craft);
}

void check_drop_tver(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.bth.tver = 1;
    dropped(c, &craft);
}

void check_drop_pkey(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.bth.pkey = 0x8123;
    dropped(c, &craft);
}

void check_drop_qpn(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.bth.dqpn ^= 0x5A5000;
    dropped(c, &craft);
}

void check_drop_source(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.wrong_source = true;
    dropped(c, &craft);
}

void check_drop_service(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.bth.opcode = ROCE_OPCODE_UC_SEND_ONLY;
    dropped(c, &craft);
}

static void taken(struct check *c, const struct craft *craft, const char *what)
{
    check_send(c, craft);
    check_ack(c, craft->bth.psn, roce_psn_add(craft->bth.psn, 1 - (int64_t)c->want.psn), what);
}

void check_migreq_take(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.bth.migreq = false;
    taken(c, &craft, "SEND with MigReq 0");
    craft.bth.psn = roce_psn_add(c->psn, 1);
    craft.bth.migreq = true;
    if (!c->settled)
        taken(c, &craft, "SEND with MigReq 1");
}

void check_migreq_set(struct check *c)
{
    if (!check_open(c))
        return;
    const struct craft craft = send_of(c);
    check_send(c, &craft);
    const struct check_seen *seen = check_answer(c);
    if (seen == NULL)
        check_unseen(c, "no answer came, see ack.request");
    else if (!seen->pkt.bth.migreq)
        check_fail(c, "MigReq is 0 in frame %llu", (unsigned long long)seen->frame);
}

void check_masked(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.rewritten = true;
    craft.new_tos = 26 << 2 | ROCE_ECN_ECT1;
    craft.new_ttl = 7;
    taken(c, &craft, "SEND with another TTL, DSCP and ECN");
}

void check_udp_zero(struct check *c)
{
    if (!check_open(c))
        return;
    const struct craft craft = send_of(c);
    taken(c, &craft, "SEND with UDP checksum 0");
}

void check_udp_right(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.udp_checksum = true;
    taken(c, &craft, "SEND with a UDP checksum");
}

void check_udp_sport(struct check *c)
{
    if (!check_open(c))
        return;
    struct craft craft = send_of(c);
    craft.sport = 1025;
    taken(c, &craft, "SEND from UDP port 1025");
    craft.bth.psn = roce_psn_add(c->psn, 1);
    craft.sport = 65535;
    if (!c->settled)
        taken(c, &craft, "SEND from UDP port 65535");
}

static void send_uc(struct check *c, uint8_t opcode, uint32_t skip, uint32_t len)
{
    c->psn = roce_psn_add(c->psn, skip);
    struct craft craft = check_request(c, opcode);
    craft.payload_len = len;
    check_send(c, &craft);
    c->psn = roce_psn_add(c->psn, 1);
}

/* Nothing answers: whether messages were taken only the peer's program can tell. */
static bool counted(struct check *c, uint64_t received, const char *what)
{
    struct check_status status;
    if (c->settled)
        return false;
    check_pause(c, c->run->quiet_ns);
    if (c->run->peer->status(c->run->peer_ctx, &status) != 0)
        check_unseen(c, "the peer does not tell what it has received");
    else if (status.received != received)
        check_fail(c, "%s: %llu messages were taken, not %llu", what,
                   (unsigned long long)status.received, (unsigned long long)received);
    return !c->settled;
}

void check_uc_gap(struct check *c)
{
    c->want.service = ENG_UC;
    if (!check_open(c))
        return;
    send_uc(c, ROCE_OPCODE_UC_SEND_ONLY, 0, LEN);
    if (!counted(c, 1, "a whole message"))
        return;
    send_uc(c, ROCE_OPCODE_UC_SEND_FIRST, 0, c->run->mtu);
    send_uc(c, ROCE_OPCODE_UC_SEND_MIDDLE, 1, c->run->mtu);
    send_uc(c, ROCE_OPCODE_UC_SEND_LAST, 0, LEN);
    if (!counted(c, 1, "after a message with a gap"))
        return;
    send_uc(c, ROCE_OPCODE_UC_SEND_ONLY, 0, LEN);
    if (counted(c, 2, "after the whole message behind it"))
        check_quiet(c, "to UC packets");
}

void check_ud_qkey(struct check *c)
{
    c->want.service = ENG_UD;
    if (!check_open(c))
        return;
    struct craft craft = check_request(c, ROCE_OPCODE_UD_SEND_ONLY);
    craft.payload_len = LEN;
    craft.deth.qkey ^= 1;
    check_send(c, &craft);
    if (!counted(c, 0, "with another Q_Key"))
        return;
    craft.deth.qkey ^= 1;
    check_send(c, &craft);
    if (counted(c, 1, "with the right Q_Key"))
        check_quiet(c, "to UD packets");
}
