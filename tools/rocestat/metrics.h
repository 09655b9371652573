/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of a live capture, as OpenMetrics 1.0 or in the older text format of Prometheus. */
#ifndef ROCESTAT_METRICS_H
#define ROCESTAT_METRICS_H

#include <stdio.h>

#include <roce/capture.h>
#include <roce/observer.h>

#include "rocestat/interval.h"
#include "rocestat/worst.h"

enum metrics_format { METRICS_TEXT, METRICS_OPENMETRICS, METRICS_FORMATS };

#define METRICS_CONTENT_TEXT        "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_CONTENT_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

enum { METRICS_LABELS_MAX = 512 };

/* RoCE frames of one priority or DSCP. */
struct metrics_class {
    uint64_t packets, bytes, ce, cnps;
};

struct metrics_port {
    uint64_t frames, frame_bytes; /* of any kind */
    uint64_t pfc, pause;          /* frames */
    struct interval_counters total;
    struct metrics_class priority[8];
    struct metrics_class dscp[ROCE_DSCP_COUNT];
};

struct metrics_qp;

struct metrics {
    const struct roce_observer *obs;
    uint32_t ifaces;
    struct roce_iface iface[ROCE_LIVE_IFACES_MAX]; /* as last told */
    struct metrics_port port[ROCE_LIVE_IFACES_MAX];
    uint64_t lost[ROCE_LOST_COUNT]; /* frames */
    struct worst worst;
    struct metrics_qp *qp; /* as of metrics_gather */
    uint32_t qps;
};

/* metrics_init gives a zeroed |metrics| room for |qps| QPs. Returns 0, or -1 without memory. */
int metrics_init(struct metrics *metrics, uint32_t qps);
void metrics_free(struct metrics *metrics);

void metrics_count(struct metrics *metrics, const struct roce_frame *frame,
                   const struct roce_packet *pkt, const struct roce_icrc *icrc,
                   const struct roce_verdict *verdict);

void metrics_event(struct metrics *metrics, const struct roce_event *event);

/* metrics_ifaces takes over what is known of the interfaces. */
void metrics_ifaces(struct metrics *metrics, const struct roce_iface *ifaces);

/* metrics_gather looks up the worst QPs, for every metrics_write that follows. */
void metrics_gather(struct metrics *metrics);

/* metrics_write writes all of them; write errors are left to ferror. */
void metrics_write(const struct metrics *metrics, FILE *file, enum metrics_format format);

/* metrics_accept tells the format that the Accept header |accept| (NULL: none) asks for. */
enum metrics_format metrics_accept(const char *accept);

#endif
