/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the limits of a target mean to the frames of a case. */
#include <roce/opcode.h>
#include <roce/psn.h>

#include "engine/engine.h"
#include "rocereplay/check_target.h"
#include "rocereplay/rping.h"

enum {
    ACK = ROCE_AETH_ACK << 5 | ROCE_CREDITS_INVALID,
    PROMPT_LEN = 16,
    END_PSNS = 40, /* no case goes further */
};

static const char *receives_lack(struct check *c, const struct craft *craft,
                                 const struct roce_opcode_info *info)
{
    const struct check_target_limits *limits = &c->run->limits;
    if (info->pos == ROCE_POS_FIRST || info->pos == ROCE_POS_ONLY)
        c->sent_len = 0;
    c->sent_len += craft->payload_len;
    if (limits->kind->own_receives)
        return "the peer's program takes messages of its own kind alone";
    if (c->want.receives == 0 && c->want.messages == 0 && limits->kind->receives)
        return "the peer's program has receives posted";
    if (c->want.receives != 0 && !limits->kind->receives)
        return "the peer's program posts no receives";
    return c->sent_len > limits->room ? "the peer's receives are too short; see --size" : NULL;
}

static const char *memory_lacks(const struct check *c, unsigned right, uint32_t rkey, uint64_t len)
{
    const struct target_kind *kind = c->run->limits.kind;
    const bool wanted = (c->want.access & right) != 0, had = (kind->qp_access & right) != 0;
    if (wanted && !had)
        return "the peer's QP does not allow that operation";
    if (!wanted && had)
        return "the rights of the peer's QP cannot be chosen";
    if (!had || len == 0 || rkey != c->offer.rkey)
        return NULL;
    if (kind->access == 0)
        return "the peer tells of no memory";
    if ((kind->access & right) == 0 || (c->want.mr_access & right) == 0)
        return "the rights of the peer's memory cannot be chosen";
    return NULL;
}

const char *check_target_lacks(struct check *c, const struct craft *craft)
{
    const struct roce_opcode_info *info = roce_opcode_info(craft->bth.opcode);
    if (c->run->limits.kind == NULL)
        return NULL;
    if (info->op == ROCE_OP_SEND && info->service == ROCE_SERVICE_RC)
        return receives_lack(c, craft, info);
    if (info->op == ROCE_OP_WRITE && (info->headers & ROCE_H_RETH) != 0)
        return memory_lacks(c, ENG_REMOTE_WRITE, craft->reth.rkey, craft->reth.dma_length);
    if (info->op == ROCE_OP_READ)
        return memory_lacks(c, ENG_REMOTE_READ, craft->reth.rkey, craft->reth.dma_length);
    if (info->op == ROCE_OP_ATOMIC)
        return memory_lacks(c, ENG_REMOTE_ATOMIC, craft->atomic.rkey, 8);
    return NULL;
}

bool check_target_instead(struct check *c, struct craft *craft)
{
    const struct target_kind *kind = c->run->limits.kind;
    if (kind == NULL || kind->receives || c->want.receives == 0 || c->want.messages != 0 ||
        craft->bth.opcode != ROCE_OPCODE_RC_SEND_ONLY || craft->payload_len == 0 ||
        (kind->qp_access & c->want.access & ENG_REMOTE_WRITE) == 0)
        return false;
    craft->bth.opcode = ROCE_OPCODE_RC_WRITE_ONLY;
    craft->payload_len = craft->reth.dma_length = 0;
    check_note(c, "by WRITEs of no bytes in place of SENDs");
    return true;
}

bool check_target_answer(struct check *c, const struct check_seen *seen)
{
    const struct roce_packet *pkt = &seen->pkt;
    const struct target_kind *kind = c->run->limits.kind;
    if (kind == NULL || !kind->answers || c->want.messages != 0 || pkt->response ||
        pkt->op == ROCE_OP_CNP)
        return false;
    if (pkt->pos == ROCE_POS_LAST || pkt->pos == ROCE_POS_ONLY)
        c->taken_msn++;
    if (pkt->bth.ackreq) {
        const struct craft ack =
            check_response(c, ROCE_OPCODE_RC_ACKNOWLEDGE, pkt->bth.psn, ACK, c->taken_msn);
        check_send(c, &ack);
    }
    return true;
}

/* Says where its text lies, as rping's client does. */
static bool prompt_rping(struct check *c)
{
    uint8_t data[RPING_INFO_LEN];
    const bool read = c->want.op == CHECK_OP_READ;
    const struct rping_info info = {.va = c->want.va,
                                    .rkey = (uint32_t)c->want.rkey,
                                    .size = read ? (uint32_t)c->want.size : RPING_INFO_LEN};
    struct craft craft = check_request(c, ROCE_OPCODE_RC_SEND_ONLY);
    rping_info_encode(&info, data);
    craft.payload = data;
    craft.payload_len = sizeof(data);
    check_post(c, &craft);
    c->psn = roce_psn_add(c->psn, 1);
    if (!check_ack(c, c->psn - 1, 1, "rping's first message") || read)
        return !c->settled;
    const struct check_seen *seen = check_answer(c);
    if (seen == NULL || seen->pkt.op != ROCE_OP_READ || seen->pkt.reth.dma_length != sizeof(data)) {
        check_unseen(c, "the peer does not go on as rping does");
        return false;
    }
    struct craft text =
        check_response(c, ROCE_OPCODE_RC_READ_RESPONSE_ONLY, seen->pkt.bth.psn, ACK, 1);
    rping_text(data, sizeof(data), 0);
    text.payload = data;
    text.payload_len = sizeof(data);
    check_post(c, &text);
    c->want.peer_psn = roce_psn_add(seen->pkt.bth.psn, 1);
    c->want.size = RPING_INFO_LEN;
    return true;
}

bool check_target_prompt(struct check *c)
{
    if (c->run->limits.kind->prompt == TARGET_PROMPT_RPING)
        return prompt_rping(c);
    struct craft craft = check_request(c, ROCE_OPCODE_RC_SEND_ONLY);
    craft.payload_len = PROMPT_LEN;
    check_post(c, &craft);
    c->psn = roce_psn_add(c->psn, 1);
    return check_ack(c, c->psn - 1, 1, "the message that makes the peer send");
}

void check_target_end(struct check *c)
{
    if (c->run->limits.kind == NULL || !c->run->limits.kind->stays)
        return;
    for (uint32_t i = 0; i < END_PSNS; i++) {
        struct craft craft = check_request(c, ROCE_OPCODE_RC_SEND_MIDDLE);
        craft.bth.psn = roce_psn_add((uint32_t)c->want.psn, i);
        craft.payload_len = c->run->mtu;
        check_post(c, &craft);
    }
}
