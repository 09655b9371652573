/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture file as port. */
#include "port/file.h"

#include <errno.h>
#include <roce/capture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

struct held {
    roce_tstamp ts;
    size_t len;
    uint8_t *data;
};

struct file_port {
    struct port port;
    struct port *inner;         /* may be NULL */
    struct roce_writer *writer; /* NULL once closed */
    roce_tstamp epoch;
    uint64_t count;
    /* held back: the first is number |held_first| */
    bool holds;
    struct held *held;
    size_t n_held, held_room;
    uint64_t held_first;
    uint8_t *last; /* room handed out last */
    uint8_t frame[ENG_FRAME_MAX];
};

static int failed(struct file_port *f)
{
    (void)snprintf(f->port.text, sizeof(f->port.text), "%s", strerror(errno));
    return ROCE_ERR_IO;
}

/* Without memory it is written as it is: there is no note for it. */
static bool keep(struct file_port *f, const struct roce_frame *frame)
{
    if (f->n_held == f->held_room) {
        const size_t room = f->held_room != 0 ? 2 * f->held_room : 64;
        struct held *grown = realloc(f->held, room * sizeof(*grown));
        if (grown == NULL)
            return false;
        f->held = grown;
        f->held_room = room;
    }
    struct held *held = &f->held[f->n_held];
    *held = (struct held){.ts = frame->ts, .len = frame->caplen, .data = malloc(frame->caplen)};
    if (held->data == NULL)
        return false;
    memcpy(held->data, frame->data, held->len);
    f->n_held++;
    return true;
}

static int record(struct file_port *f, const uint8_t *data, size_t len, roce_tstamp now)
{
    const struct roce_frame frame = {.data = data,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .ts = now + f->epoch,
                                     .linktype = ROCE_LINK_ETHERNET};
    f->count++;
    if (f->writer == NULL || (f->holds && keep(f, &frame)))
        return 0;
    return roce_writer_write(f->writer, &frame) == 0 ? 0 : failed(f);
}

static int passed_on(struct file_port *f, int rc)
{
    if (rc < 0)
        memcpy(f->port.text, f->inner->text, sizeof(f->port.text));
    return rc;
}

static uint8_t *file_room(struct port *port, size_t len)
{
    struct file_port *f = (struct file_port *)port;
    if (f->inner != NULL)
        f->last = f->inner->ops->room(f->inner, len);
    else
        f->last = len <= sizeof(f->frame) ? f->frame : NULL;
    return f->last;
}

static int file_commit(struct port *port, size_t len, roce_tstamp now)
{
    struct file_port *f = (struct file_port *)port;
    const int rc = record(f, f->last, len, now);
    if (rc != 0 || f->inner == NULL)
        return rc;
    return passed_on(f, f->inner->ops->commit(f->inner, len, now));
}

static int file_flush(struct port *port, roce_tstamp now)
{
    struct file_port *f = (struct file_port *)port;
    return f->inner == NULL ? 0 : passed_on(f, f->inner->ops->flush(f->inner, now));
}

static int file_receive(struct port *port, roce_tstamp now, struct roce_frame *frame)
{
    struct file_port *f = (struct file_port *)port;
    if (f->inner == NULL)
        return 0;
    const int rc = passed_on(f, f->inner->ops->receive(f->inner, now, frame));
    if (rc <= 0)
        return rc;
    const int written = record(f, frame->data, frame->caplen, now);
    return written < 0 ? written : rc;
}

static roce_tstamp file_next(const struct port *port)
{
    const struct file_port *f = (const struct file_port *)port;
    return f->inner == NULL ? PORT_NEVER : f->inner->ops->next(f->inner);
}

static int file_fd(const struct port *port)
{
    const struct file_port *f = (const struct file_port *)port;
    return f->inner == NULL ? -1 : f->inner->ops->fd(f->inner);
}

static void file_del(struct port *port)
{
    struct file_port *f = (struct file_port *)port;
    (void)port_file_close(port);
    port_del(f->inner);
    free(f);
}

static const struct port_ops file_ops = {
    .room = file_room,
    .commit = file_commit,
    .flush = file_flush,
    .receive = file_receive,
    .next = file_next,
    .fd = file_fd,
    .del = file_del,
};

struct port *port_file_new(const char *path, struct port *inner, roce_tstamp epoch,
                           char text[PORT_TEXT_MAX])
{
    char why[ROCE_ERRTEXT_LEN];
    int err;
    struct file_port *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        (void)snprintf(text, PORT_TEXT_MAX, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    f->writer =
        roce_writer_open(path, roce_file_format_by_name(path), ROCE_LINK_ETHERNET, 0, &err, why);
    if (f->writer == NULL) {
        (void)snprintf(text, PORT_TEXT_MAX, "%.*s", PORT_TEXT_MAX - 1, why);
        free(f);
        return NULL;
    }
    f->port.ops = &file_ops;
    f->inner = inner;
    f->epoch = epoch;
    return &f->port;
}

uint64_t port_file_count(const struct port *port)
{
    return ((const struct file_port *)port)->count;
}

void port_file_hold(struct port *port)
{
    struct file_port *f = (struct file_port *)port;
    f->holds = true;
    f->held_first = f->count + 1;
}

static const char *note_of(uint64_t number, const struct port_note *notes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (notes[i].number == number)
            return notes[i].text;
    return NULL;
}

int port_file_release(struct port *port, const struct port_note *notes, size_t n)
{
    struct file_port *f = (struct file_port *)port;
    int rc = 0;
    for (size_t i = 0; i < f->n_held; i++) {
        const struct roce_frame frame = {.data = f->held[i].data,
                                         .caplen = (uint32_t)f->held[i].len,
                                         .origlen = (uint32_t)f->held[i].len,
                                         .ts = f->held[i].ts,
                                         .linktype = ROCE_LINK_ETHERNET};
        if (f->writer != NULL && rc == 0 &&
            roce_writer_write_note(f->writer, &frame, note_of(f->held_first + i, notes, n)) != 0)
            rc = failed(f);
        free(f->held[i].data);
    }
    f->n_held = 0;
    f->holds = false;
    return rc;
}

int port_file_close(struct port *port)
{
    struct file_port *f = (struct file_port *)port;
    const int kept = port_file_release(port, NULL, 0);
    free(f->held);
    f->held = NULL;
    f->held_room = 0;
    struct roce_writer *writer = f->writer;
    f->writer = NULL;
    return writer == NULL || roce_writer_close(writer) == 0 ? kept : failed(f);
}
