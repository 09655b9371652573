/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening captures. */
#include "common/input.h"

#include <string.h>
#include <sys/stat.h>

#include "common/msg.h"
#include "common/signals.h"

const char *input_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

/* What helps against a file that cannot be read. */
static const char *hint(int err)
{
    switch (err) {
    case ROCE_ERR_FORMAT:
        return " reads pcap and pcapng, also inside gzip or zstd";
    case ROCE_ERR_EMPTY:
        return "a capture has at least a file header; was the capture stopped properly?";
    case ROCE_ERR_TRUNCATED:
        return "fetch the file again";
    case ROCE_ERR_UNSUPPORTED:
        return "convert it with editcap -F pcapng";
    default:
        return "check the name and the permissions";
    }
}

struct roce_reader *input_open(const char *program, const char *file,
                               const struct roce_reader_opts *opts)
{
    static bool opened_before;
    int err;
    char text[ROCE_ERRTEXT_LEN];
    if (!opened_before)
        signals_opening(input_name(file));
    struct roce_reader *reader = roce_reader_open(file, opts, &err, text);
    signals_opening(NULL);
    opened_before = true;
    if (reader == NULL)
        msg_file(input_name(file), "%s; %s%s", text, err == ROCE_ERR_FORMAT ? program : "",
                 hint(err));
    return reader;
}

bool input_same(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && S_ISREG(sa.st_mode) &&
           sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}
