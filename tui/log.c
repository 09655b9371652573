/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of events. */
#include "log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <roce/aeth.h>

#include "text.h"

enum { FOLD_LOOK_BACK = 16 };

/* Gaps and what follows from them are told one by one unless they come in a burst. */
#define FOLD_BURST_NS 10000000

static const struct {
    uint8_t level;
    const char *word;
} types[LOG_TYPES] = {
#define LOG(id, level, word, help) {LOG_##level, word},
#include "log.def"
#undef LOG
};

static const char *const levels[LOG_LEVELS] = {"INFO", "NOTE", "WARN", "ERR"};

const char *tui_log_word(enum log_type type)
{
    return types[type].word;
}

const char *tui_log_level_word(enum log_level level)
{
    return levels[level];
}

int tui_log_level_by_name(const char *name)
{
    for (int i = 0; i < LOG_LEVELS; i++)
        if (strcasecmp(name, levels[i]) == 0)
            return i;
    return -1;
}

static bool same(const struct log_entry *a, const struct log_entry *b)
{
    if (a->type != b->type || a->has_flow != b->has_flow || a->has_mac != b->has_mac)
        return false;
    if (a->has_mac)
        return a->code == b->code && memcmp(a->mac, b->mac, 6) == 0;
    if (!a->has_flow)
        return a->code == b->code;
    return a->flow == b->flow && a->dest_qp == b->dest_qp;
}

static bool is_step(uint8_t type)
{
    return type == LOG_TYPE_GAP || type == LOG_TYPE_LOSS || type == LOG_TYPE_RESENT ||
           type == LOG_TYPE_NAK || type == LOG_TYPE_REORDER;
}

void tui_log_note(struct log *log, const struct log_entry *entry, uint64_t fold_ns)
{
    const uint8_t level = types[entry->type].level;
    if (is_step(entry->type) && fold_ns > FOLD_BURST_NS)
        fold_ns = FOLD_BURST_NS;
    log->by_level[level]++;
    for (uint64_t i = 1; i <= FOLD_LOOK_BACK && i <= log->count; i++) {
        struct log_entry *old = &log->entry[(log->count - i) % LOG_ENTRIES];
        if (same(old, entry) && entry->ts < old->ts + fold_ns) {
            old->repeats++;
            old->count += entry->count;
            if (entry->duration > old->duration)
                old->duration = entry->duration;
            return;
        }
    }
    struct log_entry *place = &log->entry[log->count++ % LOG_ENTRIES];
    *place = *entry;
    place->seq = log->count;
    place->repeats = 1;
    place->level = level;
}

static int type_of(const struct roce_event *event)
{
    switch ((enum roce_event_kind)event->kind) {
    case ROCE_EVENT_GAP:
        return LOG_TYPE_GAP;
    case ROCE_EVENT_EPISODE:
        return LOG_TYPE_RESENT;
    case ROCE_EVENT_OUT_OF_ORDER:
        return LOG_TYPE_REORDER;
    case ROCE_EVENT_LOSS:
        return LOG_TYPE_LOSS;
    case ROCE_EVENT_NAK:
        return event->code == ROCE_NAK_PSN_SEQUENCE_ERROR ? LOG_TYPE_NAK : LOG_TYPE_REFUSED;
    case ROCE_EVENT_RNR:
        return LOG_TYPE_RNR;
    case ROCE_EVENT_SILENT:
        return LOG_TYPE_SILENT;
    case ROCE_EVENT_GHOST_ACK:
        return LOG_TYPE_GHOST;
    case ROCE_EVENT_PAIRED:
        return LOG_TYPE_PAIR;
    case ROCE_EVENT_CM:
        return event->cm->message == ROCE_CM_REJ ? LOG_TYPE_REJECT : LOG_TYPE_CM;
    case ROCE_EVENT_MIRROR_DUP:
        return LOG_TYPE_MIRROR;
    case ROCE_EVENT_FLOW_NEW:
    case ROCE_EVENT_FLOW_EVICTED:
    case ROCE_EVENT_MESSAGE:
    case ROCE_EVENT_ACKED:
    case ROCE_EVENT_UNPAIRED:
    case ROCE_EVENT_MTU:
    case ROCE_EVENT_KINDS:
        break;
    }
    return -1;
}

/* The flow that suffers: of answers the one that is answered. */
static uint32_t flow_of(const struct roce_event *event)
{
    const bool answer = event->kind == ROCE_EVENT_NAK || event->kind == ROCE_EVENT_RNR;
    return answer && event->peer != ROCE_FLOW_NONE ? event->peer : event->flow;
}

/* What an RNR NAK refused had arrived: the loss that was told a moment ago is none. */
static void take_back_loss(struct log *log, const struct roce_event *event)
{
    if (log->count == 0)
        return;
    struct log_entry *entry = &log->entry[(log->count - 1) % LOG_ENTRIES];
    if (entry->type != LOG_TYPE_LOSS || entry->flow != event->flow || entry->more ||
        entry->code != ROCE_LOST_DOWNSTREAM)
        return;
    log->by_level[entry->level]--;
    entry->count--;
    if (--entry->repeats == 0)
        log->count--;
}

void tui_log_event(struct log *log, const struct roce_flow_table *table,
                   const struct roce_event *event, uint64_t fold_ns)
{
    const int type = type_of(event);
    struct roce_flow_info info;
    if (type < 0)
        return;
    struct log_entry entry = {
        .ts = event->ts,
        .frame = event->frame,
        .type = (uint8_t)type,
        .code = event->code,
        .psn = event->psn,
        .count = event->count,
        .duration = event->duration,
        .flow = flow_of(event),
        .has_psn = type != LOG_TYPE_PAIR && type != LOG_TYPE_CM && type != LOG_TYPE_REJECT &&
                   type != LOG_TYPE_MIRROR,
    };
    if (type == LOG_TYPE_RESENT)
        entry.code = event->cause;
    if (type == LOG_TYPE_LOSS)
        entry.code = event->location;
    if (type == LOG_TYPE_SILENT && event->code != UINT8_MAX)
        entry.has_psn = false;
    if (type == LOG_TYPE_RESENT && event->cause == ROCE_CAUSE_RNR)
        take_back_loss(log, event);
    entry.more = event->responses;
    if (event->kind == ROCE_EVENT_CM) {
        entry.code = event->cm->message;
        entry.count = event->cm->reject_reason;
    }
    entry.has_flow = roce_flow_info(table, entry.flow, &info);
    if (entry.has_flow) {
        memcpy(entry.src, info.src, 16);
        memcpy(entry.dst, info.dst, 16);
        entry.ip_version = info.ip_version;
        entry.dest_qp = info.dest_qp;
    }
    tui_log_note(log, &entry, fold_ns);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* "10.77.0.1>10.77.0.2", or "" when there is no flow. */
static const char *hosts(char *buf, size_t size, const struct log_entry *entry)
{
    char a[TUI_TEXT_MAX], b[TUI_TEXT_MAX];
    if (!entry->has_flow)
        return "";
    (void)snprintf(buf, size, "%s>%s", tui_text_addr(a, entry->src, entry->ip_version, 45),
                   tui_text_addr(b, entry->dst, entry->ip_version, 45));
    return buf;
}

static const char *after(char *buf, size_t size, const struct log_entry *entry, const char *what)
{
    char t[TUI_TEXT_MAX];
    if (entry->duration < 0)
        return "";
    (void)snprintf(buf, size, "%s%s", what, tui_text_long_time(t, (uint64_t)entry->duration));
    return buf;
}

static const char *nak_text(uint8_t code)
{
    const char *text = roce_nak_text(code);
    return text != NULL ? text : "reserved NAK code";
}

static const char *cm_word(uint8_t message)
{
    const char *word = roce_cm_message_name(message);
    return word != NULL ? word : "unknown message";
}

static const char *priority_word(uint8_t priority)
{
    static const char *const words[] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "all"};
    return words[priority < 8 ? priority : 8];
}

/* What happened, without its repeats and hosts. */
static void describe(char *buf, size_t size, const struct log_entry *entry, bool unsure)
{
    char a[2 * TUI_TEXT_MAX], b[2 * TUI_TEXT_MAX];
    const uint64_t n = entry->count;
    switch ((enum log_type)entry->type) {
    case LOG_TYPE_GAP:
        (void)snprintf(buf, size, "%" PRIu64 " %s", n,
                       unsure ? "unsure (capture drops)" : "missing");
        break;
    case LOG_TYPE_LOSS:
        (void)snprintf(buf, size, "%" PRIu64 "%s %s", n,
                       !entry->more ? ""
                       : n == 1     ? " answer"
                                    : " answers",
                       unsure                                ? "unsure (capture drops)"
                       : entry->code == ROCE_LOST_UPSTREAM   ? "lost before mirror"
                       : entry->code == ROCE_LOST_DOWNSTREAM ? "lost behind mirror"
                       : entry->code == ROCE_LOST_CAPTURE    ? "lost by capture only"
                                                             : "lost somewhere");
        break;
    case LOG_TYPE_RESENT:
        (void)snprintf(buf, size, "%" PRIu64 " frame%s (%s)%s", n, plural(n),
                       roce_cause_name((enum roce_cause)entry->code),
                       after(a, sizeof(a), entry, " +"));
        break;
    case LOG_TYPE_REORDER:
        (void)snprintf(buf, size, "late%s, not resent", after(a, sizeof(a), entry, " by "));
        break;
    case LOG_TYPE_NAK:
        (void)snprintf(buf, size, "sequence error");
        break;
    case LOG_TYPE_REFUSED:
        (void)snprintf(buf, size, "%s", nak_text(entry->code));
        break;
    case LOG_TYPE_RNR:
        (void)snprintf(buf, size, "%s", after(a, sizeof(a), entry, "timer "));
        break;
    case LOG_TYPE_SILENT:
        if (entry->code == UINT8_MAX)
            (void)snprintf(buf, size, "gave up after %" PRIu64 " resends", n);
        else
            (void)snprintf(buf, size, "since NAK: %s", nak_text(entry->code));
        break;
    case LOG_TYPE_GHOST:
        (void)snprintf(buf, size, "answers a PSN not seen here");
        break;
    case LOG_TYPE_ICRC:
        (void)snprintf(buf, size, "wrong ICRC");
        break;
    case LOG_TYPE_PFC_XOFF:
        (void)snprintf(buf, size, "%s%s from %s", priority_word(entry->code),
                       after(b, sizeof(b), entry, " for "), tui_text_mac(a, entry->mac));
        break;
    case LOG_TYPE_PFC_XON:
        (void)snprintf(buf, size, "%s%s, %s", priority_word(entry->code),
                       after(b, sizeof(b), entry, " held "), tui_text_mac(a, entry->mac));
        break;
    case LOG_TYPE_CE_RATE:
        (void)snprintf(buf, size, "%" PRIu64 ".%u%% of frames marked CE, DSCP %u", n / 10,
                       (unsigned)(n % 10), entry->code);
        break;
    case LOG_TYPE_CNP_RATE:
        (void)snprintf(buf, size, "%" PRIu64 " CNPs in the interval", n);
        break;
    case LOG_TYPE_PAIR:
        (void)snprintf(buf, size, "paired (%s)", roce_pairing_name((enum roce_pairing)entry->code));
        break;
    case LOG_TYPE_CM:
        (void)snprintf(buf, size, "%s", cm_word(entry->code));
        break;
    case LOG_TYPE_REJECT:
        (void)snprintf(buf, size, "%s", roce_cm_reject_text((uint16_t)n));
        break;
    case LOG_TYPE_MIRROR:
        (void)snprintf(buf, size, "frames captured twice");
        break;
    case LOG_TYPE_CAPTURE:
        (void)snprintf(buf, size, "dropped %" PRIu64 " frames: gaps are unsure", n);
        break;
    case LOG_TYPES:
        break;
    }
}

const char *tui_log_detail(char *buf, size_t size, const struct log_entry *entry, bool unsure)
{
    char text[256] = "", repeats[24] = "", ends[2 * TUI_TEXT_MAX];
    describe(text, sizeof(text), entry, unsure);
    if (entry->repeats > 1)
        (void)snprintf(repeats, sizeof(repeats), " x%u", entry->repeats);
    (void)snprintf(buf, size, "%s%s%s%s", text, repeats, entry->has_flow ? " " : "",
                   hosts(ends, sizeof(ends), entry));
    return buf;
}
