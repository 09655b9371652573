/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option parser: spellings, kinds of arguments, bare words, mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/options.h"

struct target {
    struct common_opts common;
    bool all;
    unsigned times;
};

static const struct opt table[] = {
#define COMMON(letter, name, arg, kind, member, help) \
    {letter, OPT_##kind, name, arg, offsetof(struct target, common.member), help},
#include "common/common.def"
#undef COMMON
    {'a', OPT_FLAG, "all", NULL, offsetof(struct target, all), "all"},
    {'t', OPT_TALLY, NULL, NULL, offsetof(struct target, times), "times"},
};

static const struct opt_program program = {.name = "prog",
                                           .synopsis = "prog",
                                           .summary = "",
                                           .footer = "",
                                           .table = table,
                                           .count = sizeof(table) / sizeof(table[0])};

enum { WORDS_MAX = 16 };

/* Parses a NULL-terminated list of words; the bare ones end up in |argv|[1].. */
static int parse(struct target *target, char *argv[WORDS_MAX], const char *const *words)
{
    static char storage[WORDS_MAX][64];
    static char name[] = "prog";
    int argc = 1;
    *target = (struct target){0};
    argv[0] = name;
    for (; words[argc - 1] != NULL; argc++) {
        strcpy(storage[argc], words[argc - 1]);
        argv[argc] = storage[argc];
    }
    return opt_parse(&program, argc, argv, target);
}

#define PARSE(...) parse(&target, argv, (const char *const[]){__VA_ARGS__, NULL})

static void test_options_spellings(void **state)
{
    struct target target;
    char *argv[WORDS_MAX];
    (void)state;
    assert_int_equal(PARSE("-att", "-tc7"), 0);
    assert_true(target.all);
    assert_int_equal(target.times, 3);
    assert_int_equal(target.common.count, 7);
    assert_int_equal(PARSE("--count=8", "--snaplen", "64", "-r", "x"), 0);
    assert_int_equal(target.common.count, 8);
    assert_int_equal(target.common.snaplen, 64);
    assert_string_equal(target.common.read, "x");
    assert_int_equal(PARSE("-r-", "--color=never"), 0);
    assert_string_equal(target.common.read, "-");
    assert_int_equal(target.common.colour, 2);
    assert_int_equal(PARSE("-r", "-5"), 0);
    assert_string_equal(target.common.read, "-5");
}

static void test_options_bare_words_mix(void **state)
{
    struct target target;
    char *argv[WORDS_MAX];
    (void)state;
    assert_int_equal(PARSE("file", "-a", "udp", "--", "-v", "-"), 4);
    assert_string_equal(argv[1], "file");
    assert_string_equal(argv[2], "udp");
    assert_string_equal(argv[3], "-v");
    assert_string_equal(argv[4], "-");
    assert_int_equal(target.common.verbose, 0);
}

static void test_options_input_is_first_word(void **state)
{
    struct target target;
    char *argv[WORDS_MAX];
    const char *file;
    char bpf[16];
    (void)state;
    int n = PARSE("a.pcap", "udp", "port", "4791");
    assert_int_equal(opt_input(&target.common, argv + 1, n, &file, bpf, sizeof(bpf)), 0);
    assert_string_equal(file, "a.pcap");
    assert_string_equal(bpf, "udp port 4791");
    n = PARSE("-r", "b", "udp");
    assert_int_equal(opt_input(&target.common, argv + 1, n, &file, bpf, sizeof(bpf)), 0);
    assert_string_equal(file, "b");
    assert_string_equal(bpf, "udp");
    n = PARSE("f", "0123456789abcdef");
    assert_int_equal(opt_input(&target.common, argv + 1, n, &file, bpf, sizeof(bpf)), -1);
    n = PARSE("f", "0123456789abcde");
    assert_int_equal(opt_input(&target.common, argv + 1, n, &file, bpf, sizeof(bpf)), 0);
    n = PARSE("-a");
    assert_int_equal(opt_input(&target.common, argv + 1, n, &file, bpf, sizeof(bpf)), 0);
    assert_null(file);
}

static void test_options_ports_add_up(void **state)
{
    struct target target;
    char *argv[WORDS_MAX];
    (void)state;
    assert_int_equal(PARSE("--port", "1", "--port=65535"), 0);
    assert_int_equal(target.common.ports.n, 2);
    assert_int_equal(target.common.ports.port[1], 65535);
    assert_int_equal(PARSE("--port=1", "--port=2", "--port=3", "--port=4", "--port=5", "--port=6",
                           "--port=7", "--port=8", "--port=9"),
                     OPT_EXIT_USAGE);
}

static void test_options_sizes(void **state)
{
    static const struct {
        const char *text;
        uint32_t bytes;
    } sizes[] = {{"0", 0}, {"96", 96}, {"64K", 65536}, {"8M", 8388608}, {"1G", 1073741824}};
    struct target target;
    char *argv[WORDS_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(PARSE("-s", sizes[i].text), 0);
        assert_int_equal(target.common.snaplen, sizes[i].bytes);
    }
}

static void test_options_mistakes(void **state)
{
    static const char *const mistakes[][2] = {
        {"-z", NULL},
        {"--nope", NULL},
        {"--al", NULL},
        {"-c", NULL},
        {"-c", "0"},
        {"-c", "-1"},
        {"-c", "5x"},
        {"-c", ""},
        {"-c", "99999999999999999999"},
        {"-s", "2147483648"},
        {"-s", "2G"},
        {"-s", "K"},
        {"-s", "1KB"},
        {"-s", "-1K"},
        {"--all=1", NULL},
        {"--count", NULL},
        {"--port", "0"},
        {"--port", "65536"},
        {"--color", "blue"},
        {"--color", ""},
        {"--color", "auto|always"},
        {"--link-speed", "100"},
        {"-i", "eth0"},
        {"--", "x"},
    };
    struct target target;
    char *argv[WORDS_MAX];
    (void)state;
    const size_t count = sizeof(mistakes) / sizeof(mistakes[0]);
    for (size_t i = 0; i + 1 < count; i++)
        assert_int_equal(PARSE(mistakes[i][0], mistakes[i][1]), OPT_EXIT_USAGE);
    assert_int_equal(PARSE(mistakes[count - 1][0], mistakes[count - 1][1]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_spellings),
        cmocka_unit_test(test_options_bare_words_mix),
        cmocka_unit_test(test_options_input_is_first_word),
        cmocka_unit_test(test_options_ports_add_up),
        cmocka_unit_test(test_options_sizes),
        cmocka_unit_test(test_options_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
