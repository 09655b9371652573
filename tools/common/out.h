/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffered output that ends quietly when the reader of a pipe has gone. */
#ifndef TOOLS_OUT_H
#define TOOLS_OUT_H

#include <stdbool.h>
#include <stddef.h>

struct out {
    int fd;
    char *buf;
    size_t cap, len;
    int error;   /* errno of the first write that failed, 0 while all is well */
    bool closed; /* the other end of the pipe is gone: no error, but nothing more to do */
};

/* out_init gives |out| a buffer of 256 KiB over |fd|. Returns 0, or -1 without memory. */
int out_init(struct out *out, int fd);

/* out_reserve returns room for |n| bytes (at most 64 KiB), written out first when need be;
 * out_commit says where the text ends that was put there. */
char *out_reserve(struct out *out, size_t n);
void out_commit(struct out *out, const char *end);

/* out_write appends |n| bytes of any number; out_str a string. */
void out_write(struct out *out, const char *data, size_t n);
void out_str(struct out *out, const char *s);

/* out_flush writes what is buffered. After a failure output is thrown away. */
void out_flush(struct out *out);

/* out_ok tells whether more output makes sense. */
static inline bool out_ok(const struct out *out)
{
    return out->error == 0 && !out->closed;
}

/* out_end flushes and frees; returns 0, or the errno of the first failure (not of a closed pipe).
 */
int out_end(struct out *out);

#endif
