/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs for the kernel's packet filter. */
#ifndef CAPTURE_LIVE_FILTER_H
#define CAPTURE_LIVE_FILTER_H

#include <stdint.h>

#include "reader.h"

/* live_filter_attach makes the socket |fd| of interface |index| drop what |expression| (may be "")
 * does not match, and cut the rest to |snaplen|. Returns 0, or an error with reader->text set. */
int live_filter_attach(struct roce_reader *reader, uint32_t index, int fd, const char *expression,
                       uint32_t snaplen);

/* live_filter_shut makes the socket take nothing any more. */
void live_filter_shut(int fd);

/* live_filter_share makes the bound socket |fd| one of |group|, among which frames are shared out
 * by address pair. Returns 0 or -1 with errno. */
int live_filter_share(int fd, uint16_t group);

#endif
