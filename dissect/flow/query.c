/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be asked of flow state. */
#include "internal.h"

#include <string.h>

uint32_t roce_flow_first(const struct roce_flow_table *table)
{
    return flow_live(table, 0) ? 0 : roce_flow_next(table, 0);
}

uint32_t roce_flow_next(const struct roce_flow_table *table, uint32_t id)
{
    while (++id < table->flow_pool.fresh)
        if (flow_live(table, id))
            return id;
    return NIL;
}

static uint32_t connection_of(const struct flow *f, uint32_t id)
{
    if (f->peer == NIL)
        return NIL;
    return f->flags & F_SIDE1 ? f->peer : id;
}

static uint8_t pairing_of(const struct flow *f)
{
    if (f->peer == NIL)
        return ROCE_PAIRING_NONE;
    return f->flags & F_PAIR_CM ? ROCE_PAIRING_CM : ROCE_PAIRING_PSN;
}

/* A mirror that samples 1 of N frames shows a gap before nearly each request. */
static bool looks_sampled(const struct roce_flow_table *t, const struct flow *f)
{
    const uint64_t gaps = trouble_total(t, f, COUNT_GAPS);
    return gaps >= 16 && gaps * 2 > count_requests(t, f) &&
           trouble_total(t, f, COUNT_RETRANSMITTED) * 10 < gaps;
}

bool roce_flow_info(const struct roce_flow_table *table, uint32_t id, struct roce_flow_info *out)
{
    if (!flow_live(table, id))
        return false;
    const struct flow *f = flow_at(table, id);
    const struct path *path = path_at(table, f->path);
    *out = (struct roce_flow_info){
        .id = id,
        .serial = f->serial,
        .ip_version = path->ip_version,
        .grh = path->grh,
        .encapsulated = path->encapsulated,
        .tunnel_kind = path->tunnel_kind,
        .tunnel_key = path->tunnel_key,
        .dest_qp = f->dqpn,
        .service = f->service,
        .pairing = pairing_of(f),
        .peer = f->peer,
        .connection = connection_of(f, id),
        .pairing_evidence = f->evidence + (f->peer != NIL ? flow_at(table, f->peer)->evidence : 0u),
        .pairing_conflicts = f->conflicts,
        .path_mtu = mtu_of(f),
        .vlan = f->vlan,
        .has_vlan = (f->flags & F_VLAN) != 0,
        .pcp = f->pcp,
        .dscp = f->dscp,
        .ttl = f->ttl,
        .dscp_varies = (f->flags & F_DSCP_VARIES) != 0,
        .udp_sport = f->sport,
        .migreq_zero = (f->flags & F_MIG0) != 0,
        .migreq_one = (f->flags & F_MIG1) != 0,
        .first_frame = f->first_frame,
        .last_frame = f->last_frame,
        .first_ts = f->first_ts,
        .last_ts = f->last_ts,
        .sampled = looks_sampled(table, f),
    };
    if (f->flags & F_CNP_ONLY)
        out->service = ROCE_SERVICE_CNP;
    memcpy(out->src, path->src, 16);
    memcpy(out->dst, path->dst, 16);
    memcpy(out->src_mac, path->src_mac, 6);
    memcpy(out->dst_mac, path->dst_mac, 6);
    if (f->peer != NIL) {
        out->has_src_qp = true;
        out->src_qp = flow_at(table, f->peer)->dqpn;
    } else if (f->flags & F_SRC_QP) {
        out->has_src_qp = true;
        out->src_qp = f->src_qp;
    }
    return true;
}

static void fill_rare(const struct rare *rare, struct roce_flow_counters *out)
{
    for (int i = 0; i <= ROCE_NAK_MAX; i++) {
        out->naks[i] = rare->naks[i];
        out->acks -= rare->naks[i];
    }
    out->aeth_reserved = rare->reserved;
    out->acks -= rare->reserved;
    out->icrc_bad = rare->icrc_bad;
    out->mirror_duplicates = rare->mirror_dup;
    out->malformed = rare->malformed;
    out->sliced = rare->sliced;
    out->rnr_naks = rare->rnr;
    out->rnr_timer = rare->rnr_timer;
    out->acks -= rare->rnr;
    out->out_of_order = rare->out_of_order;
    out->loss_refused = rare->refused;
}

static void fill_trouble(const struct roce_flow_table *t, const struct flow *f,
                         struct roce_flow_counters *out)
{
    const struct rare *rare = rare_peek(t, f);
    if (rare != NULL)
        fill_rare(rare, out);
    out->naks[ROCE_NAK_PSN_SEQUENCE_ERROR] = trouble_naks(t, f);
    out->acks -= out->naks[ROCE_NAK_PSN_SEQUENCE_ERROR];
    if (f->trouble == NIL)
        return;
    out->gap_events = trouble_total(t, f, COUNT_GAPS);
    out->gap_psns = trouble_gap_psns(t, f);
    out->retransmitted = trouble_total(t, f, COUNT_RETRANSMITTED);
    out->retransmitted_dup = trouble_total(t, f, COUNT_DUPLICATES);
    out->retransmitted_fill = out->retransmitted - out->retransmitted_dup;
    out->read_response_dup = trouble_total(t, f, COUNT_RR_DUPLICATES);
    out->read_response_gap_events = trouble_total(t, f, COUNT_RR_GAPS);
    for (int i = 0; i < ROCE_LOST_COUNT; i++)
        out->loss[i] = trouble_total(t, f, COUNT_LOSS + i);
    for (int i = 0; i < ROCE_CAUSE_COUNT; i++)
        out->retransmission_cause[i] = trouble_total(t, f, COUNT_CAUSE + i);
    for (uint32_t bin = 0; bin < SILENT_BINS; bin++)
        out->retransmission_cause[silent_cause(t, f, bin)] += trouble_silent(t, f, bin);
    for (int i = 0; i < ROCE_CAUSE_COUNT; i++)
        out->episodes += out->retransmission_cause[i];
}

static void fill_messages(const struct roce_flow_table *t, const struct flow *f,
                          struct roce_flow_counters *out)
{
    const struct spill *spill = spill_peek(t, f);
    for (int i = 0; i < MSG_SLOTS && (f->msg_ops >> 4 * i & 0xF) != 0; i++) {
        const struct msg_slot *slot = i == 0 ? &f->msg0 : &f->msg1;
        struct roce_message_counters *m = &out->messages[(f->msg_ops >> 4 * i & 0xF) - 1];
        m->started = slot->started;
        m->completed = slot->completed;
        m->bytes = slot->bytes;
        if (spill != NULL) {
            m->started += (uint64_t)spill->started_high[i] << 32;
            m->completed += (uint64_t)spill->completed_high[i] << 32;
        }
    }
    for (int op = 0; spill != NULL && op < ROCE_MESSAGE_OPS; op++) {
        out->messages[op].started += spill->msg[op].started;
        out->messages[op].completed += spill->msg[op].completed;
        out->messages[op].bytes += spill->msg[op].bytes;
    }
}

static void fill_opcodes(const struct roce_flow_table *t, const struct flow *f,
                         struct roce_flow_counters *out)
{
    struct opcode_counts counts;
    counts.count = out->opcodes;
    count_opcodes(t, f, &counts);
    for (uint32_t i = 0; i < counts.n; i++) {
        const struct roce_opcode_info *info = roce_opcode_info(counts.used[i]);
        const uint64_t count = out->opcodes[counts.used[i]];
        if (info->op == ROCE_OP_CNP)
            out->cnps += count;
        else if (info->op == ROCE_OP_NONE)
            continue;
        else if (info->response)
            out->responses += count;
        else
            out->requests += count;
        if (info->op == ROCE_OP_ACK && info->service != ROCE_SERVICE_RD)
            out->acks += count;
    }
}

bool roce_flow_counters(const struct roce_flow_table *table, uint32_t id,
                        struct roce_flow_counters *out)
{
    if (!flow_live(table, id))
        return false;
    const struct flow *f = flow_at(table, id);
    *out = (struct roce_flow_counters){
        .packets = f->packets,
        .bytes = f->bytes,
        .payload_bytes = f->payload,
        .ce = f->ce,
        .icrc_ok = f->flags & F_ICRC_OK ? f->packets - f->icrc_odd : f->icrc_odd,
        .has_psn = (f->flags & F_PSN) != 0,
        .first_psn = f->first_psn,
        .next_psn = f->next_psn,
        .has_completed =
            f->peer != NIL && (f->service == ROCE_SERVICE_RC || f->service == ROCE_SERVICE_XRC),
        .udp_source_ports = count_ports(table, f),
        .udp_source_ports_min = (f->flags & F_PORTS_MIN) != 0,
    };
    const uint64_t usual = f->packets - f->ce - f->ecn_odd;
    out->ect = f->flags & F_ECT ? usual : f->ecn_odd;
    out->not_ect = f->flags & F_ECT ? f->ecn_odd : usual;
    fill_opcodes(table, f, out);
    fill_trouble(table, f, out);
    out->icrc_unchecked = out->packets - out->icrc_ok - out->icrc_bad;
    fill_messages(table, f, out);
    return true;
}

static const struct hist_head *latency_of(const struct roce_flow_table *t, uint32_t id,
                                          enum roce_latency which)
{
    const struct flow *f = flow_at(t, id);
    if (f->hist == NIL)
        return NULL;
    struct hist_pair *pair = pool_at(&t->hist_pool, f->hist);
    return which == ROCE_LATENCY_ACK ? hist_of_acks(t, pair) : &pair->message;
}

bool roce_flow_latency(const struct roce_flow_table *table, uint32_t id, enum roce_latency which,
                       struct roce_hist_summary *out)
{
    if (!flow_live(table, id))
        return false;
    const struct hist_head *head = latency_of(table, id, which);
    *out = (struct roce_hist_summary){0};
    if (head == NULL || head->count == 0)
        return true;
    struct roce_hist hist;
    hist_head_expand(head, &table->page_pool, &hist);
    roce_hist_summary(&hist, out);
    return true;
}

bool roce_flow_latency_add(const struct roce_flow_table *table, uint32_t id,
                           enum roce_latency which, struct roce_hist *hist)
{
    if (!flow_live(table, id))
        return false;
    const struct hist_head *head = latency_of(table, id, which);
    if (head == NULL || head->count == 0)
        return true;
    struct roce_hist one;
    hist_head_expand(head, &table->page_pool, &one);
    roce_hist_merge(hist, &one);
    return true;
}

void *roce_flow_ext(const struct roce_flow_table *table, uint32_t id)
{
    if (table->ext_pool.base == NULL || !flow_live(table, id))
        return NULL;
    return pool_at(&table->ext_pool, id);
}

bool roce_connection_next(const struct roce_flow_table *table, uint32_t after,
                          struct roce_connection *out)
{
    for (uint32_t id = after == NIL ? 0 : after + 1; id < table->flow_pool.fresh; id++) {
        if (!flow_live(table, id))
            continue;
        const struct flow *f = flow_at(table, id);
        if (f->peer == NIL || (f->flags & F_SIDE1))
            continue;
        const struct flow *peer = flow_at(table, f->peer);
        *out = (struct roce_connection){
            .id = id,
            .flows = {id, f->peer},
            .service = f->service,
            .qp = {peer->dqpn, f->dqpn},
            .pairing = pairing_of(f),
            .evidence = (uint32_t)f->evidence + peer->evidence,
            .conflicts = f->conflicts,
            .path_mtu = mtu_of(f) != 0 ? mtu_of(f) : mtu_of(peer),
            .cm = f->flags & F_PAIR_CM ? f->cm : NIL,
        };
        return true;
    }
    return false;
}

uint32_t roce_flow_capacity(const struct roce_flow_table *table)
{
    return table->capacity;
}

void roce_flow_stats(const struct roce_flow_table *table, struct roce_flow_stats *out)
{
    const struct pool *tracks[] = {&table->flow_pool,   &table->path_pool,    &table->node_pool,
                                   &table->hole_pool,   &table->trouble_pool, &table->wide_pool,
                                   &table->op_pool,     &table->port_pool,    &table->cm_pool,
                                   &table->affair_pool, &table->rare_pool,    &table->spill_pool,
                                   &table->excess_pool, &table->ext_pool};
    uint64_t bytes = ((uint64_t)table->flow_mask + table->path_mask + 2) * sizeof(uint64_t);
    if (table->lru_on)
        bytes += (uint64_t)table->flow_pool.fresh * 2 * sizeof(uint32_t);
    for (size_t i = 0; i < sizeof tracks / sizeof tracks[0]; i++)
        bytes += pool_touched(tracks[i]);
    *out = (struct roce_flow_stats){
        .flows = table->flow_pool.used,
        .capacity = table->capacity,
        .created = table->created,
        .evicted = table->evicted,
        .ended = table->ended,
        .frames = table->frames,
        .connections = table->connections,
        .pairing_conflicts = table->conflicts,
        .memory = bytes + pool_touched(&table->hist_pool) + pool_touched(&table->page_pool.pages) +
                  table->page_pool.pages.fresh * sizeof(struct hist_link) + sizeof *table,
        .memory_per_flow_max = table->flow_pool.fresh > 0 ? bytes / table->flow_pool.fresh : 0,
        .forgotten = table->forgotten,
    };
}
