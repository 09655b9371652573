/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The observer under any sequence of well-formed frames: findings stay bounded, in order and
 * printable, counters add up. Input: 8 bytes a frame. */
#include "../flow/scene.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t ops[16] = {
    ROCE_OPCODE_RC_SEND_ONLY,
    ROCE_OPCODE_RC_SEND_FIRST,
    ROCE_OPCODE_RC_SEND_MIDDLE,
    ROCE_OPCODE_RC_SEND_LAST,
    ROCE_OPCODE_RC_WRITE_ONLY,
    ROCE_OPCODE_RC_READ_REQUEST,
    ROCE_OPCODE_RC_FETCH_ADD,
    ROCE_OPCODE_RC_READ_RESPONSE_ONLY,
    ROCE_OPCODE_RC_ACKNOWLEDGE,
    ROCE_OPCODE_RC_ACKNOWLEDGE,
    ROCE_OPCODE_RC_ACKNOWLEDGE,
    ROCE_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
    ROCE_OPCODE_UC_SEND_ONLY,
    ROCE_OPCODE_UD_SEND_ONLY,
    ROCE_OPCODE_CNP,
    ROCE_OPCODE_RC_READ_RESPONSE_FIRST,
};

static void frame(struct scene *s, const uint8_t *d)
{
    const uint64_t after = (uint64_t)1 << (d[0] & 31);
    if (d[0] >> 5 == 7) {
        scene_pause(s, after, d[1] & 3, d[2] & 15, (uint16_t)(d[3] << 8 | d[4]));
        return;
    }
    struct shot x = {.src = (uint8_t)(1 + (d[1] & 1)),
                     .dst = (uint8_t)(2 - (d[1] & 1)),
                     .op = ops[d[2] & 15],
                     .qp = 2U + (d[1] >> 1 & 15),
                     .psn = (d[3] & 63) - 32U,
                     .len = d[4] & 64 ? 256 : d[4] & 31,
                     .ack = (d[5] & 1) != 0,
                     .syndrome = d[6],
                     .msn = d[7],
                     .dma = d[7] * 16U,
                     .ecn = d[5] >> 1 & 3,
                     .dscp = d[5] >> 3 & 7,
                     .no_migreq = (d[5] & 64) != 0,
                     .bad_icrc = (d[5] & 128) != 0,
                     .cut = d[2] >> 7 ? 20 : 0,
                     .ttl = (uint8_t)(63 + (d[2] >> 6 & 1)),
                     .short_ip = (d[2] & 48) == 48};
    scene_shot(s, after, x);
}

/* Both ways through flow state count the same. */
static void compare(const struct roce_observer *a, const struct roce_observer *b)
{
    struct roce_capture_totals ta, tb;
    roce_observer_totals(a, &ta);
    roce_observer_totals(b, &tb);
    assert(memcmp(&ta, &tb, sizeof ta) == 0);
    const struct roce_flow_table *fa = roce_observer_flows(a), *fb = roce_observer_flows(b);
    uint32_t id = roce_flow_first(fa);
    assert(id == roce_flow_first(fb));
    for (; id != ROCE_FLOW_NONE; id = roce_flow_next(fa, id)) {
        struct roce_flow_counters ca, cb;
        memset(&ca, 0, sizeof ca);
        memset(&cb, 0, sizeof cb);
        assert(roce_flow_next(fa, id) == roce_flow_next(fb, id));
        assert(roce_flow_counters(fa, id, &ca) && roce_flow_counters(fb, id, &cb));
        assert(memcmp(&ca, &cb, sizeof ca) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct roce_observer_opts opts = {.max_flows = 8, .link_speed_bps = 100000000000};
    struct scene s = scene_new(&opts);
    s.check_icrc = true;
    if (s.obs == NULL)
        return 0;
    s.twin = roce_observer_new(&opts);
    assert(s.twin != NULL);
    for (size_t at = 0; at + 8 <= size && at < 8000; at += 8) {
        frame(&s, data + at);
        if (at % 512 == 504) {
            roce_observer_finish(s.obs);
            roce_observer_finish(s.twin);
        }
    }
    roce_observer_finish(s.obs);
    roce_observer_finish(s.twin);
    compare(s.obs, s.twin);
    roce_observer_del(s.twin);
    uint32_t n;
    const struct roce_finding *f = roce_observer_findings(s.obs, &n);
    assert(n <= ROCE_FINDING_KINDS * 65);
    for (uint32_t i = 0; i < n; i++) {
        char text[ROCE_FINDING_TEXT];
        assert(f[i].count > 0 || f[i].kind == ROCE_FINDING_CAPTURE_NO_ROCE);
        assert(i == 0 || roce_finding_compare(&f[i - 1], &f[i]) <= 0);
        assert(roce_finding_text(&f[i], text, sizeof text) > 0);
        for (uint32_t k = 1; k < f[i].n_frames; k++)
            assert(f[i].frames[k - 1] < f[i].frames[k] && f[i].frames[k] <= s.frame);
    }
    struct roce_capture_totals t;
    roce_observer_totals(s.obs, &t);
    assert(t.packets == s.frame && t.roce_packets <= t.packets);
    uint64_t in = 0, out = 0;
    const uint32_t hosts = roce_observer_hosts(s.obs);
    for (uint32_t i = 0; i < hosts; i++) {
        in += roce_observer_host(s.obs, i)->packets_in;
        out += roce_observer_host(s.obs, i)->packets_out;
    }
    assert(in == out && in <= t.roce_packets);
    struct roce_pause_entry e;
    for (uint32_t cursor = 0; roce_observer_pause(s.obs, &cursor, &e);)
        assert(e.longest_ns <= e.paused_ns && e.refresh <= e.xoff);
    scene_free(&s);
    return 0;
}
