/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random walks: thousands of seeded networks, whose captures are counted once more here, plainly,
 * from sets of captured PSNs; and the truth of every step back, which the simulator knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "sim.h"

/* What the definitions of the counters say about one flow, with nothing but lists of PSNs. */
struct plain {
    uint32_t src, dst, qp;
    uint64_t packets, payload, requests, responses, acks, naks, rnr;
    bool has_psn;
    uint32_t first, next;
    uint64_t gap_events, gap_psns, retransmitted, dup, fill;
    uint64_t read_dup, read_gap;
    bool has_read;
    uint32_t read_prev;
    uint8_t *seen, *read_seen; /* one bit a PSN, both halves of the space that a test uses */
};

#define PLAIN_BITS (1u << 21) /* 2^24 PSNs */

/* Mapped: a sanitizer's calloc would touch the whole of what holds a few bits. */
static uint8_t *bits_new(void)
{
    void *bits = mmap(NULL, PLAIN_BITS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(bits, MAP_FAILED);
    return bits;
}

static bool bit(uint8_t *set, uint32_t psn, bool mark)
{
    const bool was = set[psn / 8] >> psn % 8 & 1;
    if (mark)
        set[psn / 8] |= (uint8_t)(1 << psn % 8);
    return was;
}

static struct plain *plain_of(struct plain *list, uint32_t *n, const struct sim_frame *f)
{
    for (uint32_t i = 0; i < *n; i++)
        if (list[i].qp == f->qp && list[i].src == f->src && list[i].dst == f->dst)
            return &list[i];
    struct plain *p = &list[(*n)++];
    *p = (struct plain){.src = f->src, .dst = f->dst, .qp = f->qp};
    p->seen = bits_new();
    p->read_seen = bits_new();
    return p;
}

static void plain_request(struct plain *p, const struct sim_frame *f)
{
    p->requests++;
    if (!p->has_psn) {
        p->has_psn = true;
        p->first = p->next = f->psn;
    }
    const int32_t d = roce_psn_diff(f->psn, p->next);
    if (d > 0) {
        p->gap_events++;
        p->gap_psns += (uint64_t)d;
    }
    if (d < 0) {
        p->retransmitted++;
        if (bit(p->seen, f->psn, false))
            p->dup++;
        else
            p->fill++;
    }
    for (uint32_t i = 0; i < f->npsn; i++)
        bit(p->seen, (f->psn + i) & 0xFFFFFF, true);
    const uint32_t end = (f->psn + f->npsn) & 0xFFFFFF;
    if (roce_psn_diff(end, p->next) > 0)
        p->next = end;
}

static void plain_response(struct plain *p, const struct sim_frame *f)
{
    const struct roce_opcode_info *info = roce_opcode_info(f->opcode);
    p->responses++;
    if (info->op == ROCE_OP_ACK) {
        p->acks += f->syndrome < 0x20;
        p->rnr += f->syndrome >> 5 == 1;
        p->naks += f->syndrome >> 5 == 3;
    }
    if (info->op != ROCE_OP_READ_RESPONSE)
        return;
    p->read_dup += bit(p->read_seen, f->psn, true);
    if (p->has_read && (info->pos == ROCE_POS_MIDDLE || info->pos == ROCE_POS_LAST))
        p->read_gap += f->psn != ((p->read_prev + 1) & 0xFFFFFF);
    p->has_read = true;
    p->read_prev = f->psn;
}

struct score {
    uint64_t episodes, judged, cause_right, location_right, misses;
};

struct watch {
    const struct sim *sim;
    const struct roce_flow_table *t;
    struct score *score;
};

static void on_event(void *ctx, const struct roce_event *e)
{
    struct watch *w = ctx;
    if (e->kind != ROCE_EVENT_EPISODE || e->about_frame == 0)
        return;
    w->score->episodes++;
    const struct sim_frame *f = &w->sim->frame[e->about_frame - 1];
    if (f->episode < 0)
        return; /* the resent frame that began it was not captured */
    const struct sim_episode *truth = &w->sim->ep[f->episode];
    w->score->judged++;
    const bool cause = e->cause == truth->cause;
    const bool location = e->location == truth->location;
    w->score->cause_right += cause;
    w->score->location_right += location;
    if ((!cause || !location) && getenv("SHOW_MISSES") != NULL)
        print_message("  seed %u frame %u psn %u op %u wait %d: %s %s, truth %s %s%s\n",
                      (unsigned)w->sim->o.seed, (unsigned)e->about_frame, e->psn, f->opcode,
                      (int)(e->duration / 1000), roce_cause_name((enum roce_cause)e->cause),
                      roce_location_name((enum roce_location)e->location),
                      roce_cause_name((enum roce_cause)truth->cause),
                      roce_location_name((enum roce_location)truth->location),
                      truth->response ? " (answer)" : "");
}

static void check_flow(const struct roce_flow_table *t, const struct plain *p)
{
    const uint32_t id = sim_flow(t, p->src, p->dst, p->qp);
    struct roce_flow_counters c;
    assert_true(roce_flow_counters(t, id, &c));
    assert_int_equal(c.packets, p->packets);
    assert_int_equal(c.payload_bytes, p->payload);
    assert_int_equal(c.requests, p->requests);
    assert_int_equal(c.responses, p->responses);
    assert_int_equal(c.acks, p->acks);
    assert_int_equal(c.naks[0], p->naks);
    assert_int_equal(c.rnr_naks, p->rnr);
    assert_int_equal(c.has_psn, p->has_psn);
    if (p->has_psn) {
        assert_int_equal(c.first_psn, p->first);
        assert_int_equal(c.next_psn, p->next);
    }
    assert_int_equal(c.gap_events, p->gap_events);
    assert_int_equal(c.gap_psns, p->gap_psns);
    assert_int_equal(c.retransmitted, p->retransmitted);
    assert_int_equal(c.retransmitted_dup, p->dup);
    assert_int_equal(c.retransmitted_fill, p->fill);
    assert_int_equal(c.read_response_dup, p->read_dup);
    assert_int_equal(c.read_response_gap_events, p->read_gap);
    assert_int_equal(c.mirror_duplicates, 0);
    for (int op = 0; op < ROCE_MESSAGE_OPS; op++)
        assert_true(c.messages[op].completed <= c.messages[op].started);
    uint64_t opcodes = 0, causes = 0;
    for (int i = 0; i < 256; i++)
        opcodes += c.opcodes[i];
    for (int i = 0; i < ROCE_CAUSE_COUNT; i++)
        causes += c.retransmission_cause[i];
    assert_int_equal(opcodes, c.packets);
    assert_int_equal(causes, c.episodes);
}

static void play(const struct sim_opts *o, struct score *score)
{
    struct sim s;
    sim_init(&s, o);
    sim_run(&s);
    struct watch w = {.sim = &s, .score = score};
    const struct roce_flow_opts opts = {.max_flows = 256, .ops = {.ctx = &w, .event = on_event}};
    struct roce_flow_table *t = roce_flow_table_new(&opts);
    assert_non_null(t);
    w.t = t;
    struct plain *list = calloc(o->pairs * 2 + 1, sizeof *list);
    assert_non_null(list);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.frames; i++) {
        const struct sim_frame *f = &s.frame[i];
        struct roce_packet pkt;
        sim_packet(f, &pkt);
        const struct roce_frame frame = {.origlen = 62 + f->payload, .ts = f->ts, .number = i + 1};
        struct roce_verdict v;
        assert_true(roce_flow_update(t, &frame, &pkt, NULL, &v));
        struct plain *p = plain_of(list, &n, f);
        p->packets++;
        p->payload += f->payload;
        if (pkt.response)
            plain_response(p, f);
        else
            plain_request(p, f);
    }
    roce_flow_finish(t);
    for (uint32_t i = 0; i < n; i++) {
        check_flow(t, &list[i]);
        munmap(list[i].seen, PLAIN_BITS);
        munmap(list[i].read_seen, PLAIN_BITS);
    }
    for (uint32_t i = 0; i < s.eps; i++)
        score->misses += s.ep[i].seen;
    free(list);
    roce_flow_table_del(t);
    sim_free(&s);
}

static const struct sim_opts base = {
    .pairs = 3,
    .hosts = 2,
    .messages = 30,
    .gap_ns = 60000,
    .rtt_ns = 12000,
    .jitter_ns = 2000,
    .timeout_ns = 8388608,
    .window = 12,
};

static void report(const char *name, const struct score *s)
{
    print_message("  %s: %u episodes, %u compared: cause %.2f %%, location %.2f %%\n", name,
                  (unsigned)s->episodes, (unsigned)s->judged,
                  100.0 * (double)s->cause_right / (double)(s->judged ? s->judged : 1),
                  100.0 * (double)s->location_right / (double)(s->judged ? s->judged : 1));
}

static void expect_98(const char *name, const struct score *s)
{
    report(name, s);
    assert_true(s->judged > 100);
    assert_true(s->cause_right * 100 >= s->judged * 98);
    assert_true(s->location_right * 100 >= s->judged * 98);
}

static void test_clean_networks_show_nothing(void **state)
{
    (void)state;
    struct score score = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.near_wrap = seed % 2 != 0;
        play(&o, &score);
    }
    assert_int_equal(score.episodes, 0);
}

static void test_loss_before_the_mirror(void **state)
{
    (void)state;
    struct score score = {0};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.near_wrap = seed % 2 != 0;
        o.no_reads = true;
        o.lost_before = 0.01;
        play(&o, &score);
    }
    expect_98("loss before the mirror", &score);
}

static void test_loss_behind_the_mirror(void **state)
{
    (void)state;
    struct score score = {0};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.near_wrap = seed % 2 != 0;
        o.no_reads = true;
        o.lost_behind = 0.01;
        play(&o, &score);
    }
    expect_98("loss behind the mirror", &score);
}

static void test_receivers_not_ready(void **state)
{
    (void)state;
    struct score score = {0};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.rnr = 0.06;
        play(&o, &score);
    }
    expect_98("RNR", &score);
}

static void test_reads_atomics_and_loss_everywhere(void **state)
{
    (void)state;
    struct score score = {0};
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.near_wrap = seed % 3 == 0;
        o.lost_before = 0.006;
        o.lost_behind = 0.006;
        o.rnr = 0.01;
        play(&o, &score);
    }
    assert_true(score.judged > 1000);
    expect_98("everything", &score);
}

/* Old RNICs; some of their losses come before the pair is known. */
static void test_go_back_zero(void **state)
{
    (void)state;
    struct score score = {0};
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.near_wrap = seed % 3 == 0;
        o.no_reads = true;
        o.go_back_0 = true;
        o.lost_before = 0.01;
        o.lost_behind = 0.01;
        play(&o, &score);
    }
    expect_98("go back zero", &score);
}

static void test_a_lossy_mirror(void **state)
{
    (void)state;
    struct score score = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sim_opts o = base;
        o.seed = seed;
        o.lost_capture = 0.02;
        play(&o, &score);
    }
    /* Nothing was lost by the network, so that nothing may be called resent. */
    assert_int_equal(score.episodes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean_networks_show_nothing),
        cmocka_unit_test(test_loss_before_the_mirror),
        cmocka_unit_test(test_loss_behind_the_mirror),
        cmocka_unit_test(test_receivers_not_ready),
        cmocka_unit_test(test_reads_atomics_and_loss_everywhere),
        cmocka_unit_test(test_go_back_zero),
        cmocka_unit_test(test_a_lossy_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
