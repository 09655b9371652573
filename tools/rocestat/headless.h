/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Being watched from outside: metrics over HTTP and in a file. The thread that counts renders them
 * once a second and puts them down; others take them from there, and it never waits for these. */
#ifndef ROCESTAT_HEADLESS_H
#define ROCESTAT_HEADLESS_H

#include <roce/capture.h>
#include <roce/observer.h>

#include "rocestat/options.h"

struct headless;

/* headless_new takes the address of --listen (before root is given up: the port may need it).
 * |*headless| is NULL when neither --listen nor --textfile was given. Returns an exit status, with
 * the mistake reported. |opts| is kept. */
int headless_new(const struct stat_opts *opts, struct headless **headless);

/* headless_ops returns |ops| with what the metrics want to know in front; |headless| may be NULL.
 */
struct roce_flow_ops headless_ops(struct headless *headless, struct roce_flow_ops ops);

/* headless_start begins to serve. Returns an exit status. */
int headless_start(struct headless *headless, const struct roce_observer *obs);

void headless_count(struct headless *headless, const struct roce_frame *frame,
                    const struct roce_packet *pkt, const struct roce_icrc *icrc,
                    const struct roce_verdict *verdict);

/* headless_tick is called between batches, with all interfaces as they are now; |idle|: nothing
 * else is to be done. */
void headless_tick(struct headless *headless, const struct roce_iface *ifaces, bool idle);

/* headless_end puts the final values down, also in the file. */
void headless_end(struct headless *headless, const struct roce_iface *ifaces);

void headless_del(struct headless *headless); /* NULL is accepted */

#endif
