/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of messages and events. */
#include <stdio.h>
#include <string.h>

#include <roce/cm.h>

#include "rocestat/text.h"
#include "rocestat/text_tables.h"

void text_messages(const struct report *report)
{
    const struct journal *j = report->journal;
    if (j->messages == 0) {
        out_str(report->out, "none was seen complete\n");
        return;
    }
    out_str(report->out, "LATENCY OP           BYTES DST               DQPN      PSN PSNS"
                         " FRAMES\n");
    for (uint64_t i = 0; i < j->messages; i++) {
        const struct entry *m = &j->message[i];
        const struct roce_event *e = &m->event;
        char t[2][TEXT_SHORT_MAX], a[TEXT_SHORT_MAX], frames[64];
        (void)snprintf(frames, sizeof(frames), "%llu-%llu", (unsigned long long)e->evidence[0],
                       (unsigned long long)e->evidence[2]);
        text_print(report->out, "%7s %-12s %5s %-15s %06x %8u %4u %s\n",
                   text_time(t[0], e->duration >= 0, (uint64_t)e->duration),
                   roce_message_op_name((enum roce_message_op)e->op),
                   text_short(t[1], true, e->bytes), text_addr(a, m->dst, m->ip_version),
                   (unsigned)m->dest_qp, (unsigned)e->psn, (unsigned)e->count, frames);
    }
    text_left_out(report->out, j->messages_seen, j->messages, "--top");
}

/* What happened, in words. */
static void describe(char *text, size_t size, const struct entry *entry)
{
    const struct roce_event *e = &entry->event;
    char t[TEXT_SHORT_MAX], noun[64];
    const char *time = text_time(t, e->duration >= 0, (uint64_t)e->duration);
    const char *name = roce_nak_text(e->code);
    text[0] = '\0';
    switch ((enum roce_event_kind)e->kind) {
    case ROCE_EVENT_GAP:
        (void)snprintf(text, size, "psn %u, %u missing", (unsigned)e->psn, (unsigned)e->count);
        return;
    case ROCE_EVENT_EPISODE:
        (void)snprintf(text, size, "psn %u, %u resent, cause %s, %s, wait %s", (unsigned)e->psn,
                       (unsigned)e->count, roce_cause_name((enum roce_cause)e->cause),
                       roce_location_name((enum roce_location)e->location), time);
        return;
    case ROCE_EVENT_OUT_OF_ORDER:
        (void)snprintf(text, size, "psn %u, %s late", (unsigned)e->psn, time);
        return;
    case ROCE_EVENT_LOSS:
        (void)snprintf(text, size, "psn %u, %s, %s", (unsigned)e->psn,
                       text_noun(noun, sizeof(noun), e->count, e->responses ? "response" : "frame"),
                       roce_location_name((enum roce_location)e->location));
        return;
    case ROCE_EVENT_NAK:
        (void)snprintf(text, size, "psn %u, %s", (unsigned)e->psn,
                       name != NULL ? name : "reserved");
        return;
    case ROCE_EVENT_RNR:
        (void)snprintf(text, size, "psn %u, timer %s", (unsigned)e->psn, time);
        return;
    case ROCE_EVENT_PAIRED:
        (void)snprintf(text, size, "by %s", roce_pairing_name((enum roce_pairing)e->code));
        return;
    case ROCE_EVENT_MTU:
        (void)snprintf(text, size, "path MTU %u", (unsigned)e->count);
        return;
    case ROCE_EVENT_CM: {
        const char *message = roce_cm_message_name(entry->cm_message);
        if (entry->cm_message == ROCE_CM_REJ)
            (void)snprintf(text, size, "REJ: %s", roce_cm_reject_text(entry->cm_reject_reason));
        else if (entry->cm_local_qpn != 0)
            (void)snprintf(text, size, "%s, QP 0x%x, psn %u", message != NULL ? message : "?",
                           (unsigned)entry->cm_local_qpn, (unsigned)entry->cm_starting_psn);
        else
            (void)snprintf(text, size, "%s", message != NULL ? message : "?");
        return;
    }
    case ROCE_EVENT_GHOST_ACK:
        (void)snprintf(text, size, "psn %u was never sent here", (unsigned)e->psn);
        return;
    case ROCE_EVENT_SILENT:
        if (e->code == 0xFF)
            (void)snprintf(text, size, "psn %u resent %u times, no answer", (unsigned)e->psn,
                           (unsigned)e->count);
        else
            (void)snprintf(text, size, "after %s", name != NULL ? name : "a NAK");
        return;
    case ROCE_EVENT_FLOW_NEW:
    case ROCE_EVENT_FLOW_EVICTED:
    case ROCE_EVENT_MESSAGE:
    case ROCE_EVENT_ACKED:
    case ROCE_EVENT_UNPAIRED:
    case ROCE_EVENT_MIRROR_DUP:
    case ROCE_EVENT_KINDS:
        return;
    }
}

void text_events(const struct report *report)
{
    const struct journal *j = report->journal;
    if (j->events == 0)
        out_str(report->out, "none\n");
    else
        out_str(report->out, "TIME              FRAME EVENT         DQPN DETAIL\n");
    for (uint64_t i = 0; i < j->events; i++) {
        const struct entry *entry = &j->event[i];
        char clock[TEXT_SHORT_MAX], detail[128], frame[24];
        describe(detail, sizeof(detail), entry);
        (void)snprintf(frame, sizeof(frame), "%llu", (unsigned long long)entry->event.frame);
        text_print(report->out, "%-15s %7s %-12s %06x", text_clock(clock, entry->event.ts),
                   entry->event.frame != 0 ? frame : "end",
                   roce_event_name((enum roce_event_kind)entry->event.kind),
                   (unsigned)entry->dest_qp);
        out_str(report->out, detail[0] != '\0' ? " " : "");
        text_wrap(report->out, detail, 44);
    }
    text_left_out(report->out, j->events_seen, j->events, "--top");
}
