/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture file as port: writes each frame to a pcap or pcapng file, and hands it on to the port
 * that it wraps, if there is one. */
#ifndef PORT_FILE_H
#define PORT_FILE_H

#include "port/port.h"

/* port_file_new creates |path| (pcapng by its ending, "-": standard output). What |inner| sends
 * and receives is recorded, in this order; without it (NULL) frames are only written and nothing is
 * received. |epoch| is added to the port's time for the file. |inner| then belongs to the new port;
 * on failure it is left alone, NULL is returned and |text| tells why. */
struct port *port_file_new(const char *path, struct port *inner, roce_tstamp epoch,
                           char text[PORT_TEXT_MAX]);
/* port_file_count tells how many frames have been recorded. */
uint64_t port_file_count(const struct port *port);
/* A frame's comment, kept in pcapng files. */
struct port_note {
    uint64_t number; /* as port_file_count told when it was recorded */
    const char *text;
};
/* port_file_hold keeps the frames that follow in memory until port_file_release writes them, with
 * the |n| notes at those that they name. 0, or ROCE_ERR_IO with the reason in |port->text|. */
void port_file_hold(struct port *port);
int port_file_release(struct port *port, const struct port_note *notes, size_t n);
/* port_file_close writes what is left and closes the file; the port goes on without it. 0, or
 * ROCE_ERR_IO with the reason in |port->text|. */
int port_file_close(struct port *port);

#endif
