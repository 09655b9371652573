/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffered output over a file descriptor. */
#include "common/out.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_LEN = 256 * 1024, RESERVE_MAX = 64 * 1024 };

int out_init(struct out *out, int fd)
{
    *out = (struct out){.fd = fd, .cap = BUFFER_LEN, .buf = malloc(BUFFER_LEN)};
    return out->buf == NULL ? -1 : 0;
}

static void write_all(struct out *out, const char *data, size_t n)
{
    while (n > 0 && out_ok(out)) {
        const ssize_t done = write(out->fd, data, n);
        if (done >= 0) {
            data += done;
            n -= (size_t)done;
        } else if (errno == EPIPE) {
            out->closed = true;
        } else if (errno != EINTR) {
            out->error = errno;
        }
    }
}

void out_flush(struct out *out)
{
    write_all(out, out->buf, out->len);
    out->len = 0;
}

char *out_reserve(struct out *out, size_t n)
{
    assert(n <= RESERVE_MAX);
    if (out->cap - out->len < n)
        out_flush(out);
    return out->buf + out->len;
}

void out_commit(struct out *out, const char *end)
{
    out->len = (size_t)(end - out->buf);
    assert(out->len <= out->cap);
}

void out_write(struct out *out, const char *data, size_t n)
{
    if (n > RESERVE_MAX) {
        out_flush(out);
        write_all(out, data, n);
        return;
    }
    char *p = out_reserve(out, n);
    memcpy(p, data, n);
    out_commit(out, p + n);
}

void out_str(struct out *out, const char *s)
{
    out_write(out, s, strlen(s));
}

int out_end(struct out *out)
{
    if (out->buf != NULL)
        out_flush(out);
    free(out->buf);
    out->buf = NULL;
    return out->error;
}
