/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for input in a way that another thread or a signal handler can end. */
#ifndef CAPTURE_WAKE_H
#define CAPTURE_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>

struct cap_wake {
    atomic_bool broken;
    int pipe[2]; /* -1 until cap_wake_arm */
    int watch;   /* inotify descriptor of a growing file, or -1 */
};

enum cap_wait {
    CAP_WAIT_READY,       /* try to read again */
    CAP_WAIT_BROKEN,      /* cap_wake_break was called */
    CAP_WAIT_INTERRUPTED, /* a signal handler ran */
    CAP_WAIT_FAILED       /* errno tells why */
};

void cap_wake_init(struct cap_wake *wake);
void cap_wake_free(struct cap_wake *wake);

/* cap_wake_arm prepares for waiting; with |growing_fd| >= 0 also for the growth of that regular
 * file. Returns false with errno. */
bool cap_wake_arm(struct cap_wake *wake, int growing_fd);

/* cap_wake_wait_readable waits until |fd| (pipe, terminal, socket) has data or has ended.
 * cap_wake_wait_growth waits until the watched file may have grown. */
enum cap_wait cap_wake_wait_readable(struct cap_wake *wake, int fd);
enum cap_wait cap_wake_wait_growth(struct cap_wake *wake);

/* cap_wake_break ends the wait now going on and every later one. Safe in a signal handler. */
void cap_wake_break(struct cap_wake *wake);

static inline bool cap_wake_broken(const struct cap_wake *wake)
{
    return atomic_load_explicit(&wake->broken, memory_order_relaxed);
}

#endif
