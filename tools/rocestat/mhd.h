/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libmicrohttpd, loaded when it is asked for: it brings a dozen libraries with it, and they take
 * longer to load than a small capture takes to be analysed. */
#ifndef ROCESTAT_MHD_H
#define ROCESTAT_MHD_H

#include <microhttpd.h>

#define MEMBER(name) __typeof__(MHD_##name) *name
struct mhd {
    MEMBER(start_daemon);
    MEMBER(stop_daemon);
    MEMBER(create_response_from_buffer);
    MEMBER(add_response_header);
    MEMBER(queue_response);
    MEMBER(destroy_response);
    MEMBER(lookup_connection_value);
};
#undef MEMBER

/* mhd_load returns the functions, or NULL when it has said why there are none. */
const struct mhd *mhd_load(void);

#endif
