/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading libmicrohttpd. */
#ifdef ROCE_MICROHTTPD
#include "rocestat/mhd.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/msg.h"

#define PLACE(name)                              \
    {                                            \
        "MHD_" #name, offsetof(struct mhd, name) \
    }
static const struct {
    const char *name;
    size_t at;
} functions[] = {
    PLACE(start_daemon),
    PLACE(stop_daemon),
    PLACE(create_response_from_buffer),
    PLACE(add_response_header),
    PLACE(queue_response),
    PLACE(destroy_response),
    PLACE(lookup_connection_value),
};
#undef PLACE

static bool find_all(void *library, struct mhd *mhd)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *found = dlsym(library, functions[i].name);
        if (found == NULL)
            return false;
        memcpy((char *)mhd + functions[i].at, &found, sizeof(found)); /* as POSIX has it */
    }
    return true;
}

const struct mhd *mhd_load(void)
{
    static struct mhd mhd;
    void *library = dlopen(ROCE_MICROHTTPD, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL && find_all(library, &mhd))
        return &mhd;
    msg_print("--listen: %s; install libmicrohttpd, or use --textfile", dlerror());
    return NULL;
}
#else
typedef int nothing_here; /* ISO C wants something in every file */
#endif
