/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scenario files: what is read, what is refused and with which words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocesim/scenario.h"
#include "tests/cmocka_all.h"

#define NET "host a b\nswitch s\nlink a s\nlink b s\n"

static int read_text(struct scenario *s, const char *text, char error[SCENARIO_ERROR_MAX])
{
    /* In a block of exactly this size, so that a byte too many is seen. */
    const size_t len = strlen(text);
    char *copy = malloc(len + (len == 0));
    assert_non_null(copy);
    memcpy(copy, text, len);
    const int line = scenario_read(s, copy, len, NULL, 0, error);
    free(copy);
    return line;
}

static void test_scenario_values(void **state)
{
    (void)state;
    struct scenario s;
    char error[SCENARIO_ERROR_MAX] = "";
    const int line = read_text(
        &s,
        "# a comment\n"
        "title  Two   hosts # and a remark\n"
        "seed 77\r\n"
        "duration 20ms\n"
        "sample 5us\n"
        "warmup 1.5ms\n"
        "let K=200K\n"
        "default link rate=100G delay=500ns loss=1/256\n"
        "host a1..a3 cnp_gap=4us lossless=3,4 drain=10G\n"
        "switch s buffer=2Mi kmin=5KB kmax=$K pmax=1% ecn=3 weights=1,2,3,4,5,6,7,0 alpha=1/2\n"
        "link a1..a3 s\n"
        "default flow dcqcn=nic rai=50M size=4096\n"
        "flow f1..f2 from=a1..a2 to=a3 op=send priority=5 ecn=no timer=100us\n"
        "tap s:a3 a1 snaplen=128\n"
        "at 2ms a3 drain=stalled\n"
        "at 1ms a3 drain=full\n",
        error);
    assert_string_equal(error, "");
    assert_int_equal(line, 0);
    assert_string_equal(s.title, "Two hosts");
    assert_int_equal(s.seed, 77);
    assert_int_equal(s.duration_ns, 20000000);
    assert_int_equal(s.sample_ns, 5000);
    assert_int_equal(s.warmup_ns, 1500000);
    assert_int_equal(s.n_nodes, 4);
    assert_string_equal(s.nodes[2].name, "a3");
    assert_int_equal(s.nodes[0].u.host.cnp_gap_ns, 4000);
    assert_int_equal(s.nodes[0].u.host.sink.lossless, 0x18);
    assert_int_equal(s.nodes[0].u.host.sink.drain_bps, 10000000000);
    const struct sim_switch *sw = &s.nodes[3].u.sw;
    assert_true(s.nodes[3].is_switch);
    assert_int_equal(sw->buffer, 2 * 1024 * 1024);
    assert_int_equal(sw->kmin, 5000);
    assert_int_equal(sw->kmax, 200000);
    assert_true(sw->pmax > 0.00999 && sw->pmax < 0.01001);
    assert_int_equal(sw->ecn, 1 << 3);
    for (int p = 0; p < 7; p++)
        assert_int_equal(sw->cfg.weight[p], p + 1);
    assert_int_equal(sw->cfg.weight[7], 0);
    assert_int_equal(s.n_links, 3);
    assert_int_equal(s.links[2].a, 2);
    assert_int_equal(s.links[2].b, 3);
    assert_int_equal(s.links[1].cfg.rate_bps, 100000000000);
    assert_int_equal(s.links[1].cfg.delay_ns, 500);
    assert_true(s.links[1].cfg.loss * 256 > 0.999 && s.links[1].cfg.loss * 256 < 1.001);
    assert_int_equal(s.n_flows, 2);
    const struct sim_flow *f = &s.flows[1];
    assert_string_equal(f->name, "f2");
    assert_int_equal(f->from, 1);
    assert_int_equal(f->to, 2);
    assert_int_equal(f->op, SIM_SEND);
    assert_int_equal(f->priority, 5);
    assert_false(f->ecn);
    assert_int_equal(f->dcqcn, SIM_DCQCN_NIC);
    assert_int_equal(f->rai_bps, 50000000); /* given behind the preset, which says 5 Mb/s */
    assert_int_equal(f->rhai_bps, 50000000);
    assert_int_equal(f->cc.timer_ns, 100000);
    assert_true(f->cc.sampled);
    assert_int_equal(s.n_taps, 2);
    assert_int_equal(s.taps[0].node, 3);
    assert_int_equal(s.taps[0].peer, 2);
    assert_int_equal(s.taps[1].node, 0);
    assert_int_equal(s.taps[1].peer, 3);
    assert_int_equal(s.n_events, 2);
    assert_int_equal(s.events[0].at_ns, 1000000);
    assert_int_equal(s.events[0].drain_bps, FAB_AT_ONCE);
    assert_int_equal(s.events[1].drain_bps, FAB_STALLED);
    scenario_free(&s);
}

static void test_scenario_defines_override(void **state)
{
    (void)state;
    struct scenario s;
    char error[SCENARIO_ERROR_MAX];
    const char *text = "let N=2\nlet RATE=1G\nhost h1..h$N r\nswitch s\nlink h1..h$N s\nlink r s\n"
                       "flow f1..f$N from=h1..h$N to=r rate=$RATE\n";
    struct sim_define five[1] = {{.name = "N", .name_len = 1, .value = "5"}};
    assert_int_equal(scenario_read(&s, text, strlen(text), five, 1, error), 0);
    assert_int_equal(s.n_flows, 5);
    assert_int_equal(s.flows[4].rate_bps, 1000000000);
    scenario_free(&s);
    struct sim_define none[1] = {{.name = "M", .name_len = 1, .value = "5"}};
    assert_int_equal(scenario_read(&s, text, strlen(text), none, 1, error), -1);
    assert_string_equal(error, "the scenario has no line let M=VALUE");
    scenario_free(&s);
}

static const struct {
    const char *text;
    int line;
    const char *words; /* part of the message */
} wrong[] = {
    {"", -1, "no flow"},
    {NET, -1, "no flow"},
    {"hots a\n", 1, "'hots' begins no line"},
    {"host\n", 1, "a name is missing"},
    {"host 1a\n", 1, "'1a' is no name"},
    {"host a/b\n", 1, "'a/b' is no name"},
    {"host a a\n", 1, "'a' is there already"},
    {"host a9..a1\n", 1, "is no name"},
    {"host a1..b3\n", 1, "is no name"},
    {"host a1..a99999\n", 1, "is no name"},
    {"host a1..a4096 b\n", 1, "too many nodes"},
    {"host a speed=3\n", 1, "no key 'speed' here"},
    {"host a cnp_gap=50\n", 1, "'50' is not a time"},
    {"host a cnp_dscp=64\n", 1, "out of range, 0 to 63"},
    {"host a drain=fast\n", 1, "is not a speed, full or stalled"},
    {"host a lossless=8\n", 1, "is not a list of priorities"},
    {"host a cnp_gap=4us extra\n", 1, "'extra' is not NAME=VALUE"},
    {"switch s pmax=2\n", 1, "out of range"},
    {"switch s pmax=1/0\n", 1, "is not a part"},
    {"switch s kmin=nan\n", 1, "is not a number of bytes"},
    {"switch s weights=1,2\n", 1, "eight numbers"},
    {"switch s buffer=5\n", 1, "out of range"},
    {NET "flow f from=a to=b size=9G\n", 5, "out of range"},
    {NET "flow f from=a to=s\n", 5, "'s' is a switch"},
    {NET "flow f from=a to=c\n", 5, "no node 'c'"},
    {NET "flow f from=a\n", 5, "needs from= and to="},
    {NET "flow f from=a to=a\n", 5, "needs from= and to="},
    {NET "flow f from=a to=b mtu=1500\n", 5, "512, 1024"},
    {NET "flow f from=a to=b op=copy\n", 5, "write, send or read"},
    {NET "flow f1..f3 from=a to=b1..b2\n", 5, "2 names where 1 or 3"},
    {NET "flow f from=a to=b\nflow f from=b to=a\n", 6, "'f' is there already"},
    {NET "tap a:b\n", 5, "no such port"},
    {NET "tap s\n", 5, "no such port"},
    {NET "tap a s:a a\n", 5, "tapped already"},
    {NET "route s a via=b x\n", 5, "route SWITCH HOST"},
    {NET "route a b via=s\n", 5, "route SWITCH HOST"},
    {"host a b\nswitch s t\nlink a s\nroute s b via=t\n", 4, "no link joins"},
    {NET "at 1ms s drain=full\n", 5, "is a switch"},
    {NET "at 1 a drain=full\n", 5, "at TIME HOST"},
    {"link a b\n", 1, "no node 'a'"},
    {"host a\nlink a a\n", 2, "to itself"},
    {"host a b c\nlink a b\nlink a c\nflow f from=a to=b\n", -1, "more than one link"},
    {"host a b c\nlink a b\nflow f from=a to=b\n", -1, "c has no link"},
    {"let N\n", 1, "let NAME=VALUE"},
    {"host $N\n", 1, "'$N' is not set"},
    {"duration 0\n", 1, "a time with its unit"},
    {"seed x\n", 1, "a number"},
    {"default node rate=1G\n", 1, "default host, switch"},
    {"duration 1ms\nwarmup 1ms\n" NET "flow f from=a to=b\n", -1, "warmup is not shorter"},
    {"switch s kmin=9K kmax=5K\nhost a b\nlink a s\nlink b s\nflow f from=a to=b\n", -1,
     "kmax is below kmin"},
};

static void test_scenario_says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct scenario s;
        char error[SCENARIO_ERROR_MAX] = "";
        const int line = read_text(&s, wrong[i].text, error);
        if (line != wrong[i].line || strstr(error, wrong[i].words) == NULL)
            fail_msg("'%s': line %d, '%s'", wrong[i].text, line, error);
        scenario_free(&s);
    }
}

/* Long lines, long names and many words end with words, not with a crash. */
static void test_scenario_survives_excess(void **state)
{
    (void)state;
    static char text[100000];
    static const char *const repeated[] = {"a", "host a", " x", "a=1 ", "$", "..", "#", "let A=B "};
    for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++) {
        struct scenario s;
        char error[SCENARIO_ERROR_MAX];
        size_t len = 0;
        while (len + 10 < sizeof(text))
            len += (size_t)snprintf(text + len, 10, "%s", repeated[i]);
        assert_int_not_equal(read_text(&s, text, error), 0);
        scenario_free(&s);
    }
}

/* Every shipped file, and each beginning of it, which is mostly refused but always ends. */
static void test_scenario_reads_what_is_shipped(void **state)
{
    (void)state;
    static const char *const names[] = {"pair",          "incast",    "late-joiner",
                                        "parking-lot",   "pfc-storm", "hol-victim",
                                        "ring-deadlock", "lossy-gbn", "gb0-livelock"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[512], text[8192], error[SCENARIO_ERROR_MAX];
        snprintf(path, sizeof(path), SOURCE_DIR "/scenarios/%s.scenario", names[i]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        const size_t len = fread(text, 1, sizeof(text) - 1, file);
        fclose(file);
        for (size_t n = 0; n <= len; n++) {
            struct scenario s;
            char *copy = malloc(n + 1);
            assert_non_null(copy);
            memcpy(copy, text, n);
            const int line = scenario_read(&s, copy, n, NULL, 0, error);
            free(copy);
            if (n == len)
                assert_int_equal(line, 0);
            scenario_free(&s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenario_values),
        cmocka_unit_test(test_scenario_defines_override),
        cmocka_unit_test(test_scenario_says_what_is_wrong),
        cmocka_unit_test(test_scenario_survives_excess),
        cmocka_unit_test(test_scenario_reads_what_is_shipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
