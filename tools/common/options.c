/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option parser and --help. */
#include "common/options.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/units.h"

enum { HELP_COLUMN = 26, LINE_WIDTH = 80 };

/* How the user spelled the option, for messages: "-c" or "--count". */
struct spelling {
    char text[64];
};

static struct spelling spell(const struct opt *opt, bool as_long)
{
    struct spelling s;
    if (as_long)
        (void)snprintf(s.text, sizeof(s.text), "--%s", opt->name);
    else
        (void)snprintf(s.text, sizeof(s.text), "-%c", opt->letter);
    return s;
}

/* Position of |word| among the words of |list| ("a|b|c"), or -1. */
static int choice_index(const char *list, const char *word)
{
    const size_t len = strlen(word);
    for (int i = 0;; i++) {
        const size_t n = strcspn(list, "|");
        if (n == len && memcmp(list, word, n) == 0)
            return i;
        if (list[n] == '\0')
            return -1;
        list += n + 1;
    }
}

static int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    if (text[0] < '0' || text[0] > '9')
        return -1;
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || n < min || n > max)
        return -1;
    *value = n;
    return 0;
}

/* A number that may end in K, M or G: powers of 1024, as perftest's. */
static int parse_size(const char *text, uint64_t max, uint64_t *value)
{
    static const char units[] = "KMG";
    char digits[24];
    const size_t len = strlen(text);
    const char *unit = len > 1 ? strchr(units, text[len - 1]) : NULL;
    if (unit == NULL || len > sizeof(digits))
        return parse_number(text, 0, max, value);
    memcpy(digits, text, len - 1);
    digits[len - 1] = '\0';
    const unsigned shift = 10 * (unsigned)(unit - units + 1);
    if (parse_number(digits, 0, max >> shift, value) != 0)
        return -1;
    *value <<= shift;
    return 0;
}

static int bad_value(struct spelling how, const char *value, const char *wanted)
{
    msg_print("%s: '%s' is not %s", how.text, value, wanted);
    return OPT_EXIT_USAGE;
}

static int add_port(struct opt_ports *ports, struct spelling how, const char *value)
{
    uint64_t n;
    if (parse_number(value, 1, 65535, &n) != 0)
        return bad_value(how, value, "a UDP port; give a number from 1 to 65535");
    if (ports->n == OPT_PORTS_MAX) {
        msg_print("%s: at most %d ports; leave one out", how.text, (int)OPT_PORTS_MAX);
        return OPT_EXIT_USAGE;
    }
    ports->port[ports->n++] = (uint16_t)n;
    return 0;
}

static int add_name(struct opt_names *names, struct spelling how, const char *value)
{
    if (names->n == OPT_NAMES_MAX) {
        msg_print("%s: at most %d of them; leave one out", how.text, (int)OPT_NAMES_MAX);
        return OPT_EXIT_USAGE;
    }
    names->name[names->n++] = value;
    return 0;
}

/* Applies an option without argument. Returns 0 or an OPT_EXIT code. */
static int apply_plain(const struct opt_program *program, const struct opt *opt, void *at)
{
    switch (opt->kind) {
    case OPT_FLAG:
        *(bool *)at = true;
        return 0;
    case OPT_TALLY:
        (*(unsigned *)at)++;
        return 0;
    case OPT_HELP:
        opt_help(program);
        return OPT_EXIT_DONE;
    case OPT_VERSION:
        (void)printf("%s " ROCEKIT_VERSION "\n", program->name);
        return OPT_EXIT_DONE;
    case OPT_TEXT:
    case OPT_COUNT:
    case OPT_SIZE:
    case OPT_CHOICE:
    case OPT_SPEED:
    case OPT_PORTS:
    case OPT_NAMES:
        break;
    }
    assert(false); /* an option of this kind has an argument */
    return OPT_EXIT_USAGE;
}

/* Stores the argument |value|. Returns 0 or OPT_EXIT_USAGE. */
static int apply_value(const struct opt *opt, struct spelling how, const char *value, void *at)
{
    uint64_t n;
    assert(value != NULL && opt->arg != NULL);
    switch (opt->kind) {
    case OPT_TEXT:
        *(const char **)at = value;
        return 0;
    case OPT_COUNT:
        if (parse_number(value, 1, INT64_MAX, &n) != 0)
            return bad_value(how, value, "a count; give a number from 1 on");
        *(uint64_t *)at = n;
        return 0;
    case OPT_SIZE:
        if (parse_size(value, INT32_MAX, &n) != 0)
            return bad_value(how, value, "a size in bytes; give a number, or one with K, M or G");
        *(uint32_t *)at = (uint32_t)n;
        return 0;
    case OPT_CHOICE: {
        const int i = choice_index(opt->arg, value);
        if (i < 0) {
            msg_print("%s: '%s' is none of %s", how.text, value, opt->arg);
            return OPT_EXIT_USAGE;
        }
        *(int *)at = i;
        return 0;
    }
    case OPT_SPEED:
        if (units_parse_speed(value, at) != 0)
            return bad_value(how, value, "a link speed; give a number with its unit, as 100G");
        return 0;
    case OPT_PORTS:
        return add_port(at, how, value);
    case OPT_NAMES:
        return add_name(at, how, value);
    case OPT_FLAG:
    case OPT_TALLY:
    case OPT_HELP:
    case OPT_VERSION:
        break;
    }
    assert(false); /* an option of this kind has no argument */
    return OPT_EXIT_USAGE;
}

static int apply(const struct opt_program *program, const struct opt *opt, struct spelling how,
                 const char *value, char *target)
{
    void *at = target + opt->offset;
    return opt->arg == NULL ? apply_plain(program, opt, at) : apply_value(opt, how, value, at);
}

static int missing_argument(const struct opt_program *program, const struct opt *opt,
                            struct spelling how)
{
    msg_print("option %s needs an argument, %s; see %s --help", how.text, opt->arg, program->name);
    return OPT_EXIT_USAGE;
}

/* |word| is "--name" or "--name=value"; |next| is the word behind it or NULL. |*used_next| tells
 * whether that was its argument. */
static int parse_long(const struct opt_program *program, const char *word, const char *next,
                      bool *used_next, void *target)
{
    const char *name = word + 2;
    const size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    for (size_t i = 0; i < program->count; i++) {
        const struct opt *opt = &program->table[i];
        if (opt->name == NULL || strlen(opt->name) != len || memcmp(opt->name, name, len) != 0)
            continue;
        const struct spelling how = spell(opt, true);
        if (opt->arg == NULL && value != NULL) {
            msg_print("option %s takes no argument; leave '=%s' away", how.text, value);
            return OPT_EXIT_USAGE;
        }
        if (opt->arg != NULL && value == NULL) {
            if (next == NULL)
                return missing_argument(program, opt, how);
            value = next;
            *used_next = true;
        }
        return apply(program, opt, how, value, target);
    }
    msg_print("unknown option --%.*s; see %s --help", (int)len, name, program->name);
    return OPT_EXIT_USAGE;
}

/* |word| is "-abc", options bundled, or "-cVALUE". */
static int parse_short(const struct opt_program *program, const char *word, const char *next,
                       bool *used_next, void *target)
{
    for (const char *c = word + 1; *c != '\0'; c++) {
        const struct opt *opt = NULL;
        for (size_t i = 0; i < program->count && opt == NULL; i++)
            if (program->table[i].letter == *c)
                opt = &program->table[i];
        if (opt == NULL) {
            msg_print("unknown option -%c; see %s --help", *c, program->name);
            return OPT_EXIT_USAGE;
        }
        const struct spelling how = spell(opt, false);
        const char *value = NULL;
        if (opt->arg != NULL) {
            value = c[1] != '\0' ? c + 1 : next;
            if (value == NULL)
                return missing_argument(program, opt, how);
            *used_next = c[1] == '\0';
        }
        const int rc = apply(program, opt, how, value, target);
        if (rc != 0 || opt->arg != NULL)
            return rc;
    }
    return 0;
}

int opt_parse(const struct opt_program *program, int argc, char **argv, void *target)
{
    int words = 0;
    bool options_over = false;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        if (options_over || word[0] != '-' || word[1] == '\0') {
            argv[1 + words++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_over = true;
            continue;
        }
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        bool used_next = false;
        const int rc = word[1] == '-' ? parse_long(program, word, next, &used_next, target)
                                      : parse_short(program, word, next, &used_next, target);
        if (rc != 0)
            return rc;
        i += used_next;
    }
    return words;
}

/* Prints |text| from column |column| on, broken at spaces, indented in further lines. */
static void print_wrapped(const char *text, int column)
{
    int at = column;
    while (*text != '\0') {
        const int len = (int)strcspn(text, " ");
        if (at > column && at + 1 + len >= LINE_WIDTH) {
            (void)printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", len, text);
        text += len;
        while (*text == ' ')
            text++;
    }
    (void)putchar('\n');
}

void opt_help(const struct opt_program *program)
{
    (void)printf("usage: %s\n%s\n\n", program->synopsis, program->summary);
    for (size_t i = 0; i < program->count; i++) {
        const struct opt *opt = &program->table[i];
        int at = opt->letter != 0 ? printf("  -%c", opt->letter) : printf("    ");
        if (opt->name != NULL)
            at += printf("%s--%s", opt->letter != 0 ? ", " : "  ", opt->name);
        if (opt->arg != NULL)
            at += printf("%s%s", opt->name != NULL ? "=" : " ", opt->arg);
        if (at + 2 > HELP_COLUMN) {
            (void)putchar('\n');
            at = 0;
        }
        (void)printf("%*s", HELP_COLUMN - at, "");
        print_wrapped(opt->help, HELP_COLUMN);
    }
    (void)fputs(program->footer, stdout);
}

int opt_bad(const char *option, const char *value, const char *wanted)
{
    msg_print("%s: '%s' is not %s", option, value, wanted);
    return OPT_EXIT_USAGE;
}

int opt_limit(const char *option, uint64_t value, uint64_t max)
{
    if (value <= max)
        return 0;
    msg_print("%s: %llu is too large; the most is %llu", option, (unsigned long long)value,
              (unsigned long long)max);
    return OPT_EXIT_USAGE;
}

int opt_join(char **words, int n, char *text, size_t room)
{
    assert(room > 0);
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        const int len = snprintf(text + used, room - used, "%s%s", i == 0 ? "" : " ", words[i]);
        if (len < 0 || (size_t)len >= room - used)
            return -1;
        used += (size_t)len;
    }
    return 0;
}

int opt_input(const struct common_opts *common, char **words, int n, const char **file, char *bpf,
              size_t room)
{
    const bool named = common->read == NULL && n > 0;
    *file = named ? words[0] : common->read;
    return named ? opt_join(words + 1, n - 1, bpf, room) : opt_join(words, n, bpf, room);
}
