/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happened, in order: a bounded list whose repeats are folded. */
#ifndef TUI_LOG_H
#define TUI_LOG_H

#include <roce/observer.h>

enum log_level { LOG_INFO, LOG_NOTE, LOG_WARN, LOG_ERR, LOG_LEVELS };

enum log_type {
#define LOG(id, level, word, help) LOG_TYPE_##id,
#include "log.def"
#undef LOG
    LOG_TYPES
};

struct log_entry {
    roce_tstamp ts;
    uint64_t frame;
    uint64_t seq; /* counts entries from 1 */
    uint8_t type; /* enum log_type */
    uint8_t ip_version;
    uint8_t code;  /* NAK code, cause, location, CM message, priority */
    uint8_t level; /* enum log_level */
    bool has_flow, has_psn, has_mac, more;
    uint32_t repeats; /* 1: happened once */
    uint32_t flow, dest_qp;
    uint32_t psn;
    uint64_t count;
    roce_duration duration; /* -1 unknown */
    uint8_t src[16], dst[16];
    uint8_t mac[6];
};

enum { LOG_ENTRIES = 4096 };

struct log {
    struct log_entry entry[LOG_ENTRIES];
    uint64_t count; /* ever noted, repeats not counted; entry count % LOG_ENTRIES comes next */
    uint64_t by_level[LOG_LEVELS]; /* with repeats */
};

/* tui_log_note appends |entry|, or counts it as a repeat of an entry of the same type and flow (or
 * sender and priority) among the newest ones that is not older than |fold_ns|. */
void tui_log_note(struct log *log, const struct log_entry *entry, uint64_t fold_ns);

/* tui_log_event notes an event of flow state when it is one that people want to see. |table| tells
 * of its flow. */
void tui_log_event(struct log *log, const struct roce_flow_table *table,
                   const struct roce_event *event, uint64_t fold_ns);

const char *tui_log_word(enum log_type type);
const char *tui_log_level_word(enum log_level level); /* "INFO", ... */
/* tui_log_level_by_name returns the level of "info" .. "err", or -1. */
int tui_log_level_by_name(const char *name);

/* tui_log_detail writes what the entry says besides its columns; |unsure|: the capture dropped
 * frames at that time. Returns |buf|. */
const char *tui_log_detail(char *buf, size_t size, const struct log_entry *entry, bool unsure);

#endif
