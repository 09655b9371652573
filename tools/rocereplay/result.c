/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results. */
#include "rocereplay/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/msg.h"
#include "common/standard.h"
#include "rocereplay/truth.h"

static const char *const services[] = {"RC", "UC", "UD"};

/* Figures of one direction. */
struct figures {
    double seconds, bps, peak_bps, rate;              /* bit/s; messages/s */
    double min, max, typical, avg, stdev, p99, p99_9; /* us */
};

struct result_count result_count(const struct station *st, const struct lane *lanes, uint32_t n)
{
    struct result_count count = {.qps = truth_sum(st->truth, lanes, n)};
    for (int i = 0; i < FAULT_KINDS && st->fault != NULL; i++)
        count.faults[i] = fault_count(st->fault, (enum fault_kind)i);
    return count;
}

static struct result_count count_of(const struct station *st, const struct result *r)
{
    struct result_count now = result_count(st, r->lanes, r->lanes != NULL ? r->qps : 0);
    now.qps = truth_less(&now.qps, &r->before.qps);
    for (int i = 0; i < FAULT_KINDS; i++)
        now.faults[i] -= r->before.faults[i];
    return now;
}

static double us(double ns)
{
    return ns / 1000;
}

static struct figures figures_of(const struct load_result *load)
{
    struct figures f = {.seconds = (double)(load->end - load->start) / 1e9};
    const struct roce_hist *h = &load->latency;
    if (load->messages == 0)
        return (struct figures){0};
    if (f.seconds > 0) {
        f.bps = (double)load->bytes * 8 / f.seconds;
        f.rate = (double)load->messages / f.seconds;
    }
    f.peak_bps = load->peak_bps > f.bps ? load->peak_bps : f.bps;
    const double n = (double)load->messages, avg = load->latency_sum / n;
    const double variance = load->latency_squares / n - avg * avg;
    f.min = us((double)h->min);
    f.max = us((double)h->max);
    f.typical = us((double)roce_hist_quantile(h, 500));
    f.avg = us(avg);
    f.stdev = us(variance > 0 ? sqrt(variance) : 0);
    f.p99 = us((double)roce_hist_quantile(h, 990));
    f.p99_9 = us((double)roce_hist_quantile(h, 999));
    return f;
}

static void print_direction(const struct result *r, const struct load_result *load)
{
    const struct figures f = figures_of(load);
    (void)printf(" %-10" PRIu32 " %-14" PRIu64 " %-16.3f %-19.3f %-.6f\n", r->size, load->messages,
                 f.peak_bps / 1e9, f.bps / 1e9, f.rate / 1e6);
}

static void print_latency(const struct figures *f)
{
    (void)printf(" t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec]"
                 " 99%%[usec] 99.9%%[usec]\n");
    (void)printf(" %-11.2f %-11.2f %-15.2f %-11.2f %-13.2f %-9.2f %-.2f\n", f->min, f->max,
                 f->typical, f->avg, f->stdev, f->p99, f->p99_9);
}

static void print_text(const struct station *st, const struct result *r)
{
    const struct figures f = figures_of(r->load);
    (void)printf("%s, %s, %" PRIu32 " bytes, %" PRIu32 " QP%s, path MTU %" PRIu32 ", %s\n", r->op,
                 services[r->service], r->size, r->qps, r->qps == 1 ? "" : "s", r->mtu, r->peer);
    (void)printf(" #bytes     #iterations    BW peak[Gb/s]    BW average[Gb/s]    MsgRate[Mpps]\n");
    print_direction(r, r->load);
    if (r->back != NULL)
        print_direction(r, r->back);
    if (r->load->latency.count != 0)
        print_latency(&f);
    if (st->opts->quiet)
        return;
    const struct result_count count = count_of(st, r);
    const struct eng_qp_stats s = count.qps;
    (void)printf("retransmitted %" PRIu64 ", timeouts %" PRIu64 ", NAKs %" PRIu64
                 ", RNR NAKs %" PRIu64 ", duplicates %" PRIu64 ", CNPs %" PRIu64 "\n",
                 s.retransmitted, s.timeouts, s.naks_received, s.rnr_received, s.duplicates,
                 s.cnp_received);
    if (st->fault == NULL)
        return;
    (void)printf("faults:");
    for (int i = 0; i < FAULT_KINDS; i++)
        (void)printf("%s %s %" PRIu64, i > 0 ? "," : "", fault_name((enum fault_kind)i),
                     count.faults[i]);
    (void)printf("\n");
}

static void put_direction(struct json *json, const char *key, const struct load_result *load)
{
    const struct figures f = figures_of(load);
    json_open_object(json, key);
    json_uint(json, "messages", load->messages);
    json_uint(json, "bytes", load->bytes);
    json_real(json, "seconds", f.seconds);
    json_real(json, "bandwidth_bps", f.bps);
    json_real(json, "bandwidth_peak_bps", f.peak_bps);
    json_real(json, "messages_per_second", f.rate);
    json_open_object(json, "latency_us");
    json_real(json, "min", f.min);
    json_real(json, "max", f.max);
    json_real(json, "typical", f.typical);
    json_real(json, "avg", f.avg);
    json_real(json, "stdev", f.stdev);
    json_real(json, "p99", f.p99);
    json_real(json, "p99_9", f.p99_9);
    json_close_object(json);
    json_close_object(json);
}

static void put_counters(struct json *json, const struct result_count *count)
{
    const struct eng_qp_stats s = count->qps;
    json_uint(json, "retransmitted", s.retransmitted);
    json_uint(json, "timeouts", s.timeouts);
    json_uint(json, "naks_received", s.naks_received);
    json_uint(json, "rnr_naks_received", s.rnr_received);
    json_uint(json, "duplicates", s.duplicates);
    json_uint(json, "cnps_received", s.cnp_received);
    json_open_object(json, "faults");
    for (int i = 0; i < FAULT_KINDS; i++)
        json_uint(json, fault_name((enum fault_kind)i), count->faults[i]);
    json_close_object(json);
}

static int print_json(const struct station *st, const struct result *r)
{
    struct out out;
    struct json json;
    if (out_init(&out, STDOUT_FILENO) != 0) {
        msg_print("out of memory");
        return -1;
    }
    json_init(&json, &out);
    json_open_object(&json, NULL);
    json_str(&json, "schema", "rocereplay-gen/1");
    json_str(&json, "op", r->op);
    json_str(&json, "service", services[r->service]);
    json_str(&json, "peer", r->peer);
    json_uint(&json, "size", r->size);
    json_uint(&json, "qps", r->qps);
    json_uint(&json, "mtu", r->mtu);
    put_direction(&json, "sent", r->load);
    if (r->back != NULL)
        put_direction(&json, "opposite", r->back);
    json_bool(&json, "verified", st->opts->verify);
    json_uint(&json, "mismatches", r->load->mismatches + r->mismatches);
    json_uint(&json, "received", r->received);
    if (r->peer_report != NULL) {
        json_open_object(&json, "peer_report");
        json_uint(&json, "messages", r->peer_report->messages);
        json_uint(&json, "bytes", r->peer_report->bytes);
        json_uint(&json, "mismatches", r->peer_report->mismatches);
        json_uint(&json, "lost", r->peer_report->lost);
        json_close_object(&json);
    }
    const struct result_count count = count_of(st, r);
    put_counters(&json, &count);
    json_str(&json, "status", eng_wc_status_text((enum eng_wc_status)r->load->status));
    json_close_object(&json);
    json_newline(&json);
    const int rc = out_end(&out);
    if (rc == 0)
        return 0;
    msg_print("standard output: %s", strerror(rc));
    return -1;
}

int result_print(const struct station *st, const struct result *result)
{
    if (st->opts->json)
        return print_json(st, result);
    print_text(st, result);
    return standard_end(0) == 0 ? 0 : -1;
}

/* What a person may try. */
static const char *hint(int status)
{
    switch (status) {
    case ENG_WC_RETRY_EXC_ERR:
        return "; the peer did not answer: is it there, are its QP number, PSN and address right?";
    case ENG_WC_RNR_RETRY_EXC_ERR:
        return "; the peer posts no receives";
    case ENG_WC_REM_ACCESS_ERR:
        return "; the peer's rkey, address or length does not fit";
    case ENG_WC_REM_INV_REQ_ERR:
        return "; the peer's QP does not allow or know this operation";
    default:
        return "";
    }
}

static int told(const struct load_result *load, const char *whose)
{
    if (load == NULL || load->status == ENG_WC_SUCCESS)
        return EXIT_DONE;
    msg_print("%sQP 0x%x: %s%s", whose, (unsigned)load->failed_qpn,
              eng_wc_status_text((enum eng_wc_status)load->status), hint(load->status));
    return EXIT_IO;
}

int result_status(const struct result *result)
{
    int status = told(result->load, "");
    if (told(result->back, "the other end's ") != EXIT_DONE)
        status = EXIT_IO;
    const uint64_t theirs = result->peer_report != NULL ? result->peer_report->mismatches : 0;
    const uint64_t wrong = result->load->mismatches + result->mismatches + theirs;
    if (wrong != 0) {
        msg_print("%" PRIu64 " messages did not have the contents that they should", wrong);
        status = EXIT_IO;
    }
    return status;
}
