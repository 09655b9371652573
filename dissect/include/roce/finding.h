/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings: what a user reads first. Each kind is one line of findings.def. */
#ifndef ROCE_FINDING_H
#define ROCE_FINDING_H

#include <roce/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum roce_severity {
    ROCE_SEVERITY_ERROR,   /* something failed: a request, a connection, a link */
    ROCE_SEVERITY_WARNING, /* something went wrong and was repaired, or will hurt */
    ROCE_SEVERITY_NOTE,    /* worth knowing; nothing needs to be wrong */
};

enum roce_finding_kind {
#define FINDING(id, name, severity, values, text, hint) ROCE_FINDING_##id,
#include <roce/findings.def>
#undef FINDING
    ROCE_FINDING_KINDS
};

/* How a value of a finding is to be read. */
enum roce_finding_unit {
    ROCE_UNIT_COUNT,
    ROCE_UNIT_HEX,      /* an address or key */
    ROCE_UNIT_DURATION, /* ns */
    ROCE_UNIT_RATE,     /* bits per second */
};

#define ROCE_FINDING_FRAMES 8 /* evidence frames kept of one finding */
#define ROCE_FINDING_VALUES 5
#define ROCE_FINDING_TEXT   320 /* bytes that hold every text */

/* struct roce_finding stands alone: its text needs no table. |value| holds the numbers that the
 * kind names (findings.def); bit n of |has| tells whether value n is known. */
struct roce_finding {
    uint8_t kind;     /* enum roce_finding_kind */
    uint8_t severity; /* enum roce_severity; may be milder than the kind's own */
    uint8_t has;
    uint8_t n_frames;
    bool has_hosts;     /* src and dst are known */
    bool has_flow;      /* dest_qp too: they name the flow, even when it was evicted since */
    bool has_mac;       /* pause frames: their sender */
    bool more;          /* sums up what the list has no room for: |value| holds nothing */
    uint8_t ip_version; /* of src and dst */
    uint8_t mac[6];
    uint8_t src[16], dst[16];
    uint32_t dest_qp;
    uint32_t flow;                        /* flow id, or ROCE_FLOW_NONE */
    uint32_t connection;                  /* or ROCE_FLOW_NONE */
    uint32_t flows;                       /* |more|: findings summed up */
    uint64_t first_frame;                 /* 0 when no single frame shows it */
    uint64_t frames[ROCE_FINDING_FRAMES]; /* evidence, ascending, without repeats */
    uint64_t count;                       /* occurrences; what is counted is in the text */
    uint64_t value[ROCE_FINDING_VALUES];
    const char *word; /* static text of the kind's {word}: a reason; NULL without */
};

struct roce_finding_info {
    const char *name; /* "loss.network" */
    const char *hint; /* what to check next */
    uint8_t severity; /* enum roce_severity: the gravest it takes */
};

/* roce_finding_info returns the facts of |kind|; static. roce_finding_by_name returns the kind or
 * ROCE_ERR_UNKNOWN. */
const struct roce_finding_info *roce_finding_info(enum roce_finding_kind kind);
int roce_finding_by_name(const char *name);

/* roce_severity_name returns "error", "warning", "note"; roce_severity_by_name the reverse, or
 * ROCE_ERR_UNKNOWN. */
const char *roce_severity_name(enum roce_severity severity);
int roce_severity_by_name(const char *name);

/* roce_finding_text writes one sentence with numbers into |buf| (|size| bytes, NUL included;
 * ROCE_FINDING_TEXT is always enough) and returns its length. A longer text is cut. The flow is not
 * named in it. */
size_t roce_finding_text(const struct roce_finding *finding, char *buf, size_t size);

/* roce_finding_value returns the name of value |index| ("va", "wait", ...; static) and stores it
 * with its unit, or returns NULL when the kind has no such value. |*known| is false when the
 * capture does not show it. */
const char *roce_finding_value(const struct roce_finding *finding, uint32_t index, uint64_t *value,
                               enum roce_finding_unit *unit, bool *known);

/* roce_finding_compare orders findings as reports show them: severity, then count (larger first),
 * then first frame, then kind and flow. Negative when |a| comes first. */
int roce_finding_compare(const struct roce_finding *a, const struct roce_finding *b);

#ifdef __cplusplus
}
#endif
#endif
