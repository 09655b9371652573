/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time series. */
#include "rocesim/series.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"

static int open_file(struct series_file *file, const char *directory, const char *name)
{
    snprintf(file->path, sizeof(file->path), "%s/%s", directory, name);
    const int fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || out_init(&file->out, fd) != 0) {
        msg_file(file->path, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    csv_init(&file->csv, &file->out);
    file->open = true;
    return 0;
}

static int close_file(struct series_file *file)
{
    if (!file->open)
        return 0;
    const int fd = file->out.fd;
    int error = out_end(&file->out);
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error != 0)
        msg_file(file->path, "%s", strerror(error));
    return error != 0 ? -1 : 0;
}

static void put_text(struct series_file *file, const char *text)
{
    if (file->open)
        csv_field(&file->csv, text, strlen(text));
}

static void put_real(struct series_file *file, int decimals, double value)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*f", decimals, value);
    put_text(file, text);
}

static void end_row(struct series_file *file)
{
    if (file->open)
        csv_end_row(&file->csv);
}

static void put_head(struct series_file *file, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_text(file, names[i]);
    end_row(file);
}

/* Queues of switches, of the priorities that flows use and that PFC protects. */
static int list_queues(struct series *series)
{
    const struct net *net = series->net;
    const struct scenario *s = net->scenario;
    unsigned used = 0;
    size_t room = 1;
    for (int i = 0; i < s->n_flows; i++)
        used |= 1U << s->flows[i].priority;
    for (int i = 0; i < s->n_nodes; i++)
        room += s->nodes[i].is_switch ? (size_t)fab_ports(net->fab, i) * FAB_PRIORITIES : 0;
    series->queue = calloc(room, sizeof(*series->queue));
    if (series->queue == NULL)
        return -1;
    for (int i = 0; i < s->n_nodes; i++)
        for (int k = 0; s->nodes[i].is_switch && k < fab_ports(net->fab, i); k++)
            for (int p = 0; p < FAB_PRIORITIES; p++)
                if ((used >> p & 1) != 0)
                    series->queue[series->n_queues++] =
                        (struct series_queue){.node = i, .port = k, .priority = p};
    return 0;
}

static void queue_name(const struct series *series, int i, char *out, size_t room)
{
    char port[NET_PORT_NAME_MAX];
    net_port_name(series->net, series->queue[i].node, series->queue[i].port, port);
    snprintf(out, room, "%s p%d", port, series->queue[i].priority);
}

static int new_curves(struct series *series)
{
    const struct scenario *s = series->net->scenario;
    const size_t queues = (size_t)series->n_queues + 1;
    series->rates = calloc((size_t)s->n_flows, sizeof(struct curve));
    series->depths = calloc(queues, sizeof(struct curve));
    series->pauses = calloc(queues, sizeof(struct curve));
    if (series->rates == NULL || series->depths == NULL || series->pauses == NULL)
        return -1;
    for (int i = 0; i < s->n_flows; i++)
        snprintf(series->rates[i].name, sizeof(series->rates[i].name), "%s", s->flows[i].name);
    for (int i = 0; i < series->n_queues; i++) {
        queue_name(series, i, series->depths[i].name, sizeof(series->depths[i].name));
        queue_name(series, i, series->pauses[i].name, sizeof(series->pauses[i].name));
    }
    /* Whole samples to a point, so that none is split. */
    const uint64_t samples = (s->duration_ns - 1) / s->sample_ns + 1;
    const uint64_t each = (samples - 1) / SERIES_POINTS_MAX + 1;
    series->n_points = (int)((samples - 1) / each + 1);
    series->step_ns = each * s->sample_ns;
    return 0;
}

int series_new(struct series *series, struct net *net, const char *directory, bool curves)
{
    static const char *const flow_head[] = {"time_us",  "flow",  "delivered_bps",
                                            "rate_bps", "alpha", "cnps"};
    static const char *const queue_head[] = {"time_us", "port",   "priority",
                                             "bytes",   "paused", "marked"};
    memset(series, 0, sizeof(*series));
    series->net = net;
    series->delivered = calloc((size_t)net->scenario->n_flows, sizeof(uint64_t));
    series->cnps = calloc((size_t)net->scenario->n_flows, sizeof(uint64_t));
    if (series->delivered == NULL || series->cnps == NULL || list_queues(series) != 0 ||
        (curves && new_curves(series) != 0)) {
        msg_print("out of memory");
        return -1;
    }
    if (directory == NULL)
        return 0;
    if (open_file(&series->flows, directory, "flows.csv") != 0 ||
        open_file(&series->queues, directory, "queues.csv") != 0)
        return -1;
    put_head(&series->flows, flow_head, sizeof(flow_head) / sizeof(flow_head[0]));
    put_head(&series->queues, queue_head, sizeof(queue_head) / sizeof(queue_head[0]));
    return 0;
}

/* Adds |value|, which held from the last sample to |now|, to the curve's means. */
static void draw(const struct series *series, struct curve *curves, int i, uint64_t now,
                 double value)
{
    if (curves == NULL)
        return;
    const double part = (double)(now - series->last_ns) / (double)series->step_ns;
    const uint64_t at = (now - 1) / series->step_ns;
    curves[i].sum += value * part;
    if (at < (uint64_t)series->n_points)
        curves[i].point[at] += value * part;
}

static void sample_flow(struct series *series, int i, uint64_t now)
{
    const struct net *net = series->net;
    const struct net_flow *flow = &net->flows[i];
    struct eng_qp_stats stats = {0};
    double rate = 0, alpha = 0;
    uint64_t cnps = 0;
    for (int k = 0; k < flow->n_qps; k++) {
        const struct net_qp *qp = &net->qps[flow->first_qp + k];
        const bool read = net->scenario->flows[i].op == SIM_READ;
        eng_qp_stats(read ? qp->to : qp->from, &stats); /* who sends the data */
        rate += stats.rate_bps;
        alpha += stats.alpha / flow->n_qps;
        cnps += stats.cnp_received;
    }
    const uint64_t delivered = net_delivered(net, i);
    const double bps =
        (double)(delivered - series->delivered[i]) * 8e9 / (double)(now - series->last_ns);
    put_real(&series->flows, 3, (double)now / 1000);
    put_text(&series->flows, net->scenario->flows[i].name);
    put_real(&series->flows, 0, bps);
    put_real(&series->flows, 0, rate);
    put_real(&series->flows, 6, alpha);
    put_real(&series->flows, 0, (double)(cnps - series->cnps[i]));
    end_row(&series->flows);
    draw(series, series->rates, i, now, bps);
    series->delivered[i] = delivered;
    series->cnps[i] = cnps;
}

static void sample_queue(struct series *series, int i, uint64_t now)
{
    struct series_queue *q = &series->queue[i];
    struct fab_port_stats port;
    char name[NET_PORT_NAME_MAX];
    fab_port_stats(series->net->fab, q->node, q->port, &port);
    const uint64_t bytes = fab_queue_bytes(series->net->fab, q->node, q->port, q->priority);
    const uint64_t paused = port.paused_ns[q->priority];
    const double part = (double)(paused - q->paused_ns) / (double)(now - series->last_ns);
    if (series->queues.open) {
        net_port_name(series->net, q->node, q->port, name);
        put_real(&series->queues, 3, (double)now / 1000);
        put_text(&series->queues, name);
        put_real(&series->queues, 0, q->priority);
        put_real(&series->queues, 0, (double)bytes);
        put_real(&series->queues, 4, part);
        put_real(&series->queues, 0, (double)(port.marked - q->marked));
        end_row(&series->queues);
    }
    draw(series, series->depths, i, now, (double)bytes);
    draw(series, series->pauses, i, now, part);
    q->paused_ns = paused;
    q->marked = port.marked;
}

void series_sample(struct series *series, uint64_t now)
{
    if (now == series->last_ns)
        return;
    for (int i = 0; i < series->net->scenario->n_flows; i++)
        sample_flow(series, i, now);
    for (int i = 0; i < series->n_queues; i++)
        sample_queue(series, i, now);
    series->last_ns = now;
    series->samples++;
}

int series_end(struct series *series)
{
    const int flows = close_file(&series->flows), queues = close_file(&series->queues);
    free(series->delivered);
    free(series->cnps);
    free(series->queue);
    free(series->rates);
    free(series->depths);
    free(series->pauses);
    return flows != 0 || queues != 0 ? -1 : 0;
}
