/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of files and interfaces. */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/input.h"
#include "common/live.h"
#include "common/msg.h"
#include "common/privileges.h"
#include "common/selection.h"
#include "common/signals.h"

/* The ring hands frames over some ms after their arrival; intervals end that much later, too. */
#define LIVE_LAG_NS UINT64_C(60000000)

struct source {
    const struct top_opts *opts;
    struct roce_reader *reader;
    struct roce_decode_opts decode;
    struct selection selection;
    struct source_info info;
    bool own_bpf;       /* the expression runs here, not in the kernel */
    roce_tstamp newest; /* live: time stamp of the newest frame, */
    uint64_t newest_at; /* and the monotonic clock then */
    uint64_t frames;
    struct roce_writer *writer; /* of -w */
    uint64_t written;           /* number of the newest frame in its file */
    char text[ROCE_ERRTEXT_LEN + 64];
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static int open_file(struct source *source)
{
    const struct top_opts *opts = source->opts;
    struct stat st;
    source->reader = input_open("rocetop", opts->file, NULL);
    if (source->reader == NULL)
        return EXIT_IO;
    source->info.seekable = stat(opts->file, &st) == 0 && S_ISREG(st.st_mode);
    (void)snprintf(source->info.name, sizeof(source->info.name), "%s",
                   strcmp(opts->file, "-") == 0 ? "stdin" : base_name(opts->file));
    return EXIT_DONE;
}

static uint64_t speed_of(const char *name)
{
    struct roce_live_iface list[64];
    const int n = roce_live_list(list, sizeof(list) / sizeof(list[0]));
    for (int i = 0; i < n && i < 64; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].speed_bps;
    return 0;
}

static int open_live(struct source *source)
{
    const struct top_opts *opts = source->opts;
    char filter[sizeof(opts->bpf) + 4096];
    int status = EXIT_DONE;
    if (opts->common.roce_filter && opts->bpf[0] != '\0')
        (void)snprintf(filter, sizeof(filter), "(%s) and (%s)", opts->bpf, ROCE_BPF_ROCE);
    else
        (void)snprintf(filter, sizeof(filter), "%s",
                       opts->common.roce_filter ? ROCE_BPF_ROCE : opts->bpf);
    source->reader = live_open("rocetop", &opts->live, filter, opts->common.snaplen, &status);
    if (source->reader == NULL)
        return status;
    source->info.live = true;
    (void)live_name(&opts->live, source->info.name, sizeof(source->info.name));
    source->info.link_speed_bps = speed_of(opts->live.interfaces.name[0]);
    return privileges_drop(opts->live.user) == 0 ? EXIT_DONE : EXIT_IO;
}

/* Creates the file of -w; the first frame tells its link type. */
static bool open_output(struct source *source, uint32_t linktype)
{
    const char *path = source->opts->common.write;
    char text[ROCE_ERRTEXT_LEN];
    int err;
    source->writer = roce_writer_open(path, roce_file_format_by_name(path), linktype,
                                      source->opts->common.snaplen, &err, text);
    if (source->writer == NULL)
        (void)snprintf(source->text, sizeof(source->text), "-w: %.100s", text);
    return source->writer != NULL;
}

/* A file that is read again from its beginning is not written again. */
static int write_frames(struct source *source, const struct model_batch *batch)
{
    for (int i = 0; i < batch->count; i++) {
        const struct roce_frame *frame = &batch->frame[i];
        if (frame->number <= source->written)
            continue;
        if (source->writer == NULL && !open_output(source, frame->linktype))
            return ROCE_ERR_IO;
        const int rc = roce_writer_write(source->writer, frame);
        if (rc < 0) {
            (void)snprintf(source->text, sizeof(source->text), "-w: %s",
                           rc == ROCE_ERR_UNSUPPORTED
                               ? "a pcap file holds one link type; end the name in .pcapng"
                               : strerror(errno));
            return rc;
        }
        source->written = frame->number;
    }
    return 0;
}

static int check_output(struct source *source)
{
    const char *path = source->opts->common.write;
    if (path == NULL)
        return EXIT_DONE;
    if (strcmp(path, "-") == 0 ||
        (source->opts->file != NULL && input_same(path, source->opts->file))) {
        msg_print("-w: screens and the capture that is read are no place for it; name a file");
        return EXIT_USAGE;
    }
    const struct roce_iface *iface = roce_reader_iface(source->reader, 0);
    if (iface == NULL || open_output(source, iface->linktype))
        return EXIT_DONE;
    msg_file(path, "%s; choose another place for -w", source->text + strlen("-w: "));
    return EXIT_IO;
}

static int prepare(struct source *source)
{
    const struct top_opts *opts = source->opts;
    const struct roce_iface *iface = roce_reader_iface(source->reader, 0);
    char text[ROCE_ERRTEXT_LEN];
    source->own_bpf = !source->info.live && (opts->bpf[0] != '\0' || opts->common.roce_filter);
    selection_init(&source->selection, opts->bpf, opts->common.roce_filter);
    if (!source->own_bpf)
        return EXIT_DONE;
    const int err = selection_prepare(
        &source->selection, iface != NULL ? iface->linktype : (uint32_t)ROCE_LINK_ETHERNET, text);
    return err == 0 ? EXIT_DONE : selection_fault(opts->bpf, err, text);
}

struct source *tui_source_open(const struct top_opts *opts, int *status)
{
    struct source *source = calloc(1, sizeof(*source));
    *status = EXIT_IO;
    if (source == NULL) {
        msg_print("out of memory");
        return NULL;
    }
    source->opts = opts;
    for (uint8_t i = 0; i < opts->common.ports.n && i < ROCE_UDP_PORTS_MAX; i++)
        source->decode.udp_ports[source->decode.n_udp_ports++] = opts->common.ports.port[i];
    source->decode.rd = opts->common.rd;
    *status = opts->file != NULL ? open_file(source) : open_live(source);
    if (*status == EXIT_DONE)
        *status = check_output(source);
    if (*status == EXIT_DONE)
        *status = prepare(source);
    if (*status != EXIT_DONE) {
        tui_source_close(source);
        return NULL;
    }
    signals_reader(source->reader);
    return source;
}

void tui_source_close(struct source *source)
{
    if (source == NULL)
        return;
    signals_reader(NULL);
    selection_free(&source->selection);
    roce_reader_del(source->reader);
    if (source->writer != NULL && roce_writer_close(source->writer) != 0)
        msg_file(source->opts->common.write, "%s; the file is not complete", strerror(errno));
    free(source);
}

static void decode_one(const struct source *source, struct model_batch *batch, int i)
{
    const struct roce_frame *frame = &batch->frame[i];
    struct roce_packet *pkt = &batch->packet[i];
    roce_packet_decode(frame, &source->decode, pkt);
    if (!batch->checked)
        return;
    if (roce_packet_is_roce(pkt))
        roce_icrc_check(frame, pkt, &batch->icrc[i]);
    else
        batch->icrc[i] =
            (struct roce_icrc){.status = ROCE_ICRC_UNCHECKED, .reason = ROCE_ICRC_NOT_ASKED};
}

/* Decodes the frames that pass and closes up over the others. Returns |n| or an error. */
static int decode(struct source *source, struct model_batch *batch, int n)
{
    const struct top_opts *opts = source->opts;
    char text[ROCE_ERRTEXT_LEN];
    int kept = 0;
    batch->checked = !opts->common.no_icrc;
    for (int i = 0; i < n; i++) {
        struct roce_frame *frame = &batch->frame[kept];
        if (kept < i)
            *frame = batch->frame[i];
        const int passes = source->own_bpf ? selection_bpf(&source->selection, frame, text) : 1;
        if (passes < 0) {
            (void)snprintf(source->text, sizeof(source->text), "BPF expression: %s", text);
            return passes;
        }
        if (passes == 0)
            continue;
        if (opts->common.snaplen != 0 && frame->caplen > opts->common.snaplen)
            frame->caplen = opts->common.snaplen;
        decode_one(source, batch, kept++);
    }
    batch->count = kept;
    return n;
}

int tui_source_next(struct source *source, struct model_batch *batch)
{
    const uint64_t limit = source->opts->common.count;
    int max = MODEL_BATCH;
    batch->count = 0;
    if (limit != 0 && limit - source->frames < MODEL_BATCH)
        max = (int)(limit - source->frames);
    if (max == 0)
        return 0;
    const int n = roce_reader_next(source->reader, batch->frame, max);
    if (n <= 0) {
        if (n < 0)
            (void)snprintf(source->text, sizeof(source->text), "%s",
                           roce_reader_text(source->reader));
        return n;
    }
    source->frames += (uint64_t)n;
    if (source->info.live && batch->frame[n - 1].ts > source->newest) {
        source->newest = batch->frame[n - 1].ts;
        source->newest_at = clock_monotonic_ns();
    }
    const int rc = decode(source, batch, n);
    if (rc < 0 || source->opts->common.write == NULL)
        return rc;
    const int written = write_frames(source, batch);
    return written < 0 ? written : rc;
}

const char *tui_source_text(const struct source *source)
{
    return source->text;
}

int tui_source_rewind(struct source *source)
{
    int err;
    if (!source->info.seekable)
        return ROCE_ERR_UNSUPPORTED;
    struct roce_reader *reader = roce_reader_open(source->opts->file, NULL, &err, source->text);
    if (reader == NULL)
        return err;
    signals_reader(reader);
    roce_reader_del(source->reader);
    source->reader = reader;
    source->frames = 0;
    return 0;
}

roce_tstamp tui_source_now(const struct source *source)
{
    if (source->newest == 0)
        return 0;
    const uint64_t since = clock_monotonic_ns() - source->newest_at;
    return since > LIVE_LAG_NS ? source->newest + (since - LIVE_LAG_NS) : source->newest;
}

roce_tstamp tui_source_clock(const struct source *source)
{
    if (!source->info.live)
        return 0;
    if (source->opts->live.clock == LIVE_CLOCK_HOST)
        return clock_realtime_ns();
    return source->newest != 0 ? source->newest + (clock_monotonic_ns() - source->newest_at) : 0;
}

void tui_source_info(const struct source *source, struct source_info *info)
{
    *info = source->info;
    info->frames = source->frames;
    info->has_drops = info->live;
    for (uint32_t i = 0; i < roce_reader_iface_count(source->reader); i++) {
        const struct roce_iface *iface = roce_reader_iface(source->reader, i);
        info->has_drops = info->has_drops || iface->has_stats;
        info->dropped_kernel += iface->dropped;
        info->dropped_iface += iface->if_dropped;
        info->merged += iface->merged;
        info->downs += iface->downs;
    }
    if (!info->live)
        roce_reader_progress(source->reader, &info->consumed, &info->size);
}

void tui_source_watch(const struct source *source, uint32_t *said)
{
    if (source->info.live)
        live_watch(source->reader, said);
}

void tui_source_break(struct source *source)
{
    roce_reader_break(source->reader);
}
