/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ping-pongs of ib_send_lat and ib_write_lat. */
#ifndef ROCEREPLAY_PERFTEST_LAT_H
#define ROCEREPLAY_PERFTEST_LAT_H

#include "rocereplay/plan.h"

/* perftest_lat_play plays on the first lane of |end|, whose sink is at work. In ib_send_lat the
 * client sends first, in ib_write_lat (|by_write|) the server, and the last byte of the memory
 * tells the number of the message. 0, or -1 with a message printed. */
int perftest_lat_play(struct end *end, bool by_write, bool client, struct load_result *result);

#endif
