/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of flows and connections. */
#include "rocestat/record.h"

#include <stdio.h>

#include <roce/aeth.h>
#include <roce/cm.h>

void record_summary(struct emit *emit, const char *key, bool has, bool has_quantiles,
                    const struct roce_hist_summary *summary)
{
    const bool some = summary->count > 0;
    emit_open(emit, key, has);
    emit_uint(emit, "count", true, summary->count);
    emit_us(emit, "min", some, summary->min);
    emit_us(emit, "p50", some && has_quantiles, summary->p50);
    emit_us(emit, "p90", some && has_quantiles, summary->p90);
    emit_us(emit, "p99", some && has_quantiles, summary->p99);
    emit_us(emit, "max", some, summary->max);
    emit_close(emit, key);
}

/* In CSV one field, "rc_send_only:12 rc_acknowledge:3", so that the columns do not depend on what
 * is in the capture. */
static void opcodes(struct emit *emit, const struct roce_flow_counters *c)
{
    char text[256 * 64];
    size_t len = 0;
    if (emit->json != NULL)
        emit_open(emit, "opcodes", true);
    text[0] = '\0';
    for (unsigned i = 0; i < 256; i++) {
        char unnamed[16];
        const char *name = roce_opcode_info((uint8_t)i)->name;
        if (c->opcodes[i] == 0)
            continue;
        if (name == NULL) {
            (void)snprintf(unnamed, sizeof(unnamed), "0x%02x", i);
            name = unnamed;
        }
        if (emit->json != NULL)
            emit_uint(emit, name, true, c->opcodes[i]);
        else
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:%llu", len > 0 ? " " : "",
                                    name, (unsigned long long)c->opcodes[i]);
    }
    if (emit->json != NULL)
        emit_close(emit, "opcodes");
    else
        emit_str(emit, "opcodes", text);
}

static void identity(struct emit *emit, const struct roce_flow_info *info)
{
    const bool eth = info->src_mac[0] != 0 || info->src_mac[5] != 0 || info->dst_mac[5] != 0 ||
                     info->dst_mac[0] != 0;
    emit_uint(emit, "id", true, info->id);
    emit_addr(emit, "src", true, info->src, info->ip_version);
    emit_addr(emit, "dst", true, info->dst, info->ip_version);
    emit_uint(emit, "dest_qp", true, info->dest_qp);
    emit_str(emit, "transport", roce_service_name((enum roce_service)info->service));
    emit_uint(emit, "vlan", info->has_vlan, info->vlan);
    emit_uint(emit, "pcp", info->has_vlan, info->pcp);
    emit_uint(emit, "dscp", true, info->dscp);
    emit_uint(emit, "ttl", true, info->ttl);
    emit_str(emit, "encapsulation",
             info->encapsulated ? roce_tunnel_name((enum roce_tunnel_kind)info->tunnel_kind)
                                : NULL);
    emit_uint(emit, "tunnel_key", info->encapsulated, info->tunnel_key);
    emit_mac(emit, "src_mac", eth, info->src_mac);
    emit_mac(emit, "dst_mac", eth, info->dst_mac);
    emit_uint(emit, "udp_sport", !info->grh, info->udp_sport);
    emit_uint(emit, "peer", info->peer != ROCE_FLOW_NONE, info->peer);
    emit_uint(emit, "connection", info->connection != ROCE_FLOW_NONE, info->connection);
    emit_str(emit, "pairing", roce_pairing_name((enum roce_pairing)info->pairing));
    emit_uint(emit, "pairing_evidence", true, info->pairing_evidence);
    emit_uint(emit, "pairing_conflicts", true, info->pairing_conflicts);
    emit_uint(emit, "src_qp", info->has_src_qp, info->src_qp);
    emit_uint(emit, "path_mtu", info->path_mtu != 0, info->path_mtu);
    emit_uint(emit, "first_frame", true, info->first_frame);
    emit_uint(emit, "last_frame", true, info->last_frame);
    emit_uint(emit, "first_ns", info->first_ts != 0, info->first_ts);
    emit_uint(emit, "last_ns", info->last_ts != 0, info->last_ts);
    emit_bool(emit, "sampled", true, info->sampled);
}

static void answers(struct emit *emit, const struct roce_flow_counters *c)
{
    emit_uint(emit, "acks", true, c->acks);
    emit_open(emit, "naks", true);
    for (unsigned i = 0; i <= ROCE_NAK_MAX; i++)
        emit_uint(emit, roce_nak_name((uint8_t)i), true, c->naks[i]);
    emit_close(emit, "naks");
    emit_uint(emit, "rnr_naks", true, c->rnr_naks);
    emit_real(emit, "rnr_timer_ms", c->rnr_naks > 0, (double)roce_aeth_rnr_ns(c->rnr_timer) / 1e6);
    emit_uint(emit, "cnps", true, c->cnps);
    emit_uint(emit, "not_ect", true, c->not_ect);
    emit_uint(emit, "ect", true, c->ect);
    emit_uint(emit, "ce", true, c->ce);
    emit_open(emit, "icrc", true);
    emit_uint(emit, "ok", true, c->icrc_ok);
    emit_uint(emit, "bad", true, c->icrc_bad);
    emit_uint(emit, "unchecked", true, c->icrc_unchecked);
    emit_close(emit, "icrc");
}

/* The capture cannot show these of datagrams from several senders, each of which has PSNs of its
 * own. A flow of responses alone has shown all its requests: none. */
static void track(struct emit *emit, const struct roce_flow_counters *c)
{
    const bool has = view_has_track(c);
    emit_uint(emit, "first_psn", c->has_psn, c->first_psn);
    emit_uint(emit, "next_psn", c->has_psn, c->next_psn);
    emit_uint(emit, "gap_events", has, c->gap_events);
    emit_uint(emit, "gap_psns", has, c->gap_psns);
    emit_uint(emit, "retransmitted", has, c->retransmitted);
    emit_uint(emit, "retransmitted_dup", has, c->retransmitted_dup);
    emit_uint(emit, "retransmitted_fill", has, c->retransmitted_fill);
    emit_uint(emit, "out_of_order", has, c->out_of_order);
    emit_uint(emit, "mirror_duplicates", true, c->mirror_duplicates);
    emit_uint(emit, "read_response_dup", true, c->read_response_dup);
    emit_uint(emit, "read_response_gap_events", true, c->read_response_gap_events);
}

static void messages(struct emit *emit, const struct flow_view *view)
{
    const struct roce_flow_counters *c = &view->counters;
    emit_open(emit, "messages", true);
    for (int i = 0; i < ROCE_MESSAGE_OPS; i++) {
        const struct roce_message_counters *m = &c->messages[i];
        const char *name = roce_message_op_name((enum roce_message_op)i);
        emit_open(emit, name, true);
        emit_uint(emit, "started", true, m->started);
        emit_uint(emit, "completed", c->has_completed, m->completed);
        emit_uint(emit, "bytes", true, m->bytes);
        emit_close(emit, name);
    }
    emit_close(emit, "messages");
    emit_open(emit, "latency", c->has_completed);
    record_summary(emit, "message_us", true, true, &view->message);
    record_summary(emit, "ack_us", true, true, &view->ack);
    emit_close(emit, "latency");
}

static void losses(struct emit *emit, const struct roce_flow_counters *c)
{
    emit_open(emit, "loss", true);
    for (int i = 0; i < ROCE_LOST_COUNT; i++)
        emit_uint(emit, roce_location_name((enum roce_location)i), true, c->loss[i]);
    emit_close(emit, "loss");
    emit_uint(emit, "refused", true, c->loss_refused);
    emit_open(emit, "retransmission_cause", view_has_track(c));
    for (int i = 0; i < ROCE_CAUSE_COUNT; i++)
        emit_uint(emit, roce_cause_name((enum roce_cause)i), true, c->retransmission_cause[i]);
    emit_close(emit, "retransmission_cause");
    emit_uint(emit, "udp_source_ports", true, c->udp_source_ports);
    emit_bool(emit, "udp_source_ports_min", true, c->udp_source_ports_min);
    emit_uint(emit, "malformed", true, c->malformed);
    emit_uint(emit, "sliced", true, c->sliced);
}

/* CNPs answer this flow's marks in the other direction: unknown unless frames of it are there. */
static void congestion(struct emit *emit, const struct roce_congestion *c)
{
    const bool some = c->ce > 0 || c->cnps > 0;
    emit_uint(emit, "ce_runs", true, c->ce_runs);
    emit_open(emit, "cnp", some && c->has_cnp);
    emit_uint(emit, "received", true, c->cnps);
    emit_uint(emit, "without_ce", true, c->cnps_without_ce);
    emit_uint(emit, "ce_runs_unanswered", true, c->ce_runs_unanswered);
    emit_us(emit, "spacing_min_us", c->cnp_spacing_min >= 0 && c->cnps > 1,
            (uint64_t)c->cnp_spacing_min);
    record_summary(emit, "delay_us", true, c->has_quantiles, &c->cnp_delay);
    emit_close(emit, "cnp");
    emit_open(emit, "rate", some && c->has_cnp && c->rate_measured > 0);
    emit_uint(emit, "measured", true, c->rate_measured);
    emit_uint(emit, "fell", true, c->rate_fell);
    emit_uint(emit, "before_bps", true, c->rate_before_bps);
    emit_uint(emit, "after_bps", true, c->rate_after_bps);
    emit_uint(emit, "max_bps", true, c->rate_max_bps);
    emit_close(emit, "rate");
}

void record_flow(struct emit *emit, const struct flow_view *view)
{
    const struct roce_flow_counters *c = &view->counters;
    identity(emit, &view->info);
    emit_uint(emit, "packets", true, c->packets);
    emit_uint(emit, "bytes", true, c->bytes);
    emit_uint(emit, "payload_bytes", true, c->payload_bytes);
    opcodes(emit, c);
    emit_uint(emit, "requests", true, c->requests);
    emit_uint(emit, "responses", true, c->responses);
    answers(emit, c);
    track(emit, c);
    messages(emit, view);
    losses(emit, c);
    congestion(emit, &view->congestion);
}

static const char *cm_state(uint8_t state)
{
    switch ((enum roce_cm_state)state) {
    case ROCE_CM_NONE:
        return "none";
    case ROCE_CM_REQUESTED:
        return "requested";
    case ROCE_CM_REPLIED:
        return "replied";
    case ROCE_CM_ESTABLISHED:
        return "established";
    case ROCE_CM_REJECTED:
        return "rejected";
    case ROCE_CM_TIMED_OUT:
        return "timed_out";
    case ROCE_CM_CLOSED:
        return "closed";
    }
    return "none";
}

void record_cm_members(struct emit *emit, const struct roce_cm_info *cm)
{
    const bool replied = cm->rep_count > 0;
    const int port = roce_cm_port(cm->service_id);
    emit_str(emit, "state", cm_state(cm->state));
    emit_addr(emit, "host_a", true, cm->host_a, cm->ip_version);
    emit_addr(emit, "host_b", true, cm->host_b, cm->ip_version);
    emit_uint(emit, "qp_a", cm->req_count > 0, cm->qp_a);
    emit_uint(emit, "qp_b", replied, cm->qp_b);
    emit_uint(emit, "psn_a", cm->req_count > 0, cm->psn_a);
    emit_uint(emit, "psn_b", replied, cm->psn_b);
    emit_uint(emit, "path_mtu", cm->path_mtu != 0, cm->path_mtu);
    emit_uint(emit, "ack_timeout", cm->req_count > 0, cm->ack_timeout);
    emit_uint(emit, "retry_count", cm->req_count > 0, cm->retry_count);
    emit_uint(emit, "rnr_retry_a", cm->req_count > 0, cm->rnr_retry_a);
    emit_uint(emit, "rnr_retry_b", replied, cm->rnr_retry_b);
    emit_uint(emit, "responder_resources", cm->req_count > 0, cm->responder_resources);
    emit_uint(emit, "initiator_depth", cm->req_count > 0, cm->initiator_depth);
    emit_hex(emit, "service_id", cm->req_count > 0, cm->service_id);
    emit_uint(emit, "port", port >= 0, port >= 0 ? (uint64_t)port : 0);
    emit_uint(emit, "requests", true, cm->req_count);
    emit_uint(emit, "replies", true, cm->rep_count);
    emit_uint(emit, "reject_reason", cm->rej_frame != 0, cm->reject_reason);
    emit_str(emit, "reject_text",
             cm->rej_frame != 0 ? roce_cm_reject_text(cm->reject_reason) : NULL);
    emit_uint(emit, "req_frame", cm->req_frame != 0, cm->req_frame);
    emit_uint(emit, "rep_frame", cm->rep_frame != 0, cm->rep_frame);
    emit_uint(emit, "rtu_frame", cm->rtu_frame != 0, cm->rtu_frame);
    emit_uint(emit, "rej_frame", cm->rej_frame != 0, cm->rej_frame);
    emit_uint(emit, "dreq_frame", cm->dreq_frame != 0, cm->dreq_frame);
    emit_us(emit, "setup_us", cm->rtu_frame != 0 && cm->rtu_ts >= cm->req_ts,
            cm->rtu_ts - cm->req_ts);
}

void record_connection(struct emit *emit, const struct roce_observer *obs,
                       const struct roce_connection *connection)
{
    const uint64_t flows[2] = {connection->flows[0], connection->flows[1]};
    struct roce_cm_info cm = {0};
    struct roce_flow_info info = {0};
    const bool has_cm = obs != NULL && flow_view_cm(obs, connection->cm, &cm);
    if (obs != NULL)
        (void)roce_flow_info(roce_observer_flows(obs), connection->flows[0], &info);
    emit_uint(emit, "id", true, connection->id);
    emit_uints(emit, "flows", flows, 2);
    emit_str(emit, "transport", roce_service_name((enum roce_service)connection->service));
    emit_uint(emit, "qp_a", true, connection->qp[0]);
    emit_uint(emit, "qp_b", true, connection->qp[1]);
    emit_addr(emit, "host_a", true, info.src, info.ip_version);
    emit_addr(emit, "host_b", true, info.dst, info.ip_version);
    emit_str(emit, "pairing", roce_pairing_name((enum roce_pairing)connection->pairing));
    emit_uint(emit, "pairing_evidence", true, connection->evidence);
    emit_uint(emit, "pairing_conflicts", true, connection->conflicts);
    emit_uint(emit, "path_mtu", connection->path_mtu != 0, connection->path_mtu);
    emit_open(emit, "cm", has_cm);
    record_cm_members(emit, &cm);
    emit_close(emit, "cm");
}
