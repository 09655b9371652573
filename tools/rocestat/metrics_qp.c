/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of the worst QPs, under the names that the kernel gives its counters of a QP. */
#include "rocestat/metrics_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <roce/fmt.h>

/* A QP is where its flow goes; what it sends is in the peer flow, when that is known. */
struct metrics_qp {
    char labels[METRICS_LABELS_MAX];
    uint64_t in[ROCE_HW_COUNT], out[ROCE_HW_COUNT];
    bool has_out, has_latency;
    uint64_t packets, bytes, retransmitted, gap_psns, lost;
    uint64_t measured, p50, p99; /* messages; ns */
};

int metrics_init(struct metrics *metrics, uint32_t qps)
{
    if (worst_init(&metrics->worst, qps) != 0)
        return -1;
    metrics->qp = calloc(metrics->worst.limit, sizeof(*metrics->qp));
    return metrics->qp != NULL ? 0 : -1;
}

void metrics_free(struct metrics *metrics)
{
    worst_free(&metrics->worst);
    free(metrics->qp);
    metrics->qp = NULL;
}

static void label(struct metrics_qp *qp, const struct roce_flow_info *info)
{
    char host[ROCE_FMT_ADDR_MAX + 1], peer[ROCE_FMT_ADDR_MAX + 1], key[32] = "";
    *roce_fmt_addr(host, info->dst, info->ip_version) = '\0';
    *roce_fmt_addr(peer, info->src, info->ip_version) = '\0';
    /* Tenants of different tunnels may use the same addresses. */
    if (info->encapsulated)
        (void)snprintf(key, sizeof(key), ",tunnel=\"%" PRIu32 "\"", info->tunnel_key);
    (void)snprintf(qp->labels, sizeof(qp->labels), "host=\"%s\",qp=\"0x%" PRIx32 "\",peer=\"%s\"%s",
                   host, info->dest_qp, peer, key);
}

static bool gather(const struct roce_observer *obs, uint32_t flow, struct metrics_qp *qp)
{
    struct flow_view view;
    uint64_t unused[ROCE_HW_COUNT];
    if (!flow_view_get(obs, flow, &view) || !roce_observer_flow_hw(obs, flow, qp->in, unused))
        return false;
    const uint32_t peer = view.info.peer;
    qp->has_out = peer != ROCE_FLOW_NONE && roce_observer_flow_hw(obs, peer, unused, qp->out);
    qp->packets = view.counters.packets;
    qp->bytes = view.counters.bytes;
    qp->retransmitted = view.counters.retransmitted;
    qp->gap_psns = view.counters.gap_psns;
    qp->lost = flow_view_lost(&view);
    qp->has_latency = view.counters.has_completed && view.message.count > 0;
    qp->measured = view.message.count;
    qp->p50 = view.message.p50;
    qp->p99 = view.message.p99;
    label(qp, &view.info);
    return true;
}

void metrics_gather(struct metrics *metrics)
{
    metrics->qps = 0;
    for (uint32_t i = 0; i < metrics->worst.count; i++)
        metrics->qps +=
            gather(metrics->obs, metrics->worst.entry[i].flow, &metrics->qp[metrics->qps]);
}

static void write_hw(struct metrics_writer *w, const struct metrics *metrics, enum roce_hw hw)
{
    char name[96];
    (void)snprintf(name, sizeof(name), "roce_qp_%s", roce_hw_name(hw));
    metrics_begin(w, name, "counter", roce_hw_text(hw));
    for (uint32_t i = 0; i < metrics->qps; i++) {
        const struct metrics_qp *qp = &metrics->qp[i];
        if (roce_hw_side(hw) == ROCE_HW_SIDE_IN)
            metrics_sample(w, qp->labels, qp->in[hw]);
        else if (qp->has_out)
            metrics_sample(w, qp->labels, qp->out[hw]);
    }
}

static void write_latency(struct metrics_writer *w, const struct metrics *metrics)
{
    char labels[METRICS_LABELS_MAX + 32];
    metrics_begin(w, "roce_qp_message_latency_seconds", "summary",
                  "latency of messages towards the QP, from first request frame to completion");
    for (uint32_t i = 0; i < metrics->qps; i++) {
        const struct metrics_qp *qp = &metrics->qp[i];
        if (!qp->has_latency)
            continue;
        (void)snprintf(labels, sizeof(labels), "%s,quantile=\"0.5\"", qp->labels);
        metrics_seconds(w, labels, qp->p50);
        (void)snprintf(labels, sizeof(labels), "%s,quantile=\"0.99\"", qp->labels);
        metrics_seconds(w, labels, qp->p99);
        w->suffix = "_count";
        metrics_sample(w, qp->labels, qp->measured);
        w->suffix = "";
    }
}

void metrics_write_qps(struct metrics_writer *w, const struct metrics *metrics)
{
    static const struct {
        const char *name, *help;
        size_t offset;
    } families[] = {
        {"roce_qp_packets", "frames towards the QP", offsetof(struct metrics_qp, packets)},
        {"roce_qp_bytes", "bytes of frames towards the QP", offsetof(struct metrics_qp, bytes)},
        {"roce_qp_retransmitted", "request frames sent again to the QP",
         offsetof(struct metrics_qp, retransmitted)},
        {"roce_qp_gap_psns", "PSNs skipped towards the QP", offsetof(struct metrics_qp, gap_psns)},
        {"roce_qp_lost_frames", "frames towards the QP that were lost in the network",
         offsetof(struct metrics_qp, lost)},
    };
    for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
        metrics_begin(w, families[k].name, "counter", families[k].help);
        for (uint32_t i = 0; i < metrics->qps; i++) {
            uint64_t value;
            memcpy(&value, (const char *)&metrics->qp[i] + families[k].offset, sizeof(value));
            metrics_sample(w, metrics->qp[i].labels, value);
        }
    }
    for (int hw = 0; hw < ROCE_HW_COUNT; hw++)
        write_hw(w, metrics, (enum roce_hw)hw);
    write_latency(w, metrics);
}
