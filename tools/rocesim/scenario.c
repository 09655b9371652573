/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scenario files: lines of words, with $NAME replaced, and what must hold of the whole. */
#include "rocesim/scenario.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocesim/keys.h"
#include "rocesim/parser.h"

int parser_fail(const struct parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->error, SCENARIO_ERROR_MAX, format, args);
    va_end(args);
    return -1;
}

int scenario_node(const struct scenario *scenario, const char *name)
{
    for (int i = 0; i < scenario->n_nodes; i++)
        if (strcmp(scenario->nodes[i].name, name) == 0)
            return i;
    return -1;
}

/* Copies |line| with each $NAME replaced. Returns 0, or -1. */
static int substitute(const struct parser *p, const char *line, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len && line[i] != '#';) {
        const char *from = line + i;
        size_t take = 1;
        if (*from == '$') {
            size_t end = i + 1;
            while (end < len && (isalnum((unsigned char)line[end]) || line[end] == '_'))
                end++;
            const struct variable *v = NULL;
            for (int k = 0; k < p->n_variables; k++)
                if (strlen(p->variable[k].name) == end - i - 1 &&
                    memcmp(p->variable[k].name, line + i + 1, end - i - 1) == 0)
                    v = &p->variable[k];
            if (v == NULL)
                return parser_fail(p, "'%.*s' is not set; a line let %.*s=VALUE does",
                                   (int)(end - i), from, (int)(end - i - 1), from + 1);
            from = v->value;
            take = strlen(from);
            i = end;
        } else {
            i++;
        }
        if (n + take >= LINE_MAX_LEN)
            return parser_fail(p, "the line is too long");
        memcpy(out + n, from, take);
        n += take;
    }
    out[n] = '\0';
    return 0;
}

static int read_line(struct parser *p, const char *line, size_t len)
{
    char text[LINE_MAX_LEN];
    if (memchr(line, '\0', len) != NULL)
        return parser_fail(p, "a NUL byte: this is no scenario");
    if (substitute(p, line, len, text) != 0)
        return -1;
    p->n_words = 0;
    for (char *at = text; *(at += strspn(at, " \t\r")) != '\0';) {
        if (p->n_words == WORDS_MAX)
            return parser_fail(p, "more than %d words", WORDS_MAX);
        p->word[p->n_words++] = at;
        at += strcspn(at, " \t\r");
        if (*at != '\0')
            *at++ = '\0';
    }
    return p->n_words == 0 ? 0 : line_read(p);
}

static void set_defaults(struct parser *p)
{
    *p->scenario = (struct scenario){
        .seed = 1, .duration_ns = 10000000, .sample_ns = 10000, .fair_window_ns = 1000000};
    p->host = (struct sim_host){.cnp_gap_ns = 50000,
                                .cnp_dscp = 48,
                                .ack_coalesce = 1,
                                .sink = {.drain_bps = FAB_AT_ONCE, .lossless = 1 << 3}};
    fab_switch_defaults(&p->sw.cfg);
    p->sw.buffer = 12000000;
    p->sw.xon_gap = p->sw.cfg.xon_gap;
    p->sw.quanta = p->sw.cfg.quanta;
    p->sw.pmax = 0.01;
    p->sw.ecn = 1 << 3;
    p->link.cfg = (struct fab_link_cfg){.rate_bps = UINT64_C(40000000000), .delay_ns = 1000};
    p->flow = (struct sim_flow){.from = -1,
                                .to = -1,
                                .size = 1000000,
                                .depth = 4,
                                .qps = 1,
                                .priority = 3,
                                .mtu = 1024,
                                .window = 8388607,
                                .ack_every = 64,
                                .timeout = 14,
                                .retry = 7,
                                .ecn = true};
    key_set(KEY_LINE_FLOW, "dcqcn=off", &p->flow, p->scenario, p->error);
}

static int check_whole(struct parser *p)
{
    const struct scenario *s = p->scenario;
    for (int i = 0; i < p->n_defines; i++)
        if (!p->defines[i].used)
            return parser_fail(p, "the scenario has no line let %.*s=VALUE",
                               (int)p->defines[i].name_len, p->defines[i].name);
    if (s->n_flows == 0)
        return parser_fail(p, "no flow: nothing would happen");
    if (s->warmup_ns >= s->duration_ns)
        return parser_fail(p, "warmup is not shorter than duration");
    for (int i = 0; i < s->n_nodes; i++) {
        const struct sim_switch *sw = &s->nodes[i].u.sw;
        if (s->nodes[i].is_switch && sw->kmax != 0 && sw->kmax < sw->kmin)
            return parser_fail(p, "switch %s: kmax is below kmin", s->nodes[i].name);
        int links = 0;
        for (int k = 0; k < s->n_links; k++)
            links += s->links[k].a == i || s->links[k].b == i;
        if (links == 0 || (!s->nodes[i].is_switch && links > 1))
            return parser_fail(p, "%s has %s link", s->nodes[i].name,
                               links == 0 ? "no" : "more than one");
    }
    return 0;
}

int scenario_read(struct scenario *scenario, const char *text, size_t len,
                  struct sim_define *defines, int n_defines, char error[SCENARIO_ERROR_MAX])
{
    static const struct parser empty;
    struct parser p = empty;
    p.scenario = scenario;
    p.defines = defines;
    p.n_defines = n_defines;
    p.error = error;
    set_defaults(&p);
    int number = 0;
    for (size_t at = 0; at < len; number++) {
        const char *end = memchr(text + at, '\n', len - at);
        const size_t n = end != NULL ? (size_t)(end - text) - at : len - at;
        if (read_line(&p, text + at, n) != 0)
            return number + 1;
        at += n + 1;
    }
    return check_whole(&p);
}

void scenario_free(struct scenario *scenario)
{
    free(scenario->nodes);
    free(scenario->links);
    free(scenario->flows);
    free(scenario->taps);
    free(scenario->routes);
    free(scenario->events);
}
