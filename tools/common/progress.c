/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress line. */
#include "common/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/units.h"

#define LARGE_FILE UINT64_C(100000000)
#define REDRAW_NS  UINT64_C(250000000)

void progress_init(struct progress *progress, uint64_t size)
{
    *progress = (struct progress){0};
    progress->on = size >= LARGE_FILE && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    if (!progress->on)
        return;
    progress->started_ns = clock_monotonic_ns();
    progress->next_ns = progress->started_ns + REDRAW_NS;
}

void progress_format(char line[PROGRESS_LINE_MAX], uint64_t consumed, uint64_t size,
                     uint64_t elapsed_ns)
{
    char done[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX];
    const double seconds = (double)elapsed_ns / 1e9;
    const double speed = seconds > 0 ? (double)consumed / seconds : 0;
    const uint64_t left = consumed < size ? size - consumed : 0;
    *units_bytes(done, consumed) = '\0';
    *units_bytes(all, size) = '\0';
    *units_bytes(rate, (uint64_t)speed) = '\0';
    (void)snprintf(line, PROGRESS_LINE_MAX, "%s of %s, %.0f %%, %s/s, %.0f s left", done, all,
                   size > 0 ? 100.0 * (double)consumed / (double)size : 100.0, rate,
                   speed > 0 ? (double)left / speed : 0.0);
}

void progress_update(struct progress *progress, uint64_t consumed, uint64_t size)
{
    if (!progress->on)
        return;
    const uint64_t now = clock_monotonic_ns();
    if (now < progress->next_ns)
        return;
    progress->next_ns = now + REDRAW_NS;
    progress->shown = true;
    char line[PROGRESS_LINE_MAX];
    progress_format(line, consumed, size, now - progress->started_ns);
    (void)fprintf(stderr, "\r\033[K%s", line);
    (void)fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        (void)fputs("\r\033[K", stderr);
    progress->shown = false;
}
