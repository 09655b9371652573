/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reading a scenario keeps from line to line. */
#ifndef ROCESIM_PARSER_H
#define ROCESIM_PARSER_H

#include "rocesim/scenario.h"

enum { WORDS_MAX = 64, LINE_MAX_LEN = 2048, VARIABLES_MAX = 32 };

struct variable {
    char name[SIM_NAME_MAX], value[64];
};

struct parser {
    struct scenario *scenario;
    struct sim_define *defines;
    int n_defines, n_variables;
    struct variable variable[VARIABLES_MAX];
    struct sim_host host; /* defaults of the lines to come */
    struct sim_switch sw;
    struct sim_link link;
    struct sim_flow flow;
    struct sim_tap tap;
    char *word[WORDS_MAX];
    int n_words;
    char *error;
};

/* parser_fail writes the reason and returns -1. */
int parser_fail(const struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* line_read handles the line whose words are in |p->word|. 0, or -1 with the reason told. */
int line_read(struct parser *p);

#endif
