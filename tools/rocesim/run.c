/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop over simulated time. */
#include "rocesim/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/msg.h"
#include "common/signals.h"
#include "common/units.h"
#include "rocesim/meter.h"
#include "rocesim/plot.h"
#include "rocesim/series.h"
#include "rocesim/summary.h"
#include "rocesim/taps.h"
#include "rocesim/truth.h"

struct session {
    const struct sim_opts *opts;
    const struct scenario *scenario;
    struct net net;
    struct taps taps;
    struct series series;
    struct meter meter;
    uint64_t events;
};

static int make_directory(const char *path)
{
    struct stat st;
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    msg_file(path, "%s", strerror(errno));
    return -1;
}

static bool join_path(char *out, size_t room, const char *directory, const char *name)
{
    if (snprintf(out, room, "%s/%s", directory, name) < (int)room)
        return true;
    msg_file(directory, "the path is too long; choose a shorter one");
    return false;
}

static int open_outputs(struct session *s)
{
    const char *directory = s->opts->directory;
    char path[4096];
    if (directory != NULL && make_directory(directory) != 0)
        return -1;
    if (directory != NULL && !s->opts->no_captures && taps_new(&s->taps, &s->net, directory) != 0)
        return -1;
    if (directory != NULL && !s->opts->no_truth) {
        if (!join_path(path, sizeof(path), directory, "truth.ndjson"))
            return -1;
        s->net.truth = truth_new(path, &s->net);
        if (s->net.truth == NULL) {
            msg_file(path, "%s", strerror(errno));
            return -1;
        }
        truth_start(s->net.truth);
    }
    return series_new(&s->series, &s->net, directory, s->opts->svg);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void simulate(struct session *s)
{
    const struct scenario *sc = s->scenario;
    uint64_t now = 0, sample = sc->sample_ns, window = sc->fair_window_ns;
    int event = 0;
    bool measuring = sc->warmup_ns == 0;
    if (measuring)
        meter_start(&s->meter);
    while (now < sc->duration_ns && !signals_interrupted()) {
        for (; event < sc->n_events && sc->events[event].at_ns <= now; event++)
            fab_host_drain(s->net.fab, sc->events[event].host, sc->events[event].drain_bps);
        uint64_t next = earlier(earlier(sample, window), sc->duration_ns);
        if (event < sc->n_events)
            next = earlier(next, sc->events[event].at_ns);
        if (!measuring)
            next = earlier(next, sc->warmup_ns);
        s->events += fab_run(s->net.fab, next);
        now = next;
        if (!measuring && now == sc->warmup_ns) {
            measuring = true;
            meter_start(&s->meter);
        }
        if (now == sample || now == sc->duration_ns) {
            series_sample(&s->series, now);
            meter_waits(&s->meter, now);
            sample += sc->sample_ns;
        }
        if (now == window) {
            meter_window(&s->meter, now);
            window += sc->fair_window_ns;
        }
    }
}

/* Writes one file by |write|, which is given |arg|. */
static int write_file(const char *directory, const char *name,
                      void (*write)(const void *arg, struct out *out), const void *arg)
{
    char path[4096];
    struct out out;
    if (!join_path(path, sizeof(path), directory, name))
        return -1;
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error = fd < 0 || out_init(&out, fd) != 0 ? errno : 0;
    if (error == 0) {
        write(arg, &out);
        error = out_end(&out);
    }
    if (fd >= 0 && close(fd) != 0 && error == 0)
        error = errno;
    if (error != 0)
        msg_file(path, "%s", strerror(error));
    return error != 0 ? -1 : 0;
}

static void write_json(const void *arg, struct out *out)
{
    summary_json(arg, out);
}

static void write_text(const void *arg, struct out *out)
{
    summary_text(arg, out);
}

static void write_plot(const void *arg, struct out *out)
{
    plot_write(arg, out);
}

static int print_summary(const struct session *s, const struct summary *summary)
{
    struct out out;
    if (s->opts->quiet && !s->opts->json)
        return 0;
    if (out_init(&out, STDOUT_FILENO) != 0) {
        msg_print("out of memory");
        return -1;
    }
    (s->opts->json ? summary_json : summary_text)(summary, &out);
    const int error = out_end(&out);
    if (error != 0)
        msg_print("standard output: %s", strerror(error));
    return error != 0 ? -1 : 0;
}

static int report(struct session *s)
{
    const char *directory = s->opts->directory;
    const struct taps *taps = directory != NULL && !s->opts->no_captures ? &s->taps : NULL;
    struct summary summary;
    int status = 0;
    if (summary_new(&summary, &s->meter, taps) != 0) {
        msg_print("out of memory");
        status = -1;
    } else {
        if (summary.drops[FAB_DROP_MEMORY] > 0)
            msg_print("%llu frames found no memory; the results are not to be trusted",
                      (unsigned long long)summary.drops[FAB_DROP_MEMORY]);
        if (directory != NULL &&
            (write_file(directory, "summary.json", write_json, &summary) != 0 ||
             write_file(directory, "summary.txt", write_text, &summary) != 0 ||
             (s->opts->svg && write_file(directory, "plot.svg", write_plot, &s->series) != 0)))
            status = -1;
        if (print_summary(s, &summary) != 0)
            status = -1;
    }
    summary_free(&summary);
    return status;
}

static void tell_speed(const struct session *s, uint64_t ns)
{
    const double hops = (double)fab_hops(s->net.fab), seconds = (double)ns / 1e9;
    if (s->opts->verbose > 0)
        msg_print("%.0f packet-hops, %.0f events in %.2f s: %.2f M packet-hops/s", hops,
                  (double)s->events, seconds, hops / seconds / 1e6);
}

int run(const struct sim_opts *opts, const struct scenario *scenario)
{
    struct session s = {.opts = opts, .scenario = scenario};
    char error[NET_ERROR_MAX];
    int status = EXIT_DONE;
    if (net_new(&s.net, scenario, error) != 0) {
        msg_file(opts->scenario, "%s", error);
        net_del(&s.net);
        return EXIT_USAGE;
    }
    if (meter_new(&s.meter, &s.net) != 0) {
        msg_print("out of memory");
        status = EXIT_IO;
    } else if (open_outputs(&s) != 0) {
        status = EXIT_IO;
    } else {
        const uint64_t start = clock_monotonic_ns();
        simulate(&s);
        tell_speed(&s, clock_monotonic_ns() - start);
        if (report(&s) != 0)
            status = EXIT_IO;
    }
    if (s.series.net != NULL && series_end(&s.series) != 0)
        status = EXIT_IO;
    if (taps_end(&s.taps) != 0)
        status = EXIT_IO;
    const int failure = truth_end(s.net.truth);
    if (failure != 0) {
        msg_file(opts->directory, "truth.ndjson: %s", strerror(failure));
        status = EXIT_IO;
    }
    meter_free(&s.meter);
    net_del(&s.net);
    return status;
}
