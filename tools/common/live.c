/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture from interfaces. */
#include "common/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "common/standard.h"
#include "common/units.h"

enum { LIST_MAX = 1024 };

int live_input(const struct common_opts *common, const struct live_opts *opts, char **words, int n,
               const char **file, char *bpf, size_t room)
{
    *file = NULL;
    if (live_wanted(opts) && common->read != NULL) {
        msg_print("-i and -r exclude each other; leave one out");
        return OPT_EXIT_USAGE;
    }
    const int rc = live_wanted(opts) ? opt_join(words, n, bpf, room)
                                     : opt_input(common, words, n, file, bpf, room);
    if (rc == 0)
        return 0;
    msg_print("the BPF expression is longer than %zu bytes; shorten it", room - 1);
    return OPT_EXIT_USAGE;
}

int live_no_input(const char *program)
{
    msg_print("no input; name a capture file, - for standard input, or -i IFACE (see %s --help)",
              program);
    return OPT_EXIT_USAGE;
}

static void explain(const char *program, int err, const char *text, const struct live_opts *opts)
{
    switch (err) {
    case ROCE_ERR_PERMISSION:
        msg_print("%s; run %s as root, or once: setcap cap_net_raw+ep %s", text, program, program);
        break;
    case ROCE_ERR_UNKNOWN:
        msg_print("%s; %s -D lists the interfaces", text, program);
        break;
    case ROCE_ERR_STATE:
        msg_print("%s; ip link set dev %.*s up", text, (int)strcspn(text, ":"), text);
        break;
    case ROCE_ERR_SYNTAX:
        msg_print("BPF expression: %s; see pcap-filter(7)", text);
        break;
    case ROCE_ERR_NOMEM:
        msg_print("%s; give less to -B", text);
        break;
    default:
        msg_print("%s%s", text, opts->clock == LIVE_CLOCK_ADAPTER ? "; leave out -j adapter" : "");
    }
}

struct roce_reader *live_open(const char *program, const struct live_opts *opts, const char *bpf,
                              uint32_t snaplen, int *status)
{
    const struct roce_live_opts how = {
        .filter = bpf,
        .snaplen = snaplen,
        .buffer_kib = opts->buffer_kib,
        .wait_ms = LIVE_WAIT_MS,
        .no_promiscuous = opts->no_promiscuous,
        .adapter_time = opts->clock == LIVE_CLOCK_ADAPTER,
    };
    char text[ROCE_ERRTEXT_LEN];
    int err;
    struct roce_reader *reader =
        roce_reader_open_live(opts->interfaces.name, opts->interfaces.n, &how, &err, text);
    if (reader != NULL)
        return reader;
    explain(program, err, text, opts);
    *status = err == ROCE_ERR_SYNTAX || err == ROCE_ERR_INVALID ? EXIT_USAGE : EXIT_IO;
    return NULL;
}

static void print_interface(const struct roce_live_iface *iface)
{
    char speed[UNITS_TEXT_MAX] = "-";
    if (iface->speed_bps != 0)
        *units_rate(speed, (double)iface->speed_bps) = '\0';
    (void)printf("%-16s %-8s %6" PRIu32 " %12s %s\n", iface->name,
                 !iface->up        ? "down"
                 : !iface->running ? "no link"
                                   : "up",
                 iface->mtu, speed, iface->loopback ? "loopback" : iface->driver);
}

int live_list(void)
{
    static struct roce_live_iface list[LIST_MAX];
    const int n = roce_live_list(list, LIST_MAX);
    if (n < 0) {
        msg_print("the interfaces cannot be listed");
        return EXIT_IO;
    }
    (void)printf("%-16s %-8s %6s %12s %s\n", "interface", "state", "mtu", "speed", "driver");
    for (int i = 0; i < n && i < LIST_MAX; i++)
        print_interface(&list[i]);
    return standard_end(EXIT_DONE);
}

const char *live_name(const struct live_opts *opts, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < opts->interfaces.n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ",",
                                 opts->interfaces.name[i]);
    return text;
}

void live_watch_one(const struct roce_iface *iface, uint32_t index, uint32_t *said)
{
    const uint32_t down = 1u << (ROCE_LIVE_IFACES_MAX + index);
    if (iface->downs > 0 && (*said & down) == 0) {
        *said |= down;
        msg_file(iface->name,
                 "the interface went down; frames come again once it is up: ip link set dev %s up",
                 iface->name);
    }
    if (iface->merged == 0 || (*said & 1u << index) != 0)
        return;
    *said |= 1u << index;
    msg_file(iface->name,
             "frames beyond its MTU of %" PRIu32
             " come: the receive offload merges packets, which hides them; ethtool -K %s gro off"
             " lro off",
             iface->mtu, iface->name);
}

void live_watch(const struct roce_reader *reader, uint32_t *said)
{
    const uint32_t n = roce_reader_iface_count(reader);
    for (uint32_t i = 0; i < n; i++)
        live_watch_one(roce_reader_iface(reader, i), i, said);
}

void live_counts(const struct roce_iface *ifaces, uint32_t n, uint64_t captured, uint64_t done,
                 const char *verb)
{
    uint64_t kernel = 0, interface = 0;
    for (uint32_t i = 0; i < n; i++) {
        kernel += ifaces[i].dropped;
        interface += ifaces[i].if_dropped;
    }
    msg_print("%" PRIu64 " packets captured, %" PRIu64 " %s, %" PRIu64
              " dropped by the kernel, %" PRIu64 " by the interface%s",
              captured, done, verb, kernel, interface,
              kernel > 0 ? "; give more to -B or filter more" : "");
}
