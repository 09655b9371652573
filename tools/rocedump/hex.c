/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hex dump. */
#include "rocedump/hex.h"

#include <roce/fmt.h>

#include "common/text.h"

enum { PER_LINE = 16, ASCII_COLUMN = 4 + 6 + 3 * PER_LINE + 2, LINE_ROOM = 96 };

static char *put_byte(char *out, uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    *out++ = digits[byte >> 4];
    *out++ = digits[byte & 0xF];
    return out;
}

void hex_print(struct out *out, const struct roce_frame *frame)
{
    for (uint32_t at = 0; at < frame->caplen; at += PER_LINE) {
        const uint32_t n = frame->caplen - at < PER_LINE ? frame->caplen - at : PER_LINE;
        char *p = out_reserve(out, LINE_ROOM);
        const char *begin = p;
        p = TEXT(p, "    ");
        p = put_byte(p, (uint8_t)(at >> 16));
        if ((at >> 16) == 0)
            p -= 2; /* four digits do for all but jumbo captures */
        p = put_byte(p, (uint8_t)(at >> 8));
        p = put_byte(p, (uint8_t)at);
        *p++ = ' ';
        for (uint32_t i = 0; i < n; i++) {
            *p++ = ' ';
            if (i == PER_LINE / 2)
                *p++ = ' ';
            p = put_byte(p, frame->data[at + i]);
        }
        p = text_pad(p, begin, ASCII_COLUMN + 2);
        for (uint32_t i = 0; i < n; i++) {
            const uint8_t byte = frame->data[at + i];
            char shown = '.';
            if (byte >= ' ' && byte < 0x7F)
                shown = (char)byte;
            *p++ = shown;
        }
        *p++ = '\n';
        out_commit(out, p);
    }
}
