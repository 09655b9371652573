/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings: from their defaults, the configuration file, -o and the Setup screen, in this order. */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SETTING_TEXT_MAX = 256 };

enum setting_kind {
    SETTING_FLAG,   /* int: 0 or 1 */
    SETTING_NUMBER, /* int */
    SETTING_CHOICE, /* int: place of the word */
    SETTING_TEXT,   /* char[SETTING_TEXT_MAX] */
    SETTING_TIME,   /* uint64_t: ns */
};

enum { UNITS_BITS, UNITS_BYTES };
enum { GRAPH_BARS, GRAPH_LINES };
enum { ORDER_LIVE, ORDER_FROZEN };
enum { CHARSET_AUTO, CHARSET_UTF8, CHARSET_ASCII };

struct settings {
#define MEMBER_FLAG(member)                             int member;
#define MEMBER_NUMBER(member)                           int member;
#define MEMBER_CHOICE(member)                           int member;
#define MEMBER_TEXT(member)                             char member[SETTING_TEXT_MAX];
#define MEMBER_TIME(member)                             uint64_t member;
#define SETTING(key, kind, member, value, limits, help) MEMBER_##kind(member)
#include "settings.def"
#undef SETTING
#undef MEMBER_FLAG
#undef MEMBER_NUMBER
#undef MEMBER_CHOICE
#undef MEMBER_TEXT
#undef MEMBER_TIME
};

struct setting {
    const char *key;
    enum setting_kind kind;
    size_t offset;
    const char *value;  /* the default */
    const char *limits; /* "10..20", or words with | between */
    const char *help;
};

size_t tui_settings_count(void);
const struct setting *tui_settings_at(size_t index);

void tui_settings_defaults(struct settings *settings);

/* tui_settings_set sets |key| to |value|. Returns NULL, or what is wrong, written into |text|. */
const char *tui_settings_set(struct settings *settings, const char *key, const char *value,
                             char *text, size_t size);

/* tui_settings_get writes the value of setting |index| into |buf|, SETTING_TEXT_MAX bytes, and
 * returns it. tui_settings_step moves it to the next (|by| 1) or former (-1) value that makes
 * sense; TEXT is left alone. */
const char *tui_settings_get(const struct settings *settings, size_t index, char *buf);
void tui_settings_step(struct settings *settings, size_t index, int by);

/* tui_settings_read reads a configuration file: lines "key = value", '#' begins a comment, "[name]"
 * puts "name." in front of the keys that follow. Returns 0; -1 when the file cannot be opened
 * (errno); or the number of the first line with a mistake, told in |text|. */
int tui_settings_read(struct settings *settings, const char *path, char *text, size_t size);

/* tui_settings_write writes all settings in that form. */
void tui_settings_write(const struct settings *settings, FILE *file);

/* tui_settings_path writes the place of the configuration file, by XDG_CONFIG_HOME or HOME, into
 * |path|; returns false when neither is set. */
bool tui_settings_path(char *path, size_t size);

/* tui_settings_save writes the configuration file, creating its folders. Returns 0 or an errno. */
int tui_settings_save(const struct settings *settings, const char *path);

#endif
