/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Being watched from outside. */
#include "rocestat/headless.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/msg.h"
#include "rocestat/http.h"
#include "rocestat/metrics.h"

/* Metrics are rendered this often. A look at one flow costs about as much as counting a packet: few
 * of them between two batches, many when there is nothing else to do. */
enum { FLOWS_BUSY = 8, FLOWS_IDLE = 65536 };
#define PERIOD_NS UINT64_C(1000000000)

struct headless {
    const struct stat_opts *opts;
    struct metrics metrics;
    struct roce_flow_ops inner;
    struct http *http;
    uint64_t due_ns;
    bool looking; /* a round over the flows is under way */
    struct {
        char *text;
        size_t len;
    } ready[METRICS_FORMATS]; /* rendered, not yet put down */
    bool has_ready;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    char *text[METRICS_FORMATS]; /* what others take */
    size_t len[METRICS_FORMATS];
    uint64_t version;
    bool stop;
    pthread_t writer;
    bool writing;
};

/* ---- the file, in a thread of its own ---- */

/* Readers see the old file or the new one, never half of it. */
static int write_file(const char *path, const char *text, size_t len)
{
    char temporary[4096];
    const int n = snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    FILE *file = fopen(temporary, "we");
    if (file == NULL)
        return -1;
    const bool written = fwrite(text, 1, len, file) == len;
    if (fclose(file) == 0 && written && rename(temporary, path) == 0)
        return 0;
    const int error = errno;
    (void)unlink(temporary);
    errno = error;
    return -1;
}

static void *write_files(void *arg)
{
    struct headless *h = arg;
    uint64_t seen = 0;
    bool failed = false;
    (void)pthread_mutex_lock(&h->lock);
    while (!h->stop || h->version != seen) {
        if (h->version == seen) {
            (void)pthread_cond_wait(&h->changed, &h->lock);
            continue;
        }
        seen = h->version;
        const size_t len = h->len[METRICS_TEXT];
        char *copy = malloc(len + 1);
        if (copy != NULL)
            memcpy(copy, h->text[METRICS_TEXT], len);
        (void)pthread_mutex_unlock(&h->lock);
        const int rc = copy == NULL ? -1 : write_file(h->opts->textfile, copy, len);
        if (rc != 0 && !failed)
            msg_file(h->opts->textfile, "%s; the metrics in it are old", strerror(errno));
        failed = rc != 0;
        free(copy);
        (void)pthread_mutex_lock(&h->lock);
    }
    (void)pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* ---- rendering, in the thread that counts ---- */

static char *get_page(void *ctx, enum metrics_format format, size_t *len)
{
    struct headless *h = ctx;
    (void)pthread_mutex_lock(&h->lock);
    char *copy = h->text[format] == NULL ? NULL : malloc(h->len[format] + 1);
    if (copy != NULL) {
        memcpy(copy, h->text[format], h->len[format]);
        *len = h->len[format];
    }
    (void)pthread_mutex_unlock(&h->lock);
    return copy;
}

static void render(struct headless *h)
{
    metrics_gather(&h->metrics);
    for (int i = 0; i < METRICS_FORMATS; i++) {
        free(h->ready[i].text);
        h->ready[i].text = NULL;
        FILE *file = open_memstream(&h->ready[i].text, &h->ready[i].len);
        if (file == NULL)
            continue;
        metrics_write(&h->metrics, file, (enum metrics_format)i);
        if (fclose(file) != 0) {
            free(h->ready[i].text);
            h->ready[i].text = NULL;
        }
    }
    h->has_ready = true;
}

/* Called with the lock held. */
static void put_down(struct headless *h)
{
    for (int i = 0; i < METRICS_FORMATS; i++) {
        if (h->ready[i].text == NULL)
            continue;
        free(h->text[i]);
        h->text[i] = h->ready[i].text;
        h->len[i] = h->ready[i].len;
        h->ready[i].text = NULL;
    }
    h->version++;
    h->has_ready = false;
    (void)pthread_cond_signal(&h->changed);
}

/* Who takes a page holds the lock for the time of a copy; it is tried again at the next tick. */
static void try_put_down(struct headless *h)
{
    if (!h->has_ready || pthread_mutex_trylock(&h->lock) != 0)
        return;
    put_down(h);
    (void)pthread_mutex_unlock(&h->lock);
}

void headless_count(struct headless *h, const struct roce_frame *frame,
                    const struct roce_packet *pkt, const struct roce_icrc *icrc,
                    const struct roce_verdict *verdict)
{
    metrics_count(&h->metrics, frame, pkt, icrc, verdict);
}

void headless_tick(struct headless *h, const struct roce_iface *ifaces, bool idle)
{
    try_put_down(h);
    if (h->looking) {
        if (!worst_step(&h->metrics.worst, h->metrics.obs, idle ? FLOWS_IDLE : FLOWS_BUSY))
            return;
        h->looking = false;
        metrics_ifaces(&h->metrics, ifaces);
        render(h);
        try_put_down(h);
        return;
    }
    const uint64_t now = clock_monotonic_ns();
    if (now < h->due_ns)
        return;
    h->due_ns = now + PERIOD_NS;
    worst_begin(&h->metrics.worst, h->metrics.obs);
    h->looking = true;
}

static void on_event(void *ctx, const struct roce_event *event)
{
    struct headless *h = ctx;
    metrics_event(&h->metrics, event);
    if (h->inner.event != NULL && (h->inner.mask == 0 || (h->inner.mask >> event->kind & 1) != 0))
        h->inner.event(h->inner.ctx, event);
}

struct roce_flow_ops headless_ops(struct headless *h, struct roce_flow_ops ops)
{
    if (h == NULL)
        return ops;
    h->inner = ops;
    const uint32_t mask = UINT32_C(1) << ROCE_EVENT_LOSS;
    return (struct roce_flow_ops){
        .ctx = h,
        .event = on_event,
        .mask = ops.event == NULL ? mask
                : ops.mask == 0   ? 0
                                  : ops.mask | mask,
    };
}

int headless_new(const struct stat_opts *opts, struct headless **headless)
{
    *headless = NULL;
    if (opts->listen == NULL && opts->textfile == NULL)
        return EXIT_DONE;
    struct headless *h = calloc(1, sizeof(*h));
    if (h == NULL) {
        msg_print("out of memory");
        return EXIT_IO;
    }
    *headless = h;
    h->opts = opts;
    (void)pthread_mutex_init(&h->lock, NULL);
    (void)pthread_cond_init(&h->changed, NULL);
    const uint64_t top = opts->top == 0 ? TOP_TEXT : opts->top;
    if (metrics_init(&h->metrics, top < WORST_LIMIT_MAX ? (uint32_t)top : WORST_LIMIT_MAX) != 0) {
        msg_print("out of memory; give less to --top");
        return EXIT_IO;
    }
    int status = EXIT_DONE;
    if (opts->listen != NULL)
        h->http = http_bind(opts->listen, &status);
    return status;
}

/* The first values are there before anybody can ask; that the file can be written is known then.
 */
static int publish_first(struct headless *h)
{
    worst_begin(&h->metrics.worst, h->metrics.obs);
    (void)worst_step(&h->metrics.worst, h->metrics.obs, UINT32_MAX);
    render(h);
    (void)pthread_mutex_lock(&h->lock);
    put_down(h);
    (void)pthread_mutex_unlock(&h->lock);
    if (h->opts->textfile == NULL)
        return EXIT_DONE;
    if (h->text[METRICS_TEXT] != NULL &&
        write_file(h->opts->textfile, h->text[METRICS_TEXT], h->len[METRICS_TEXT]) == 0)
        return EXIT_DONE;
    msg_file(h->opts->textfile, "%s; -Z names a user that may write there", strerror(errno));
    return EXIT_IO;
}

/* Signals are for the first thread. */
static int start_threads(struct headless *h)
{
    sigset_t all, before;
    int status = EXIT_DONE;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    if (h->opts->textfile != NULL) {
        h->writing = pthread_create(&h->writer, NULL, write_files, h) == 0;
        if (!h->writing) {
            msg_print("--textfile: no thread");
            status = EXIT_IO;
        }
    }
    if (h->http != NULL && status == EXIT_DONE)
        status = http_start(h->http, (struct http_page){.ctx = h, .get = get_page});
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

int headless_start(struct headless *h, const struct roce_observer *obs)
{
    h->metrics.obs = obs;
    const struct opt_names *names = &h->opts->live.interfaces;
    h->metrics.ifaces = names->n;
    for (uint32_t i = 0; i < names->n; i++)
        (void)snprintf(h->metrics.iface[i].name, sizeof(h->metrics.iface[i].name), "%s",
                       names->name[i]);
    h->due_ns = clock_monotonic_ns() + PERIOD_NS;
    int status = publish_first(h);
    if (status == EXIT_DONE)
        status = start_threads(h);
    if (status == EXIT_DONE && h->http != NULL && !h->opts->common.quiet)
        msg_print("metrics at %s", http_url(h->http));
    return status;
}

void headless_end(struct headless *h, const struct roce_iface *ifaces)
{
    worst_begin(&h->metrics.worst, h->metrics.obs);
    (void)worst_step(&h->metrics.worst, h->metrics.obs, UINT32_MAX);
    h->looking = false;
    metrics_ifaces(&h->metrics, ifaces);
    render(h);
    (void)pthread_mutex_lock(&h->lock);
    put_down(h);
    (void)pthread_mutex_unlock(&h->lock);
}

void headless_del(struct headless *h)
{
    if (h == NULL)
        return;
    http_del(h->http);
    (void)pthread_mutex_lock(&h->lock);
    h->stop = true;
    (void)pthread_cond_signal(&h->changed);
    (void)pthread_mutex_unlock(&h->lock);
    if (h->writing)
        (void)pthread_join(h->writer, NULL);
    for (int i = 0; i < METRICS_FORMATS; i++) {
        free(h->ready[i].text);
        free(h->text[i]);
    }
    metrics_free(&h->metrics);
    (void)pthread_cond_destroy(&h->changed);
    (void)pthread_mutex_destroy(&h->lock);
    free(h);
}
