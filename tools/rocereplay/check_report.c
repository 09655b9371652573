/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of a check. */
#include "rocereplay/check_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/msg.h"

enum { LINE_MAX_LEN = 1024 };

const char *check_verdict_name(enum check_verdict verdict)
{
    switch (verdict) {
    case CHECK_PASS:
        return "pass";
    case CHECK_FAIL:
        return "fail";
    case CHECK_NOT_OBSERVABLE:
        return "not_observable";
    }
    return "";
}

static unsigned count(const struct check_report *report, enum check_verdict verdict)
{
    unsigned n = 0;
    for (unsigned i = 0; i < report->n; i++)
        n += report->results[i].verdict == verdict;
    return n;
}

static void text_case(struct out *out, const struct check_result *r)
{
    static const char *const words[] = {"pass", "FAIL", "n/o"};
    char line[LINE_MAX_LEN], frames[64] = "";
    if (r->first_frame != 0)
        (void)snprintf(frames, sizeof(frames), "  [frames %llu-%llu]",
                       (unsigned long long)r->first_frame, (unsigned long long)r->last_frame);
    (void)snprintf(line, sizeof(line), "%-4s  %-18s %s (%s)%s\n", words[r->verdict], r->what->id,
                   r->what->rule, r->what->section, frames);
    out_str(out, line);
    if (r->text[0] != '\0') {
        (void)snprintf(line, sizeof(line), "      %-18s %s\n", "", r->text);
        out_str(out, line);
    }
}

static void print_text(struct out *out, const struct check_report *report)
{
    char line[LINE_MAX_LEN];
    for (unsigned i = 0; i < report->n; i++)
        if (!report->brief || report->results[i].verdict != CHECK_PASS)
            text_case(out, &report->results[i]);
    (void)snprintf(line, sizeof(line), "%s: %u cases: %u passed, %u failed, %u not observable%s\n",
                   report->peer, report->n, count(report, CHECK_PASS), count(report, CHECK_FAIL),
                   count(report, CHECK_NOT_OBSERVABLE), report->whole ? "" : "; cut short");
    out_str(out, line);
}

/* A '#' would begin a directive. */
static void tap_text(struct out *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        out_write(out, *p == '#' ? "\\#" : p, *p == '#' ? 2 : 1);
}

static void print_tap(struct out *out, const struct check_report *report)
{
    char line[LINE_MAX_LEN];
    (void)snprintf(line, sizeof(line), "TAP version 13\n1..%u\n", report->n);
    out_str(out, line);
    for (unsigned i = 0; i < report->n; i++) {
        const struct check_result *r = &report->results[i];
        (void)snprintf(line, sizeof(line),
                       "%s %u - %s: ", r->verdict == CHECK_FAIL ? "not ok" : "ok", i + 1,
                       r->what->id);
        out_str(out, line);
        tap_text(out, r->what->rule);
        if (r->verdict == CHECK_NOT_OBSERVABLE) {
            out_str(out, " # SKIP ");
            tap_text(out, r->text);
        } else if (r->text[0] != '\0') {
            out_str(out, "\n# ");
            out_str(out, r->text);
        }
        if (r->verdict == CHECK_FAIL) {
            (void)snprintf(line, sizeof(line), "\n# %s, frames %llu-%llu", r->what->section,
                           (unsigned long long)r->first_frame, (unsigned long long)r->last_frame);
            out_str(out, line);
        }
        out_str(out, "\n");
    }
    if (!report->whole)
        out_str(out, "Bail out! The run was cut short.\n");
}

static void json_case(struct json *json, const struct check_case *what)
{
    json_str(json, "id", what->id);
    json_str(json, "rule", what->rule);
    json_str(json, "section", what->section);
}

static void print_json(struct out *out, const struct check_report *report)
{
    struct json json;
    json_init(&json, out);
    json_open_object(&json, NULL);
    json_str(&json, "schema", "rocereplay-check/1");
    json_str(&json, "peer", report->peer);
    if (report->evidence != NULL)
        json_str(&json, "evidence", report->evidence);
    json_bool(&json, "whole", report->whole);
    json_uint(&json, "pass", count(report, CHECK_PASS));
    json_uint(&json, "fail", count(report, CHECK_FAIL));
    json_uint(&json, "not_observable", count(report, CHECK_NOT_OBSERVABLE));
    json_open_array(&json, "cases");
    for (unsigned i = 0; i < report->n; i++) {
        const struct check_result *r = &report->results[i];
        json_newline(&json);
        json_open_object(&json, NULL);
        json_case(&json, r->what);
        json_str(&json, "verdict", check_verdict_name(r->verdict));
        if (r->text[0] != '\0')
            json_str(&json, "detail", r->text);
        if (r->first_frame != 0) {
            json_uint(&json, "first_frame", r->first_frame);
            json_uint(&json, "last_frame", r->last_frame);
        }
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    json_newline(&json);
}

static int end(struct out *out)
{
    const int rc = out_end(out);
    if (rc == 0)
        return 0;
    msg_print("standard output: %s", strerror(rc));
    return -1;
}

static int begin(struct out *out)
{
    if (out_init(out, STDOUT_FILENO) == 0)
        return 0;
    msg_print("out of memory");
    return -1;
}

int check_report_print(const struct check_report *report)
{
    struct out out;
    if (begin(&out) != 0)
        return -1;
    switch (report->format) {
    case CHECK_FORMAT_TEXT:
        print_text(&out, report);
        break;
    case CHECK_FORMAT_JSON:
        print_json(&out, report);
        break;
    case CHECK_FORMAT_TAP:
        print_tap(&out, report);
        break;
    }
    return end(&out);
}

int check_list_print(enum check_format format)
{
    struct out out;
    struct json json;
    char line[LINE_MAX_LEN];
    if (begin(&out) != 0)
        return -1;
    if (format == CHECK_FORMAT_JSON) {
        json_init(&json, &out);
        json_open_object(&json, NULL);
        json_str(&json, "schema", "rocereplay-check/1");
        json_open_array(&json, "cases");
    }
    for (unsigned i = 0; i < check_n_cases; i++) {
        const struct check_case *what = &check_cases[i];
        if (format == CHECK_FORMAT_JSON) {
            json_newline(&json);
            json_open_object(&json, NULL);
            json_case(&json, what);
            json_close_object(&json);
        } else {
            (void)snprintf(line, sizeof(line), "%-18s %s (%s)\n", what->id, what->rule,
                           what->section);
            out_str(&out, line);
        }
    }
    if (format == CHECK_FORMAT_JSON) {
        json_close_array(&json);
        json_close_object(&json);
        json_newline(&json);
    }
    return end(&out);
}
