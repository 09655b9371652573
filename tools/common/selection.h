/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which frames pass: the BPF expression, compiled for each link type met, and -Y. */
#ifndef TOOLS_SELECTION_H
#define TOOLS_SELECTION_H

#include <roce/capture.h>
#include <roce/filter.h>

enum { SELECTION_LINKTYPES_MAX = 16 };

struct selection {
    const char *expression; /* of the user; "" without */
    bool roce_filter;
    struct {
        uint32_t linktype;
        struct roce_bpf *own, *roce; /* NULL: not asked for */
    } program[SELECTION_LINKTYPES_MAX];
    int programs;
    struct roce_filter *filter; /* NULL without */
};

/* selection_init takes the words of the user, which are kept, and whether --roce-filter was given;
 * it compiles nothing yet. */
void selection_init(struct selection *selection, const char *expression, bool roce_filter);
void selection_free(struct selection *selection);

/* selection_bpf tells whether |frame| passes the BPF expressions: 1 or 0, or an error of
 * roce_bpf_compile when one cannot be had for its link type, with the reason in |text|. */
int selection_bpf(struct selection *selection, const struct roce_frame *frame,
                  char text[ROCE_ERRTEXT_LEN]);

/* selection_prepare compiles the expressions for |linktype|. Returns 0 or an error as above. */
int selection_prepare(struct selection *selection, uint32_t linktype, char text[ROCE_ERRTEXT_LEN]);

/* selection_fault reports |err| and |text| of one of the above, where |expression| is the user's,
 * and returns the exit status. */
int selection_fault(const char *expression, int err, const char *text);

/* selection_filter compiles |expression| of the option |option|. On a mistake it prints what is
 * wrong and a caret under the place to standard error and returns NULL. */
struct roce_filter *selection_filter(const char *option, const char *expression);

#endif
