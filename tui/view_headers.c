/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of one QP, and every field of the selected one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <roce/field.h>
#include <roce/fmt.h>

#include "text.h"
#include "view_qp.h"

enum { NARROW = 76 };

/* "RC READ Response Middle": people know that it is RDMA. */
static const char *opcode_text(const struct ring_record *r, char *buf)
{
    const struct roce_opcode_info *info = roce_opcode_info(r->opcode);
    if (!r->has_bth || info->text == NULL)
        return "?";
    (void)tui_text_set(buf, info->text);
    char *rdma = strstr(buf, "RDMA ");
    if (rdma != NULL)
        memmove(rdma, rdma + 5, strlen(rdma + 5) + 1);
    return buf;
}

static void draw_frame(struct canvas *canvas, int y, const struct snap_frame *frame,
                       const struct snap_frame *before, bool selected)
{
    char clock[TUI_TEXT_MAX], delta[TUI_TEXT_MAX], opcode[TUI_TEXT_MAX], note[64] = "";
    const struct ring_record *r = &frame->record;
    const char *word = tui_qp_frame_word(frame);
    if (r->op == ROCE_OP_ACK && roce_aeth_kind(r->syndrome) == ROCE_AETH_NAK &&
        roce_nak_text(roce_aeth_value(r->syndrome)) != NULL)
        (void)snprintf(note, sizeof(note), " %s", roce_nak_text(roce_aeth_value(r->syndrome)));
    else if ((r->flags & ROCE_V_GAP) != 0)
        (void)snprintf(note, sizeof(note), " %" PRIu32, r->missing);
    (void)tui_text_set(delta, "-");
    if (before != NULL && r->ts >= before->record.ts)
        (void)tui_text_time(delta, r->ts - before->record.ts);
    const enum canvas_style style = selected                      ? STYLE_CURSOR
                                    : tui_qp_frame_matters(frame) ? STYLE_ERROR
                                    : word[0] != '\0'             ? STYLE_WARN
                                    : frame->reverse              ? STYLE_DIM
                                                                  : STYLE_PLAIN;
    /* In a narrow terminal the PSN and what is wrong with the frame are worth more than the clock.
     */
    const bool narrow = canvas->cols < NARROW;
    const int width = !narrow ? 23 : canvas->cols >= 60 ? 20 : 8;
    int x =
        tui_canvas_printf(canvas, y, 0, style, "%c%7" PRIu64 " ", selected ? '>' : ' ', r->number);
    if (!narrow)
        x = tui_canvas_printf(canvas, y, x, style, "%s ", tui_text_clock(clock, r->ts, 6));
    x = tui_canvas_printf(canvas, y, x, style, "%6s %c ", delta, frame->reverse ? '<' : '>');
    (void)tui_canvas_text(canvas, y, x, width, style, opcode_text(r, opcode));
    (void)tui_canvas_printf(canvas, y, x + width, style, " %8" PRIu32 " %4" PRIu32 "%s%s%s%s",
                            r->psn, r->origlen, r->ecn == ROCE_ECN_CE ? " CE" : "",
                            word[0] != '\0' ? " " : "", word, note);
    if (selected)
        tui_canvas_style(canvas, y, 0, canvas->cols, STYLE_CURSOR);
}

/* What is the same in nearly every frame, or wrong because only a slice of it is here. */
static bool says_nothing(const struct roce_field *field, const struct roce_value *value)
{
    static const char *const always[] = {"captured", "sliced", "opcode_value", "op"};
    static const char *const zero[] = {"tver", "bth_reserved6", "bth_reserved7", "trailer_length",
                                       "interface"};
    if (field->computed || strncmp(field->name, "icrc", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        if (strcmp(field->name, always[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
        if (strcmp(field->name, zero[i]) == 0 && value->u == 0)
            return true;
    return field->type == ROCE_FIELD_BOOL && !value->b;
}

/* Draws field |index| when the packet has it; returns whether. */
static bool draw_field(struct canvas *canvas, int y, int x, int width, size_t index,
                       const struct roce_view *view)
{
    const struct roce_field *field = roce_field_at(index);
    struct roce_value value;
    char text[ROCE_VALUE_TEXT_LEN];
    if (!field->get(view, &value) || says_nothing(field, &value))
        return false;
    if (field->type == ROCE_FIELD_TEXT)
        (void)snprintf(text, sizeof(text), "%s", value.s);
    else
        *roce_value_format(field, &value, text, sizeof(text)) = '\0';
    const int at = tui_canvas_printf(canvas, y, x, STYLE_DIM, "%.*s: ", width - 4, field->label);
    (void)tui_canvas_text(canvas, y, at, x + width - 1 - at, STYLE_PLAIN, text);
    return true;
}

/* As many fields as there is room for: the transport's first, then those of what carries it. */
static void draw_fields(struct canvas *canvas, int y, int end, const struct snap_frame *frame)
{
    struct roce_packet pkt;
    struct roce_view view;
    const struct roce_frame raw = {.data = frame->slice,
                                   .caplen = frame->slice_len,
                                   .origlen = frame->record.origlen,
                                   .ts = frame->record.ts,
                                   .number = frame->record.number,
                                   .iface = frame->record.iface,
                                   .linktype = frame->linktype};
    const size_t count = roce_field_count();
    size_t first = 0;
    if (frame->slice_len == 0) {
        (void)tui_canvas_text(canvas, y, 1, canvas->cols - 1, STYLE_DIM,
                              "its bytes could not be read again");
        return;
    }
    (void)roce_packet_decode(&raw, NULL, &pkt);
    roce_view_init(&view, &raw, &pkt, NULL);
    while (first < count && strcmp(roce_field_at(first)->name, "transport") != 0)
        first++;
    const int columns = canvas->cols >= 100 ? canvas->cols / 40 : canvas->cols >= 70 ? 2 : 1;
    const int width = canvas->cols / columns, rows = end - y;
    int place = 0;
    for (size_t i = 0; i < count && place < rows * columns; i++)
        place += draw_field(canvas, y + place % rows, 1 + place / rows * width, width,
                            (first + i) % count, &view);
}

void view_headers(const struct ui *ui, const struct snapshot *snapshot, struct canvas *canvas)
{
    const struct view_list list = view_list(ui);
    const uint32_t n = snapshot->detail.frames;
    if (n == 0) {
        (void)tui_canvas_text(
            canvas, list.y, 1, canvas->cols - 1, STYLE_DIM,
            "its frames have left the ring of newest frames; go back with [ in a file");
        return;
    }
    for (int i = 0; i < list.rows; i++) {
        const uint32_t at = ui->frame_top + (uint32_t)i;
        if (at >= n)
            break;
        draw_frame(canvas, list.y + i, &snapshot->frame[at],
                   at > 0 ? &snapshot->frame[at - 1] : NULL, at == ui->frame_at);
    }
    const int y = list.y + list.rows;
    char heading[64];
    if (ui->frame_at >= n)
        return;
    (void)snprintf(heading, sizeof(heading), "frame %" PRIu64,
                   snapshot->frame[ui->frame_at].record.number);
    tui_parts_heading(canvas, y, heading, "rocedump -V shows all");
    draw_fields(canvas, y + 1, canvas->rows - 1, &snapshot->frame[ui->frame_at]);
}
