/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of scenario files and where they go. */
#include "rocesim/keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"

enum key_kind {
    KEY_TIME,
    KEY_COUNT,
    KEY_BYTES,
    KEY_SPEED,
    KEY_PART,
    KEY_YES,
    KEY_PRIORITIES,
    KEY_WEIGHTS,
    KEY_NODE,
    KEY_MTU,
    KEY_DRAIN,
    KEY_DCQCN,
    KEY_OP,
    KEY_MARK,
    KEY_ACTION,
    KEY_FAULTS,
    KEY_RECOVERY,
};

struct key {
    uint8_t line, kind;
    const char *name;
    double least, most;
    size_t offset;
};

#define STRUCT_HOST   struct sim_host
#define STRUCT_SWITCH struct sim_switch
#define STRUCT_LINK   struct sim_link
#define STRUCT_FLOW   struct sim_flow
#define STRUCT_TAP    struct sim_tap

static const struct key keys[] = {
#define KEY(line, name, kind, least, most, member, help) \
    {KEY_LINE_##line, KEY_##kind, name, least, most, offsetof(STRUCT_##line, member)},
#include "rocesim/scenario.def"
#undef KEY
};

int value_count(const char *text, uint64_t *n)
{
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)text[0]))
        return -1;
    *n = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0 ? 0 : -1;
}

int value_time(const char *text, uint64_t *ns)
{
    *ns = 0;
    return strcmp(text, "0") == 0 ? 0 : units_parse_duration(text, ns);
}

int value_drain(const char *text, uint64_t *bps)
{
    *bps = FAB_AT_ONCE;
    if (strcmp(text, "full") == 0)
        return 0;
    *bps = FAB_STALLED;
    return strcmp(text, "stalled") == 0 ? 0 : units_parse_speed(text, bps);
}

static int plain_real(const char *text, char **end, double *value)
{
    if (!isdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
        return -1;
    *value = strtod(text, end);
    return 0;
}

/* "4096", "5K", "200KB", "12M": powers of 1000; Ki, Mi, Gi of 1024. */
static int value_bytes(const char *text, double *bytes)
{
    static const char prefixes[] = "KMG";
    char *end;
    if (plain_real(text, &end, bytes) != 0)
        return -1;
    const char *prefix =
        *end != '\0' ? memchr(prefixes, toupper((unsigned char)*end), sizeof(prefixes) - 1) : NULL;
    if (prefix != NULL) {
        const bool binary = end[1] == 'i';
        for (const char *p = prefixes; p <= prefix; p++)
            *bytes *= binary ? 1024 : 1000;
        end += binary ? 2 : 1;
    }
    if (*end == 'B')
        end++;
    return *end == '\0' ? 0 : -1;
}

/* "0.01", "1%", "1/256", "1e-6". */
static int value_part(const char *text, double *part)
{
    char *end;
    double below;
    if (plain_real(text, &end, part) != 0)
        return -1;
    if (*end == '/') {
        if (plain_real(end + 1, &end, &below) != 0 || below <= 0)
            return -1;
        *part /= below;
    } else if (*end == '%') {
        *part /= 100;
        end++;
    }
    return *end == '\0' ? 0 : -1;
}

/* "3", "3,4", "none". */
static int value_priorities(const char *text, uint8_t *set)
{
    *set = 0;
    if (strcmp(text, "none") == 0)
        return 0;
    for (;; text += 2) {
        if (text[0] < '0' || text[0] > '7')
            return -1;
        *set |= (uint8_t)(1 << (text[0] - '0'));
        if (text[1] == '\0')
            return 0;
        if (text[1] != ',')
            return -1;
    }
}

static int value_weights(const char *text, uint32_t *weights)
{
    for (int i = 0; i < FAB_PRIORITIES; i++) {
        char *end;
        if (!isdigit((unsigned char)text[0]))
            return -1;
        const unsigned long weight = strtoul(text, &end, 10);
        if (weight > 1000 || *end != (i == FAB_PRIORITIES - 1 ? '\0' : ','))
            return -1;
        weights[i] = (uint32_t)weight;
        text = end + 1;
    }
    return 0;
}

/* One of the words of |list|, from 0; -1: none of them. */
static int choice(const char *text, const char *list)
{
    const size_t len = strlen(text);
    for (int i = 0; *list != '\0'; i++) {
        const size_t n = strcspn(list, "|");
        if (n == len && memcmp(list, text, n) == 0)
            return i;
        list += n + (list[n] == '|');
    }
    return -1;
}

struct setting {
    const struct key *key;
    const char *text;
    void *at;
    const struct scenario *scenario;
    char *error;
};

static int wrong(const struct setting *s, const char *wanted)
{
    snprintf(s->error, SCENARIO_ERROR_MAX, "%s: '%.40s' is not %s", s->key->name, s->text, wanted);
    return -1;
}

static int within(const struct setting *s, double value)
{
    if (value >= s->key->least && value <= s->key->most)
        return 0;
    snprintf(s->error, SCENARIO_ERROR_MAX, "%s: '%.40s' is out of range, %.10g to %.10g%s",
             s->key->name, s->text, s->key->least, s->key->most,
             s->key->kind == KEY_TIME ? " ns" : "");
    return -1;
}

static int set_number(const struct setting *s)
{
    uint64_t n = 0;
    double bytes = 0;
    switch ((enum key_kind)s->key->kind) {
    case KEY_TIME:
        if (value_time(s->text, &n) != 0)
            return wrong(s, "a time with its unit, as 10us");
        break;
    case KEY_BYTES:
        if (value_bytes(s->text, &bytes) != 0)
            return wrong(s, "a number of bytes, as 200K");
        if (bytes < s->key->least || bytes > s->key->most)
            return within(s, bytes);
        n = (uint64_t)bytes;
        break;
    case KEY_SPEED:
        if (units_parse_speed(s->text, &n) != 0)
            return wrong(s, "a speed with its unit, as 40G");
        *(uint64_t *)s->at = n;
        return 0;
    default:
        if (value_count(s->text, &n) != 0)
            return wrong(s, "a number");
        if (s->key->kind == KEY_MTU && (n & (n - 1)) != 0)
            return wrong(s, "256, 512, 1024, 2048 or 4096");
        break;
    }
    if (within(s, (double)n) != 0)
        return -1;
    *(uint64_t *)s->at = n;
    return 0;
}

static int set_node(const struct setting *s)
{
    const int node = scenario_node(s->scenario, s->text);
    if (node < 0 || s->scenario->nodes[node].is_switch)
        return wrong(s, "a host");
    *(int *)s->at = node;
    return 0;
}

static int set_dcqcn(const struct setting *s)
{
    const int which = choice(s->text, "off|paper|nic");
    if (which < 0)
        return wrong(s, "off, paper or nic");
    /* The parameters are the flow's own from here on: keys behind this one change them. */
    struct sim_flow *flow =
        (struct sim_flow *)(void *)((char *)s->at - offsetof(struct sim_flow, dcqcn));
    flow->dcqcn = which;
    eng_dcqcn_preset(which == SIM_DCQCN_NIC ? ENG_DCQCN_NIC : ENG_DCQCN_PAPER, &flow->cc);
    flow->threshold = flow->cc.threshold;
    flow->rai_bps = (uint64_t)flow->cc.rai_bps;
    flow->rhai_bps = (uint64_t)flow->cc.rhai_bps;
    flow->min_bps = (uint64_t)flow->cc.min_bps;
    return 0;
}

static int set_flag(const struct setting *s, const char *list, const char *wanted)
{
    const int which = choice(s->text, list);
    if (which < 0)
        return wrong(s, wanted);
    *(bool *)s->at = which == 1;
    return 0;
}

static int store(const struct setting *s)
{
    switch ((enum key_kind)s->key->kind) {
    case KEY_TIME:
    case KEY_COUNT:
    case KEY_BYTES:
    case KEY_SPEED:
    case KEY_MTU:
        return set_number(s);
    case KEY_PART: {
        double part;
        if (value_part(s->text, &part) != 0)
            return wrong(s, "a part, as 1%, 1/256 or 0.01");
        if (within(s, part) != 0)
            return -1;
        *(double *)s->at = part;
        return 0;
    }
    case KEY_PRIORITIES:
        return value_priorities(s->text, s->at) == 0
                   ? 0
                   : wrong(s, "a list of priorities, as 3 or 3,4, or none");
    case KEY_WEIGHTS:
        return value_weights(s->text, s->at) == 0
                   ? 0
                   : wrong(s, "eight numbers up to 1000 with commas between");
    case KEY_NODE:
        return set_node(s);
    case KEY_DRAIN:
        return value_drain(s->text, s->at) == 0 ? 0 : wrong(s, "a speed, full or stalled");
    case KEY_DCQCN:
        return set_dcqcn(s);
    case KEY_OP: {
        const int op = choice(s->text, "write|send|read");
        if (op < 0)
            return wrong(s, "write, send or read");
        *(int *)s->at = op;
        return 0;
    }
    case KEY_YES:
        return set_flag(s, "no|yes", "yes or no");
    case KEY_MARK:
        return set_flag(s, "enqueue|dequeue", "enqueue or dequeue");
    case KEY_ACTION:
        return set_flag(s, "drop|forward", "drop or forward");
    case KEY_FAULTS:
        return set_flag(s, "both|forward", "both or forward");
    case KEY_RECOVERY:
        return set_flag(s, "go_back_n|go_back_0", "go_back_n or go_back_0");
    }
    return -1;
}

int key_set(enum key_line line, const char *word, void *target, const struct scenario *scenario,
            char error[SCENARIO_ERROR_MAX])
{
    const size_t len = strcspn(word, "=");
    if (word[len] != '=') {
        snprintf(error, SCENARIO_ERROR_MAX, "'%.40s' is not NAME=VALUE", word);
        return -1;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i].line != line || strlen(keys[i].name) != len ||
            memcmp(keys[i].name, word, len) != 0)
            continue;
        const struct setting setting = {.key = &keys[i],
                                        .text = word + len + 1,
                                        .at = (char *)target + keys[i].offset,
                                        .scenario = scenario,
                                        .error = error};
        return store(&setting);
    }
    snprintf(error, SCENARIO_ERROR_MAX, "no key '%.*s' here; see rocesim(5)",
             len < 40 ? (int)len : 40, word);
    return -1;
}
