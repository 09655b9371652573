/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An HTTP server for one page of text: a thread of libmicrohttpd, where that was there to build. */
#ifndef ROCESTAT_HTTP_H
#define ROCESTAT_HTTP_H

#include "rocestat/metrics.h"

struct http;

/* Where the page comes from: |get| returns it in memory that is freed by the caller, with its
 * length; NULL when there is none yet. It is called from the server's thread. */
struct http_page {
    void *ctx;
    char *(*get)(void *ctx, enum metrics_format format, size_t *len);
};

/* http_bind listens at |address|: "PORT", ":PORT", "ADDR:PORT" or "[ADDR]:PORT"; port 0 takes any.
 * Nothing is answered yet. On failure it says why and returns NULL with the exit status in
 * |*status|. */
struct http *http_bind(const char *address, int *status);

/* http_start answers from now on. Returns an exit status. */
int http_start(struct http *http, struct http_page page);

/* http_url returns where the metrics are, "http://127.0.0.1:9100/metrics"; owned by |http|. */
const char *http_url(const struct http *http);

void http_del(struct http *http); /* NULL is accepted */

#endif
