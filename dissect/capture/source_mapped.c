/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regular plain files: a mapped window that slides over the file, so that resident memory stays
 * small however large the file is.
 *
 * The pages of a window are mapped in one go (MAP_POPULATE): faults one by one cost more than all
 * the rest of reading. A file that another process truncates while it is mapped raises SIGBUS at
 * the next touch of a lost page. Its size is asked before each batch of frames, so that only a
 * truncation in the microseconds in which a batch is worked on can do that, and never one by the
 * thread that reads; files known to change are read with read() instead. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first window is small, for those who only look at the first packets. */
#define WINDOW_FIRST (256u << 10)
#define WINDOW_MAX   (32u << 20)

#if defined(MAP_POPULATE)
#define MAP_FLAGS (MAP_SHARED | MAP_POPULATE)
#else
#define MAP_FLAGS MAP_SHARED
#endif

static void unmap_window(struct cap_source *source)
{
    if (source->map != NULL)
        munmap(source->map, source->map_len);
    source->map = NULL;
}

/* Without memory for the list the window is lost from it, not from the process: it stays mapped. */
static void leave_window(struct cap_source *source)
{
    if (source->map != NULL)
        (void)cap_source_leave(source,
                               (struct cap_window){source->map, source->map_len, source->mark});
    source->map = NULL;
}

static bool map_window(struct cap_source *source, uint64_t offset, size_t len)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t base = offset & ~(page - 1);
    const size_t lead = (size_t)(offset - base);
    if (source->hold)
        leave_window(source);
    else
        unmap_window(source);
    void *map = mmap(NULL, lead + len, PROT_READ, MAP_FLAGS, source->fd, (off_t)base);
    if (map == MAP_FAILED)
        return false;
    source->map = map;
    source->map_len = lead + len;
    source->start = source->pos = (const uint8_t *)map + lead;
    source->end = source->pos + len;
    source->start_offset = offset;
    return true;
}

void cap_mapped_drop(struct cap_window *window)
{
    munmap(window->map, window->map_len);
}

void cap_mapped_close(struct cap_source *source)
{
    unmap_window(source);
}

int cap_mapped_check(struct cap_source *source)
{
    struct stat st;
    if (fstat(source->fd, &st) != 0)
        return cap_source_fail(source, ROCE_ERR_IO, "%s", strerror(errno));
    source->file_size = (uint64_t)st.st_size;
    if (source->file_size >= cap_source_offset(source) + cap_source_avail(source))
        return 0;
    source->end = source->pos;
    return cap_source_fail(source, ROCE_ERR_TRUNCATED, "the file shrank while it was read");
}

int cap_mapped_fill(struct cap_source *source, size_t need)
{
    const uint64_t offset = cap_source_offset(source);
    const size_t avail = cap_source_avail(source);
    const int err = cap_mapped_check(source);
    if (err < 0)
        return err;
    const uint64_t size = source->file_size;
    if (size - offset == avail)
        return 0;

    if (source->window == 0)
        source->window = WINDOW_FIRST;
    else if (source->window < WINDOW_MAX)
        source->window *= 2;
    const size_t wanted = need > source->window ? need : source->window;
    const size_t len = wanted < size - offset ? wanted : (size_t)(size - offset);
    if (!map_window(source, offset, len)) {
        const int why = errno;
        source->pos = source->end = source->start = cap_nothing;
        source->start_offset = offset;
        return cap_source_fail(source, ROCE_ERR_IO, "cannot map the file: %s", strerror(why));
    }
    /* The disk fetches the next window while this one is worked on. */
    if (size - offset > len)
        posix_fadvise(source->fd, (off_t)(offset + len), WINDOW_MAX, POSIX_FADV_WILLNEED);
    return len >= need ? 1 : 0;
}
