/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame selection. */
#include "rocedump/selection.h"
#include "common/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_WIDTH = 72 };

int selection_init(struct selection *selection, const char *expression, bool roce_filter)
{
    *selection = (struct selection){0};
    const bool own = expression[0] != '\0';
    if (!own && !roce_filter)
        return 0;
    const size_t room = strlen(expression) + strlen(ROCE_BPF_ROCE) + 16;
    selection->expression = malloc(room);
    if (selection->expression == NULL)
        return -1;
    if (own && roce_filter)
        (void)snprintf(selection->expression, room, "(%s) and (%s)", ROCE_BPF_ROCE, expression);
    else
        (void)snprintf(selection->expression, room, "%s", own ? expression : ROCE_BPF_ROCE);
    return 0;
}

void selection_free(struct selection *selection)
{
    for (int i = 0; i < selection->programs; i++)
        roce_bpf_del(selection->program[i].bpf);
    roce_filter_del(selection->filter);
    free(selection->expression);
    *selection = (struct selection){0};
}

/* The program for |linktype|, or NULL with the reason in |text|. */
static const struct roce_bpf *program_for(struct selection *selection, uint32_t linktype,
                                          char text[ROCE_ERRTEXT_LEN])
{
    for (int i = 0; i < selection->programs; i++)
        if (selection->program[i].linktype == linktype)
            return selection->program[i].bpf;
    if (selection->programs == SELECTION_LINKTYPES_MAX) {
        (void)snprintf(text, ROCE_ERRTEXT_LEN, "more than %d link types in one capture",
                       (int)SELECTION_LINKTYPES_MAX);
        return NULL;
    }
    struct roce_bpf *bpf = roce_bpf_compile(selection->expression, linktype, text);
    if (bpf == NULL)
        return NULL;
    selection->program[selection->programs].linktype = linktype;
    selection->program[selection->programs++].bpf = bpf;
    return bpf;
}

int selection_prepare(struct selection *selection, uint32_t linktype, char text[ROCE_ERRTEXT_LEN])
{
    if (selection->expression == NULL)
        return 0;
    return program_for(selection, linktype, text) == NULL ? -1 : 0;
}

int selection_bpf(struct selection *selection, const struct roce_frame *frame,
                  char text[ROCE_ERRTEXT_LEN])
{
    if (selection->expression == NULL)
        return 1;
    const struct roce_bpf *bpf = program_for(selection, frame->linktype, text);
    if (bpf == NULL)
        return -1;
    return roce_bpf_match(bpf, frame) ? 1 : 0;
}

/* Prints the part of the expression around the mistake and marks it. Bytes inside a UTF-8 character
 * take no column of their own. */
static void print_caret(const char *expression, const struct roce_filter_error *error)
{
    const size_t total = strlen(expression);
    size_t from = error->offset > SHOWN_WIDTH / 2 ? error->offset - SHOWN_WIDTH / 2 : 0;
    if (total <= SHOWN_WIDTH)
        from = 0;
    while (from > 0 && ((unsigned char)expression[from] & 0xC0) == 0x80)
        from--;
    (void)fputs("  ", stderr);
    for (size_t i = from; i < total && i < from + SHOWN_WIDTH; i++) {
        const unsigned char c = (unsigned char)expression[i];
        (void)fputc(c < ' ' || c == 0x7F ? ' ' : c, stderr);
    }
    (void)fputs("\n  ", stderr);
    for (size_t i = from; i < error->offset && i < total; i++)
        if (((unsigned char)expression[i] & 0xC0) != 0x80)
            (void)fputc(' ', stderr);
    (void)fputc('^', stderr);
    for (size_t i = 1; i < error->len && error->offset + i < total && i < SHOWN_WIDTH / 2; i++)
        if (((unsigned char)expression[error->offset + i] & 0xC0) != 0x80)
            (void)fputc('~', stderr);
    (void)fputc('\n', stderr);
}

struct roce_filter *selection_filter(const char *option, const char *expression)
{
    struct roce_filter_error error;
    struct roce_filter *filter = roce_filter_compile(expression, &error);
    if (filter != NULL)
        return filter;
    msg_print("%s: %s", option, error.text);
    print_caret(expression, &error);
    return NULL;
}
