/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manual page of each program names every option of its table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
    char letter;
    const char *name;
};

static const struct name rocedump[] = {
#define OPTION(letter, name, arg, kind, member, help) {letter, name},
#define COMMON(letter, name, arg, kind, member, help) {letter, name},
#include "common/common.def"
#include "rocedump/options.def"
#undef OPTION
#undef COMMON
};

static const struct name rocestat[] = {
#define WITHOUT_WRITE
#define OPTION(letter, name, arg, kind, member, help) {letter, name},
#define COMMON(letter, name, arg, kind, member, help) {letter, name},
#include "common/common.def"
#include "rocestat/options.def"
#undef OPTION
#undef COMMON
};

static const struct name rocereplay[] = {
#define OPTION(letter, name, arg, kind, member, help) {letter, name},
#include "rocereplay/gen.def"
#include "rocereplay/check_opts.def"
#include "rocereplay/peers.def"
#define PLAY OPTION
#include "rocereplay/play.def"
#undef PLAY
#include "rocereplay/serve.def"
#include "rocereplay/shared.def"
#undef OPTION
};

static char *read_page(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *page = calloc(1, 1 << 20);
    assert_non_null(page);
    assert_true(fread(page, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return page;
}

/* Whether an item of a list (.It) has the flag |flag|. */
static int documents(const char *page, const char *flag)
{
    const size_t len = strlen(flag);
    for (const char *line = strstr(page, "\n.It"); line != NULL; line = strstr(line + 1, "\n.It")) {
        const char *end = strchr(line + 1, '\n');
        for (const char *p = line; end != NULL && p + len <= end; p++)
            if (strncmp(p, flag, len) == 0 && !isalnum((unsigned char)p[len]) && p[len] != '-')
                return 1;
    }
    return 0;
}

static void assert_names(const char *name, const struct name *options, size_t count)
{
    char path[256], flag[64];
    snprintf(path, sizeof(path), SOURCE_DIR "/man/%s.1", name);
    char *page = read_page(path);
    for (size_t i = 0; i < count; i++) {
        if (options[i].letter != 0) {
            snprintf(flag, sizeof(flag), "Fl %c", options[i].letter);
            if (!documents(page, flag))
                fail_msg("man/%s.1 lacks -%c", name, options[i].letter);
        }
        if (options[i].name != NULL) {
            snprintf(flag, sizeof(flag), "Fl -%s", options[i].name);
            if (!documents(page, flag))
                fail_msg("man/%s.1 lacks --%s", name, options[i].name);
        }
    }
    free(page);
}

static void test_man_rocedump_names_every_option(void **state)
{
    (void)state;
    assert_names("rocedump", rocedump, sizeof(rocedump) / sizeof(rocedump[0]));
}

static void test_man_rocestat_names_every_option(void **state)
{
    (void)state;
    assert_names("rocestat", rocestat, sizeof(rocestat) / sizeof(rocestat[0]));
}

static void test_man_rocereplay_names_every_option(void **state)
{
    (void)state;
    assert_names("rocereplay", rocereplay, sizeof(rocereplay) / sizeof(rocereplay[0]));
}

/* --fail-on takes the kinds of findings: the page names them all. */
static void test_man_rocestat_names_every_finding(void **state)
{
    static const char *const kinds[] = {
#define FINDING(id, name, severity, values, text, hint) name,
#include <roce/findings.def>
#undef FINDING
    };
    char *page = read_page(SOURCE_DIR "/man/rocestat.1");
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strstr(page, kinds[i]) == NULL)
            fail_msg("man/rocestat.1 lacks %s", kinds[i]);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_man_rocedump_names_every_option),
        cmocka_unit_test(test_man_rocestat_names_every_option),
        cmocka_unit_test(test_man_rocereplay_names_every_option),
        cmocka_unit_test(test_man_rocestat_names_every_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
