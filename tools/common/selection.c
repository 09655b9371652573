/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame selection. */
#include "common/selection.h"

#include <stdio.h>
#include <string.h>

#include "common/msg.h"

enum { SHOWN_WIDTH = 72 };

void selection_init(struct selection *selection, const char *expression, bool roce_filter)
{
    *selection = (struct selection){.expression = expression, .roce_filter = roce_filter};
}

void selection_free(struct selection *selection)
{
    for (int i = 0; i < selection->programs; i++) {
        roce_bpf_del(selection->program[i].own);
        roce_bpf_del(selection->program[i].roce);
    }
    roce_filter_del(selection->filter);
    *selection = (struct selection){0};
}

/* Index of the programs for |linktype|, or an error with the reason in |text|. The two expressions
 * are not joined into one: a "vlan" in the first would move the offsets of the second. */
static int programs_for(struct selection *selection, uint32_t linktype, char text[ROCE_ERRTEXT_LEN])
{
    for (int i = 0; i < selection->programs; i++)
        if (selection->program[i].linktype == linktype)
            return i;
    if (selection->programs == SELECTION_LINKTYPES_MAX) {
        (void)snprintf(text, ROCE_ERRTEXT_LEN, "more than %d link types in one capture",
                       (int)SELECTION_LINKTYPES_MAX);
        return ROCE_ERR_UNSUPPORTED;
    }
    struct roce_bpf *own = NULL, *roce = NULL;
    int err;
    if (selection->expression[0] != '\0') {
        own = roce_bpf_compile(selection->expression, linktype, &err, text);
        if (own == NULL)
            return err;
    }
    if (selection->roce_filter) {
        roce = roce_bpf_compile(ROCE_BPF_ROCE, linktype, &err, text);
        if (roce == NULL) {
            roce_bpf_del(own);
            return err;
        }
    }
    const int i = selection->programs++;
    selection->program[i].linktype = linktype;
    selection->program[i].own = own;
    selection->program[i].roce = roce;
    return i;
}

int selection_prepare(struct selection *selection, uint32_t linktype, char text[ROCE_ERRTEXT_LEN])
{
    if (selection->expression[0] == '\0' && !selection->roce_filter)
        return 0;
    const int i = programs_for(selection, linktype, text);
    return i < 0 ? i : 0;
}

int selection_bpf(struct selection *selection, const struct roce_frame *frame,
                  char text[ROCE_ERRTEXT_LEN])
{
    if (selection->expression[0] == '\0' && !selection->roce_filter)
        return 1;
    const int i = programs_for(selection, frame->linktype, text);
    if (i < 0)
        return i;
    if (selection->program[i].roce != NULL && !roce_bpf_match(selection->program[i].roce, frame))
        return 0;
    return selection->program[i].own == NULL || roce_bpf_match(selection->program[i].own, frame);
}

int selection_fault(const char *expression, int err, const char *text)
{
    msg_print("%s: %s%s", expression[0] != '\0' ? "BPF expression" : "--roce-filter", text,
              err == ROCE_ERR_SYNTAX ? "; see pcap-filter(7)" : "");
    return err == ROCE_ERR_SYNTAX ? EXIT_USAGE : EXIT_IO;
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
