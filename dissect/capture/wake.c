/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for input: poll over the input and a pipe to oneself; inotify for growing files. */
#include "wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/inotify.h>
#endif

/* Network file systems tell nobody that another machine appended, so look now and then, too. */
#define GROWTH_LOOK_MS 500

void cap_wake_init(struct cap_wake *wake)
{
    atomic_init(&wake->broken, false);
    wake->pipe[0] = wake->pipe[1] = -1;
    wake->watch = -1;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void cap_wake_free(struct cap_wake *wake)
{
    close_fd(&wake->pipe[0]);
    close_fd(&wake->pipe[1]);
    close_fd(&wake->watch);
}

static bool set_flags(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static int watch_growth(int fd)
{
#if defined(__linux__)
    /* By descriptor, because the name may meanwhile belong to the next file of a ring. */
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch >= 0 && inotify_add_watch(watch, path, IN_MODIFY | IN_CLOSE_WRITE) < 0)
        close_fd(&watch);
    return watch;
#else
    (void)fd;
    return -1;
#endif
}

bool cap_wake_arm(struct cap_wake *wake, int growing_fd)
{
    if (pipe(wake->pipe) != 0)
        return false;
    if (!set_flags(wake->pipe[0]) || !set_flags(wake->pipe[1]))
        return false;
    /* Without a watch (no /proc, watches used up) the regular look has to do. */
    if (growing_fd >= 0)
        wake->watch = watch_growth(growing_fd);
    return true;
}

static enum cap_wait wait_for(struct cap_wake *wake, int fd, int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = wake->pipe[0], .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    if (cap_wake_broken(wake))
        return CAP_WAIT_BROKEN;
    const int ready = poll(fds, 2, timeout_ms);
    if (cap_wake_broken(wake))
        return CAP_WAIT_BROKEN;
    if (ready < 0)
        return errno == EINTR ? CAP_WAIT_INTERRUPTED : CAP_WAIT_FAILED;
    return CAP_WAIT_READY;
}

enum cap_wait cap_wake_wait_readable(struct cap_wake *wake, int fd)
{
    return wait_for(wake, fd, -1);
}

enum cap_wait cap_wake_wait_growth(struct cap_wake *wake)
{
    const enum cap_wait how = wait_for(wake, wake->watch, GROWTH_LOOK_MS);
    if (how == CAP_WAIT_READY && wake->watch >= 0) {
        char events[4096];
        while (read(wake->watch, events, sizeof(events)) > 0)
            ;
    }
    return how;
}

void cap_wake_break(struct cap_wake *wake)
{
    const int saved = errno;
    atomic_store_explicit(&wake->broken, true, memory_order_relaxed);
    /* A full pipe is as good a wake-up call as one more byte. */
    if (wake->pipe[1] >= 0 && write(wake->pipe[1], "", 1) < 0)
        errno = saved;
    errno = saved;
}
