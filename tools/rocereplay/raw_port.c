/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all sending ports share, and the capture file as one. */
#include "rocereplay/raw_port.h"

#include <errno.h>
#include <roce/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int raw_receive_none(struct port *port, roce_tstamp now, struct roce_frame *frame)
{
    (void)port;
    (void)now;
    (void)frame;
    return 0;
}

roce_tstamp raw_next_never(const struct port *port)
{
    (void)port;
    return PORT_NEVER;
}

int raw_fd_none(const struct port *port)
{
    (void)port;
    return -1;
}

int raw_send(struct port *port, const uint8_t *data, size_t len, roce_tstamp now)
{
    uint8_t *room;
    while ((room = port->ops->room(port, len)) == NULL) {
        const int rc = port->ops->flush(port, now);
        if (rc < 0)
            return rc;
    }
    memcpy(room, data, len);
    return port->ops->commit(port, len, now);
}

struct raw_file {
    struct port port;
    struct port *inner; /* may be NULL */
    struct roce_writer *writer;
    roce_tstamp epoch;
    uint32_t linktype;
    uint8_t *frame; /* RAW_FRAME_MAX bytes, without |inner| */
    const uint8_t *last;
};

static uint8_t *file_room(struct port *port, size_t len)
{
    struct raw_file *f = (struct raw_file *)port;
    uint8_t *room = len <= RAW_FRAME_MAX ? f->frame : NULL;
    if (f->inner != NULL)
        room = f->inner->ops->room(f->inner, len);
    f->last = room;
    return room;
}

static int from_inner(struct raw_file *f, int rc)
{
    if (rc < 0)
        memcpy(f->port.text, f->inner->text, sizeof(f->port.text));
    return rc;
}

static int file_commit(struct port *port, size_t len, roce_tstamp now)
{
    struct raw_file *f = (struct raw_file *)port;
    const struct roce_frame frame = {.data = f->last,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .ts = f->epoch + now,
                                     .linktype = f->linktype};
    if (f->writer != NULL && roce_writer_write(f->writer, &frame) != 0) {
        (void)snprintf(port->text, sizeof(port->text), "%s", strerror(errno));
        return ROCE_ERR_IO;
    }
    return f->inner != NULL ? from_inner(f, f->inner->ops->commit(f->inner, len, now)) : 0;
}

static int file_flush(struct port *port, roce_tstamp now)
{
    struct raw_file *f = (struct raw_file *)port;
    return f->inner != NULL ? from_inner(f, f->inner->ops->flush(f->inner, now)) : 0;
}

static void file_del(struct port *port)
{
    struct raw_file *f = (struct raw_file *)port;
    (void)roce_writer_close(f->writer);
    port_del(f->inner);
    free(f->frame);
    free(f);
}

static const struct port_ops file_ops = {
    .room = file_room,
    .commit = file_commit,
    .flush = file_flush,
    .receive = raw_receive_none,
    .next = raw_next_never,
    .fd = raw_fd_none,
    .del = file_del,
};

struct port *raw_file_new(const char *path, uint32_t linktype, roce_tstamp epoch,
                          struct port *inner, char text[PORT_TEXT_MAX])
{
    char why[ROCE_ERRTEXT_LEN] = "";
    int err;
    struct raw_file *f = calloc(1, sizeof(*f));
    if (f != NULL)
        f->frame = malloc(RAW_FRAME_MAX);
    if (f == NULL || f->frame == NULL) {
        free(f);
        (void)snprintf(text, PORT_TEXT_MAX, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    f->port.ops = &file_ops;
    f->epoch = epoch;
    f->linktype = linktype;
    f->writer = roce_writer_open(path, roce_file_format_by_name(path), linktype, 0, &err, why);
    if (f->writer == NULL) {
        file_del(&f->port);
        (void)snprintf(text, PORT_TEXT_MAX, "%.*s", PORT_TEXT_MAX - 1, why);
        return NULL;
    }
    f->inner = inner;
    return &f->port;
}

int raw_file_close(struct port *port)
{
    struct raw_file *f = (struct raw_file *)port;
    struct roce_writer *writer = f->writer;
    f->writer = NULL;
    if (roce_writer_close(writer) == 0)
        return 0;
    (void)snprintf(port->text, sizeof(port->text), "%s", strerror(errno));
    return -1;
}
