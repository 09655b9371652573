/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening an input and choosing how its bytes are read. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const uint8_t cap_nothing[1] = {0};

int cap_source_fail(struct cap_source *source, int err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(source->text, sizeof(source->text), format, args);
    va_end(args);
    return err;
}

static void init(struct cap_source *source, const struct roce_reader_opts *opts)
{
    memset(source, 0, sizeof(*source));
    source->fd = -1;
    source->opening = true;
    source->start = source->pos = source->end = cap_nothing;
    cap_wake_init(&source->wake);
    if (opts != NULL) {
        source->follow = opts->follow;
        source->hold = opts->hold;
    }
}

static int start(struct cap_source *source)
{
    struct stat st;
    if (fstat(source->fd, &st) != 0)
        return cap_source_fail(source, ROCE_ERR_IO, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return cap_source_fail(source, ROCE_ERR_IO, "is a directory");
    source->regular = S_ISREG(st.st_mode);
    source->follow = source->follow && source->regular;
    source->file_size = source->regular ? (uint64_t)st.st_size : 0;

    /* Standard input may be a file that someone else has read the beginning of. */
    const off_t at = source->regular ? lseek(source->fd, 0, SEEK_CUR) : 0;
    source->file_pos = at > 0 ? (uint64_t)at : 0;
    if (source->regular)
        posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return cap_stream_start(source);
}

int cap_source_open(struct cap_source *source, const char *path,
                    const struct roce_reader_opts *opts)
{
    const bool standard_input = strcmp(path, "-") == 0;
    init(source, opts);
    source->fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    source->own_fd = !standard_input;
    if (source->fd < 0)
        return cap_source_fail(source, ROCE_ERR_IO, "%s", strerror(errno));
    return start(source);
}

int cap_source_fd(struct cap_source *source, int fd, const struct roce_reader_opts *opts)
{
    init(source, opts);
    source->fd = fd;
    return start(source);
}

int cap_source_memory(struct cap_source *source, const uint8_t *data, size_t len)
{
    init(source, NULL);
    source->regular = true;
    source->file_size = len;
    source->pos = source->start = data;
    source->end = data + len;
    return 0;
}

bool cap_source_leave(struct cap_source *source, struct cap_window window)
{
    if (source->held_count == source->held_cap) {
        const size_t cap = source->held_cap == 0 ? 4 : 2 * source->held_cap;
        struct cap_window *held = realloc(source->held, cap * sizeof(*held));
        if (held == NULL)
            return false;
        source->held = held;
        source->held_cap = cap;
    }
    source->held[source->held_count++] = window;
    return true;
}

void cap_source_release(struct cap_source *source, uint64_t mark)
{
    size_t kept = 0;
    for (size_t i = 0; i < source->held_count; i++) {
        struct cap_window *window = &source->held[i];
        if (window->mark > mark)
            source->held[kept++] = *window;
        else
            cap_stream_drop(source, window);
    }
    source->held_count = kept;
}

void cap_source_close(struct cap_source *source)
{
    cap_source_release(source, UINT64_MAX);
    free(source->held);
    cap_stream_close(source);
    if (source->own_fd && source->fd >= 0)
        close(source->fd);
    cap_codec_del(source->codec);
    cap_wake_free(&source->wake);
}

int cap_source_fill(struct cap_source *source, size_t need)
{
    if (cap_source_avail(source) >= need)
        return 1;
    return source->fd < 0 ? 0 : cap_stream_fill(source, need);
}

uint64_t cap_source_consumed(const struct cap_source *source)
{
    if (source->codec != NULL)
        return source->file_pos - source->in_len;
    if (source->fd >= 0)
        return source->file_pos - cap_source_avail(source);
    return cap_source_offset(source);
}
