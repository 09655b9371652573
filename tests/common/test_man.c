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

static void test_man_rocedump_names_every_option(void **state)
{
    char *page = read_page(SOURCE_DIR "/man/rocedump.1");
    char flag[64];
    (void)state;
    for (size_t i = 0; i < sizeof(rocedump) / sizeof(rocedump[0]); i++) {
        if (rocedump[i].letter != 0) {
            snprintf(flag, sizeof(flag), "Fl %c", rocedump[i].letter);
            if (!documents(page, flag))
                fail_msg("man/rocedump.1 lacks -%c", rocedump[i].letter);
        }
        if (rocedump[i].name != NULL) {
            snprintf(flag, sizeof(flag), "Fl -%s", rocedump[i].name);
            if (!documents(page, flag))
                fail_msg("man/rocedump.1 lacks --%s", rocedump[i].name);
        }
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_man_rocedump_names_every_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
