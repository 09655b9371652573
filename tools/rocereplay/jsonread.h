/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON (RFC 8259) read item by item from a string: what a peer sends is not trusted. A mistake
 * sticks: all that is read behind it fails as well. */
#ifndef ROCEREPLAY_JSONREAD_H
#define ROCEREPLAY_JSONREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonread {
    const char *at;
    bool bad;
};

void jsonread_init(struct jsonread *r, const char *text);
/* jsonread_open enters the object ('{') or array ('['); jsonread_key moves to the next member and
 * gives its key (cut to |room|), jsonread_more to the next element; both return false at the end,
 * which they leave behind. */
bool jsonread_open(struct jsonread *r, char bracket);
bool jsonread_key(struct jsonread *r, char *key, size_t room);
bool jsonread_more(struct jsonread *r);

/* Values. Strings are taken without escapes. */
bool jsonread_uint(struct jsonread *r, uint64_t max, uint64_t *value);
bool jsonread_bool(struct jsonread *r, bool *value);
bool jsonread_str(struct jsonread *r, char *value, size_t room);
/* jsonread_skip leaves out a value of any kind. */
bool jsonread_skip(struct jsonread *r);
/* jsonread_end tells whether all was read, without a mistake. */
bool jsonread_end(struct jsonread *r);

#endif
