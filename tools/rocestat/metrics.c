/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics. A family is written as a whole, as both formats ask for, with its ports or QPs inside.
 */
#include "rocestat/metrics.h"

#include <inttypes.h>
#include <string.h>

#include <roce/fmt.h>

#include "rocestat/metrics_write.h"

static void count_class(struct metrics_class *class, const struct roce_frame *frame,
                        const struct roce_packet *pkt)
{
    class->packets++;
    class->bytes += frame->origlen;
    class->ce += (pkt->has & ROCE_HAS_IP) != 0 && roce_ip_ecn(&pkt->ip) == ROCE_ECN_CE;
    class->cnps += pkt->op == ROCE_OP_CNP;
}

void metrics_count(struct metrics *metrics, const struct roce_frame *frame,
                   const struct roce_packet *pkt, const struct roce_icrc *icrc,
                   const struct roce_verdict *verdict)
{
    struct metrics_port *port = &metrics->port[frame->iface % ROCE_LIVE_IFACES_MAX];
    port->frames++;
    port->frame_bytes += frame->origlen;
    port->pfc += pkt->kind == ROCE_KIND_PFC;
    port->pause += pkt->kind == ROCE_KIND_PAUSE;
    if (verdict->flow == ROCE_FLOW_NONE)
        return;
    interval_count(&port->total, frame, pkt, icrc, verdict);
    if ((verdict->flags & ROCE_V_MIRROR_DUP) != 0)
        return;
    count_class(&port->priority[roce_packet_priority(pkt, NULL) & 7], frame, pkt);
    if ((pkt->has & ROCE_HAS_IP) != 0)
        count_class(&port->dscp[roce_ip_dscp(&pkt->ip)], frame, pkt);
}

void metrics_ifaces(struct metrics *metrics, const struct roce_iface *ifaces)
{
    memcpy(metrics->iface, ifaces, metrics->ifaces * sizeof(*ifaces));
}

void metrics_event(struct metrics *metrics, const struct roce_event *event)
{
    if (event->kind == ROCE_EVENT_LOSS && event->location < ROCE_LOST_COUNT)
        metrics->lost[event->location] += event->count;
}

enum metrics_format metrics_accept(const char *accept)
{
    return accept != NULL && strstr(accept, "application/openmetrics-text") != NULL
               ? METRICS_OPENMETRICS
               : METRICS_TEXT;
}

/* Names of interfaces may hold a quote. */
static void label_port(const struct metrics *metrics, uint32_t i, char labels[METRICS_LABELS_MAX])
{
    const char *name = metrics->iface[i].name;
    char *out = labels + sprintf(labels, "interface=\"");
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            *out++ = '\\';
        *out++ = *name;
    }
    *out++ = '"';
    *out = '\0';
}

/* ---- the capture ---- */

static void write_ports(struct metrics_writer *w, const struct metrics *metrics, const char *name,
                        const char *help, uint64_t (*get)(const struct metrics *, uint32_t))
{
    char labels[METRICS_LABELS_MAX];
    metrics_begin(w, name, "counter", help);
    for (uint32_t i = 0; i < metrics->ifaces; i++) {
        label_port(metrics, i, labels);
        metrics_sample(w, labels, get(metrics, i));
    }
}

#define FROM_IFACE(member)                                            \
    static uint64_t get_##member(const struct metrics *m, uint32_t i) \
    {                                                                 \
        return m->iface[i].member;                                    \
    }
#define FROM_PORT(member)                                             \
    static uint64_t get_##member(const struct metrics *m, uint32_t i) \
    {                                                                 \
        return m->port[i].member;                                     \
    }
FROM_IFACE(received)
FROM_IFACE(dropped)
FROM_IFACE(if_dropped)
FROM_IFACE(merged)
FROM_PORT(frames)
FROM_PORT(frame_bytes)
FROM_PORT(pfc)
FROM_PORT(pause)

static void write_capture(struct metrics_writer *w, const struct metrics *metrics)
{
    write_ports(w, metrics, "roce_capture_received",
                "frames that came to the capture, dropped ones among them", get_received);
    write_ports(w, metrics, "roce_capture_kernel_dropped",
                "frames for which the ring had no room; no loss in the network", get_dropped);
    write_ports(w, metrics, "roce_capture_interface_dropped",
                "frames that the interface lost before the ring; no loss in the network",
                get_if_dropped);
    write_ports(w, metrics, "roce_capture_merged",
                "frames that the receive offload made of several packets", get_merged);
    write_ports(w, metrics, "roce_frames", "frames of any kind that were looked at", get_frames);
    write_ports(w, metrics, "roce_frame_bytes", "bytes of frames of any kind, without FCS",
                get_frame_bytes);
    write_ports(w, metrics, "roce_pfc_frames", "priority flow control frames", get_pfc);
    write_ports(w, metrics, "roce_pause_frames", "802.3x PAUSE frames", get_pause);
}

/* ---- all flows of a port ---- */

static void write_totals(struct metrics_writer *w, const struct metrics *metrics)
{
    static const struct {
        const char *name, *help;
        size_t offset;
    } families[] = {
#define INTERVAL(key, text) {"roce_" #key, text, offsetof(struct interval_counters, key)},
#include "rocestat/interval.def"
#undef INTERVAL
    };
    char labels[METRICS_LABELS_MAX];
    for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
        metrics_begin(w, families[k].name, "counter", families[k].help);
        for (uint32_t i = 0; i < metrics->ifaces; i++) {
            uint64_t value;
            const char *counters = (const char *)&metrics->port[i].total;
            memcpy(&value, counters + families[k].offset, sizeof(value));
            label_port(metrics, i, labels);
            metrics_sample(w, labels, value);
        }
    }
    metrics_begin(w, "roce_lost_frames", "counter",
                  "frames lost, by where; capture: by the mirror or this capture alone");
    for (int i = 0; i < ROCE_LOST_COUNT; i++) {
        (void)snprintf(labels, sizeof(labels), "location=\"%s\"",
                       roce_location_name((enum roce_location)i));
        metrics_sample(w, labels, metrics->lost[i]);
    }
}

/* ---- priorities and DSCPs ---- */

struct classes {
    const char *label; /* "priority" */
    uint32_t count;
    size_t offset; /* of the array in struct metrics_port */
};

static const struct metrics_class *class_at(const struct metrics_port *port,
                                            const struct classes *classes, uint32_t i)
{
    const void *array = (const char *)port + classes->offset;
    return (const struct metrics_class *)array + i;
}

static void write_class(struct metrics_writer *w, const struct metrics *metrics,
                        const struct classes *classes, const char *what, const char *help,
                        size_t offset)
{
    char name[64], port[METRICS_LABELS_MAX], labels[METRICS_LABELS_MAX + 64];
    (void)snprintf(name, sizeof(name), "roce_%s_%s", classes->label, what);
    metrics_begin(w, name, "counter", help);
    for (uint32_t i = 0; i < metrics->ifaces; i++) {
        label_port(metrics, i, port);
        for (uint32_t k = 0; k < classes->count; k++) {
            const struct metrics_class *class = class_at(&metrics->port[i], classes, k);
            uint64_t value;
            if (class->packets == 0)
                continue;
            memcpy(&value, (const char *)class + offset, sizeof(value));
            (void)snprintf(labels, sizeof(labels), "%s,%s=\"%" PRIu32 "\"", port, classes->label,
                           k);
            metrics_sample(w, labels, value);
        }
    }
}

static void write_classes(struct metrics_writer *w, const struct metrics *metrics,
                          const struct classes *classes)
{
    write_class(w, metrics, classes, "packets", "RoCE frames",
                offsetof(struct metrics_class, packets));
    write_class(w, metrics, classes, "bytes", "bytes of RoCE frames, without FCS",
                offsetof(struct metrics_class, bytes));
    write_class(w, metrics, classes, "ce", "frames marked CE", offsetof(struct metrics_class, ce));
    write_class(w, metrics, classes, "cnps", "congestion notification packets",
                offsetof(struct metrics_class, cnps));
}

/* ---- pause ---- */

static void label_pause(const struct roce_pause_entry *entry, char labels[METRICS_LABELS_MAX])
{
    char mac[ROCE_FMT_MAC_MAX + 1];
    *roce_fmt_mac(mac, entry->mac) = '\0';
    if (entry->priority == ROCE_PAUSE_PRIORITY)
        (void)snprintf(labels, METRICS_LABELS_MAX, "sender=\"%s\",priority=\"all\"", mac);
    else
        (void)snprintf(labels, METRICS_LABELS_MAX, "sender=\"%s\",priority=\"%u\"", mac,
                       entry->priority);
}

static void write_pauses(struct metrics_writer *w, const struct metrics *metrics, const char *name,
                         const char *help, bool needs_speed,
                         uint64_t (*get)(const struct roce_pause_entry *))
{
    struct roce_pause_entry entry;
    char labels[METRICS_LABELS_MAX];
    uint32_t cursor = 0;
    metrics_begin(w, name, "counter", help);
    while (roce_observer_pause(metrics->obs, &cursor, &entry)) {
        if (needs_speed && !entry.has_paused)
            continue;
        label_pause(&entry, labels);
        if (get == NULL)
            metrics_seconds(w, labels, entry.paused_ns);
        else
            metrics_sample(w, labels, get(&entry));
    }
}

static uint64_t get_xoff(const struct roce_pause_entry *entry)
{
    return entry->xoff;
}

static uint64_t get_xon(const struct roce_pause_entry *entry)
{
    return entry->xon;
}

static uint64_t get_storms(const struct roce_pause_entry *entry)
{
    return entry->storms;
}

static void write_state(struct metrics_writer *w, const struct metrics *metrics)
{
    struct roce_flow_stats stats;
    roce_flow_stats(roce_observer_flows(metrics->obs), &stats);
    metrics_begin(w, "roce_flows", "gauge", "flows known now: one direction towards one QP each");
    metrics_sample(w, "", stats.flows);
    metrics_begin(w, "roce_connections", "gauge", "pairs of flows known now");
    metrics_sample(w, "", stats.connections);
    metrics_begin(w, "roce_flows_evicted", "counter", "flows given up for lack of room");
    metrics_sample(w, "", stats.evicted);
    metrics_begin(w, "roce_flows_ended", "counter",
                  "flows that were over and gave their place back");
    metrics_sample(w, "", stats.ended);
    metrics_begin(w, "roce_state_bytes", "gauge", "memory of the flows");
    metrics_sample(w, "", stats.memory);
}

void metrics_write(const struct metrics *metrics, FILE *file, enum metrics_format format)
{
    static const struct classes priority = {"priority", 8, offsetof(struct metrics_port, priority)};
    static const struct classes dscp = {"dscp", ROCE_DSCP_COUNT,
                                        offsetof(struct metrics_port, dscp)};
    struct metrics_writer w = {.file = file, .format = format};
    write_capture(&w, metrics);
    write_totals(&w, metrics);
    write_classes(&w, metrics, &priority);
    write_classes(&w, metrics, &dscp);
    write_pauses(&w, metrics, "roce_pause_xoff", "pauses asked for", false, get_xoff);
    write_pauses(&w, metrics, "roce_pause_xon", "pauses ended by a frame", false, get_xon);
    write_pauses(&w, metrics, "roce_paused_seconds", "time that was paused", true, NULL);
    write_pauses(&w, metrics, "roce_pause_storms", "pauses without a gap beyond the limit", true,
                 get_storms);
    metrics_write_qps(&w, metrics);
    write_state(&w, metrics);
    if (format == METRICS_OPENMETRICS)
        (void)fputs("# EOF\n", file);
}
