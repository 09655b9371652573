/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of the filter language: numbers and addresses, from |len| bytes at |s|. */
#ifndef FILTER_LITERAL_H
#define FILTER_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum literal {
    LITERAL_OK,
    LITERAL_INVALID,
    LITERAL_NEGATIVE,
    LITERAL_FRACTION, /* a number, but not a whole one */
    LITERAL_TOO_BIG,
    LITERAL_PREFIX, /* the address is good, the prefix length is not */
};

/* An address, or all addresses under a prefix: those that agree with |addr| in its first |bits|. */
struct literal_addr {
    uint8_t addr[16]; /* IPv4 in mapped form */
    unsigned bits;    /* of the 16 bytes: 96 + n for an IPv4 prefix of n */
    bool v4;          /* set with LITERAL_PREFIX too */
};

/* literal_uint reads a decimal or 0x number, literal_real a decimal fraction (correctly rounded) or
 * what literal_uint reads. */
enum literal literal_uint(const char *s, size_t len, uint64_t *u);
enum literal literal_real(const char *s, size_t len, double *r);

/* literal_addr reads an IPv4 or IPv6 address (RFC 4291 2.2), with or without /prefix;
 * literal_mac six hexadecimal bytes with : or - between them. */
enum literal literal_addr(const char *s, size_t len, struct literal_addr *out);
enum literal literal_mac(const char *s, size_t len, uint8_t mac[6]);

#endif
