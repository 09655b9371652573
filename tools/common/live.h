/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture from interfaces: options, opening with messages that help, what is worth saying. */
#ifndef TOOLS_LIVE_H
#define TOOLS_LIVE_H

#include <roce/capture.h>

#include "common/options.h"

/* The order is that of the words of -j. */
enum live_clock { LIVE_CLOCK_HOST, LIVE_CLOCK_ADAPTER };

/* The target of live.def. */
struct live_opts {
    struct opt_names interfaces;
    const char *user; /* NULL: not given */
    uint32_t buffer_kib;
    bool list, no_promiscuous;
    int clock; /* enum live_clock */
};

/* A reader that waits returns this often, for its program to look around. */
enum { LIVE_WAIT_MS = 100 };

static inline bool live_wanted(const struct live_opts *opts)
{
    return opts->interfaces.n > 0;
}

/* live_input settles what is read, an interface or a file, and the expression |bpf| of |room|
 * bytes: with -i all bare words are the expression, else see opt_input. |*file| is NULL when no
 * file was named. Returns 0, or OPT_EXIT_USAGE with the mistake reported. */
int live_input(const struct common_opts *common, const struct live_opts *opts, char **words, int n,
               const char **file, char *bpf, size_t room);

/* live_no_input reports that neither was named to |program|; returns OPT_EXIT_USAGE. */
int live_no_input(const char *program);

/* live_open opens the interfaces for |program|; the kernel runs the expression |bpf| ("": none). On
 * failure it says why and what to do on standard error, and returns NULL with the exit status in
 * |*status|. Privileges are the caller's to drop (privileges.h). */
struct roce_reader *live_open(const char *program, const struct live_opts *opts, const char *bpf,
                              uint32_t snaplen, int *status);

/* live_list prints the interfaces of this machine; returns an exit status. */
int live_list(void);

/* live_name writes "eth2" or "eth2,eth3" into |text| and returns it. */
const char *live_name(const struct live_opts *opts, char *text, size_t size);

/* live_watch says on standard error, once for each interface (its bits in |*said|), that it hands
 * over merged frames, and that it went down; live_watch_one does so for interface |index| as it was
 * seen. */
void live_watch(const struct roce_reader *reader, uint32_t *said);
void live_watch_one(const struct roce_iface *iface, uint32_t index, uint32_t *said);

/* live_counts says on standard error what |n| interfaces gave: |captured| frames were handed out,
 * of which |done| were |verb| ("printed"). */
void live_counts(const struct roce_iface *ifaces, uint32_t n, uint64_t captured, uint64_t done,
                 const char *verb);

#endif
