/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Vocabularies of WORD fields: word_x(code) returns the word of |code|, NULL when it has none. */
#ifndef FILTER_WORDS_H
#define FILTER_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

const char *word_protocol(unsigned code);
const char *word_ecn(unsigned code);
const char *word_tunnel(unsigned code);
const char *word_service(unsigned code);
const char *word_opcode(unsigned code);
const char *word_op(unsigned code);
const char *word_position(unsigned code);
const char *word_aeth_kind(unsigned code);
const char *word_nak(unsigned code);
const char *word_icrc_status(unsigned code);
const char *word_icrc_reason(unsigned code);
const char *word_mad_class(unsigned code);
const char *word_cm_message(unsigned code);
const char *word_cm_transport(unsigned code);
const char *word_cm_rejected(unsigned code);
const char *word_cm_delayed(unsigned code);
const char *word_status(unsigned code);
const char *word_layer(unsigned code);
const char *word_cause(unsigned code);
const char *word_pairing(unsigned code);
const char *word_message_op(unsigned code);

/* words_opcode_code returns the code of an opcode for word_opcode: the opcode itself, plus 256 for
 * 0x40-0x5F taken as DC, which share their numbers with RD. |service| is roce_packet.service. */
unsigned words_opcode_code(uint8_t opcode, uint8_t service);

/* words_lower returns |c|, in lower case when it is an ASCII letter. */
char words_lower(char c);

/* words_same compares the |len| bytes at |a| with the string |b|, letters of either case being
 * equal. */
bool words_same(const char *a, size_t len, const char *b);

/* words_part tells whether the |len| bytes at |part| occur in |text|, in the same manner. */
bool words_part(const char *part, size_t len, const char *text);

/* words_opcode_family tells whether opcode |code| is called |word| for short: by its operation
 * ("send", "ack") or by its name without the service ("rdma_write_only"). */
bool words_opcode_family(unsigned code, const char *word, size_t len);

#endif
