/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentence that comes first. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rocestat/report.h"
#include "rocestat/text.h"

struct sentence {
    char *text;
    size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(s->text + s->len, s->size - s->len, format, args);
    va_end(args);
    if (n > 0)
        s->len += (size_t)n < s->size - s->len ? (size_t)n : s->size - s->len - 1;
}

/* The gravest finding of |severity|, or NULL, and how many there are. */
static const struct roce_finding *gravest(const struct report *report, int severity, uint32_t *n)
{
    uint32_t count;
    const struct roce_finding *finding = roce_observer_findings(report->obs, &count);
    const struct roce_finding *first = NULL;
    *n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (finding[i].severity != severity)
            continue;
        if (first == NULL)
            first = &finding[i];
        ++*n;
    }
    return first;
}

static void say_loss(struct sentence *s, const struct report *report)
{
    const struct flow_sums *sums = &report->sums;
    const uint64_t up = sums->loss[ROCE_LOST_UPSTREAM],
                   down = sums->loss[ROCE_LOST_DOWNSTREAM] - sums->refused;
    const uint64_t unknown = sums->loss[ROCE_LOST_UNKNOWN];
    char noun[64];
    say(s, "loss: %s", text_noun(noun, sizeof(noun), up + down + unknown, "frame"));
    if (up > 0 && down + unknown == 0)
        say(s, " before the mirror");
    else if (down > 0 && up + unknown == 0)
        say(s, " behind the mirror");
    else if (up + down > 0)
        say(s, " (%llu before the mirror, %llu behind it%s)", (unsigned long long)up,
            (unsigned long long)down, unknown > 0 ? ", others unknown" : "");
    say(s, " on %llu of %s", (unsigned long long)sums->lossy,
        text_noun(noun, sizeof(noun), sums->flows, "flow"));
}

static void say_clean(struct sentence *s, const struct report *report)
{
    struct roce_flow_stats stats;
    char packets[64], flows[64], connections[64];
    roce_flow_stats(roce_observer_flows(report->obs), &stats);
    say(s, "clean: %s, %s, %s; nothing lost",
        text_noun(packets, sizeof(packets), report->totals.roce_packets, "RoCE packet"),
        text_noun(flows, sizeof(flows), stats.flows, "flow"),
        text_noun(connections, sizeof(connections), stats.connections, "connection"));
    if (report->sums.retransmitted == 0)
        say(s, " or resent");
}

static void say_count(struct sentence *s, uint64_t n, const char *noun)
{
    char text[64];
    if (n > 0)
        say(s, "; %s", text_noun(text, sizeof(text), n, noun));
}

static void say_congestion(struct sentence *s, const struct report *report)
{
    char frames[64], cnps[64];
    const uint64_t ce = report->sums.ce;
    if (ce == 0 && report->totals.cnps == 0) {
        say(s, "; no congestion seen");
        return;
    }
    say(s, "; %s marked CE, %s", text_noun(frames, sizeof(frames), ce, "frame"),
        text_noun(cnps, sizeof(cnps), report->totals.cnps, "CNP"));
}

size_t report_verdict(const struct report *report, char *text, size_t size)
{
    struct sentence s = {text, size, 0};
    char words[ROCE_FINDING_TEXT];
    uint32_t errors, warnings;
    const struct roce_finding *error = gravest(report, ROCE_SEVERITY_ERROR, &errors);
    const struct roce_finding *warning = gravest(report, ROCE_SEVERITY_WARNING, &warnings);
    const struct flow_sums *sums = &report->sums;
    text[0] = '\0';
    if (report->totals.packets == 0) {
        say(&s, "empty: no packet to report on");
        return s.len;
    }
    if (report->totals.roce_packets == 0 && report->totals.pfc_packets == 0 &&
        report->totals.pause_packets == 0) {
        if (warning != NULL)
            (void)roce_finding_text(warning, words, sizeof(words));
        say(&s, "%s", warning != NULL ? words : "no RoCE and no pause frame");
        return s.len;
    }
    if (error != NULL) {
        (void)roce_finding_text(error, words, sizeof(words));
        say(&s, "failed: %s", words);
        say_count(&s, errors - 1, "more error");
    } else if (sums->lossy > 0) {
        say_loss(&s, report);
    } else if (warning != NULL) {
        (void)roce_finding_text(warning, words, sizeof(words));
        say(&s, "warning: %s", words);
        say_count(&s, warnings - 1, "more warning");
    } else {
        say_clean(&s, report);
    }
    say_count(&s, sums->naks, "NAK");
    say_count(&s, sums->rnr_naks, "RNR NAK");
    say_count(&s, report->totals.icrc_bad, "bad ICRC");
    say_congestion(&s, report);
    say_count(&s, report->totals.pfc_packets + report->totals.pause_packets, "pause frame");
    return s.len;
}
