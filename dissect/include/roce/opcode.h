/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BTH opcodes (IBTA 1.5 table 38, annex A17 for CNP, A19 for FLUSH and ATOMIC WRITE): one table of
 * facts. */
#ifndef ROCE_OPCODE_H
#define ROCE_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum roce_service {
    ROCE_SERVICE_RC,
    ROCE_SERVICE_UC,
    ROCE_SERVICE_RD,
    ROCE_SERVICE_UD,
    ROCE_SERVICE_CNP,
    ROCE_SERVICE_XRC,
    ROCE_SERVICE_DC,      /* 0x40-0x5F unless RD was asked for: NVIDIA's DC transport, opaque */
    ROCE_SERVICE_VENDOR,  /* 0xE0-0xFF: manufacturer specific */
    ROCE_SERVICE_UNKNOWN, /* reserved by the standard */
};

/* What a packet does. Requests come first; ROCE_OP_READ_RESPONSE, ACK and ATOMIC_ACK are the
 * responses. */
enum roce_op {
    ROCE_OP_SEND,
    ROCE_OP_WRITE,
    ROCE_OP_READ,
    ROCE_OP_ATOMIC,
    ROCE_OP_FLUSH,
    ROCE_OP_ATOMIC_WRITE,
    ROCE_OP_RESYNC,
    ROCE_OP_READ_RESPONSE,
    ROCE_OP_ACK,
    ROCE_OP_ATOMIC_ACK,
    ROCE_OP_CNP,
    ROCE_OP_NONE, /* opcode unknown to this library */
};

enum roce_pos { ROCE_POS_FIRST, ROCE_POS_MIDDLE, ROCE_POS_LAST, ROCE_POS_ONLY };

/* Which payload lengths the standard allows (IBTA 9.4.1): see opcode.def. */
enum roce_payload_rule {
    ROCE_PAYLOAD_NONE,
    ROCE_PAYLOAD_ANY,
    ROCE_PAYLOAD_SOME,
    ROCE_PAYLOAD_MTU,
    ROCE_PAYLOAD_EIGHT,
    ROCE_PAYLOAD_CNP,
};

/* Extension headers, in the order they take on the wire (IBTA 5.2). */
enum roce_header {
    ROCE_H_RDETH = 1 << 0,
    ROCE_H_DETH = 1 << 1,
    ROCE_H_XRCETH = 1 << 2,
    ROCE_H_FETH = 1 << 3,
    ROCE_H_RETH = 1 << 4,
    ROCE_H_ATOMIC = 1 << 5,
    ROCE_H_AETH = 1 << 6,
    ROCE_H_ATOMIC_ACK = 1 << 7,
    ROCE_H_IMM = 1 << 8,
    ROCE_H_IETH = 1 << 9,
};

enum roce_opcode {
#define OP(value, name, json, text, service, op, pos, headers, payload) \
    ROCE_OPCODE_##name = (value),
#include <roce/opcode.def>
#undef OP
};

struct roce_opcode_info {
    const char
        *name; /* "rc_send_first": JSON and filter word; NULL when the opcode is not in the table */
    const char *text; /* "RC SEND First" */
    uint8_t service;  /* enum roce_service */
    uint8_t op;       /* enum roce_op */
    uint8_t pos;      /* enum roce_pos */
    uint8_t payload;  /* enum roce_payload_rule */
    uint16_t headers; /* ROCE_H_* */
    uint8_t ext_len;  /* bytes of all extension headers */
    bool response;    /* READ response, ACK, atomic ACK: its PSN is one of the peer's requests */
};

/* roce_opcode_info returns the facts of |opcode|; for opcodes outside the table, service tells DC
 * (0x40-0x5F that RD does not define), VENDOR or UNKNOWN and name is NULL. The storage is static.
 * 0x40-0x5F are listed as RD here; roce_packet_decode says ROCE_SERVICE_DC for them unless RD is
 * asked for (packet.h). */
const struct roce_opcode_info *roce_opcode_info(uint8_t opcode);

/* roce_opcode_by_name finds the opcode whose JSON name is |name|; returns its value, or
 * ROCE_ERR_UNKNOWN. */
int roce_opcode_by_name(const char *name);

/* roce_service_name returns "rc", "uc", "rd", "ud", "cnp", "xrc", "dc", "vendor" or "unknown". */
const char *roce_service_name(enum roce_service service);

#ifdef __cplusplus
}
#endif
#endif
