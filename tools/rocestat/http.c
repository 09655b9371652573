/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP for one page. */
#include "rocestat/http.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/msg.h"

#ifdef ROCE_MICROHTTPD
#include "rocestat/mhd.h"

/* A scraper needs one connection; a few curious people shall not keep it out. */
enum { CONNECTIONS_MAX = 32, TIMEOUT_S = 10, BACKLOG = 16 };

struct http {
    int fd;
    char url[160];
    struct http_page page;
    const struct mhd *mhd;
    struct MHD_Daemon *daemon;
};

/* Cuts "[ADDR]:PORT" and its shorter forms in two. False when there is no port. */
static bool split(const char *address, char host[128], char port[8])
{
    const char *colon = strrchr(address, ':');
    const char *number = colon != NULL ? colon + 1 : address;
    size_t len = colon != NULL ? (size_t)(colon - address) : 0;
    const bool brackets = len >= 2 && address[0] == '[' && address[len - 1] == ']';
    if (strlen(number) == 0 || strlen(number) > 5 || strspn(number, "0123456789") < strlen(number))
        return false;
    if (brackets) {
        address++;
        len -= 2;
    }
    if (len >= 128 || (!brackets && memchr(address, ':', len) != NULL))
        return false;
    memcpy(host, address, len);
    host[len] = '\0';
    memcpy(port, number, strlen(number) + 1);
    return true;
}

/* Without an address all of them are listened at, IPv4 and IPv6. */
static int listen_at(const struct addrinfo *at)
{
    const int on = 1, off = 0;
    const int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (at->ai_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

static void write_url(struct http *http)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    char host[64] = "", port[8] = "";
    if (getsockname(http->fd, (struct sockaddr *)&address, &len) != 0 ||
        getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    const bool brackets = strchr(host, ':') != NULL;
    (void)snprintf(http->url, sizeof(http->url), "http://%s%s%s:%s/metrics", brackets ? "[" : "",
                   host, brackets ? "]" : "", port);
}

static int open_socket(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    const int rc = getaddrinfo(host[0] != '\0' ? host : NULL, port, &hints, &list);
    if (rc != 0) {
        msg_print("--listen: %s: %s; give an address of this machine", host, gai_strerror(rc));
        return -1;
    }
    /* IPv6 first where both are offered: such a socket takes IPv4, too. */
    int fd = -1, error = 0;
    for (int wanted = 0; wanted < 2 && fd < 0; wanted++)
        for (const struct addrinfo *at = list; at != NULL && fd < 0; at = at->ai_next) {
            if ((at->ai_family == AF_INET6) != (wanted == 0))
                continue;
            fd = listen_at(at);
            error = fd < 0 ? errno : 0;
        }
    freeaddrinfo(list);
    if (fd < 0)
        msg_print("--listen: port %s: %s; choose another %s", port, strerror(error),
                  error == EADDRNOTAVAIL ? "address" : "port");
    return fd;
}

struct http *http_bind(const char *address, int *status)
{
    char host[128], port[8];
    if (!split(address, host, port) || strtol(port, NULL, 10) > 65535) {
        msg_print("--listen: '%s' is not an address with a port; give one as 127.0.0.1:9100"
                  " or [::1]:9100",
                  address);
        *status = EXIT_USAGE;
        return NULL;
    }
    *status = EXIT_IO;
    const struct mhd *mhd = mhd_load();
    const int fd = mhd == NULL ? -1 : open_socket(host, port);
    if (fd < 0)
        return NULL;
    struct http *http = calloc(1, sizeof(*http));
    if (http == NULL) {
        msg_print("out of memory");
        (void)close(fd);
        return NULL;
    }
    http->fd = fd;
    http->mhd = mhd;
    write_url(http);
    *status = EXIT_DONE;
    return http;
}

static enum MHD_Result answer_text(const struct mhd *mhd, struct MHD_Connection *connection,
                                   unsigned code, const char *text)
{
    char *copy = strdup(text);
    struct MHD_Response *response =
        copy == NULL ? NULL
                     : mhd->create_response_from_buffer(strlen(copy), copy, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(copy);
        return MHD_NO;
    }
    (void)mhd->add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                   "text/plain; charset=utf-8");
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        (void)mhd->add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    const enum MHD_Result queued = mhd->queue_response(connection, code, response);
    mhd->destroy_response(response);
    return queued;
}

static enum MHD_Result answer_metrics(const struct http *http, struct MHD_Connection *connection)
{
    const struct mhd *mhd = http->mhd;
    const enum metrics_format format = metrics_accept(
        mhd->lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
    size_t len = 0;
    char *text = http->page.get(http->page.ctx, format, &len);
    if (text == NULL)
        return answer_text(mhd, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "nothing counted yet\n");
    struct MHD_Response *response =
        mhd->create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(text);
        return MHD_NO;
    }
    (void)mhd->add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                   format == METRICS_OPENMETRICS ? METRICS_CONTENT_OPENMETRICS
                                                                 : METRICS_CONTENT_TEXT);
    const enum MHD_Result queued = mhd->queue_response(connection, MHD_HTTP_OK, response);
    mhd->destroy_response(response);
    return queued;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_len, void **state)
{
    static int seen;
    const struct http *http = context;
    const struct mhd *mhd = http->mhd;
    (void)version;
    (void)data;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer_text(mhd, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    /* The first call announces the headers; answers are given at the second. */
    if (*state == NULL) {
        *state = &seen;
        return MHD_YES;
    }
    *data_len = 0;
    if (strcmp(url, "/metrics") == 0)
        return answer_metrics(http, connection);
    if (strcmp(url, "/") == 0)
        return answer_text(mhd, connection, MHD_HTTP_OK, "rocestat; the metrics are at /metrics\n");
    return answer_text(mhd, connection, MHD_HTTP_NOT_FOUND,
                       "not here; the metrics are at /metrics\n");
}

int http_start(struct http *http, struct http_page page)
{
    http->page = page;
    http->daemon = http->mhd->start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, answer, http,
        MHD_OPTION_LISTEN_SOCKET, http->fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_END);
    if (http->daemon == NULL) {
        msg_print("--listen: the server does not start");
        return EXIT_IO;
    }
    return EXIT_DONE;
}

const char *http_url(const struct http *http)
{
    return http->url;
}

void http_del(struct http *http)
{
    if (http == NULL)
        return;
    if (http->daemon != NULL)
        http->mhd->stop_daemon(http->daemon); /* closes the socket, too */
    else
        (void)close(http->fd);
    free(http);
}

#else

struct http {
    int unused;
};

struct http *http_bind(const char *address, int *status)
{
    (void)address;
    msg_print("--listen: built without libmicrohttpd; use --textfile, or build with it");
    *status = EXIT_IO;
    return NULL;
}

int http_start(struct http *http, struct http_page page)
{
    (void)http;
    (void)page;
    return EXIT_IO;
}

const char *http_url(const struct http *http)
{
    (void)http;
    return "";
}

void http_del(struct http *http)
{
    (void)http;
}

#endif
