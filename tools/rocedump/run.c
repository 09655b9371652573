/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pipeline. */
#include "rocedump/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/colour.h"
#include "common/input.h"
#include "common/live.h"
#include "common/msg.h"
#include "common/out.h"
#include "common/privileges.h"
#include "common/progress.h"
#include "common/signals.h"
#include "rocedump/analysis.h"
#include "rocedump/details.h"
#include "rocedump/hex.h"
#include "rocedump/line.h"
#include "rocedump/proto.h"
#include "rocedump/records.h"

enum { BATCH = 64 };

struct run {
    const struct dump_opts *opts;
    struct selection *selection;
    const struct columns *columns;
    struct roce_decode_opts decode;
    struct roce_reader *reader;
    struct roce_writer *writer;
    struct out out;
    struct line_printer line;
    struct records records;
    struct progress progress;
    struct census census;
    struct analysis analysis;
    uint64_t read;     /* frames handed out by the reader */
    uint64_t shown;    /* printed or written */
    uint64_t icrc[3];  /* by enum roce_icrc_status */
    uint64_t fault[4]; /* RoCE frames by enum roce_status */
    bool check_icrc, use_view, live_output, follow_flows;
    bool learning; /* the first of two passes: frames are only followed */
    bool started;  /* input and output are open */
    bool live;     /* from interfaces */
    uint32_t said; /* live_watch */
    int status;
};

static int open_input(struct run *run)
{
    /* A look ahead ends where the file ends now. */
    const struct roce_reader_opts opts = {
        .follow = run->opts->follow && !run->learning,
    };
    if (run->live)
        run->reader = live_open("rocedump", &run->opts->live, run->opts->bpf,
                                run->opts->common.snaplen, &run->status);
    else
        run->reader = input_open("rocedump", run->opts->file, &opts);
    if (run->reader == NULL)
        return -1;
    signals_reader(run->reader);
    return 0;
}

static int open_output(struct run *run, uint32_t linktype)
{
    const char *path = run->opts->common.write;
    if (path == NULL)
        return 0;
    if (!run->live && input_same(path, run->opts->file)) {
        msg_file(path, "is the capture that is read; choose another name for -w");
        return -1;
    }
    int err;
    char text[ROCE_ERRTEXT_LEN];
    run->writer = roce_writer_open(path, roce_file_format_by_name(path), linktype,
                                   run->opts->common.snaplen, &err, text);
    if (run->writer == NULL) {
        msg_file(path, "%s; choose another place for -w", text);
        return -1;
    }
    return 0;
}

static void write_frame(struct run *run, const struct roce_frame *frame)
{
    const int rc = roce_writer_write(run->writer, frame);
    if (rc == 0) {
        run->shown++;
        return;
    }
    if (rc == ROCE_ERR_UNSUPPORTED)
        msg_file(run->opts->common.write,
                 "a pcap file holds one link type, and frame %" PRIu64
                 " has another; use a name ending in .pcapng",
                 frame->number);
    else
        msg_file(run->opts->common.write, "%s; what was written so far may be cut short",
                 strerror(errno));
    run->status = EXIT_IO;
}

static bool has_nanoseconds(const struct run *run, const struct roce_frame *frame)
{
    const struct roce_iface *iface = roce_reader_iface(run->reader, frame->iface);
    return iface != NULL && iface->nanosecond;
}

static void print_frame(struct run *run, const struct roce_view *view)
{
    run->shown++;
    switch (run->opts->mode) {
    case MODE_LINES:
        line_print(&run->line, view, has_nanoseconds(run, view->frame));
        break;
    case MODE_DETAILS:
        details_print(&run->line, run->columns, view, has_nanoseconds(run, view->frame));
        break;
    case MODE_TABS:
    case MODE_CSV:
    case MODE_JSON:
    case MODE_NDJSON:
        records_packet(&run->records, view);
        break;
    case MODE_WRITE:
        break;
    }
    if (run->opts->hex)
        hex_print(&run->out, view->frame);
}

static void count_frame(struct run *run, const struct roce_frame *frame,
                        const struct roce_packet *pkt, const struct roce_icrc *icrc)
{
    census_add(&run->census, frame, pkt);
    if (pkt->kind == ROCE_KIND_OTHER)
        return;
    run->fault[pkt->status]++;
    if (roce_packet_is_roce(pkt))
        run->icrc[icrc->status]++;
}

static int bpf_fault(const struct run *run, int err, const char *text)
{
    if (err != ROCE_ERR_SYNTAX || access(run->opts->bpf, F_OK) != 0)
        return selection_fault(run->selection->expression, err, text);
    msg_print("'%s' stands where a BPF expression is expected; name one capture only",
              run->opts->bpf);
    return EXIT_USAGE;
}

/* One frame all the way. */
static void handle(struct run *run, struct roce_frame *frame)
{
    static const struct roce_icrc not_asked = {.status = ROCE_ICRC_UNCHECKED,
                                               .reason = ROCE_ICRC_NOT_ASKED};
    char text[ROCE_ERRTEXT_LEN];
    const int passes = selection_bpf(run->selection, frame, text);
    if (passes < 0)
        run->status = bpf_fault(run, passes, text);
    if (passes <= 0)
        return;
    const uint32_t snaplen = run->opts->common.snaplen;
    if (run->writer == NULL && snaplen != 0 && frame->caplen > snaplen)
        frame->caplen = snaplen;

    struct roce_packet pkt;
    struct roce_icrc checked;
    const struct roce_icrc *icrc = &not_asked;
    roce_packet_decode(frame, &run->decode, &pkt);
    if (run->check_icrc && roce_packet_is_roce(&pkt)) {
        roce_icrc_check(frame, &pkt, &checked);
        icrc = &checked;
    }
    const struct roce_verdict *verdict =
        run->follow_flows ? analysis_update(&run->analysis, frame, &pkt, icrc) : NULL;
    if (run->learning)
        return;
    count_frame(run, frame, &pkt, icrc);
    if (run->writer == NULL && pkt.kind == ROCE_KIND_OTHER && !run->opts->all)
        return;

    struct roce_view view;
    if (run->use_view || (pkt.has & ROCE_HAS_MAD) != 0) {
        roce_view_init(&view, frame, &pkt, icrc);
    } else {
        view.frame = frame;
        view.pkt = &pkt;
        view.icrc = icrc;
        view.has_mad = view.has_cm = false;
    }
    view.link_speed_bps = run->opts->common.link_speed_bps;
    view.verdict = verdict;
    view.acked_in = verdict != NULL ? analysis_acked_in(&run->analysis, frame, &pkt) : 0;
    if (run->selection->filter != NULL && !roce_filter_match(run->selection->filter, &view))
        return;
    if (run->writer != NULL)
        write_frame(run, frame);
    else
        print_frame(run, &view);
}

static bool finished(const struct run *run)
{
    /* Interfaces are read to the last frame that came before the signal. */
    return (signals_interrupted() && !run->live) || run->status != EXIT_DONE ||
           !out_ok(&run->out) ||
           (run->opts->common.count != 0 && run->shown >= run->opts->common.count);
}

static void answer_ask(const struct run *run)
{
    msg_print("%" PRIu64 " packets read, %" PRIu64 " %s, %" PRIu64 " dropped by the capturer",
              run->read, run->shown, run->writer != NULL ? "written" : "printed",
              roce_reader_dropped(run->reader));
}

static void between_batches(struct run *run, bool drained)
{
    uint64_t consumed, size;
    if (run->live)
        live_watch(run->reader, &run->said);
    if (signals_asked())
        answer_ask(run);
    roce_reader_progress(run->reader, &consumed, &size);
    progress_update(&run->progress, consumed, size);
    /* A reader that had no full batch is waiting for its source: somebody may be waiting for us. */
    if (run->live_output || (drained && (size == 0 || run->opts->follow))) {
        out_flush(&run->out);
        if (run->writer != NULL)
            (void)roce_writer_flush(run->writer);
    }
}

/* The next frames; an interface that has none for a while lets us look around. */
static int next_frames(struct run *run, struct roce_frame *frames)
{
    int n = roce_reader_next(run->reader, frames, BATCH);
    while (n == ROCE_ERR_AGAIN && !finished(run)) {
        between_batches(run, true);
        n = roce_reader_next(run->reader, frames, BATCH);
    }
    return n;
}

/* A pass of its own over the capture, to learn what acknowledges what. */
static int look_ahead(struct run *run)
{
    struct roce_frame frames[BATCH];
    if (analysis_ahead_begin(&run->analysis) != 0)
        return -1;
    run->learning = true;
    if (open_input(run) != 0)
        return -1;
    for (int n = roce_reader_next(run->reader, frames, BATCH); n > 0 && !finished(run);
         n = roce_reader_next(run->reader, frames, BATCH))
        for (int i = 0; i < n && !finished(run); i++)
            handle(run, &frames[i]);
    run->learning = false;
    signals_reader(NULL);
    roce_reader_del(run->reader);
    run->reader = NULL;
    return analysis_ahead_end(&run->analysis);
}

static bool uses(const struct run *run, const struct roce_field *field)
{
    return columns_have(run->columns, field) ||
           (run->selection->filter != NULL && roce_filter_uses(run->selection->filter, field));
}

/* Flow state costs time, and looking ahead a second pass: they are had when something asks for
 * them. Returns 0, or -1 with the mistake reported. */
static int prepare_analysis(struct run *run)
{
    const struct roce_filter *filter = run->selection->filter;
    const bool ahead = uses(run, roce_field_find("acked_in"));
    run->follow_flows = run->opts->analysis || columns_need_flow(run->columns) ||
                        (filter != NULL && roce_filter_needs_flow(filter));
    if (!run->follow_flows)
        return 0;
    run->use_view = true;
    if (analysis_init(&run->analysis) != 0) {
        msg_print("out of memory");
        run->status = EXIT_IO;
        return -1;
    }
    struct stat st;
    const bool file = !run->live && stat(run->opts->file, &st) == 0 && S_ISREG(st.st_mode);
    if (ahead && !file && !run->opts->analysis) {
        msg_file(input_name(run->opts->file),
                 "acked_in looks ahead; it needs a file that can be read twice");
        run->status = EXIT_USAGE;
        return -1;
    }
    if (!file || (!ahead && !run->opts->analysis))
        return 0;
    if (look_ahead(run) != 0) {
        if (run->status == EXIT_DONE)
            run->status = EXIT_IO;
        return -1;
    }
    return 0;
}

/* The link type that decides how the BPF expression is compiled and how -w begins. */
static uint32_t first_linktype(const struct run *run, const struct roce_frame *frames, int n)
{
    const struct roce_iface *iface = roce_reader_iface(run->reader, 0);
    if (n > 0)
        return frames[0].linktype;
    return iface != NULL ? iface->linktype : ROCE_LINK_ETHERNET;
}

static void read_all(struct run *run)
{
    struct roce_frame frames[BATCH];
    char text[ROCE_ERRTEXT_LEN];
    int n = run->live ? 0 : roce_reader_next(run->reader, frames, BATCH);
    const uint32_t linktype = first_linktype(run, frames, n);
    const int err = selection_prepare(run->selection, linktype, text);
    if (err != 0) {
        run->status = bpf_fault(run, err, text);
        return;
    }
    if (open_output(run, linktype) != 0) {
        run->status = EXIT_IO;
        return;
    }
    if (run->live && privileges_drop(run->opts->live.user) != 0) {
        run->status = EXIT_IO;
        return;
    }
    run->started = true;
    if (run->opts->mode >= MODE_TABS && run->opts->mode <= MODE_NDJSON)
        records_begin(&run->records, run->opts->mode, run->columns, &run->out);
    if (run->live)
        n = next_frames(run, frames);
    while (n > 0 && !finished(run)) {
        for (int i = 0; i < n && !finished(run); i++) {
            run->read++;
            handle(run, &frames[i]);
        }
        between_batches(run, n < BATCH);
        if (!finished(run))
            n = next_frames(run, frames);
    }
    progress_end(&run->progress);
    if (signals_asked())
        answer_ask(run);
    if (run->opts->mode >= MODE_TABS && run->opts->mode <= MODE_NDJSON)
        records_end(&run->records);
    if (n < 0 && run->status == EXIT_DONE) {
        run->status = EXIT_IO;
        out_flush(&run->out);
        if (run->live)
            msg_print("%s; packets captured before: %" PRIu64, roce_reader_text(run->reader),
                      run->read);
        else
            msg_file(input_name(run->opts->file),
                     "%s; packets read before: %" PRIu64 "; fetch the file again",
                     roce_reader_text(run->reader), run->read);
    }
}

/* A capture without RoCE says what it holds instead. */
static void report_nothing(struct run *run)
{
    char text[CENSUS_TEXT_MAX];
    if (!run->started || run->census.roce > 0 || run->census.pause > 0 || signals_interrupted() ||
        run->status == EXIT_USAGE || (run->opts->all && run->shown > 0))
        return;
    size_t len = 0;
    if (run->census.frames > 0 || run->read == 0)
        len = census_text(&run->census, text);
    if (run->read > run->census.frames)
        (void)snprintf(text + len, sizeof(text) - len,
                       len > 0 ? " (%" PRIu64 " left out by the BPF expression)"
                               : "none of %" PRIu64 " packets passes the BPF expression",
                       run->read - run->census.frames);
    if (run->opts->mode == MODE_LINES || run->opts->mode == MODE_DETAILS) {
        out_str(&run->out, text);
        out_str(&run->out, "\n");
    } else {
        msg_print("%s", text);
    }
}

static void report_summary(struct run *run)
{
    if (run->live && run->started && !run->opts->common.quiet) {
        out_flush(&run->out);
        live_watch(run->reader, &run->said);
        live_counts(roce_reader_iface(run->reader, 0), roce_reader_iface_count(run->reader),
                    run->read, run->shown, run->writer != NULL ? "written" : "printed");
    }
    if (run->opts->common.verbose == 0)
        return;
    out_flush(&run->out);
    msg_print("%" PRIu64 " packets, %" PRIu64 " %s: %" PRIu64 " RoCE, %" PRIu64
              " pause; ICRC %" PRIu64 " ok, %" PRIu64 " bad, %" PRIu64 " unchecked; %" PRIu64
              " truncated, %" PRIu64 " malformed, %" PRIu64 " unknown; %" PRIu64
              " dropped by the capturer",
              run->read, run->shown, run->opts->common.write != NULL ? "written" : "printed",
              run->census.roce, run->census.pause, run->icrc[ROCE_ICRC_OK],
              run->icrc[ROCE_ICRC_BAD], run->icrc[ROCE_ICRC_UNCHECKED],
              run->fault[ROCE_STATUS_TRUNCATED], run->fault[ROCE_STATUS_MALFORMED],
              run->fault[ROCE_STATUS_UNKNOWN], roce_reader_dropped(run->reader));
}

static void close_output(struct run *run)
{
    if (run->writer == NULL)
        return;
    if (roce_writer_close(run->writer) != 0 && run->status == EXIT_DONE) {
        msg_file(run->opts->common.write, "%s; the file is not complete", strerror(errno));
        run->status = EXIT_IO;
    }
}

static void init(struct run *run)
{
    const struct dump_opts *opts = run->opts;
    struct time_column time;
    for (uint8_t i = 0; i < opts->common.ports.n && i < ROCE_UDP_PORTS_MAX; i++)
        run->decode.udp_ports[run->decode.n_udp_ports++] = opts->common.ports.port[i];
    run->decode.rd = opts->common.rd;
    run->use_view =
        (opts->mode != MODE_LINES && opts->mode != MODE_WRITE) || run->selection->filter != NULL;
    run->check_icrc = !opts->common.no_icrc;
    if (opts->mode == MODE_WRITE && opts->common.verbose == 0)
        run->check_icrc =
            run->selection->filter != NULL && roce_filter_needs_icrc(run->selection->filter);
    time_column_init(&time, opts->times, (enum precision)opts->precision);
    line_printer_init(&run->line, &run->out, &time, opts->common.quiet,
                      colour_wanted((enum colour_when)opts->common.colour, STDOUT_FILENO));
    run->live_output = isatty(STDOUT_FILENO);
}

int run(const struct dump_opts *opts, struct selection *selection, const struct columns *columns)
{
    static struct run state;
    struct run *run = &state;
    *run = (struct run){.opts = opts, .selection = selection, .columns = columns};
    run->live = live_wanted(&opts->live);
    if (out_init(&run->out, STDOUT_FILENO) != 0) {
        msg_print("out of memory");
        return EXIT_IO;
    }
    init(run);
    signals_catch();
    if (prepare_analysis(run) != 0 || open_input(run) != 0) {
        (void)out_end(&run->out);
        analysis_free(&run->analysis);
        return run->status != EXIT_DONE ? run->status : EXIT_IO;
    }
    uint64_t consumed, size;
    roce_reader_progress(run->reader, &consumed, &size);
    progress_init(&run->progress, size);
    read_all(run);
    report_nothing(run);
    report_summary(run);
    close_output(run);
    const int error = out_end(&run->out);
    if (error != 0) {
        msg_file("standard output", "%s; not everything was printed", strerror(error));
        run->status = EXIT_IO;
    }
    signals_reader(NULL);
    roce_reader_del(run->reader);
    analysis_free(&run->analysis);
    return run->status;
}
