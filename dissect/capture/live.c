/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening interfaces: rings of our own where the system has them, else libpcap. */
#include "live.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cap_live_fault(struct roce_reader *reader, uint32_t index, int err, const char *format, ...)
{
    char what[ROCE_ERRTEXT_LEN - sizeof(reader->ifaces[0].name)];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return cap_reader_fault(reader, err, "%s: %s", reader->ifaces[index].name, what);
}

int cap_live_finish(struct roce_reader *reader, int result)
{
    reader->done = true;
    reader->result = result;
    return result;
}

static int name_interfaces(struct roce_reader *reader, const char *const *names, uint32_t count)
{
    if (count == 0 || count > ROCE_LIVE_IFACES_MAX)
        return cap_reader_fault(reader, ROCE_ERR_INVALID, "between 1 and %d interfaces, not %u",
                                ROCE_LIVE_IFACES_MAX, count);
    for (uint32_t i = 0; i < count; i++) {
        const int index = cap_reader_add_iface(reader);
        if (index < 0)
            return index;
        const size_t len = strlen(names[i]);
        if (len == 0 || len >= sizeof(reader->ifaces[i].name))
            return cap_reader_fault(reader, ROCE_ERR_UNKNOWN, "'%.60s' is no name of an interface",
                                    names[i]);
        memcpy(reader->ifaces[i].name, names[i], len);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(names[k], names[i]) == 0)
                return cap_live_fault(reader, i, ROCE_ERR_INVALID, "named twice");
    }
    return 0;
}

static void drop_state(struct roce_reader *reader)
{
    if (reader->live != NULL)
        reader->live->del(reader);
    reader->live = NULL;
    reader->live_state = NULL;
}

static int open_interfaces(struct roce_reader *reader, const struct roce_live_opts *opts)
{
    if (!opts->portable) {
        const int rc = cap_live_rings(reader, opts);
        if (rc != ROCE_ERR_UNSUPPORTED || opts->fanout_group != 0 || opts->adapter_time)
            return rc;
        drop_state(reader);
    }
    return cap_live_pcap(reader, opts);
}

struct roce_reader *roce_reader_open_live(const char *const *names, uint32_t count,
                                          const struct roce_live_opts *opts, int *err,
                                          char text[ROCE_ERRTEXT_LEN])
{
    static const struct roce_live_opts defaults = {.wait_ms = 100};
    struct roce_reader *reader = calloc(1, sizeof(*reader));
    int rc = ROCE_ERR_NOMEM;
    if (reader != NULL) {
        cap_source_memory(&reader->source, cap_nothing, 0);
        reader->source.opening = false;
        rc = name_interfaces(reader, names, count);
        if (rc == 0 && !cap_wake_arm(&reader->source.wake, -1))
            rc = cap_reader_fault(reader, ROCE_ERR_IO, "no pipe");
        if (rc == 0)
            rc = open_interfaces(reader, opts != NULL ? opts : &defaults);
    }
    if (err != NULL)
        *err = rc;
    if (text != NULL)
        snprintf(text, ROCE_ERRTEXT_LEN, "%s",
                 rc == 0          ? ""
                 : reader != NULL ? reader->text
                                  : roce_strerror(rc));
    if (rc == 0)
        return reader;
    roce_reader_del(reader);
    return NULL;
}

int roce_reader_fd(const struct roce_reader *reader)
{
    return reader->live != NULL ? reader->live->fd(reader) : -1;
}
