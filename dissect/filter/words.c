/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Vocabularies of WORD fields; where the wire room has the words, they come from there. */
#include "words.h"

#include <string.h>

#include <roce/aeth.h>
#include <roce/cm.h>
#include <roce/icrc.h>
#include <roce/mad.h>
#include <roce/opcode.h>
#include <roce/packet.h>
#include <roce/verdict.h>

#define DC_CODES 256

#define PICK(words, code) ((code) < sizeof(words) / sizeof((words)[0]) ? (words)[code] : NULL)

const char *word_protocol(unsigned code)
{
    static const char *const words[] = {
        [ROCE_KIND_OTHER] = "other", [ROCE_KIND_ROCEV2] = "rocev2", [ROCE_KIND_ROCEV1] = "rocev1",
        [ROCE_KIND_IB] = "ib",       [ROCE_KIND_PFC] = "pfc",       [ROCE_KIND_PAUSE] = "pause",
    };
    return PICK(words, code);
}

const char *word_ecn(unsigned code)
{
    static const char *const words[] = {
        [ROCE_ECN_NOT_ECT] = "not_ect",
        [ROCE_ECN_ECT1] = "ect1",
        [ROCE_ECN_ECT0] = "ect0",
        [ROCE_ECN_CE] = "ce",
    };
    return PICK(words, code);
}

const char *word_tunnel(unsigned code)
{
    return code <= ROCE_TUNNEL_MPLS ? roce_tunnel_name((enum roce_tunnel_kind)code) : NULL;
}

const char *word_service(unsigned code)
{
    return code <= ROCE_SERVICE_UNKNOWN ? roce_service_name((enum roce_service)code) : NULL;
}

unsigned words_opcode_code(uint8_t opcode, uint8_t service)
{
    return service == ROCE_SERVICE_DC ? opcode + DC_CODES : opcode;
}

static bool is_dc(unsigned code)
{
    return code >= DC_CODES + 0x40 && code < DC_CODES + 0x60;
}

const char *word_opcode(unsigned code)
{
    if (is_dc(code))
        return "dc";
    if (code >= DC_CODES)
        return NULL;
    const char *name = roce_opcode_info((uint8_t)code)->name;
    return name != NULL ? name : "unknown";
}

const char *word_op(unsigned code)
{
    static const char *const words[] = {
        [ROCE_OP_SEND] = "send",     [ROCE_OP_WRITE] = "write",
        [ROCE_OP_READ] = "read",     [ROCE_OP_ATOMIC] = "atomic",
        [ROCE_OP_FLUSH] = "flush",   [ROCE_OP_ATOMIC_WRITE] = "atomic_write",
        [ROCE_OP_RESYNC] = "resync", [ROCE_OP_READ_RESPONSE] = "read_response",
        [ROCE_OP_ACK] = "ack",       [ROCE_OP_ATOMIC_ACK] = "atomic_ack",
        [ROCE_OP_CNP] = "cnp",
    };
    return PICK(words, code);
}

const char *word_position(unsigned code)
{
    static const char *const words[] = {
        [ROCE_POS_FIRST] = "first",
        [ROCE_POS_MIDDLE] = "middle",
        [ROCE_POS_LAST] = "last",
        [ROCE_POS_ONLY] = "only",
    };
    return PICK(words, code);
}

const char *word_aeth_kind(unsigned code)
{
    static const char *const words[] = {
        [ROCE_AETH_ACK] = "ack",
        [ROCE_AETH_RNR_NAK] = "rnr_nak",
        [ROCE_AETH_RESERVED] = "reserved",
        [ROCE_AETH_NAK] = "nak",
    };
    return PICK(words, code);
}

const char *word_nak(unsigned code)
{
    if (code > 31)
        return NULL;
    const char *name = roce_nak_name((uint8_t)code);
    return name != NULL ? name : "reserved";
}

const char *word_icrc_status(unsigned code)
{
    return code <= ROCE_ICRC_UNCHECKED ? roce_icrc_status_name((enum roce_icrc_status)code) : NULL;
}

const char *word_icrc_reason(unsigned code)
{
    if (code == ROCE_ICRC_JUDGED || code > ROCE_ICRC_MALFORMED)
        return NULL;
    return roce_icrc_reason_name((enum roce_icrc_reason)code);
}

const char *word_cause(unsigned code)
{
    return code < ROCE_CAUSE_COUNT ? roce_cause_name((enum roce_cause)code) : NULL;
}

const char *word_pairing(unsigned code)
{
    return code <= ROCE_PAIRING_PSN ? roce_pairing_name((enum roce_pairing)code) : NULL;
}

const char *word_message_op(unsigned code)
{
    return code < ROCE_MESSAGE_OPS ? roce_message_op_name((enum roce_message_op)code) : NULL;
}

const char *word_mad_class(unsigned code)
{
    if (code > 255)
        return NULL;
    const char *name = roce_mad_class_name((uint8_t)code);
    return name != NULL ? name : "unknown";
}

const char *word_cm_message(unsigned code)
{
    return code <= 255 ? roce_cm_message_name((uint8_t)code) : NULL;
}

const char *word_cm_transport(unsigned code)
{
    static const char *const words[] = {"rc", "uc", "rd", "xrc", "reserved"};
    return PICK(words, code);
}

const char *word_cm_rejected(unsigned code)
{
    static const char *const words[] = {"req", "rep", "other", "reserved"};
    return PICK(words, code);
}

const char *word_cm_delayed(unsigned code)
{
    static const char *const words[] = {"req", "rep", "lap", "reserved"};
    return PICK(words, code);
}

const char *word_status(unsigned code)
{
    if (code == ROCE_STATUS_OK || code > ROCE_STATUS_UNKNOWN)
        return NULL;
    return roce_status_name((enum roce_status)code);
}

const char *word_layer(unsigned code)
{
    return code <= ROCE_LAYER_MAC_CONTROL ? roce_layer_name((enum roce_layer)code) : NULL;
}

/* ctype.h follows the locale; these words are ASCII. */
char words_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool same_bytes(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (words_lower(a[i]) != words_lower(b[i]))
            return false;
    return true;
}

bool words_same(const char *a, size_t len, const char *b)
{
    return strlen(b) == len && same_bytes(a, b, len);
}

bool words_part(const char *part, size_t len, const char *text)
{
    const size_t n = strlen(text);
    for (size_t at = 0; at + len <= n; at++)
        if (same_bytes(part, text + at, len))
            return true;
    return false;
}

bool words_opcode_family(unsigned code, const char *word, size_t len)
{
    if (code >= DC_CODES)
        return false;
    const struct roce_opcode_info *info = roce_opcode_info((uint8_t)code);
    if (info->name == NULL)
        return false;
    const char *op = word_op(info->op);
    if (op != NULL && words_same(word, len, op))
        return true;
    const char *bare = strchr(info->name, '_');
    return bare != NULL && words_same(word, len, bare + 1);
}
