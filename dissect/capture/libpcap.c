/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading libpcap. */
#include "libpcap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define PLACE(name) {"pcap_" #name, offsetof(struct cap_pcap, name)},
    CAP_PCAP_FUNCTIONS(PLACE)
#undef PLACE
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cap_pcap pcap;
static char failure[ROCE_ERRTEXT_LEN]; /* "" when |pcap| is filled */

static bool find_all(void *library)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *found = dlsym(library, functions[i].name);
        if (found == NULL)
            return false;
        memcpy((char *)&pcap + functions[i].at, &found, sizeof(found)); /* as POSIX has it */
    }
    return true;
}

static void load(void)
{
    void *library = dlopen(ROCE_LIBPCAP, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !find_all(library))
        (void)snprintf(failure, sizeof(failure), "libpcap does not load (%.150s); install it",
                       dlerror());
}

const struct cap_pcap *cap_pcap_load(char text[ROCE_ERRTEXT_LEN])
{
    (void)pthread_once(&once, load);
    if (failure[0] == '\0')
        return &pcap;
    memcpy(text, failure, ROCE_ERRTEXT_LEN);
    return NULL;
}
