/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults as they are written on the command line. */
#include <errno.h>
#include <roce/psn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "rocereplay/fault.h"

static const char *const names[FAULT_KINDS] = {
    [FAULT_DROP] = "drop",   [FAULT_DUP] = "dup", [FAULT_REORDER] = "reorder",
    [FAULT_DELAY] = "delay", [FAULT_CE] = "ce",   [FAULT_BAD_ICRC] = "bad_icrc",
};

const char *fault_name(enum fault_kind kind)
{
    return names[kind];
}

/* Reads a number up to |max| in decimal or, behind 0x, hexadecimal; |*at| moves behind it. */
static bool number(const char **at, uint32_t max, uint32_t *value)
{
    if (**at < '0' || **at > '9')
        return false;
    char *end;
    errno = 0;
    const unsigned long n = strtoul(*at, &end, (*at)[0] == '0' && (*at)[1] == 'x' ? 16 : 10);
    if (errno != 0 || n > max)
        return false;
    *at = end;
    *value = (uint32_t)n;
    return true;
}

static bool chance(const char *text, double *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9' || text[1] == 'x')
        return false;
    *value = strtod(text, &end) / 100;
    return strcmp(end, "%") == 0 && *value <= 1;
}

/* QP:PSN[:ROUND], where "#" leads the place of the QP among ours and "+" a PSN from the first. */
static bool place(const char *text, struct fault_rule *rule)
{
    rule->exact = true;
    rule->round = 1;
    rule->qp_index = *text == '#';
    text += rule->qp_index;
    if (!number(&text, ROCE_PSN_MASK, &rule->qp) || *text++ != ':')
        return false;
    rule->psn_relative = *text == '+';
    text += rule->psn_relative;
    if (!number(&text, ROCE_PSN_MASK, &rule->psn))
        return false;
    if (*text == ':') {
        text++;
        if (!number(&text, UINT32_MAX, &rule->round) || rule->round == 0)
            return false;
    }
    return *text == '\0' && (!rule->qp_index || rule->qp != 0);
}

static bool one(char *text, struct fault_rule *rule)
{
    if (rule->kind == FAULT_DELAY) {
        char *time = strchr(text, '@');
        if (time == NULL) {
            rule->chance = 1;
            return units_parse_duration(text, &rule->delay_ns) == 0;
        }
        *time = '\0';
        if (units_parse_duration(time + 1, &rule->delay_ns) != 0)
            return false;
    }
    return chance(text, &rule->chance) || place(text, rule);
}

int fault_parse(struct fault_plan *plan, enum fault_kind kind, const char *text,
                char why[PORT_TEXT_MAX])
{
    for (;;) {
        char item[64];
        const size_t len = strcspn(text, ",");
        if (plan->n == FAULT_RULES_MAX) {
            (void)snprintf(why, PORT_TEXT_MAX, "more than %d faults; leave some out",
                           (int)FAULT_RULES_MAX);
            return -1;
        }
        struct fault_rule *rule = &plan->rule[plan->n];
        *rule = (struct fault_rule){.kind = kind};
        (void)snprintf(item, sizeof(item), "%.*s", len < sizeof(item) ? (int)len : 63, text);
        if (len >= sizeof(item) || !one(item, rule)) {
            (void)snprintf(why, PORT_TEXT_MAX,
                           "'%.*s' is not a fault; give P%%, QP:PSN or QP:PSN:ROUND%s",
                           len < 40 ? (int)len : 40, text,
                           kind == FAULT_DELAY ? ", with @TIME behind it" : "");
            return -1;
        }
        plan->n++;
        if (text[len] == '\0')
            return 0;
        text += len + 1;
    }
}
