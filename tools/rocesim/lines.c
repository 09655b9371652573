/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each kind of line of a scenario. */
#include "rocesim/parser.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocesim/keys.h"
#include "rocesim/names.h"

/* Makes room for one more element; the array grows by doubling. Returns the new element's place. */
static void *more(void *array, int *n, size_t size, int most)
{
    void **list = array;
    if (*n >= most)
        return NULL;
    if ((*n & (*n - 1)) == 0) {
        void *grown = realloc(*list, (*n == 0 ? 1 : (size_t)*n * 2) * size);
        if (grown == NULL)
            return NULL;
        *list = grown;
    }
    return (char *)*list + (size_t)(*n)++ * size;
}

static int too_many(const struct parser *p, const char *what)
{
    return parser_fail(p, "too many %s, or out of memory", what);
}

/* The keys of a line follow its |from|th word. */
static int read_keys(const struct parser *p, enum key_line line, int from, void *target)
{
    for (int i = from; i < p->n_words; i++)
        if (key_set(line, p->word[i], target, p->scenario, p->error) != 0)
            return -1;
    return 0;
}

/* Words without '=' behind the keyword. */
static int count_names(const struct parser *p)
{
    int n = 0;
    while (1 + n < p->n_words && strchr(p->word[1 + n], '=') == NULL)
        n++;
    return n;
}

static int add_node(struct parser *p, const char *name, const struct sim_node *like)
{
    if (scenario_node(p->scenario, name) >= 0)
        return parser_fail(p, "'%s' is there already", name);
    struct sim_node *node = more(&p->scenario->nodes, &p->scenario->n_nodes,
                                 sizeof(*p->scenario->nodes), FAB_NODES_MAX);
    if (node == NULL)
        return too_many(p, "nodes");
    *node = *like;
    snprintf(node->name, sizeof(node->name), "%s", name);
    return 0;
}

static int line_nodes(struct parser *p, bool is_switch)
{
    struct sim_node like = {.is_switch = is_switch};
    const int names = count_names(p);
    if (is_switch)
        like.u.sw = p->sw;
    else
        like.u.host = p->host;
    if (names == 0)
        return parser_fail(p, "a name is missing");
    if (read_keys(p, is_switch ? KEY_LINE_SWITCH : KEY_LINE_HOST, 1 + names,
                  is_switch ? (void *)&like.u.sw : (void *)&like.u.host) != 0)
        return -1;
    for (int i = 1; i <= names; i++) {
        struct names list;
        if (names_read(&list, p->word[i]) != 0)
            return parser_fail(p, "'%.40s' is no name; letters, digits, _ and -, or a1..a8",
                               p->word[i]);
        for (uint32_t k = 0; k < list.n; k++) {
            char name[SIM_NAME_MAX];
            names_get(&list, k, name);
            if (add_node(p, name, &like) != 0)
                return -1;
        }
    }
    return 0;
}

/* Element |i| of the list |word|, which has |n| or one of them. */
static int find_node(const struct parser *p, const char *word, uint32_t i, uint32_t n)
{
    struct names list;
    char name[SIM_NAME_MAX];
    if (names_read(&list, word) != 0)
        return parser_fail(p, "'%.40s' is no name", word);
    if (list.n != 1 && list.n != n)
        return parser_fail(p, "'%.40s' are %u names where 1 or %u are wanted", word, list.n, n);
    names_get(&list, list.n == 1 ? 0 : i, name);
    const int node = scenario_node(p->scenario, name);
    return node >= 0 ? node : parser_fail(p, "there is no node '%s'", name);
}

static int line_link(struct parser *p)
{
    struct names a, b;
    struct sim_link link = p->link;
    if (count_names(p) != 2)
        return parser_fail(p, "a link joins two nodes: link A B");
    if (names_read(&a, p->word[1]) != 0 || names_read(&b, p->word[2]) != 0)
        return parser_fail(p, "'%.40s' or '%.40s' is no name", p->word[1], p->word[2]);
    if (read_keys(p, KEY_LINE_LINK, 3, &link) != 0)
        return -1;
    const uint32_t n = a.n > b.n ? a.n : b.n;
    for (uint32_t i = 0; i < n; i++) {
        link.a = find_node(p, p->word[1], i, n);
        link.b = link.a < 0 ? -1 : find_node(p, p->word[2], i, n);
        if (link.b < 0)
            return -1;
        if (link.a == link.b)
            return parser_fail(p, "a link of '%.40s' to itself", p->scenario->nodes[link.a].name);
        struct sim_link *out = more(&p->scenario->links, &p->scenario->n_links,
                                    sizeof(*p->scenario->links), SIM_LINKS_MAX);
        if (out == NULL)
            return too_many(p, "links");
        *out = link;
    }
    return 0;
}

/* The range of from= or to= is cut to the name that belongs to the |i|th flow. */
static int read_flow_keys(const struct parser *p, struct sim_flow *flow, uint32_t i, uint32_t n)
{
    for (int k = 2; k < p->n_words; k++) {
        const char *word = p->word[k];
        const bool from = strncmp(word, "from=", 5) == 0, to = strncmp(word, "to=", 3) == 0;
        if (!from && !to) {
            if (key_set(KEY_LINE_FLOW, word, flow, p->scenario, p->error) != 0)
                return -1;
            continue;
        }
        const int node = find_node(p, strchr(word, '=') + 1, i, n);
        if (node < 0)
            return -1;
        if (p->scenario->nodes[node].is_switch)
            return parser_fail(p, "'%s' is a switch; flows run between hosts",
                               p->scenario->nodes[node].name);
        *(from ? &flow->from : &flow->to) = node;
    }
    return 0;
}

static int add_flow(struct parser *p, const struct sim_flow *flow)
{
    if (flow->from < 0 || flow->to < 0 || flow->from == flow->to)
        return parser_fail(p, "a flow needs from= and to=, two hosts");
    for (int i = 0; i < p->scenario->n_flows; i++)
        if (strcmp(p->scenario->flows[i].name, flow->name) == 0)
            return parser_fail(p, "'%s' is there already", flow->name);
    struct sim_flow *out = more(&p->scenario->flows, &p->scenario->n_flows,
                                sizeof(*p->scenario->flows), SIM_FLOWS_MAX);
    if (out == NULL)
        return too_many(p, "flows");
    *out = *flow;
    return 0;
}

static int line_flow(struct parser *p)
{
    struct names list;
    if (count_names(p) != 1 || names_read(&list, p->word[1]) != 0)
        return parser_fail(p, "a flow has one name, or a range of them: flow f1..f8 from=.. to=..");
    for (uint32_t i = 0; i < list.n; i++) {
        struct sim_flow flow = p->flow;
        names_get(&list, i, flow.name);
        if (read_flow_keys(p, &flow, i, list.n) != 0 || add_flow(p, &flow) != 0)
            return -1;
    }
    return 0;
}

/* A port is NODE:NEIGHBOUR; a host alone means its only port. */
static int find_port(const struct parser *p, char *word, int *node, int *peer)
{
    char *colon = strchr(word, ':');
    *peer = -1;
    if (colon != NULL) {
        *colon = '\0';
        *peer = find_node(p, colon + 1, 0, 1);
        if (*peer < 0)
            return -1;
    }
    *node = find_node(p, word, 0, 1);
    if (*node < 0)
        return -1;
    for (int i = 0; i < p->scenario->n_links; i++) {
        const struct sim_link *link = &p->scenario->links[i];
        const int other = link->a == *node ? link->b : link->b == *node ? link->a : -1;
        if (other >= 0 && (*peer == other || (*peer < 0 && !p->scenario->nodes[*node].is_switch))) {
            *peer = other;
            return 0;
        }
    }
    return parser_fail(
        p, "'%.40s' has no such port; a port is SWITCH:NEIGHBOUR or HOST, behind its link", word);
}

static int line_tap(struct parser *p)
{
    const int names = count_names(p);
    struct sim_tap tap = p->tap;
    if (names == 0)
        return parser_fail(p, "a tap needs a port: SWITCH:NEIGHBOUR or HOST");
    if (read_keys(p, KEY_LINE_TAP, 1 + names, &tap) != 0)
        return -1;
    for (int i = 1; i <= names; i++) {
        if (find_port(p, p->word[i], &tap.node, &tap.peer) != 0)
            return -1;
        for (int k = 0; k < p->scenario->n_taps; k++)
            if (p->scenario->taps[k].node == tap.node && p->scenario->taps[k].peer == tap.peer)
                return parser_fail(p, "this port is tapped already");
        struct sim_tap *out =
            more(&p->scenario->taps, &p->scenario->n_taps, sizeof(*p->scenario->taps), 256);
        if (out == NULL)
            return too_many(p, "taps");
        *out = tap;
    }
    return 0;
}

static int line_route(struct parser *p)
{
    if (p->n_words != 4 || strncmp(p->word[3], "via=", 4) != 0)
        return parser_fail(p, "route SWITCH HOST via=NEIGHBOUR");
    const int node = find_node(p, p->word[1], 0, 1);
    const int host = node < 0 ? -1 : find_node(p, p->word[2], 0, 1);
    const int via = host < 0 ? -1 : find_node(p, p->word[3] + 4, 0, 1);
    if (via < 0)
        return -1;
    if (!p->scenario->nodes[node].is_switch || p->scenario->nodes[host].is_switch)
        return parser_fail(p, "route SWITCH HOST via=NEIGHBOUR");
    for (int i = 0; i < p->scenario->n_links; i++) {
        const struct sim_link *link = &p->scenario->links[i];
        if (!(link->a == node && link->b == via) && !(link->b == node && link->a == via))
            continue;
        struct sim_route *out =
            more(&p->scenario->routes, &p->scenario->n_routes, sizeof(*p->scenario->routes), 65536);
        if (out == NULL)
            return too_many(p, "routes");
        *out = (struct sim_route){.node = node, .host = host, .via = via};
        return 0;
    }
    return parser_fail(p, "no link joins '%s' and '%s'", p->word[1], p->word[3] + 4);
}

/* at TIME HOST drain=RATE */
static int line_at(struct parser *p)
{
    struct sim_event event;
    if (p->n_words != 4 || value_time(p->word[1], &event.at_ns) != 0 ||
        strncmp(p->word[3], "drain=", 6) != 0 || value_drain(p->word[3] + 6, &event.drain_bps) != 0)
        return parser_fail(p, "at TIME HOST drain=RATE, where RATE is a speed, full or stalled");
    event.host = find_node(p, p->word[2], 0, 1);
    if (event.host < 0)
        return -1;
    if (p->scenario->nodes[event.host].is_switch)
        return parser_fail(p, "'%s' is a switch; hosts drain", p->word[2]);
    struct sim_event *out =
        more(&p->scenario->events, &p->scenario->n_events, sizeof(*p->scenario->events), 4096);
    if (out == NULL)
        return too_many(p, "events");
    /* Kept by time; those of the same time in the order of the file. */
    while (out > p->scenario->events && out[-1].at_ns > event.at_ns) {
        *out = out[-1];
        out--;
    }
    *out = event;
    return 0;
}

static int line_default(struct parser *p)
{
    static const char wanted[] = "default host, switch, link, flow or tap, and keys";
    if (p->n_words < 2)
        return parser_fail(p, "%s", wanted);
    const struct {
        const char *name;
        enum key_line line;
        void *target;
    } kinds[] = {{"host", KEY_LINE_HOST, &p->host},
                 {"switch", KEY_LINE_SWITCH, &p->sw},
                 {"link", KEY_LINE_LINK, &p->link},
                 {"flow", KEY_LINE_FLOW, &p->flow},
                 {"tap", KEY_LINE_TAP, &p->tap}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, p->word[1]) == 0)
            return read_keys(p, kinds[i].line, 2, kinds[i].target);
    return parser_fail(p, "%s", wanted);
}

static int line_let(struct parser *p)
{
    char *equals = p->n_words == 2 ? strchr(p->word[1], '=') : NULL;
    if (equals == NULL || equals == p->word[1] || equals - p->word[1] >= SIM_NAME_MAX ||
        strlen(equals + 1) >= sizeof(p->variable[0].value))
        return parser_fail(p, "let NAME=VALUE");
    *equals = '\0';
    for (const char *c = p->word[1]; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return parser_fail(p, "'%s' is no name; letters, digits and _", p->word[1]);
    if (p->n_variables == VARIABLES_MAX)
        return too_many(p, "variables");
    struct variable *v = &p->variable[p->n_variables++];
    snprintf(v->name, sizeof(v->name), "%s", p->word[1]);
    const char *value = equals + 1;
    for (int i = 0; i < p->n_defines; i++)
        if (p->defines[i].name_len == strlen(v->name) &&
            memcmp(p->defines[i].name, v->name, p->defines[i].name_len) == 0) {
            p->defines[i].used = true;
            value = p->defines[i].value;
        }
    if (strlen(value) >= sizeof(v->value))
        return parser_fail(p, "the value of %s is too long", v->name);
    snprintf(v->value, sizeof(v->value), "%s", value);
    return 0;
}

static int line_time(struct parser *p, uint64_t *out, uint64_t least)
{
    if (p->n_words != 2 || value_time(p->word[1], out) != 0 || *out < least ||
        *out > UINT64_C(1000000000000))
        return parser_fail(p, "%s: a time with its unit, %llu ns to 1000 s", p->word[0],
                           (unsigned long long)least);
    return 0;
}

static int line_title(struct parser *p)
{
    size_t len = 0;
    for (int i = 1; i < p->n_words && len < SIM_TITLE_MAX; i++)
        len += (size_t)snprintf(p->scenario->title + len, SIM_TITLE_MAX - len, "%s%s",
                                i > 1 ? " " : "", p->word[i]);
    return len < SIM_TITLE_MAX ? 0 : parser_fail(p, "the title is too long");
}

int line_read(struct parser *p)
{
    struct scenario *s = p->scenario;
    const char *what = p->word[0];
    if (strcmp(what, "host") == 0)
        return line_nodes(p, false);
    if (strcmp(what, "switch") == 0)
        return line_nodes(p, true);
    if (strcmp(what, "link") == 0)
        return line_link(p);
    if (strcmp(what, "flow") == 0)
        return line_flow(p);
    if (strcmp(what, "tap") == 0)
        return line_tap(p);
    if (strcmp(what, "route") == 0)
        return line_route(p);
    if (strcmp(what, "at") == 0)
        return line_at(p);
    if (strcmp(what, "default") == 0)
        return line_default(p);
    if (strcmp(what, "let") == 0)
        return line_let(p);
    if (strcmp(what, "title") == 0)
        return line_title(p);
    if (strcmp(what, "duration") == 0)
        return line_time(p, &s->duration_ns, 1);
    if (strcmp(what, "sample") == 0)
        return line_time(p, &s->sample_ns, 100);
    if (strcmp(what, "warmup") == 0)
        return line_time(p, &s->warmup_ns, 0);
    if (strcmp(what, "fairness") == 0)
        return line_time(p, &s->fair_window_ns, 1000);
    if (strcmp(what, "seed") == 0)
        return p->n_words == 2 && value_count(p->word[1], &s->seed) == 0
                   ? 0
                   : parser_fail(p, "seed: a number");
    return parser_fail(p, "'%.40s' begins no line of a scenario; see rocesim(5)", what);
}
