/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which frames pass: the BPF expression, compiled for each link type met, and -Y. */
#ifndef ROCEDUMP_SELECTION_H
#define ROCEDUMP_SELECTION_H

#include <roce/capture.h>
#include <roce/filter.h>

enum { SELECTION_LINKTYPES_MAX = 16 };

struct selection {
    char *expression; /* BPF; NULL without */
    struct {
        uint32_t linktype;
        struct roce_bpf *bpf;
    } program[SELECTION_LINKTYPES_MAX];
    int programs;
    struct roce_filter *filter; /* NULL without */
};

/* selection_init takes the words of the user and whether --roce-filter was given; compiles nothing
 * yet. Returns 0, or -1 without memory. */
int selection_init(struct selection *selection, const char *expression, bool roce_filter);
void selection_free(struct selection *selection);

/* selection_bpf tells whether |frame| passes the BPF expression: 1 or 0, or -1 when the expression
 * does not compile for its link type, with libpcap's words in |text|. */
int selection_bpf(struct selection *selection, const struct roce_frame *frame,
                  char text[ROCE_ERRTEXT_LEN]);

/* selection_prepare compiles the expression for |linktype|. Returns 0 or -1 as above. */
int selection_prepare(struct selection *selection, uint32_t linktype, char text[ROCE_ERRTEXT_LEN]);

/* selection_filter compiles |expression| of the option |option|. On a mistake it prints what is
 * wrong and a caret under the place to standard error and returns NULL. */
struct roce_filter *selection_filter(const char *option, const char *expression);

#endif
