/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The opcode table, from opcode.def. */
#include <roce/opcode.h>

#include <string.h>

#include <roce/aeth.h>
#include <roce/err.h>
#include <roce/xth.h>

#define EXT_LEN(h)                                                                               \
    ((((h)&ROCE_H_RDETH) ? ROCE_RDETH_LEN : 0) + (((h)&ROCE_H_DETH) ? ROCE_DETH_LEN : 0) +       \
     (((h)&ROCE_H_XRCETH) ? ROCE_XRCETH_LEN : 0) + (((h)&ROCE_H_FETH) ? ROCE_FETH_LEN : 0) +     \
     (((h)&ROCE_H_RETH) ? ROCE_RETH_LEN : 0) + (((h)&ROCE_H_ATOMIC) ? ROCE_ATOMIC_ETH_LEN : 0) + \
     (((h)&ROCE_H_AETH) ? ROCE_AETH_LEN : 0) +                                                   \
     (((h)&ROCE_H_ATOMIC_ACK) ? ROCE_ATOMIC_ACK_ETH_LEN : 0) +                                   \
     (((h)&ROCE_H_IMM) ? ROCE_IMM_LEN : 0) + (((h)&ROCE_H_IETH) ? ROCE_IETH_LEN : 0))

#define IS_RESPONSE(op) \
    ((op) == ROCE_OP_READ_RESPONSE || (op) == ROCE_OP_ACK || (op) == ROCE_OP_ATOMIC_ACK)

static const struct roce_opcode_info table[256] = {
#define OP(value, name_, json, text_, service_, op_, pos_, headers_, payload_) \
    [value] = {                                                                \
        .name = (json),                                                        \
        .text = (text_),                                                       \
        .service = ROCE_SERVICE_##service_,                                    \
        .op = ROCE_OP_##op_,                                                   \
        .pos = ROCE_POS_##pos_,                                                \
        .payload = ROCE_PAYLOAD_##payload_,                                    \
        .headers = (headers_),                                                 \
        .ext_len = EXT_LEN(headers_),                                          \
        .response = IS_RESPONSE(ROCE_OP_##op_),                                \
    },
#include <roce/opcode.def>
#undef OP
};

static const struct roce_opcode_info unlisted[] = {
#define UNLISTED(s)                                                                            \
    {                                                                                          \
        .service = (s), .op = ROCE_OP_NONE, .pos = ROCE_POS_ONLY, .payload = ROCE_PAYLOAD_ANY, \
    }
    UNLISTED(ROCE_SERVICE_DC),
    UNLISTED(ROCE_SERVICE_VENDOR),
    UNLISTED(ROCE_SERVICE_UNKNOWN),
};

const struct roce_opcode_info *roce_opcode_info(uint8_t opcode)
{
    if (table[opcode].name != NULL)
        return &table[opcode];
    if (opcode >> 5 == 2)
        return &unlisted[0];
    return opcode >> 5 == 7 ? &unlisted[1] : &unlisted[2];
}

int roce_opcode_by_name(const char *name)
{
    for (int i = 0; i < 256; i++)
        if (table[i].name != NULL && strcmp(table[i].name, name) == 0)
            return i;
    return ROCE_ERR_UNKNOWN;
}

const char *roce_service_name(enum roce_service service)
{
    switch (service) {
    case ROCE_SERVICE_RC:
        return "rc";
    case ROCE_SERVICE_UC:
        return "uc";
    case ROCE_SERVICE_RD:
        return "rd";
    case ROCE_SERVICE_UD:
        return "ud";
    case ROCE_SERVICE_CNP:
        return "cnp";
    case ROCE_SERVICE_XRC:
        return "xrc";
    case ROCE_SERVICE_DC:
        return "dc";
    case ROCE_SERVICE_VENDOR:
        return "vendor";
    case ROCE_SERVICE_UNKNOWN:
        break;
    }
    return "unknown";
}
