/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The truth file. */
#include "rocesim/truth.h"

#include <errno.h>
#include <fcntl.h>
#include <roce/aeth.h>
#include <roce/fmt.h>
#include <roce/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/json.h"

struct truth {
    const struct net *net;
    struct out out;
    struct json json;
};

struct truth *truth_new(const char *path, const struct net *net)
{
    struct truth *truth = calloc(1, sizeof(*truth));
    if (truth == NULL)
        return NULL;
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || out_init(&truth->out, fd) != 0) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        free(truth);
        errno = error;
        return NULL;
    }
    truth->net = net;
    json_init(&truth->json, &truth->out);
    return truth;
}

static void begin(struct truth *truth, const char *type)
{
    json_open_object(&truth->json, NULL);
    json_str(&truth->json, "type", type);
}

static void end(struct truth *truth)
{
    json_close_object(&truth->json);
    json_newline(&truth->json);
}

static const char *name_of(const struct truth *truth, int node)
{
    return truth->net->scenario->nodes[node].name;
}

static void put_host(struct truth *truth, const struct net_host *host)
{
    char text[64];
    begin(truth, "host");
    json_str(&truth->json, "name", name_of(truth, host->node));
    *roce_fmt_addr(text, host->ip, 4) = '\0';
    json_str(&truth->json, "ip", text);
    *roce_fmt_mac(text, host->mac) = '\0';
    json_str(&truth->json, "mac", text);
    end(truth);
}

static void put_qp(struct truth *truth, int index)
{
    const struct net_qp *qp = &truth->net->qps[index];
    const struct sim_flow *flow = &truth->net->scenario->flows[qp->flow];
    begin(truth, "qp");
    json_str(&truth->json, "flow", flow->name);
    json_str(&truth->json, "from", name_of(truth, flow->from));
    json_uint(&truth->json, "from_qpn", eng_qp_num(qp->from));
    json_str(&truth->json, "to", name_of(truth, flow->to));
    json_uint(&truth->json, "to_qpn", eng_qp_num(qp->to));
    end(truth);
}

void truth_start(struct truth *truth)
{
    const struct net *net = truth->net;
    begin(truth, "scenario");
    json_str(&truth->json, "schema", "rocesim-truth/1");
    json_str(&truth->json, "title", net->scenario->title);
    json_uint(&truth->json, "seed", net->scenario->seed);
    json_uint(&truth->json, "duration_ns", net->scenario->duration_ns);
    end(truth);
    for (int i = 0; i < net->scenario->n_nodes; i++)
        if (net->hosts[i] != NULL)
            put_host(truth, net->hosts[i]);
    for (int i = 0; i < net->n_qps; i++)
        put_qp(truth, i);
}

static const char *cause_name(enum eng_cause cause)
{
    switch (cause) {
    case ENG_CAUSE_NONE:
        break;
    case ENG_CAUSE_NAK:
        return "nak";
    case ENG_CAUSE_IMPLIED:
        return "implied_nak";
    case ENG_CAUSE_RNR:
        return "rnr";
    case ENG_CAUSE_TIMEOUT:
        return "timeout";
    }
    return "none";
}

static const char *kind_name(enum eng_trace_kind kind)
{
    switch (kind) {
    case ENG_TRACE_RETRANSMIT:
        return "retransmit";
    case ENG_TRACE_TIMEOUT:
        return "timeout";
    case ENG_TRACE_NAK_SENT:
        return "nak_sent";
    case ENG_TRACE_NAK_RECEIVED:
        return "nak_received";
    case ENG_TRACE_RNR_SENT:
        return "rnr_sent";
    case ENG_TRACE_RNR_RECEIVED:
        return "rnr_received";
    case ENG_TRACE_DUPLICATE:
        return "duplicate";
    case ENG_TRACE_CE:
        return "ce";
    case ENG_TRACE_CNP_SENT:
        return "cnp_sent";
    case ENG_TRACE_CNP_RECEIVED:
        return "cnp_received";
    case ENG_TRACE_RATE:
        return "rate";
    case ENG_TRACE_STATE:
        return "state";
    case ENG_TRACE_DROP:
        return "host_drop";
    case ENG_TRACE_MESSAGE:
        return "message";
    }
    return "";
}

static void put_arg(struct json *json, const struct eng_trace *event)
{
    switch ((enum eng_trace_kind)event->kind) {
    case ENG_TRACE_RETRANSMIT:
        json_str(json, "cause", cause_name((enum eng_cause)event->cause));
        json_uint(json, "psns", event->arg);
        break;
    case ENG_TRACE_NAK_SENT:
    case ENG_TRACE_NAK_RECEIVED:
    case ENG_TRACE_RNR_SENT:
    case ENG_TRACE_RNR_RECEIVED:
        json_uint(json, "syndrome", event->arg);
        break;
    case ENG_TRACE_RATE:
        json_uint(json, "rate_bps", event->arg);
        break;
    case ENG_TRACE_STATE:
        json_str(json, "state", eng_qp_state_name((enum eng_qp_state)event->arg));
        break;
    case ENG_TRACE_MESSAGE:
        json_uint(json, "bytes", event->arg);
        break;
    case ENG_TRACE_DROP:
        json_uint(json, "reason", event->arg);
        break;
    case ENG_TRACE_TIMEOUT:
    case ENG_TRACE_DUPLICATE:
    case ENG_TRACE_CE:
    case ENG_TRACE_CNP_SENT:
    case ENG_TRACE_CNP_RECEIVED:
        break;
    }
}

void truth_engine(struct truth *truth, int node, const struct eng_trace *event)
{
    struct json *json = &truth->json;
    begin(truth, kind_name((enum eng_trace_kind)event->kind));
    json_uint(json, "time_ns", event->now);
    json_str(json, "host", name_of(truth, node));
    json_uint(json, "qpn", event->qpn);
    json_uint(json, "psn", event->psn);
    put_arg(json, event);
    end(truth);
}

static void put_frame(struct json *json, const uint8_t *data, size_t len)
{
    const struct roce_frame frame = {.data = data,
                                     .caplen = (uint32_t)len,
                                     .origlen = (uint32_t)len,
                                     .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    roce_packet_decode(&frame, NULL, &pkt);
    if (!roce_packet_is_roce(&pkt))
        return;
    json_uint(json, "dest_qp", pkt.bth.dqpn);
    json_uint(json, "psn", pkt.bth.psn);
    const struct roce_opcode_info *info = roce_opcode_info(pkt.bth.opcode);
    if (info->name != NULL)
        json_str(json, "opcode", info->name);
}

void truth_fabric(struct truth *truth, const struct fab_trace *event)
{
    struct json *json = &truth->json;
    const enum fab_trace_kind kind = (enum fab_trace_kind)event->kind;
    char port[NET_PORT_NAME_MAX];
    net_port_name(truth->net, event->node, event->port, port);
    begin(truth, fab_trace_name(kind));
    json_uint(json, "time_ns", event->now);
    json_str(json, "port", port);
    json_uint(json, "priority", event->priority);
    switch (kind) {
    case FAB_TRACE_DROP:
        json_str(json, "why", fab_drop_name((enum fab_drop)event->arg));
        break;
    case FAB_TRACE_MARK:
    case FAB_TRACE_XOFF_SENT:
    case FAB_TRACE_XON_SENT:
        json_uint(json, "bytes", event->arg);
        break;
    case FAB_TRACE_STORM:
        json_uint(json, "dropped", event->arg);
        break;
    case FAB_TRACE_PAUSED:
    case FAB_TRACE_RESUMED:
    case FAB_TRACE_RESTORED:
        break;
    }
    if (event->frame != NULL)
        put_frame(json, event->frame, event->len);
    end(truth);
}

int truth_end(struct truth *truth)
{
    if (truth == NULL)
        return 0;
    const int fd = truth->out.fd;
    int error = out_end(&truth->out);
    if (close(fd) != 0 && error == 0)
        error = errno;
    free(truth);
    return error;
}
