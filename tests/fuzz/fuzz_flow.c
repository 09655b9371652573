/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any stream of packets keeps the invariants of flow state: counters add up, pairs are mutual,
 * memory stays within what a small table may take. */
#include <assert.h>
#include <string.h>

#include <roce/flow.h>

#define MAX_FLOWS  24
#define MEMORY_MAX (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static uint32_t take(struct input *in, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++) {
        v = v << 8 | (in->size > 0 ? *in->data : 0);
        if (in->size > 0) {
            in->data++;
            in->size--;
        }
    }
    return v;
}

static void check_counters(const struct roce_flow_table *t, uint32_t id)
{
    struct roce_flow_counters c;
    struct roce_flow_info i;
    assert(roce_flow_counters(t, id, &c) && roce_flow_info(t, id, &i));
    uint64_t opcodes = 0, causes = 0;
    for (int k = 0; k < 256; k++)
        opcodes += c.opcodes[k];
    for (int k = 0; k < ROCE_CAUSE_COUNT; k++)
        causes += c.retransmission_cause[k];
    assert(opcodes == c.packets);
    assert(c.requests + c.responses + c.cnps <= c.packets);
    assert(c.icrc_ok + c.icrc_bad + c.icrc_unchecked == c.packets);
    assert(c.ect + c.ce + c.not_ect == c.packets);
    assert(c.retransmitted == c.retransmitted_dup + c.retransmitted_fill);
    assert(c.out_of_order <= c.retransmitted_fill);
    assert(c.retransmitted <= c.requests);
    assert(causes == c.episodes && c.episodes <= c.retransmitted);
    assert(c.acks + c.rnr_naks + c.naks[0] <= c.responses);
    assert(c.gap_psns >= c.gap_events);
    assert(c.udp_source_ports <= c.packets + c.mirror_duplicates);
    for (int op = 0; op < ROCE_MESSAGE_OPS; op++)
        assert(c.messages[op].completed <= c.messages[op].started);
    if (i.peer != ROCE_FLOW_NONE) {
        struct roce_flow_info p;
        assert(roce_flow_info(t, i.peer, &p));
        assert(p.peer == id && p.connection == i.connection && p.pairing == i.pairing);
        assert(memcmp(p.src, i.dst, 16) == 0 && memcmp(p.dst, i.src, 16) == 0);
    }
    for (int which = 0; which < 2; which++) {
        struct roce_hist_summary s;
        assert(roce_flow_latency(t, id, (enum roce_latency)which, &s));
        assert(s.min <= s.p50 && s.p50 <= s.p90 && s.p90 <= s.p99 && s.p99 <= s.max);
    }
}

static void on_event(void *ctx, const struct roce_event *e)
{
    struct roce_flow_info i;
    assert(e->kind < ROCE_EVENT_KINDS);
    assert(roce_flow_info(*(struct roce_flow_table **)ctx, e->flow, &i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct roce_flow_table *t = NULL;
    const struct roce_flow_opts opts = {.max_flows = MAX_FLOWS,
                                        .timeout_exp = (uint8_t)(take(&in, 1) % 20),
                                        .ext_bytes = 16,
                                        .ops = {.ctx = &t, .event = on_event}};
    t = roce_flow_table_new(&opts);
    if (t == NULL)
        return 0;
    roce_tstamp now = 1000000;
    uint32_t psn[8] = {0, 0xFFFFF0, 100, 100, 0x7FFFFF, 5, 0, 0};
    for (uint64_t number = 1; in.size > 0; number++) {
        const uint32_t head = take(&in, 3);
        const uint8_t opcode = (uint8_t)head;
        const struct roce_opcode_info *info = roce_opcode_info(opcode);
        struct roce_packet p;
        memset(&p, 0, sizeof p);
        p.service = info->service;
        p.op = info->op;
        p.pos = info->pos;
        p.response = info->response;
        p.has = ROCE_HAS_BTH | ROCE_HAS_IP | ROCE_HAS_UDP;
        if (!(head >> 8 & 0x80)) /* else the headers behind the BTH are cut off */
            p.has |= info->headers | ROCE_HAS_PAYLOAD;
        const uint32_t who = head >> 8 & 7;
        const bool back = head >> 11 & 1;
        p.ip.version = who == 7 ? 6 : 4;
        p.ip.src[15] = (uint8_t)(back ? 2 : 1);
        p.ip.dst[15] = (uint8_t)(back ? 1 : 2);
        p.ip.src[14] = p.ip.dst[14] = (uint8_t)(head >> 12 & 1);
        p.ip.tos = (uint8_t)(head >> 13 & 3);
        p.ip.ttl = (uint8_t)(head >> 16 & 1);
        p.ip.id = head >> 17 & 1 ? 7 : (uint16_t)number;
        p.udp.sport = (uint16_t)(head >> 18 & 7);
        p.bth.opcode = opcode;
        p.bth.dqpn = 16 + who * 3 + (head >> 21 & 1);
        p.bth.ackreq = head >> 22 & 1;
        const uint32_t step = take(&in, 1);
        if (step == 0xFF)
            psn[who] = take(&in, 3);
        else
            psn[who] += step % 16 - (step & 0x10 ? 12u : 0u);
        p.bth.psn = psn[who] & 0xFFFFFF;
        if (info->headers != 0 || step & 0x20) {
            const uint32_t more = take(&in, 2);
            p.payload_len = more % 5 == 0 ? 256u << more % 6 : more & 0xFFF;
            p.reth.dma_length = more % 7 == 0 ? more << 16 : more * 3;
            p.reth.va = (uint64_t)more * 256;
            p.aeth.syndrome = (uint8_t)more;
            p.aeth.msn = more >> 8;
            p.deth.src_qp = more & 3;
        }
        now += step & 0x40 ? (uint64_t)take(&in, 1) << (step & 0x80 ? 20 : 8) : 500;
        const struct roce_frame frame = {
            .origlen = 60 + p.payload_len, .ts = now, .number = number};
        const struct roce_icrc icrc = {.status = (uint8_t)(head >> 23 & 1)};
        struct roce_verdict v;
        if (step % 3 == 0)
            roce_flow_prefetch(t, &p);
        assert(roce_flow_update(t, &frame, &p, head & 0x8000 ? &icrc : NULL, &v));
        assert(v.flow < MAX_FLOWS);
        assert(v.peer == ROCE_FLOW_NONE || v.peer < MAX_FLOWS);
        if (number % 64 == 0)
            check_counters(t, v.flow);
        if (number % 1024 == 0)
            roce_flow_finish(t);
    }
    roce_flow_finish(t);
    uint64_t flows = 0;
    for (uint32_t id = roce_flow_first(t); id != ROCE_FLOW_NONE;
         id = roce_flow_next(t, id), flows++)
        check_counters(t, id);
    struct roce_flow_stats s;
    roce_flow_stats(t, &s);
    assert(flows == s.flows && s.flows <= MAX_FLOWS && s.memory < MEMORY_MAX);
    uint32_t connections = 0;
    struct roce_connection c = {.id = ROCE_FLOW_NONE};
    while (roce_connection_next(t, c.id, &c))
        connections++;
    assert(connections == s.connections);
    roce_flow_table_del(t);
    return 0;
}
