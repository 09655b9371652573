/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP beside a running station: the exchanges of the example programs go over it, while frames keep
 * moving. All sockets are non-blocking. */
#ifndef ROCEREPLAY_TCP_H
#define ROCEREPLAY_TCP_H

#include <sys/socket.h>

#include "rocereplay/station.h"

/* tcp_resolve finds the address of |host|, of the kind that |family| wants (AF_UNSPEC: any). 0, or
 * -1 with a message printed. */
int tcp_resolve(const char *host, int family, uint8_t ip[16]);

/* tcp_connect connects from |st|'s address to |ip|, |port|. A descriptor, or -1 with a message. */
int tcp_connect(struct station *st, const uint8_t ip[16], uint16_t port);
/* tcp_listen waits at |port| of |st|'s address. */
int tcp_listen(const struct station *st, uint16_t port);
/* tcp_accept takes the next peer that comes; -1: interrupted, or with a message. */
int tcp_accept(struct station *st, int listener, uint8_t ip[16]);

/* tcp_read reads exactly |len| bytes; tcp_line a line of at most |room| - 1 bytes without its
 * newline; tcp_write writes all. The station runs meanwhile; |what| names the item in messages.
 * 0, or -1: the peer is gone, too slow, or we were interrupted (with a message). */
int tcp_read(struct station *st, int fd, void *buf, size_t len, const char *what);
int tcp_line(struct station *st, int fd, char *buf, size_t room, const char *what);
int tcp_write(struct station *st, int fd, const void *buf, size_t len, const char *what);
/* tcp_wait_end runs the station until the peer closes or writes; false: interrupted or failed. */
bool tcp_wait_end(struct station *st, int fd);
/* tcp_finish says that nothing more will be written, and runs the station until the peer says so,
 * too. */
bool tcp_finish(struct station *st, int fd);

#endif
