/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What really happened. */
#include "rocereplay/truth.h"

#include <errno.h>
#include <fcntl.h>
#include <roce/aeth.h>
#include <roce/opcode.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/msg.h"
#include "port/afpacket.h"
#include "rocereplay/lane.h"
#include "rocereplay/station.h"

void truth_add(struct truth *truth, const struct lane *lane)
{
    if (truth == NULL)
        return;
    if (truth->n == truth->room) {
        const size_t room = truth->room == 0 ? 16 : 2 * truth->room;
        struct truth_qp *grown = realloc(truth->qp, room * sizeof(*grown));
        if (grown == NULL) {
            truth->lost++;
            return;
        }
        truth->qp = grown;
        truth->room = room;
    }
    struct truth_qp *qp = &truth->qp[truth->n++];
    *qp = (struct truth_qp){
        .qpn = lane->qpn,
        .psn = lane->psn,
        .remote_qpn = lane->remote.qpn,
        .remote_psn = lane->remote.psn,
        .service = lane->cfg.service,
        .state = eng_qp_state(lane->qp),
    };
    memcpy(qp->remote_ip, lane->remote.ip, 16);
    eng_qp_stats(lane->qp, &qp->stats);
}

/* Counters of struct eng_qp_stats that are summed and written. */
#define COUNTERS(X)  \
    X(tx_packets)    \
    X(rx_packets)    \
    X(tx_payload)    \
    X(rx_payload)    \
    X(msgs_sent)     \
    X(msgs_received) \
    X(retransmitted) \
    X(naks_sent)     \
    X(naks_received) \
    X(rnr_sent)      \
    X(rnr_received)  \
    X(timeouts)      \
    X(implied_naks)  \
    X(duplicates)    \
    X(gaps)          \
    X(acks_sent)     \
    X(acks_received) \
    X(ce_received)   \
    X(cnp_sent)      \
    X(cnp_received)

static void add(struct eng_qp_stats *sum, const struct eng_qp_stats *s)
{
#define ADD(member) sum->member += s->member;
    COUNTERS(ADD)
#undef ADD
}

struct eng_qp_stats truth_sum(const struct truth *truth, const struct lane *lanes, uint32_t n)
{
    struct eng_qp_stats sum = {0};
    for (size_t i = 0; i < truth->n; i++)
        add(&sum, &truth->qp[i].stats);
    for (uint32_t i = 0; i < n; i++) {
        struct eng_qp_stats s;
        eng_qp_stats(lanes[i].qp, &s);
        add(&sum, &s);
    }
    return sum;
}

struct eng_qp_stats truth_less(const struct eng_qp_stats *now, const struct eng_qp_stats *before)
{
    struct eng_qp_stats rest = {0};
#define LESS(member) rest.member = now->member - before->member;
    COUNTERS(LESS)
#undef LESS
    return rest;
}

static void write_qp(struct json *json, const struct truth_qp *qp)
{
    static const char *const services[] = {"rc", "uc", "ud", "xrc"};
    char ip[NETIF_IP_TEXT];
    netif_ip_text(qp->remote_ip, ip);
    json_open_object(json, NULL);
    json_uint(json, "qpn", qp->qpn);
    json_uint(json, "starting_psn", qp->psn);
    json_str(json, "remote_ip", ip);
    json_uint(json, "remote_qpn", qp->remote_qpn);
    json_uint(json, "remote_starting_psn", qp->remote_psn);
    json_str(json, "service", services[qp->service]);
    json_str(json, "state", eng_qp_state_name(qp->state));
#define PUT(member) json_uint(json, #member, qp->stats.member);
    COUNTERS(PUT)
#undef PUT
    json_close_object(json);
    json_newline(json);
}

static void write_device(struct json *json, const struct station *st)
{
    static const char *const drops[ENG_DROPS] = {
        [ENG_DROP_NOT_ROCE] = "not_roce", [ENG_DROP_MALFORMED] = "malformed",
        [ENG_DROP_ICRC] = "icrc",         [ENG_DROP_QPN] = "qpn",
        [ENG_DROP_STATE] = "state",       [ENG_DROP_SERVICE] = "service",
        [ENG_DROP_PKEY] = "pkey",         [ENG_DROP_QKEY] = "qkey",
        [ENG_DROP_ADDRESS] = "address",   [ENG_DROP_PSN] = "psn",
        [ENG_DROP_GHOST] = "ghost",       [ENG_DROP_DUPLICATE] = "duplicate",
        [ENG_DROP_NO_WQE] = "no_wqe",     [ENG_DROP_SEQUENCE] = "sequence",
        [ENG_DROP_ACCESS] = "access",
    };
    struct eng_dev_stats s;
    eng_dev_stats(st->dev, &s);
    json_open_object(json, "device");
    json_uint(json, "rx_packets", s.rx_packets);
    json_uint(json, "rx_bytes", s.rx_bytes);
    json_uint(json, "tx_packets", s.tx_packets);
    json_uint(json, "tx_bytes", s.tx_bytes);
    json_uint(json, "pfc_rx", s.pfc_rx);
    json_uint(json, "pause_rx", s.pause_rx);
    if (st->iface != NULL) {
        struct afpacket_stats kernel;
        afpacket_stats(st->iface, &kernel);
        json_uint(json, "ring_dropped", kernel.dropped);
    }
    json_open_object(json, "drops");
    for (int i = 0; i < ENG_DROPS; i++)
        if (drops[i] != NULL)
            json_uint(json, drops[i], s.drops[i]);
    json_close_object(json);
    json_close_object(json);
    json_newline(json);
}

static void write_fault(struct json *json, const struct fault_event *event, roce_tstamp epoch)
{
    const char *opcode = roce_opcode_info(event->opcode)->name;
    json_open_object(json, NULL);
    json_str(json, "type", fault_name(event->kind));
    json_uint(json, "time_ns", event->now + epoch);
    json_str(json, "direction", event->received ? "rx" : "tx");
    json_uint(json, "qpn", event->qpn);
    json_uint(json, "psn", event->psn);
    if (event->round != 0)
        json_uint(json, "iter", event->round);
    if (opcode != NULL)
        json_str(json, "opcode", opcode);
    if (event->kind == FAULT_DELAY)
        json_uint(json, "delay_ns", event->delay_ns);
    if (event->kind == FAULT_NAK && roce_nak_name((uint8_t)event->arg) != NULL)
        json_str(json, "nak", roce_nak_name((uint8_t)event->arg));
    if (event->kind == FAULT_RNR)
        json_uint(json, "timer", event->arg);
    if (event->kind == FAULT_GHOST_ACK)
        json_uint(json, "ack_psn", event->arg);
    if (event->kind == FAULT_PFC_XOFF || event->kind == FAULT_PFC_XON) {
        json_uint(json, "priority", event->arg >> 16);
        json_uint(json, "quanta", event->arg & 0xFFFF);
    }
    json_close_object(json);
    json_newline(json);
}

static void write_faults(struct json *json, const struct station *st)
{
    uint64_t n = 0, lost = 0;
    const struct fault_event *events =
        st->fault != NULL ? fault_events(st->fault, &n, &lost) : NULL;
    json_open_object(json, "fault_counts");
    for (int i = 0; i < FAULT_KINDS; i++)
        json_uint(json, fault_name((enum fault_kind)i),
                  st->fault != NULL ? fault_count(st->fault, (enum fault_kind)i) : 0);
    json_close_object(json);
    json_uint(json, "faults_not_listed", lost);
    json_newline(json);
    json_open_array(json, "faults");
    for (uint64_t i = 0; i < n; i++)
        write_fault(json, &events[i], st->epoch);
    json_close_array(json);
}

int truth_open(struct truth *truth, const char *path)
{
    truth->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (truth->fd < 0) {
        msg_file(path, "%s; check the name and the permissions", strerror(errno));
        return -1;
    }
    truth->opened = true;
    return 0;
}

int truth_write(struct truth *truth, const struct station *st, const char *end, const char *path)
{
    struct out out;
    struct json json;
    if (!truth->opened && truth_open(truth, path) != 0)
        return -1;
    const int fd = truth->fd;
    truth->opened = false;
    if (out_init(&out, fd) != 0) {
        msg_print("out of memory");
        (void)close(fd);
        return -1;
    }
    json_init(&json, &out);
    json_open_object(&json, NULL);
    json_str(&json, "schema", "rocereplay-truth/1");
    json_str(&json, "end", end);
    json_uint(&json, "qps_not_listed", truth->lost);
    json_newline(&json);
    if (st->dev != NULL) /* replayed frames pass no engine */
        write_device(&json, st);
    json_open_array(&json, "qps");
    for (size_t i = 0; i < truth->n; i++)
        write_qp(&json, &truth->qp[i]);
    json_close_array(&json);
    write_faults(&json, st);
    json_close_object(&json);
    json_newline(&json);
    int rc = out_end(&out);
    if (close(fd) != 0 && rc == 0)
        rc = errno;
    if (rc == 0)
        return 0;
    msg_file(path, "%s", strerror(rc));
    return -1;
}

void truth_free(struct truth *truth)
{
    free(truth->qp);
    if (truth->opened)
        (void)close(truth->fd);
    *truth = (struct truth){0};
}
