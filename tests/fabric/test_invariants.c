/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds in every network: random topologies and loads, many seeds. */
#include "fabric/rng.h"
#include "rig.h"

#define SEEDS    40
#define DURATION 2000000
#define DRAIN    40000000

struct net {
    struct rig *rig;
    int n_switches, node[6];
    uint64_t draws;
};

static uint32_t draw(struct net *net, uint32_t n)
{
    return (uint32_t)((rng_next(&net->draws) >> 32) % n);
}

static struct fab_switch_cfg random_switch(struct net *net)
{
    struct fab_switch_cfg cfg;
    fab_switch_defaults(&cfg);
    cfg.buffer = 600000 + draw(net, 8) * 200000;
    cfg.lossless = 1 << 3 | 1 << 4;
    cfg.alpha = 0.0625 * (1 << draw(net, 5));
    if (draw(net, 2) == 0)
        cfg.xoff = 4000 + draw(net, 30000);
    cfg.reserve = draw(net, 2) * 5000;
    cfg.xon_gap = draw(net, 3) * 3000;
    cfg.quanta = draw(net, 2) == 0 ? 65535 : 400;
    cfg.lossy_alpha = 0.5;
    for (int p = 0; p < FAB_PRIORITIES; p++) {
        cfg.weight[p] = draw(net, 3);
        if (draw(net, 2) == 0)
            cfg.ecn[p] = (struct fab_ecn){.kmin = 5000, .kmax = 100000, .pmax = 0.1};
    }
    cfg.mark_dequeue = draw(net, 2) == 0;
    return cfg;
}

/* Two layers: each leaf joined to each spine, hosts at the leaves. No routes that go round. */
static struct net net_new(uint64_t seed)
{
    static const uint64_t rates[3] = {10 * RIG_G, 25 * RIG_G, 40 * RIG_G};
    struct net net = {.rig = rig_new(seed), .draws = seed * 77};
    const int leaves = 1 + (int)draw(&net, 3), spines = leaves > 1 ? 1 + (int)draw(&net, 3) : 0;
    for (net.n_switches = 0; net.n_switches < leaves + spines; net.n_switches++) {
        const struct fab_switch_cfg cfg = random_switch(&net);
        net.node[net.n_switches] = rig_switch(net.rig, &cfg);
    }
    for (int i = 0; i < leaves; i++)
        for (int k = 0; k < spines; k++) {
            const struct fab_link_cfg cfg = {.rate_bps = rates[draw(&net, 3)],
                                             .delay_ns = draw(&net, 3000)};
            assert_true(fab_link_new(net.rig->fab, net.node[i], net.node[leaves + k], &cfg) >= 0);
        }
    const int hosts = 3 + (int)draw(&net, 6);
    for (int i = 0; i < hosts; i++)
        rig_join(net.rig, rig_host(net.rig), net.node[draw(&net, (uint32_t)leaves)],
                 rates[draw(&net, 3)], draw(&net, 2000));
    for (int i = 0; i < hosts; i++)
        for (uint32_t k = 1 + draw(&net, 3); k > 0; k--) {
            struct rig_host *from = &net.rig->host[i];
            const int to = (i + 1 + (int)draw(&net, (uint32_t)hosts - 1)) % hosts;
            static const uint8_t tos[4] = {0x62, 0x82, 0x22, 0xC0}; /* the last two are lossy */
            struct rig_stream *s =
                rig_send(from, &net.rig->host[to], 60 + draw(&net, 4200), tos[draw(&net, 4)]);
            s->rate_bps = draw(&net, 2) == 0 ? 0 : (1 + draw(&net, 20)) * RIG_G;
            s->start = draw(&net, 200000);
            s->tagged = draw(&net, 4) == 0;
        }
    rig_start(net.rig);
    return net;
}

struct sums {
    uint64_t sent, received, drops, lossless_drops;
};

static struct sums count(struct net *net)
{
    struct sums sums = {0};
    const struct fab *fab = net->rig->fab;
    for (int i = 0; i < net->rig->n_hosts; i++) {
        const struct rig_host *host = &net->rig->host[i];
        sums.received += host->received;
        for (int k = 0; k < host->n_streams; k++)
            sums.sent += host->stream[k].sent;
    }
    for (int i = 0; i < net->n_switches; i++)
        for (int k = 0; k < fab_ports(fab, net->node[i]); k++) {
            const struct fab_port_stats stats = rig_port(net->rig, net->node[i], k);
            for (int d = 0; d < FAB_DROPS; d++)
                sums.drops += stats.drops[d];
            sums.lossless_drops += stats.drops[FAB_DROP_HEADROOM];
        }
    return sums;
}

static void assert_buffers(struct net *net, bool empty)
{
    for (int i = 0; i < net->n_switches; i++) {
        struct fab_buffer_stats buffer;
        fab_buffer_stats(net->rig->fab, net->node[i], &buffer);
        uint64_t queued = 0;
        for (int k = 0; k < fab_ports(net->rig->fab, net->node[i]); k++)
            for (int p = 0; p < FAB_PRIORITIES; p++) {
                struct fab_queue_stats queue;
                fab_queue_stats(net->rig->fab, net->node[i], k, p, &queue);
                queued += queue.bytes;
            }
        assert_true(buffer.max_used <= buffer.size);
        assert_true(buffer.shared_used <= buffer.shared);
        assert_int_equal(buffer.used, queued);
        if (empty)
            assert_int_equal(buffer.used + buffer.shared_used, 0);
    }
}

static void stop_sending(struct net *net)
{
    for (int i = 0; i < net->rig->n_hosts; i++)
        for (int k = 0; k < net->rig->host[i].n_streams; k++) {
            struct rig_stream *s = &net->rig->host[i].stream[k];
            s->limit = s->sent != 0 ? s->sent : 1;
        }
}

/* No frame of a lossless priority is lost, what is lost elsewhere is counted, no buffer is ever
 * overrun, no flow is reordered, and when the load ends the network runs empty and falls silent. */
static void test_random_networks_keep_the_rules(void **state)
{
    (void)state;
    uint64_t pauses = 0, drops = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct net net = net_new(seed);
        for (roce_tstamp t = 0; t <= DURATION; t += DURATION / 16) {
            fab_run(net.rig->fab, t);
            assert_buffers(&net, false);
        }
        stop_sending(&net);
        const uint64_t before = fab_hops(net.rig->fab);
        const uint64_t events = fab_run(net.rig->fab, DRAIN);
        /* What is under way takes three events a hop at most, and pauses; then nothing goes on. */
        const uint64_t hops = fab_hops(net.rig->fab) - before;
        assert_true(events < 20 * hops + 5000);
        assert_true(fab_run(net.rig->fab, 2 * (roce_tstamp)DRAIN) == 0);
        assert_buffers(&net, true);
        const struct sums sums = count(&net);
        assert_int_equal(sums.lossless_drops, 0);
        assert_int_equal(sums.sent, sums.received + sums.drops);
        uint64_t missing = 0;
        for (int i = 0; i < net.rig->n_hosts; i++) {
            const struct rig_host *host = &net.rig->host[i];
            assert_int_equal(host->out_of_order, 0);
            missing += host->missing;
        }
        assert_true(missing <= sums.drops);
        pauses += net.rig->traced[FAB_TRACE_PAUSED];
        drops += sums.drops;
        rig_del(net.rig);
    }
    /* The seeds did reach what they are to test. */
    assert_true(pauses > 1000);
    assert_true(drops > 1000);
}

static void test_same_seed_gives_the_same_events(void **state)
{
    (void)state;
    uint64_t digests[4];
    for (int i = 0; i < 4; i++) {
        struct net net = net_new(i < 2 ? 3 : 2 + (uint64_t)i);
        for (roce_tstamp t = 0; t <= DURATION; t += i == 1 ? 777 : DURATION) /* in any steps */
            fab_run(net.rig->fab, t < DURATION ? t : DURATION);
        fab_run(net.rig->fab, DURATION);
        digests[i] = net.rig->digest;
        rig_del(net.rig);
    }
    assert_true(digests[0] == digests[1]);
    assert_true(digests[0] != digests[2]);
    assert_true(digests[2] != digests[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_networks_keep_the_rules),
        cmocka_unit_test(test_same_seed_gives_the_same_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
