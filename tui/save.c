/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing frames and tables. */
#include "save.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <roce/capture.h>
#include <roce/filter.h>
#include <roce/observer.h>

#include "common/csv.h"
#include "common/signals.h"

#include "table.h"
#include "text.h"

enum { BATCH = 64 };

struct save {
    struct save_job job;
    pthread_t thread;
    atomic_bool done, stop;
    struct roce_filter *filter;
    struct roce_observer *obs; /* for filters that ask for flow state */
    struct roce_writer *writer;
    uint64_t written;
    bool failed;
    char text[512];
};

static void fail(struct save *save, const char *what, const char *why)
{
    save->failed = true;
    (void)snprintf(save->text, sizeof(save->text), "%.200s: %.200s", what, why);
}

static bool of_flows(const struct save *save, const struct roce_packet *pkt)
{
    const struct save_job *job = &save->job;
    if (job->flows == 0)
        return true;
    if (!roce_packet_is_roce(pkt) || (pkt->has & ROCE_HAS_IP) == 0)
        return false;
    for (uint32_t i = 0; i < job->flows; i++)
        if (job->flow[i].dest_qp == pkt->bth.dqpn &&
            memcmp(job->flow[i].src, pkt->ip.src, 16) == 0 &&
            memcmp(job->flow[i].dst, pkt->ip.dst, 16) == 0)
            return true;
    return false;
}

static bool write_frame(struct save *save, const struct roce_frame *frame)
{
    if (save->writer == NULL) {
        int err;
        char text[ROCE_ERRTEXT_LEN];
        save->writer = roce_writer_open(save->job.path, roce_file_format_by_name(save->job.path),
                                        frame->linktype, 0, &err, text);
        if (save->writer == NULL) {
            fail(save, save->job.path, text);
            return false;
        }
    }
    const int rc = roce_writer_write(save->writer, frame);
    if (rc == ROCE_ERR_UNSUPPORTED)
        fail(save, save->job.path, "a pcap file holds one link type; end the name in .pcapng");
    else if (rc < 0)
        fail(save, save->job.path, strerror(errno));
    else
        save->written++;
    return rc >= 0;
}

static bool passes(struct save *save, const struct roce_frame *frame, const struct roce_packet *pkt,
                   const struct roce_icrc *icrc, const struct roce_verdict *verdict)
{
    const struct save_job *job = &save->job;
    if (job->until != 0 && (frame->ts < job->from || frame->ts > job->until))
        return false;
    if (!of_flows(save, pkt))
        return false;
    if (save->filter == NULL)
        return true;
    struct roce_view view;
    roce_view_init(&view, frame, pkt, icrc);
    view.verdict = verdict;
    view.link_speed_bps = job->opts->common.link_speed_bps;
    return roce_filter_match(save->filter, &view);
}

/* Writes the frame of |mark| if it is wanted; false when writing failed. */
static bool take(struct save *save, const struct ring *ring, uint64_t mark)
{
    const struct ring_record *record = tui_ring_get(ring, mark);
    struct roce_frame frame;
    struct roce_packet pkt;
    struct roce_verdict verdict = {.flow = record->flow,
                                   .peer = ROCE_FLOW_NONE,
                                   .connection = ROCE_FLOW_NONE,
                                   .flags = record->flags,
                                   .cause = ROCE_CAUSE_NONE,
                                   .message_op = ROCE_MESSAGE_NONE,
                                   .missing = record->missing,
                                   .psns = record->psns,
                                   .rtt = -1,
                                   .latency = -1,
                                   .wait = -1,
                                   .delta = -1};
    const struct roce_icrc icrc = {.status =
                                       record->icrc_bad ? ROCE_ICRC_BAD : ROCE_ICRC_UNCHECKED};
    tui_ring_frame(ring, record, &frame);
    (void)roce_packet_decode(&frame, NULL, &pkt);
    return !passes(save, &frame, &pkt, &icrc, &verdict) || write_frame(save, &frame);
}

struct kept {
    uint64_t number, mark;
};

static int by_number(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* The frames of old incidents, as far as they are not among the newest; the ring has them in the
 * order in which they were found worth keeping. */
static bool from_kept(struct save *save, uint64_t below)
{
    const struct ring *ring = &save->job.kept;
    struct kept *list = NULL;
    size_t n = 0, room = 0;
    for (uint64_t mark = tui_ring_oldest(ring); mark != 0; mark = tui_ring_next(ring, mark)) {
        const uint64_t number = tui_ring_get(ring, mark)->number;
        if (number >= below)
            continue;
        if (n == room) {
            room = room == 0 ? 1024 : room * 2;
            struct kept *more = realloc(list, room * sizeof(*list));
            if (more == NULL)
                break;
            list = more;
        }
        list[n++] = (struct kept){number, mark};
    }
    if (n > 0)
        qsort(list, n, sizeof(*list), by_number);
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = (i > 0 && list[i].number == list[i - 1].number) || take(save, ring, list[i].mark);
    free(list);
    return good;
}

static void from_rings(struct save *save)
{
    const struct ring *ring = &save->job.newest;
    uint64_t mark = tui_ring_oldest(ring);
    if (!from_kept(save, mark != 0 ? tui_ring_get(ring, mark)->number : UINT64_MAX))
        return;
    for (; mark != 0 && !atomic_load(&save->stop); mark = tui_ring_next(ring, mark))
        if (!take(save, ring, mark))
            return;
}

static void from_file(struct save *save)
{
    const struct top_opts *opts = save->job.opts;
    struct roce_frame frame[BATCH];
    char text[ROCE_ERRTEXT_LEN];
    int err, n = 1;
    struct roce_reader *reader = roce_reader_open(opts->file, NULL, &err, text);
    if (reader == NULL) {
        fail(save, opts->file, text);
        return;
    }
    struct roce_decode_opts decode = {.rd = opts->common.rd};
    for (uint8_t i = 0; i < opts->common.ports.n && i < ROCE_UDP_PORTS_MAX; i++)
        decode.udp_ports[decode.n_udp_ports++] = opts->common.ports.port[i];
    while (n > 0 && !save->failed && !atomic_load(&save->stop)) {
        n = roce_reader_next(reader, frame, BATCH);
        for (int i = 0; i < n && !save->failed; i++) {
            struct roce_packet pkt;
            struct roce_verdict verdict;
            struct roce_icrc icrc = {.status = ROCE_ICRC_UNCHECKED, .reason = ROCE_ICRC_NOT_ASKED};
            if (frame[i].number > save->job.last_frame) {
                n = 0;
                break;
            }
            (void)roce_packet_decode(&frame[i], &decode, &pkt);
            if (save->filter != NULL && roce_packet_is_roce(&pkt))
                roce_icrc_check(&frame[i], &pkt, &icrc);
            if (save->obs != NULL)
                (void)roce_observer_update(save->obs, &frame[i], &pkt, &icrc, &verdict);
            if (passes(save, &frame[i], &pkt, &icrc, save->obs != NULL ? &verdict : NULL))
                (void)write_frame(save, &frame[i]);
        }
    }
    roce_reader_del(reader);
}

static void *work(void *arg)
{
    struct save *save = arg;
    signals_leave();
    if (save->job.from_rings)
        from_rings(save);
    else
        from_file(save);
    if (save->writer != NULL && roce_writer_close(save->writer) != 0 && !save->failed)
        fail(save, save->job.path, strerror(errno));
    if (!save->failed && save->written == 0)
        fail(save, save->job.path, "no such frame is kept any more; nothing was written");
    if (!save->failed)
        (void)snprintf(save->text, sizeof(save->text), "%" PRIu64 " frame%s saved to %.300s",
                       save->written, save->written == 1 ? "" : "s", save->job.path);
    atomic_store(&save->done, true);
    return NULL;
}

static void release(struct save *save)
{
    if (save->job.from_rings) {
        tui_ring_free(&save->job.newest);
        tui_ring_free(&save->job.kept);
    }
    roce_filter_del(save->filter);
    roce_observer_del(save->obs);
    free(save);
}

struct save *tui_save_start(const struct save_job *job)
{
    struct roce_filter_error error;
    struct save *save = calloc(1, sizeof(*save));
    if (save == NULL)
        return NULL;
    save->job = *job;
    if (job->filter[0] != '\0')
        save->filter = roce_filter_compile(job->filter, &error);
    if (save->filter != NULL && !job->from_rings && roce_filter_needs_flow(save->filter))
        save->obs = roce_observer_new(
            &(struct roce_observer_opts){.max_flows = (uint32_t)job->opts->max_flows,
                                         .idle_ns = job->opts->forget_ns,
                                         .idle_keep = ROCE_FLOW_IDLE_KEEP});
    if (pthread_create(&save->thread, NULL, work, save) == 0)
        return save;
    release(save);
    return NULL;
}

bool tui_save_done(struct save *save, char *text, size_t size, bool *failed)
{
    if (!atomic_load(&save->done))
        return false;
    (void)pthread_join(save->thread, NULL);
    (void)snprintf(text, size, "%s", save->text);
    *failed = save->failed;
    release(save);
    return true;
}

void tui_save_wait(struct save *save)
{
    if (save == NULL)
        return;
    atomic_store(&save->stop, true);
    (void)pthread_join(save->thread, NULL);
    release(save);
}

/* ---- the table ---- */

static void text_field(struct csv *csv, const char *text)
{
    csv_field(csv, text, strlen(text));
}

static void number_field(struct csv *csv, bool has, uint64_t n)
{
    char text[32] = "";
    if (has)
        (void)snprintf(text, sizeof(text), "%" PRIu64, n);
    text_field(csv, text);
}

static void real_field(struct csv *csv, bool has, double value)
{
    char text[64] = "";
    if (has)
        (void)snprintf(text, sizeof(text), "%.3f", value);
    text_field(csv, text);
}

void tui_save_rows(struct out *out, const struct snapshot *snapshot, const uint32_t *order,
                   uint32_t n)
{
    struct csv writer, *csv = &writer;
    static const char *const titles[] = {
        "dest_qp",        "src",         "dst",        "transport",  "operation",
        "src_qp",         "udp_sport",   "dscp",       "path_mtu",   "packets",
        "bytes",          "bps",         "pps",        "gap_events", "gap_psns",
        "retransmitted",  "naks",        "rnr_naks",   "lost",       "ce",
        "cnps",           "cnps_per_s",  "icrc_bad",   "messages",   "latency_p50_us",
        "latency_p99_us", "first_frame", "last_frame",
    };
    csv_init(csv, out);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        text_field(csv, titles[i]);
    csv_end_row(csv);
    for (uint32_t i = 0; i < n; i++) {
        const struct snap_row *row = &snapshot->row[order[i]];
        char text[TUI_TEXT_MAX];
        number_field(csv, true, row->dest_qp);
        text_field(csv, tui_text_addr(text, row->src, row->ip_version, 45));
        text_field(csv, tui_text_addr(text, row->dst, row->ip_version, 45));
        text_field(csv, roce_service_name((enum roce_service)row->service));
        text_field(csv, row->op);
        number_field(csv, row->has_src_qp, row->src_qp);
        number_field(csv, true, row->udp_sport);
        number_field(csv, true, row->dscp);
        number_field(csv, row->path_mtu > 0, row->path_mtu);
        number_field(csv, true, row->packets);
        number_field(csv, true, row->bytes);
        real_field(csv, snapshot->has_rates, row->bps);
        real_field(csv, snapshot->has_rates, row->pps);
        number_field(csv, row->has_track, row->gap_events);
        number_field(csv, row->has_track, row->gap_psns);
        number_field(csv, row->has_track, row->resent);
        number_field(csv, true, row->naks);
        number_field(csv, true, row->rnr_naks);
        number_field(csv, true, row->lost);
        number_field(csv, true, row->ce);
        number_field(csv, true, row->cnps);
        real_field(csv, snapshot->has_rates, row->cnps_per_second);
        number_field(csv, true, row->icrc_bad);
        number_field(csv, row->peer != ROCE_FLOW_NONE, row->messages);
        real_field(csv, row->has_latency, (double)row->p50_ns / 1e3);
        real_field(csv, row->has_latency, (double)row->p99_ns / 1e3);
        number_field(csv, true, row->first_frame);
        number_field(csv, true, row->last_frame);
        csv_end_row(csv);
    }
}

int tui_save_table(const char *path, const struct snapshot *snapshot, const uint32_t *order,
                   uint32_t n)
{
    struct out out;
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return errno;
    if (out_init(&out, fileno(file)) != 0) {
        (void)fclose(file);
        return ENOMEM;
    }
    tui_save_rows(&out, snapshot, order, n);
    const int error = out_end(&out);
    if (fclose(file) != 0 && error == 0)
        return errno;
    return error;
}

/* ---- frames that the ring holds no bytes of ---- */

void tui_save_fetch(const char *path, struct snapshot *snapshot)
{
    struct roce_frame frame[BATCH];
    char text[ROCE_ERRTEXT_LEN];
    int err, n = 1;
    uint32_t at = 0;
    while (at < snapshot->detail.frames && snapshot->frame[at].slice_len > 0)
        at++;
    if (at == snapshot->detail.frames)
        return;
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    if (reader == NULL)
        return;
    while (n > 0 && at < snapshot->detail.frames) {
        n = roce_reader_next(reader, frame, BATCH);
        for (int i = 0; i < n && at < snapshot->detail.frames; i++) {
            struct snap_frame *wanted = &snapshot->frame[at];
            if (frame[i].number != wanted->record.number)
                continue;
            wanted->slice_len =
                (uint16_t)(frame[i].caplen < SNAP_SLICE ? frame[i].caplen : SNAP_SLICE);
            memcpy(wanted->slice, frame[i].data, wanted->slice_len);
            wanted->linktype = frame[i].linktype;
            at++;
        }
    }
    roce_reader_del(reader);
}
