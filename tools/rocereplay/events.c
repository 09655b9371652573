/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event files. */
#include "rocereplay/events.h"

#include "common/msg.h"

#ifdef ROCE_HAVE_YAML

#include <errno.h>
#include <roce/psn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { ARG_MAX_LEN = 64 };

struct event_file {
    const char *path;
    yaml_document_t doc;
    struct fault_plan *plan;
};

static int bad(const struct event_file *f, const yaml_node_t *at, const char *what)
{
    msg_file(f->path, "line %zu: %s", at != NULL ? at->start_mark.line + 1 : 1, what);
    return -1;
}

/* The text of a scalar; NULL for anything else. */
static const char *text_of(const yaml_node_t *node)
{
    return node != NULL && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
                                                          : NULL;
}

static yaml_node_t *member(struct event_file *f, const yaml_node_t *map, const char *key)
{
    if (map == NULL || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const char *name = text_of(yaml_document_get_node(&f->doc, p->key));
        if (name != NULL && strcmp(name, key) == 0)
            return yaml_document_get_node(&f->doc, p->value);
    }
    return NULL;
}

static bool number(const char *text, uint32_t max, uint32_t *value)
{
    char *end;
    if (text == NULL || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    const unsigned long n = strtoul(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
    if (errno != 0 || *end != '\0' || n > max)
        return false;
    *value = (uint32_t)n;
    return true;
}

/* The words of the published format beside those of fault.h. */
static int kind_of(const char *type)
{
    static const struct {
        const char *word;
        enum fault_kind kind;
    } words[] = {
        {"ecn", FAULT_CE},        {"mark", FAULT_CE},         {"corrupt", FAULT_BAD_ICRC},
        {"duplicate", FAULT_DUP}, {"ghost", FAULT_GHOST_ACK},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].word, type) == 0)
            return (int)words[i].kind;
    return fault_by_name(type);
}

/* The argument of some kinds, in the form that the command line gives it behind the @. */
static void argument_of(struct event_file *f, const yaml_node_t *event, enum fault_kind kind,
                        char out[ARG_MAX_LEN])
{
    const char *first = NULL, *second = NULL;
    out[0] = '\0';
    if (kind == FAULT_NAK)
        first = text_of(member(f, event, "nak"));
    if (kind == FAULT_RNR)
        first = text_of(member(f, event, "timer"));
    if (kind == FAULT_DELAY)
        first = text_of(member(f, event, "delay"));
    if (kind == FAULT_PFC_XOFF || kind == FAULT_PFC_XON)
        first = text_of(member(f, event, "priority"));
    if (kind == FAULT_PFC_XOFF)
        second = text_of(member(f, event, "quanta"));
    if (first == NULL && second != NULL)
        first = "3";
    if (first != NULL)
        (void)snprintf(out, ARG_MAX_LEN, "@%.30s%s%.20s", first, second != NULL ? ":" : "",
                       second != NULL ? second : "");
}

static bool knows(const char *key)
{
    static const char *const keys[] = {"qpn", "psn",   "iter",     "type",   "absolute",
                                       "nak", "timer", "priority", "quanta", "delay"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (key != NULL && strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static int check_keys(struct event_file *f, const yaml_node_t *event)
{
    for (const yaml_node_pair_t *p = event->data.mapping.pairs.start;
         p < event->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = yaml_document_get_node(&f->doc, p->key);
        if (!knows(text_of(key)))
            return bad(f, key,
                       "not a field of an event; there are qpn, psn, iter, type, absolute, "
                       "nak, timer, priority, quanta, delay");
    }
    return 0;
}

static int add_event(struct event_file *f, const yaml_node_t *event)
{
    char item[2 * ARG_MAX_LEN], arg[ARG_MAX_LEN], why[PORT_TEXT_MAX];
    uint32_t qpn, psn = 0, iter = 1;
    if (event == NULL || event->type != YAML_MAPPING_NODE)
        return bad(f, event, "an event has the fields qpn, psn, type and iter");
    if (check_keys(f, event) != 0)
        return -1;
    const char *type = text_of(member(f, event, "type"));
    const char *psn_text = text_of(member(f, event, "psn"));
    const char *iter_text = text_of(member(f, event, "iter"));
    const char *absolute_text = text_of(member(f, event, "absolute"));
    const bool absolute = absolute_text != NULL && strcmp(absolute_text, "true") == 0;
    const bool all = psn_text != NULL && (strcmp(psn_text, "all") == 0);
    const int kind = type != NULL ? kind_of(type) : -1;
    if (kind < 0)
        return bad(f, event,
                   "type is none of drop, ecn, corrupt, dup, reorder, delay, "
                   "corrupt_payload, suppress_ack, nak, rnr, ghost_ack, cnp, pfc_xoff, "
                   "pfc_xon");
    if (!number(text_of(member(f, event, "qpn")), ROCE_PSN_MASK - 1, &qpn))
        return bad(f, event, "qpn is no number of 24 bits");
    if (!all && !number(psn_text, ROCE_PSN_MASK, &psn))
        return bad(f, event, "psn is neither a number of 24 bits nor all");
    if ((iter_text != NULL && !number(iter_text, UINT32_MAX, &iter)) || iter == 0)
        return bad(f, event, "iter is no number from 1");
    argument_of(f, event, (enum fault_kind)kind, arg);
    (void)snprintf(item, sizeof(item), "%s%u:%s%u:%u%s", absolute ? "" : "#",
                   (unsigned)(absolute ? qpn : qpn + 1), absolute ? "" : "+", (unsigned)psn,
                   (unsigned)iter, arg);
    const unsigned n = f->plan->n;
    if (fault_parse(f->plan, (enum fault_kind)kind, item, why) != 0)
        return bad(f, event, why);
    struct fault_rule *rule = &f->plan->rule[n];
    rule->any_psn = all;
    rule->by_iteration = true;
    rule->data_only = kind != FAULT_SUPPRESS_ACK && kind != FAULT_NAK && kind != FAULT_RNR;
    return 0;
}

static yaml_node_t *list_of(struct event_file *f)
{
    static const char *const keys[] = {"data-pkt-events", "events"};
    yaml_node_t *root = yaml_document_get_root_node(&f->doc);
    yaml_node_t *traffic = member(f, root, "traffic");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        yaml_node_t *list = member(f, root, keys[i]);
        if (list == NULL)
            list = member(f, traffic, keys[i]);
        if (list != NULL)
            return list;
    }
    return root;
}

static int add_all(struct event_file *f)
{
    const yaml_node_t *list = list_of(f);
    if (list == NULL || (text_of(list) != NULL && text_of(list)[0] == '\0'))
        return 0; /* none at all */
    if (list->type != YAML_SEQUENCE_NODE)
        return bad(f, list, "no list of events here; it may stand under data-pkt-events");
    for (const yaml_node_item_t *i = list->data.sequence.items.start;
         i < list->data.sequence.items.top; i++)
        if (add_event(f, yaml_document_get_node(&f->doc, *i)) != 0)
            return -1;
    return 0;
}

int events_load(struct fault_plan *plan, const char *path)
{
    struct event_file f = {.path = path, .plan = plan};
    yaml_parser_t parser;
    FILE *file = fopen(path, "rb");
    int rc = -1;
    if (file == NULL) {
        msg_file(path, "%s; check the name and the permissions", strerror(errno));
        return -1;
    }
    if (yaml_parser_initialize(&parser) == 0) {
        msg_print("out of memory");
        (void)fclose(file);
        return -1;
    }
    yaml_parser_set_input_file(&parser, file);
    if (yaml_parser_load(&parser, &f.doc) != 0) {
        rc = add_all(&f);
        yaml_document_delete(&f.doc);
    } else {
        msg_file(path, "line %zu: %s", parser.problem_mark.line + 1,
                 parser.problem != NULL ? parser.problem : "not YAML");
    }
    yaml_parser_delete(&parser);
    (void)fclose(file);
    return rc;
}

#else

int events_load(struct fault_plan *plan, const char *path)
{
    (void)plan;
    msg_file(path, "this rocereplay was built without libyaml, which event files need");
    return -1;
}

#endif
