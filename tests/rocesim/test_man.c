/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manual pages name every option and every key of a scenario. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_all.h"

static char *read_page(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *page = calloc(1, 1 << 18);
    assert_non_null(page);
    assert_true(fread(page, 1, (1 << 18) - 1, file) > 0);
    fclose(file);
    return page;
}

static void test_man_names_every_option(void **state)
{
    (void)state;
    static const struct {
        char letter;
        const char *name;
    } options[] = {
#define OPTION(letter, name, arg, kind, member, help) {letter, name},
#include "rocesim/options.def"
#undef OPTION
    };
    char *page = read_page(SOURCE_DIR "/man/rocesim.1");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        char flag[64];
        snprintf(flag, sizeof(flag), "Fl -%s", options[i].name);
        if (strstr(page, flag) == NULL)
            fail_msg("man/rocesim.1 lacks --%s", options[i].name);
        snprintf(flag, sizeof(flag), ".It Fl %c", options[i].letter);
        if (options[i].letter != 0 && strstr(page, flag) == NULL)
            fail_msg("man/rocesim.1 lacks -%c", options[i].letter);
    }
    free(page);
}

/* The section of each kind of line has its keys. */
static void test_man_names_every_key(void **state)
{
    (void)state;
    static const struct {
        const char *line, *name;
    } keys[] = {
#define KEY(line, name, kind, least, most, member, help) {#line, name},
#include "rocesim/scenario.def"
#undef KEY
    };
    static const char *const sections[][2] = {{"HOST", ".Sh HOSTS"},
                                              {"SWITCH", ".Sh SWITCHES"},
                                              {"LINK", ".Sh LINKS"},
                                              {"FLOW", ".Sh LOAD"},
                                              {"TAP", ".Sh TAPS"}};
    char *page = read_page(SOURCE_DIR "/man/rocesim.5");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *section = NULL;
        for (size_t k = 0; k < sizeof(sections) / sizeof(sections[0]); k++)
            if (strcmp(sections[k][0], keys[i].line) == 0)
                section = strstr(page, sections[k][1]);
        assert_non_null(section);
        const char *end = strstr(section + 1, "\n.Sh ");
        char item[64];
        snprintf(item, sizeof(item), "\n.It Cm %s Ns = Ns", keys[i].name);
        const char *found = strstr(section, item);
        if (found == NULL || (end != NULL && found > end))
            fail_msg("man/rocesim.5 lacks %s of %s", keys[i].name, sections[0][0]);
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_man_names_every_option),
        cmocka_unit_test(test_man_names_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
