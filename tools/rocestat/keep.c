/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames that were counted, in a capture file. */
#include "rocestat/keep.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <roce/err.h>

#include "common/input.h"
#include "common/msg.h"

static int create(struct keep *keep, uint32_t linktype)
{
    const char *path = keep->opts->common.write;
    int err;
    char text[ROCE_ERRTEXT_LEN];
    keep->writer = roce_writer_open(path, roce_file_format_by_name(path), linktype,
                                    keep->opts->common.snaplen, &err, text);
    if (keep->writer != NULL)
        return EXIT_DONE;
    msg_file(path, "%s; choose another place for -w", text);
    return EXIT_IO;
}

int keep_open(struct keep *keep, const struct stat_opts *opts, const struct roce_reader *reader)
{
    const char *path = opts->common.write;
    keep->opts = opts;
    if (path == NULL)
        return EXIT_DONE;
    if (strcmp(path, "-") == 0) {
        msg_print("-w: the report is on standard output; name a file");
        return EXIT_USAGE;
    }
    if (!live_wanted(&opts->live) && input_same(path, opts->file)) {
        msg_file(path, "is the capture that is read; choose another name for -w");
        return EXIT_USAGE;
    }
    const struct roce_iface *iface = roce_reader_iface(reader, 0);
    return iface == NULL ? EXIT_DONE : create(keep, iface->linktype);
}

int keep_write(struct keep *keep, const struct roce_frame *frame, int n)
{
    if (keep->opts->common.write == NULL || n == 0)
        return EXIT_DONE;
    if (keep->writer == NULL) {
        const int status = create(keep, frame[0].linktype);
        if (status != EXIT_DONE)
            return status;
    }
    for (int i = 0; i < n; i++) {
        const int rc = roce_writer_write(keep->writer, &frame[i]);
        if (rc == 0)
            continue;
        if (rc == ROCE_ERR_UNSUPPORTED)
            msg_file(keep->opts->common.write,
                     "a pcap file holds one link type, and frame %" PRIu64
                     " has another; use a name ending in .pcapng",
                     frame[i].number);
        else
            msg_file(keep->opts->common.write, "%s; what was written so far may be cut short",
                     strerror(errno));
        return EXIT_IO;
    }
    return EXIT_DONE;
}

void keep_flush(struct keep *keep)
{
    if (keep->writer != NULL)
        (void)roce_writer_flush(keep->writer);
}

int keep_close(struct keep *keep)
{
    if (keep->writer == NULL)
        return EXIT_DONE;
    const int rc = roce_writer_close(keep->writer);
    keep->writer = NULL;
    if (rc == 0)
        return EXIT_DONE;
    msg_file(keep->opts->common.write, "%s; the file is not complete", strerror(errno));
    return EXIT_IO;
}
