/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults as they are written on the command line. */
#include <errno.h>
#include <roce/aeth.h>
#include <roce/psn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "rocereplay/fault.h"

enum {
    RNR_TIMER = 12, /* 0.64 ms, what programs mostly ask for */
    PFC_PRIORITY = 3,
};

static const char *const names[FAULT_KINDS] = {
    [FAULT_DROP] = "drop",
    [FAULT_DUP] = "dup",
    [FAULT_REORDER] = "reorder",
    [FAULT_DELAY] = "delay",
    [FAULT_CE] = "ce",
    [FAULT_BAD_ICRC] = "bad_icrc",
    [FAULT_CORRUPT] = "corrupt_payload",
    [FAULT_SUPPRESS_ACK] = "suppress_ack",
    [FAULT_NAK] = "nak",
    [FAULT_RNR] = "rnr",
    [FAULT_GHOST_ACK] = "ghost_ack",
    [FAULT_CNP] = "cnp",
    [FAULT_PFC_XOFF] = "pfc_xoff",
    [FAULT_PFC_XON] = "pfc_xon",
};

const char *fault_name(enum fault_kind kind)
{
    return names[kind];
}

int fault_by_name(const char *name)
{
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        if (strcmp(names[kind], name) == 0)
            return kind;
    return -1;
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

static bool whole_number(const char *text, uint32_t max, uint32_t *value)
{
    return number(&text, max, value) && *text == '\0';
}

static bool nak_code(const char *text, uint32_t *code)
{
    for (unsigned i = 0; i <= ROCE_NAK_MAX; i++)
        if (strcmp(roce_nak_name((uint8_t)i), text) == 0) {
            *code = i;
            return true;
        }
    return whole_number(text, 31, code);
}

/* What stands behind the @ of some kinds; |text| NULL: nothing. */
static bool argument(char *text, struct fault_rule *rule)
{
    uint32_t priority = PFC_PRIORITY, quanta = rule->kind == FAULT_PFC_XOFF ? UINT16_MAX : 0;
    switch (rule->kind) {
    case FAULT_NAK:
        return text != NULL && nak_code(text, &rule->arg);
    case FAULT_RNR:
        rule->arg = RNR_TIMER;
        return text == NULL || whole_number(text, 31, &rule->arg);
    case FAULT_PFC_XOFF:
    case FAULT_PFC_XON: {
        const char *at = text;
        if (at != NULL && !number(&at, 7, &priority))
            return false;
        if (at != NULL && *at == ':' && rule->kind == FAULT_PFC_XOFF) {
            at++;
            if (!number(&at, UINT16_MAX, &quanta))
                return false;
        }
        rule->arg = priority << 16 | quanta;
        return at == NULL || *at == '\0';
    }
    case FAULT_DROP:
    case FAULT_DUP:
    case FAULT_REORDER:
    case FAULT_DELAY:
    case FAULT_CE:
    case FAULT_BAD_ICRC:
    case FAULT_CORRUPT:
    case FAULT_SUPPRESS_ACK:
    case FAULT_GHOST_ACK:
    case FAULT_CNP:
    case FAULT_KINDS:
        break;
    }
    return text == NULL;
}

static bool one(char *text, struct fault_rule *rule)
{
    if (rule->kind > FAULT_BAD_ICRC) {
        char *at = strchr(text, '@');
        if (at != NULL)
            *at++ = '\0';
        if (!argument(at, rule))
            return false;
    }
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

static const char *hint(enum fault_kind kind)
{
    switch (kind) {
    case FAULT_DELAY:
        return ", with @TIME behind it";
    case FAULT_NAK:
        return ", with @KIND behind it";
    case FAULT_RNR:
        return ", with @CODE behind it or not";
    case FAULT_PFC_XOFF:
    case FAULT_PFC_XON:
        return ", with @PRIORITY behind it or not";
    case FAULT_DROP:
    case FAULT_DUP:
    case FAULT_REORDER:
    case FAULT_CE:
    case FAULT_BAD_ICRC:
    case FAULT_CORRUPT:
    case FAULT_SUPPRESS_ACK:
    case FAULT_GHOST_ACK:
    case FAULT_CNP:
    case FAULT_KINDS:
        break;
    }
    return "";
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
                           len < 40 ? (int)len : 40, text, hint(kind));
            return -1;
        }
        plan->n++;
        if (text[len] == '\0')
            return 0;
        text += len + 1;
    }
}
