/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings. */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/units.h"

static const struct setting table[] = {
#define SETTING(key, kind, member, value, limits, help) \
    {key, SETTING_##kind, offsetof(struct settings, member), value, limits, help},
#include "settings.def"
#undef SETTING
};

enum { COUNT = sizeof(table) / sizeof(table[0]), LINE_LEN = 1024 };

size_t tui_settings_count(void)
{
    return COUNT;
}

const struct setting *tui_settings_at(size_t index)
{
    return &table[index];
}

static void *target_of(struct settings *settings, const struct setting *setting)
{
    return (char *)settings + setting->offset;
}

static const void *source_of(const struct settings *settings, const struct setting *setting)
{
    return (const char *)settings + setting->offset;
}

/* Word |index| of "a|b|c" into |buf|; false when there is none. */
static bool word_at(const char *list, int index, char *buf, size_t size)
{
    for (;; list += strcspn(list, "|") + 1) {
        const size_t n = strcspn(list, "|");
        if (index-- == 0) {
            (void)snprintf(buf, size, "%.*s", (int)n, list);
            return true;
        }
        if (list[n] == '\0')
            return false;
    }
}

static int parse_flag(const char *value)
{
    static const char *const words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(value, words[i]) == 0)
            return (int)(i % 2);
    return -1;
}

static bool parse_number(const char *value, const char *limits, int *out)
{
    char *end;
    errno = 0;
    const long n = strtol(value, &end, 10);
    const long low = strtol(limits, NULL, 10), high = strtol(strstr(limits, "..") + 2, NULL, 10);
    if (errno != 0 || end == value || *end != '\0' || n < low || n > high)
        return false;
    *out = (int)n;
    return true;
}

static bool parse_time(const char *value, const char *limits, uint64_t *out)
{
    char low_text[32];
    uint64_t ns, low, high;
    const char *dots = strstr(limits, "..");
    (void)snprintf(low_text, sizeof(low_text), "%.*s", (int)(dots - limits), limits);
    /* A bare number is seconds. */
    char with_unit[64];
    (void)snprintf(with_unit, sizeof(with_unit), "%s%s", value,
                   value[0] != '\0' && isdigit((unsigned char)value[strlen(value) - 1]) ? "s" : "");
    if (units_parse_duration(with_unit, &ns) != 0 || units_parse_duration(low_text, &low) != 0 ||
        units_parse_duration(dots + 2, &high) != 0 || ns < low || ns > high)
        return false;
    *out = ns;
    return true;
}

static const char *set(struct settings *settings, const struct setting *setting, const char *value,
                       char *text, size_t size)
{
    void *target = target_of(settings, setting);
    char word[SETTING_TEXT_MAX];
    switch (setting->kind) {
    case SETTING_FLAG:
        if (parse_flag(value) >= 0) {
            *(int *)target = parse_flag(value);
            return NULL;
        }
        (void)snprintf(text, size, "%s: '%.40s' is neither yes nor no", setting->key, value);
        return text;
    case SETTING_NUMBER:
        if (parse_number(value, setting->limits, target))
            return NULL;
        (void)snprintf(text, size, "%s: '%.40s' is no number in %s", setting->key, value,
                       setting->limits);
        return text;
    case SETTING_TIME:
        if (parse_time(value, setting->limits, target))
            return NULL;
        (void)snprintf(text, size, "%s: '%.40s' is no time in %s", setting->key, value,
                       setting->limits);
        return text;
    case SETTING_CHOICE:
        for (int i = 0; word_at(setting->limits, i, word, sizeof(word)); i++) {
            if (strcasecmp(word, value) == 0) {
                *(int *)target = i;
                return NULL;
            }
        }
        (void)snprintf(text, size, "%s: '%.40s' is none of %s", setting->key, value,
                       setting->limits);
        return text;
    case SETTING_TEXT:
        if (strlen(value) < SETTING_TEXT_MAX) {
            (void)snprintf(target, SETTING_TEXT_MAX, "%s", value);
            return NULL;
        }
        (void)snprintf(text, size, "%s: longer than %d bytes", setting->key, SETTING_TEXT_MAX - 1);
        return text;
    }
    return NULL;
}

void tui_settings_defaults(struct settings *settings)
{
    char text[128];
    memset(settings, 0, sizeof(*settings));
    for (size_t i = 0; i < COUNT; i++)
        (void)set(settings, &table[i], table[i].value, text, sizeof(text));
}

const char *tui_settings_set(struct settings *settings, const char *key, const char *value,
                             char *text, size_t size)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcasecmp(table[i].key, key) == 0)
            return set(settings, &table[i], value, text, size);
    (void)snprintf(text, size, "there is no setting '%.40s'; --dump-config lists them", key);
    return text;
}

const char *tui_settings_get(const struct settings *settings, size_t index, char *buf)
{
    const struct setting *setting = &table[index];
    const void *source = source_of(settings, setting);
    switch (setting->kind) {
    case SETTING_FLAG:
        (void)snprintf(buf, SETTING_TEXT_MAX, "%s", *(const int *)source ? "yes" : "no");
        break;
    case SETTING_NUMBER:
        (void)snprintf(buf, SETTING_TEXT_MAX, "%d", *(const int *)source);
        break;
    case SETTING_CHOICE:
        (void)word_at(setting->limits, *(const int *)source, buf, SETTING_TEXT_MAX);
        break;
    case SETTING_TEXT:
        (void)snprintf(buf, SETTING_TEXT_MAX, "%s", (const char *)source);
        break;
    case SETTING_TIME: {
        const uint64_t ns = *(const uint64_t *)source;
        if (ns % 1000000000 == 0)
            (void)snprintf(buf, SETTING_TEXT_MAX, "%llus", (unsigned long long)(ns / 1000000000));
        else
            (void)snprintf(buf, SETTING_TEXT_MAX, "%.6gms", (double)ns / 1e6);
        break;
    }
    }
    return buf;
}

/* The next of 1, 2, 5, 10, ... */
static double next_round(double value, int by)
{
    static const double steps[] = {1, 2, 5, 10};
    double scale = 1;
    while (scale * 10 <= value)
        scale *= 10;
    while (scale > value)
        scale /= 10;
    for (int i = 0; i < 3; i++) {
        if (by > 0 && steps[i + 1] * scale > value * 1.000001)
            return steps[i + 1] * scale;
    }
    for (int i = 3; i > 0; i--)
        if (steps[i - 1] * scale < value * 0.999999)
            return steps[i - 1] * scale;
    return scale / 2;
}

void tui_settings_step(struct settings *settings, size_t index, int by)
{
    const struct setting *setting = &table[index];
    void *target = target_of(settings, setting);
    char value[SETTING_TEXT_MAX], text[128];
    switch (setting->kind) {
    case SETTING_FLAG:
        *(int *)target = !*(int *)target;
        break;
    case SETTING_CHOICE: {
        int n = 0;
        while (word_at(setting->limits, n, value, sizeof(value)))
            n++;
        if (n > 0)
            *(int *)target = (*(int *)target + n + by) % n;
        break;
    }
    case SETTING_NUMBER: {
        const int now = *(int *)target;
        const double next = now <= 1 ? now + by : next_round(now, by);
        (void)snprintf(value, sizeof(value), "%.0f", next);
        (void)set(settings, setting, value, text, sizeof(text));
        break;
    }
    case SETTING_TIME:
        (void)snprintf(value, sizeof(value), "%.0fms",
                       next_round((double)*(uint64_t *)target / 1e6, by));
        (void)set(settings, setting, value, text, sizeof(text));
        break;
    case SETTING_TEXT:
        break;
    }
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

/* Returns NULL or what is wrong with |line|. */
static const char *read_line(struct settings *settings, char *line, char *section,
                             size_t section_size, char *text, size_t size)
{
    line[strcspn(line, "#\n")] = '\0';
    char *key = trim(line);
    if (*key == '\0')
        return NULL;
    if (*key == '[') {
        const size_t n = strcspn(key, "]");
        (void)snprintf(section, section_size, "%.*s.", (int)n - 1, key + 1);
        return key[n] == ']' ? NULL : "a section ends with ]";
    }
    char *equals = strchr(key, '=');
    if (equals == NULL)
        return "a line is: key = value";
    *equals = '\0';
    char whole[128];
    (void)snprintf(whole, sizeof(whole), "%s%s", section, trim(key));
    return tui_settings_set(settings, whole, trim(equals + 1), text, size);
}

int tui_settings_read(struct settings *settings, const char *path, char *text, size_t size)
{
    char line[LINE_LEN], section[64] = "", wrong[160];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    int number = 0;
    const char *fault = NULL;
    while (fault == NULL && fgets(line, sizeof(line), file) != NULL) {
        number++;
        fault = read_line(settings, line, section, sizeof(section), wrong, sizeof(wrong));
    }
    if (fault != NULL)
        (void)snprintf(text, size, "%s", fault);
    (void)fclose(file);
    return fault != NULL ? number : 0;
}

void tui_settings_write(const struct settings *settings, FILE *file)
{
    char value[SETTING_TEXT_MAX];
    const char *section = "";
    size_t section_len = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const char *key = table[i].key;
        const char *dot = strchr(key, '.');
        const size_t len = dot != NULL ? (size_t)(dot - key) : 0;
        if (len != section_len || strncmp(section, key, len) != 0)
            (void)fprintf(file, "\n[%.*s]\n", (int)len, key);
        section = key;
        section_len = len;
        (void)fprintf(file, "# %s%s%s%s\n%s = %s\n", table[i].help,
                      table[i].limits[0] != '\0' ? " (" : "", table[i].limits,
                      table[i].limits[0] != '\0' ? ")" : "", len > 0 ? dot + 1 : key,
                      tui_settings_get(settings, i, value));
    }
}

bool tui_settings_path(char *path, size_t size)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (base != NULL && base[0] == '/')
        (void)snprintf(path, size, "%s/rocekit/rocetop.conf", base);
    else if (home != NULL && home[0] != '\0')
        (void)snprintf(path, size, "%s/.config/rocekit/rocetop.conf", home);
    else
        return false;
    return true;
}

int tui_settings_save(const struct settings *settings, const char *path)
{
    char folder[4096];
    (void)snprintf(folder, sizeof(folder), "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return errno;
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return errno;
    tui_settings_write(settings, file);
    const int error = ferror(file) ? EIO : 0;
    return fclose(file) != 0 && error == 0 ? errno : error;
}
