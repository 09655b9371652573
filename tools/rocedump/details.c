/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -V. */
#include "rocedump/details.h"

#include <roce/fmt.h>

#include "common/text.h"
#include "rocedump/words.h"

enum { LABEL_WIDTH = 32 };

/* Which layer a field belongs to: by its object ("reth.") or, standing alone, by its name. */
static const struct {
    const char *name, *heading;
} layers[] = {
    {"frame", "Frame"},
    {"time_ns", "Frame"},
    {"length", "Frame"},
    {"captured", "Frame"},
    {"interface", "Frame"},
    {"protocol", "Frame"},
    {"vlan", "Link"},
    {"pcp", "Link"},
    {"dei", "Link"},
    {"vlans", "Link"},
    {"outer_vlan", "Link"},
    {"eth.", "Link"},
    {"lrh.", "InfiniBand local routing header"},
    {"src", "IP"},
    {"dst", "IP"},
    {"dscp", "IP"},
    {"ecn", "IP"},
    {"ttl", "IP"},
    {"ip.", "IP"},
    {"udp_sport", "UDP"},
    {"udp.", "UDP"},
    {"encapsulation", "Encapsulation"},
    {"tunnel.", "Encapsulation"},
    {"outer.", "Encapsulation"},
    {"transport", "Base transport header"},
    {"opcode", "Base transport header"},
    {"opcode_value", "Base transport header"},
    {"op", "Base transport header"},
    {"position", "Base transport header"},
    {"response", "Base transport header"},
    {"dest_qp", "Base transport header"},
    {"psn", "Base transport header"},
    {"ack_req", "Base transport header"},
    {"solicited", "Base transport header"},
    {"mig_req", "Base transport header"},
    {"pad_count", "Base transport header"},
    {"tver", "Base transport header"},
    {"pkey", "Base transport header"},
    {"fecn", "Base transport header"},
    {"becn", "Base transport header"},
    {"bth_reserved6", "Base transport header"},
    {"bth_reserved7", "Base transport header"},
    {"rdeth.", "Reliable datagram extended transport header"},
    {"deth.", "Datagram extended transport header"},
    {"xrceth.", "XRC extended transport header"},
    {"feth.", "FLUSH extended transport header"},
    {"reth.", "RDMA extended transport header"},
    {"atomic_eth.", "Atomic extended transport header"},
    {"aeth.", "ACK extended transport header"},
    {"atomic_ack_eth.", "Atomic ACK extended transport header"},
    {"imm", "Immediate data"},
    {"ieth.", "Invalidate extended transport header"},
    {"dc_length", "Payload and end"},
    {"payload_length", "Payload and end"},
    {"trailer_length", "Payload and end"},
    {"sliced", "Payload and end"},
    {"cut_on_wire", "Payload and end"},
    {"icrc.", "Invariant CRC"},
    {"mad.", "Management datagram"},
    {"cm.", "Connection management"},
    {"pfc.", "Priority flow control"},
    {"pause.", "PAUSE"},
    {"error.", "Fault"},
};

const char *details_heading(const char *name)
{
    const char *dot = strchr(name, '.');
    const size_t len = dot != NULL ? (size_t)(dot - name) + 1 : strlen(name);
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
        if (strlen(layers[i].name) == len && memcmp(layers[i].name, name, len) == 0)
            return layers[i].heading;
    return NULL;
}

static char *put_field(char *out, const struct roce_field *field, const struct roce_value *value,
                       const struct roce_view *view)
{
    const char *begin = out;
    out = TEXT(out, "    ");
    out = roce_fmt_str(out, field->label);
    *out++ = ':';
    out = text_pad(out, begin, LABEL_WIDTH);
    *out++ = ' ';
    if (field->type == ROCE_FIELD_BOOL)
        out = value->b ? TEXT(out, "yes") : TEXT(out, "no");
    else
        out = roce_fmt_str(column_text(out, field, value, true), words_unit(field->name));
    char *words = TEXT(out, " (");
    char *end = words_put(words, field->name, view);
    if (end == words)
        return out;
    *end++ = ')';
    return end;
}

void details_print(struct line_printer *printer, const struct columns *columns,
                   const struct roce_view *view, bool nanosecond)
{
    line_print(printer, view, nanosecond);
    const char *layer = NULL;
    for (size_t i = 0; i < columns->count; i++) {
        const struct roce_field *field = columns->column[i].field;
        struct roce_value value;
        if (!field->get(view, &value))
            continue;
        char *p = out_reserve(printer->out, 2 * COLUMN_TEXT_MAX);
        const char *heading = details_heading(field->name);
        if (heading != NULL && heading != layer) {
            p = TEXT(p, "  ");
            p = roce_fmt_str(p, heading);
            *p++ = '\n';
            layer = heading;
        }
        p = put_field(p, field, &value, view);
        *p++ = '\n';
        out_commit(printer->out, p);
    }
}
