/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol tree, from the one list of fields. */
#include "rocev2.h"

#include <limits.h>

#include "facts.h"

enum group {
#define GROUP(id, label, header) GROUP_##id,
#include "groups.def"
#undef GROUP
    GROUPS
};

struct group_info {
    const char *label;
    int header; /* ROCE_H_* bit, 0 the BTH, -1 none */
};

static const struct group_info groups[GROUPS] = {
#define GROUP(id, label, header) [GROUP_##id] = {label, header},
#include "groups.def"
#undef GROUP
};

enum kind { KIND_UINT, KIND_UINT64, KIND_BOOL, KIND_TIME, KIND_TEXT };

#define ROCE_SPAN_NONE ROCE_SPANS

/* Getters: one pair of functions a field. */
#define TO_NUMBER(value)         ((uint64_t)(value))
#define TO_TEXT(value)           ((uint64_t)(uintptr_t)(const char *)(value))
#define VALUE_U8                 TO_NUMBER
#define VALUE_U16                TO_NUMBER
#define VALUE_U24                TO_NUMBER
#define VALUE_U32                TO_NUMBER
#define VALUE_U64                TO_NUMBER
#define VALUE_BOOL               TO_NUMBER
#define VALUE_TIME               TO_NUMBER
#define VALUE_TEXT               TO_TEXT
#define VALUE_FRAME_NONE         TO_NUMBER
#define VALUE_FRAME_REQUEST      TO_NUMBER
#define VALUE_FRAME_RESPONSE     TO_NUMBER
#define VALUE_FRAME_ACK          TO_NUMBER
#define VALUE_FRAME_RETRANS_PREV TO_NUMBER

#define FIELD(id, name, label, help, kind, show, group, span, present, value) \
    static bool get_##id(const struct view *v, uint64_t *out)                 \
    {                                                                         \
        const struct roce_packet *p = v->pkt;                                 \
        const struct record *r = v->rec;                                      \
        (void)p;                                                              \
        (void)r;                                                              \
        if (!(present))                                                       \
            return false;                                                     \
        *out = VALUE_##kind(value);                                           \
        return true;                                                          \
    }
#include "fields.def"
#undef FIELD

#define KIND_OF_U8                 KIND_UINT
#define KIND_OF_U16                KIND_UINT
#define KIND_OF_U24                KIND_UINT
#define KIND_OF_U32                KIND_UINT
#define KIND_OF_U64                KIND_UINT64
#define KIND_OF_BOOL               KIND_BOOL
#define KIND_OF_TIME               KIND_TIME
#define KIND_OF_TEXT               KIND_TEXT
#define KIND_OF_FRAME_NONE         KIND_UINT
#define KIND_OF_FRAME_REQUEST      KIND_UINT
#define KIND_OF_FRAME_RESPONSE     KIND_UINT
#define KIND_OF_FRAME_ACK          KIND_UINT
#define KIND_OF_FRAME_RETRANS_PREV KIND_UINT

struct field {
    uint8_t kind, group;
    uint8_t span;
    bool (*get)(const struct view *view, uint64_t *out);
};

enum field_id {
#define FIELD(id, name, label, help, kind, show, group, span, present, value) FIELD_##id,
#include "fields.def"
#undef FIELD
    FIELDS
};

static const struct field fields[FIELDS] = {
#define FIELD(id, name, label, help, kind, show, group, span, present, value) \
    [FIELD_##id] = {KIND_OF_##kind, GROUP_##group, ROCE_SPAN_##span, get_##id},
#include "fields.def"
#undef FIELD
};

/* Registered numbers. The few fields that are not one number or text stand apart. */
static int hf[FIELDS];
static int ett[GROUPS], ett_root = -1, ett_pause = -1;
static int hf_operation = -1, hf_qp = -1, hf_transport = -1, hf_payload_length = -1,
           hf_payload = -1, hf_padding = -1, hf_dc = -1, hf_ecn = -1, hf_dscp = -1,
           hf_priority = -1, hf_icrc = -1, hf_icrc_status = -1, hf_icrc_expected = -1,
           hf_icrc_reason = -1, hf_error = -1, hf_error_text = -1, hf_pfc_priority = -1,
           hf_pfc_quanta = -1, hf_pfc_time = -1;

#define OPCODES 256
static value_string opcode_values[OPCODES + 1];
static value_string_ext opcode_values_ext = VALUE_STRING_EXT_INIT(opcode_values);

static const value_string ecn_values[] = {{ROCE_ECN_NOT_ECT, "Not-ECT"},
                                          {ROCE_ECN_ECT1, "ECT(1)"},
                                          {ROCE_ECN_ECT0, "ECT(0)"},
                                          {ROCE_ECN_CE, "CE"},
                                          {0, NULL}};

#define FT_OF_U8                 FT_UINT8
#define FT_OF_U16                FT_UINT16
#define FT_OF_U24                FT_UINT24
#define FT_OF_U32                FT_UINT32
#define FT_OF_U64                FT_UINT64
#define FT_OF_BOOL               FT_BOOLEAN
#define FT_OF_TIME               FT_RELATIVE_TIME
#define FT_OF_TEXT               FT_STRING
#define FT_OF_FRAME_NONE         FT_FRAMENUM
#define FT_OF_FRAME_REQUEST      FT_FRAMENUM
#define FT_OF_FRAME_RESPONSE     FT_FRAMENUM
#define FT_OF_FRAME_ACK          FT_FRAMENUM
#define FT_OF_FRAME_RETRANS_PREV FT_FRAMENUM

#define STRINGS_OF_U8                 NULL
#define STRINGS_OF_U16                NULL
#define STRINGS_OF_U24                NULL
#define STRINGS_OF_U32                NULL
#define STRINGS_OF_U64                NULL
#define STRINGS_OF_BOOL               NULL
#define STRINGS_OF_TIME               NULL
#define STRINGS_OF_TEXT               NULL
#define STRINGS_OF_FRAME_NONE         FRAMENUM_TYPE(FT_FRAMENUM_NONE)
#define STRINGS_OF_FRAME_REQUEST      FRAMENUM_TYPE(FT_FRAMENUM_REQUEST)
#define STRINGS_OF_FRAME_RESPONSE     FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE)
#define STRINGS_OF_FRAME_ACK          FRAMENUM_TYPE(FT_FRAMENUM_ACK)
#define STRINGS_OF_FRAME_RETRANS_PREV FRAMENUM_TYPE(FT_FRAMENUM_RETRANS_PREV)

#define SHOW_NONE   BASE_NONE
#define SHOW_DEC    BASE_DEC
#define SHOW_HEX    BASE_HEX
#define SHOW_OPCODE (BASE_HEX | BASE_EXT_STRING)

static hf_register_info list_fields[FIELDS] = {
#define FIELD(id, name, label, help, kind, show, group, span, present, value)      \
    [FIELD_##id] = {&hf[FIELD_##id],                                               \
                    {label, name, FT_OF_##kind, SHOW_##show, STRINGS_OF_##kind, 0, \
                     help[0] == '\0' ? NULL : help, HFILL}},
#include "fields.def"
#undef FIELD
};

/* A tree that nobody looks at is built for a filter or for columns: then most fields need not be
 * made. */
static bool wanted(const proto_tree *tree, enum field_id id)
{
    return PTREE_DATA(tree)->visible || list_fields[id].hfinfo.ref_type != HF_REF_TYPE_NONE;
}

static void add_number(const struct view *view, proto_tree *tree, int number, uint32_t value)
{
    if (proto_field_is_referenced(tree, number))
        proto_item_set_generated(proto_tree_add_uint(tree, number, view->tvb, 0, 0, value));
}

static void add_text(const struct view *view, proto_tree *tree, int number, const char *text)
{
    if (proto_field_is_referenced(tree, number))
        proto_item_set_generated(proto_tree_add_string(tree, number, view->tvb, 0, 0, text));
}

static void add_field(const struct view *view, proto_tree *tree, enum field_id id, uint64_t value,
                      int offset, int length)
{
    proto_item *item = NULL;
    nstime_t time;
    switch ((enum kind)fields[id].kind) {
    case KIND_UINT:
        item = proto_tree_add_uint(tree, hf[id], view->tvb, offset, length, (uint32_t)value);
        break;
    case KIND_UINT64:
        item = proto_tree_add_uint64(tree, hf[id], view->tvb, offset, length, value);
        break;
    case KIND_BOOL:
        item = proto_tree_add_boolean(tree, hf[id], view->tvb, offset, length, (uint32_t)value);
        break;
    case KIND_TIME:
        nstime_set_zero(&time);
        time.secs = (time_t)(value / 1000000000U);
        time.nsecs = (int)(value % 1000000000U);
        item = proto_tree_add_time(tree, hf[id], view->tvb, offset, length, &time);
        break;
    case KIND_TEXT:
        item = proto_tree_add_string(tree, hf[id], view->tvb, offset, length,
                                     (const char *)(uintptr_t)value);
        break;
    }
    if (length == 0)
        proto_item_set_generated(item);
}

/* Where |length| bytes at |offset| of the frame lie in the tvb. What a contradictory length puts
 * behind its end cannot be pointed at: then the run is shorter, or empty at the end. */
static int in_tvb(const struct view *view, uint32_t offset, int *length)
{
    const int end = (int)tvb_captured_length(view->tvb);
    const int at = (int)MIN(offset - view->base, (uint32_t)end);
    *length = MIN(*length, end - at);
    return at;
}

static bool group_present(const struct view *view, enum group group)
{
    const struct roce_packet *pkt = view->pkt;
    const int header = groups[group].header;
    if (header > 0)
        return (pkt->has & (unsigned)header) != 0;
    if (header == 0)
        return (pkt->has & ROCE_HAS_BTH) != 0;
    switch (group) {
    case GROUP_CM:
        return view->has_cm;
    case GROUP_PAUSE:
        return pkt->kind == ROCE_KIND_PAUSE || pkt->kind == ROCE_KIND_PFC;
    default:
        return view->rec != NULL;
    }
}

/* Where the group's bytes begin in the frame; computed groups have none. */
static uint32_t group_offset(const struct view *view, enum group group)
{
    const int header = groups[group].header;
    if (header < 0)
        return view->base;
    return header == 0 ? view->pkt->bth_off
                       : roce_packet_header_off(view->pkt, (enum roce_header)header);
}

/* The fields of one group; its subtree appears with the first of them. */
static void add_group(const struct view *view, proto_tree *tree, enum group group,
                      enum field_id first, enum field_id end)
{
    const uint32_t begin = group_offset(view, group);
    proto_tree *subtree = NULL;
    proto_item *item = NULL;
    int none = 0;
    const int at = in_tvb(view, begin, &none);
    int behind = at;
    for (enum field_id id = first; id < end; id++) {
        uint64_t value;
        if (!wanted(tree, id) || !fields[id].get(view, &value))
            continue;
        if (subtree == NULL) {
            subtree = proto_tree_add_subtree(tree, view->tvb, at, 0, ett[group], &item,
                                             groups[group].label);
            if (groups[group].header < 0)
                proto_item_set_generated(item);
        }
        int offset = at;
        int length = 0;
        if (fields[id].span != ROCE_SPAN_NONE) {
            const struct roce_span span = roce_span((enum roce_span_id)fields[id].span);
            length = span.len;
            offset = in_tvb(view, begin + span.off, &length);
            behind = MAX(behind, offset + length);
        }
        add_field(view, subtree, id, value, offset, length);
    }
    if (behind > at)
        proto_item_set_len(item, behind - at);
}

static void add_groups(const struct view *view, proto_tree *tree, bool computed)
{
    for (enum field_id id = 0; id < FIELDS;) {
        const enum group group = (enum group)fields[id].group;
        enum field_id end = id;
        while (end < FIELDS && fields[end].group == group)
            end++;
        if ((groups[group].header < 0) == computed && group_present(view, group))
            add_group(view, tree, group, id, end);
        id = end;
    }
}

static void add_bytes(const struct view *view, proto_tree *tree, int number, uint32_t offset,
                      uint32_t bytes)
{
    int length = (int)MIN(bytes, (uint32_t)INT_MAX);
    const int at = in_tvb(view, offset, &length);
    if (length > 0)
        proto_tree_add_item(tree, number, view->tvb, at, length, ENC_NA);
}

static void add_payload(const struct view *view, proto_tree *tree)
{
    const struct roce_packet *pkt = view->pkt;
    if ((pkt->has & ROCE_HAS_DC) != 0)
        add_bytes(view, tree, hf_dc, pkt->dc_off, pkt->dc_len);
    if ((pkt->has & ROCE_HAS_PAYLOAD) == 0)
        return;
    const uint32_t pad_off = pkt->payload_off + pkt->payload_len;
    add_number(view, tree, hf_payload_length, pkt->payload_len);
    add_bytes(view, tree, hf_payload, pkt->payload_off, pkt->payload_len);
    add_bytes(view, tree, hf_padding, pad_off, pkt->icrc_off - pad_off);
}

static void add_icrc(const struct view *view, proto_tree *tree)
{
    const struct roce_packet *pkt = view->pkt;
    const struct roce_icrc *icrc = view->icrc;
    if ((pkt->has & ROCE_HAS_PAYLOAD) == 0 || icrc->reason == ROCE_ICRC_MALFORMED)
        return;
    const bool judged = icrc->status != ROCE_ICRC_UNCHECKED;
    if (icrc->has_value && proto_field_is_referenced(tree, hf_icrc)) {
        int length = ROCE_ICRC_LEN;
        const int at = in_tvb(view, pkt->icrc_off, &length);
        if (!judged)
            proto_tree_add_uint(tree, hf_icrc, view->tvb, at, length, icrc->value);
        else
            proto_tree_add_uint_format_value(tree, hf_icrc, view->tvb, at, length, icrc->value,
                                             icrc->status == ROCE_ICRC_OK ? "0x%08x [correct]"
                                                                          : "0x%08x [incorrect]",
                                             icrc->value);
    }
    if (judged)
        add_number(view, tree, hf_icrc_expected, icrc->expected);
    else
        add_text(view, tree, hf_icrc_reason,
                 roce_icrc_reason_name((enum roce_icrc_reason)icrc->reason));
    const unsigned status = !judged                        ? PROTO_CHECKSUM_E_UNVERIFIED
                            : icrc->status == ROCE_ICRC_OK ? PROTO_CHECKSUM_E_GOOD
                                                           : PROTO_CHECKSUM_E_BAD;
    add_number(view, tree, hf_icrc_status, status);
}

static void add_pfc(const struct view *view, proto_tree *tree)
{
    const struct roce_pfc *pfc = &view->pkt->pfc;
    proto_item *item;
    for (unsigned i = 0; i < G_N_ELEMENTS(pfc->quanta); i++) {
        if ((pfc->enable >> i & 1) == 0)
            continue;
        proto_tree *subtree = proto_tree_add_subtree_format(
            tree, view->tvb, 0, 0, ett_pause, &item,
            pfc->quanta[i] == 0 ? "Priority %u: resume" : "Priority %u: pause", i);
        proto_item_set_generated(item);
        item = proto_tree_add_uint(subtree, hf_pfc_priority, view->tvb, 0, 0, i);
        proto_item_set_generated(item);
        item = proto_tree_add_uint(subtree, hf_pfc_quanta, view->tvb, 0, 0, pfc->quanta[i]);
        proto_item_set_generated(item);
        if (view->link_speed_bps == 0)
            continue;
        const double us = (double)roce_pause_ns(pfc->quanta[i], view->link_speed_bps) / 1000.0;
        item = proto_tree_add_double(subtree, hf_pfc_time, view->tvb, 0, 0, us);
        proto_item_set_generated(item);
    }
}

static void add_network(const struct view *view, proto_tree *tree)
{
    const struct roce_packet *pkt = view->pkt;
    if ((pkt->has & ROCE_HAS_IP) == 0)
        return;
    add_number(view, tree, hf_ecn, roce_ip_ecn(&pkt->ip));
    add_number(view, tree, hf_dscp, roce_ip_dscp(&pkt->ip));
    add_number(view, tree, hf_priority, roce_packet_priority(pkt, NULL));
}

static void add_error(const struct view *view, proto_tree *tree)
{
    const struct roce_packet *pkt = view->pkt;
    if (pkt->status == ROCE_STATUS_OK && !pkt->sliced)
        return;
    const enum roce_status status =
        pkt->status == ROCE_STATUS_OK ? ROCE_STATUS_TRUNCATED : (enum roce_status)pkt->status;
    add_text(view, tree, hf_error, roce_status_name(status));
    add_text(view, tree, hf_error_text,
             pkt->why != NULL ? pkt->why : "frame is cut in its payload");
}

/* One name for both ends, for filters; it is not shown. */
static void add_qps(const struct view *view, proto_tree *tree)
{
    if (!proto_field_is_referenced(tree, hf_qp))
        return;
    proto_item_set_hidden(proto_tree_add_uint(tree, hf_qp, view->tvb, 0, 0, view->pkt->bth.dqpn));
    if (view->rec != NULL && view->flow->has_src_qp)
        proto_item_set_hidden(
            proto_tree_add_uint(tree, hf_qp, view->tvb, 0, 0, view->flow->src_qp));
}

static proto_item *add_root(const struct view *view, proto_tree *tree)
{
    const struct roce_packet *pkt = view->pkt;
    const bool whole = (pkt->has & ROCE_HAS_BTH) != 0;
    int length = whole ? (int)(pkt->end_off - view->base) : INT_MAX;
    in_tvb(view, view->base, &length);
    if (!PTREE_DATA(tree)->visible)
        return proto_tree_add_item(tree, proto_rocev2, view->tvb, 0, length, ENC_NA);
    if (whole)
        return proto_tree_add_protocol_format(tree, proto_rocev2, view->tvb, 0, length,
                                              "RDMA over Converged Ethernet, %s, QP 0x%06x, PSN %u",
                                              opcode_text(pkt), pkt->bth.dqpn, pkt->bth.psn);
    if (pkt->kind == ROCE_KIND_PFC || pkt->kind == ROCE_KIND_PAUSE)
        return proto_tree_add_protocol_format(
            tree, proto_rocev2, view->tvb, 0, length, "RoCE lossless network, %s",
            pkt->kind == ROCE_KIND_PFC ? "priority flow control" : "PAUSE");
    return proto_tree_add_protocol_format(tree, proto_rocev2, view->tvb, 0, length,
                                          "RDMA over Converged Ethernet");
}

void tree_build(const struct view *view, proto_tree *tree)
{
    const struct roce_packet *pkt = view->pkt;
    proto_item *root = tree == NULL ? NULL : add_root(view, tree);
    expert_report(view, root);
    if (tree == NULL)
        return;
    proto_tree *subtree = proto_item_add_subtree(root, ett_root);
    if ((pkt->has & ROCE_HAS_BTH) != 0) {
        add_text(view, subtree, hf_operation, opcode_text(pkt));
        add_text(view, subtree, hf_transport, roce_service_name((enum roce_service)pkt->service));
        add_qps(view, subtree);
    }
    add_groups(view, subtree, false);
    add_payload(view, subtree);
    add_icrc(view, subtree);
    if (pkt->kind == ROCE_KIND_PFC && pkt->status == ROCE_STATUS_OK)
        add_pfc(view, subtree);
    add_network(view, subtree);
    add_error(view, subtree);
    add_groups(view, subtree, true);
}

static hf_register_info list_others[] = {
    {&hf_operation,
     {"Operation", "rocev2.operation", FT_STRING, BASE_NONE, NULL, 0, "opcode in words", HFILL}},
    {&hf_transport,
     {"Transport", "rocev2.transport", FT_STRING, BASE_NONE, NULL, 0,
      "rc, uc, ud, xrc, rd, dc, cnp, vendor", HFILL}},
    {&hf_qp, {"QP", "rocev2.qp", FT_UINT24, BASE_HEX, NULL, 0, "source or destination QP", HFILL}},
    {&hf_dc, {"DC headers", "rocev2.dc", FT_BYTES, BASE_NONE, NULL, 0, "vendor's, opaque", HFILL}},
    {&hf_payload_length,
     {"Payload length", "rocev2.payload_length", FT_UINT32, BASE_DEC, NULL, 0,
      "without pad and ICRC", HFILL}},
    {&hf_payload, {"Payload", "rocev2.payload", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
    {&hf_padding, {"Padding", "rocev2.padding", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
    {&hf_icrc,
     {"Invariant CRC", "rocev2.icrc", FT_UINT32, BASE_HEX, NULL, 0, "in wire order", HFILL}},
    {&hf_icrc_expected,
     {"Expected invariant CRC", "rocev2.icrc.expected", FT_UINT32, BASE_HEX, NULL, 0,
      "as computed, in wire order", HFILL}},
    {&hf_icrc_reason,
     {"Invariant CRC not judged", "rocev2.icrc.reason", FT_STRING, BASE_NONE, NULL, 0, NULL,
      HFILL}},
    {&hf_icrc_status,
     {"Invariant CRC status", "rocev2.icrc.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals),
      0, NULL, HFILL}},
    {&hf_ecn,
     {"ECN", "rocev2.ecn", FT_UINT8, BASE_DEC, VALS(ecn_values), 0,
      "of the IP header next to the transport", HFILL}},
    {&hf_dscp,
     {"DSCP", "rocev2.dscp", FT_UINT8, BASE_DEC, NULL, 0, "of the IP header next to the transport",
      HFILL}},
    {&hf_priority,
     {"Priority", "rocev2.priority", FT_UINT8, BASE_DEC, NULL, 0,
      "that PFC pauses: PCP of the tag, else upper bits of the DSCP", HFILL}},
    {&hf_error,
     {"Not decoded to its end", "rocev2.error", FT_STRING, BASE_NONE, NULL, 0,
      "truncated, malformed or unknown", HFILL}},
    {&hf_error_text, {"Reason", "rocev2.error.text", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
    {&hf_pfc_priority,
     {"Priority", "rocev2.pfc.priority", FT_UINT8, BASE_DEC, NULL, 0,
      "that the frame pauses or resumes", HFILL}},
    {&hf_pfc_quanta,
     {"Pause time", "rocev2.pfc.quanta", FT_UINT16, BASE_DEC, NULL, 0,
      "units of 512 bit times; 0 resumes", HFILL}},
    {&hf_pfc_time,
     {"Pause time in us", "rocev2.pfc.pause_us", FT_DOUBLE, BASE_NONE, NULL, 0,
      "needs the preference of the link speed", HFILL}},
};

void tree_register(void)
{
    for (unsigned i = 0; i < OPCODES; i++) {
        const char *text = roce_opcode_info((uint8_t)i)->text;
        opcode_values[i].value = i;
        opcode_values[i].strptr = text != NULL ? text : "Unknown";
    }
    list_fields[FIELD_opcode].hfinfo.strings = &opcode_values_ext;
    for (unsigned i = 0; i < FIELDS; i++)
        hf[i] = -1;
    proto_register_field_array(proto_rocev2, list_fields, FIELDS);
    proto_register_field_array(proto_rocev2, list_others, G_N_ELEMENTS(list_others));
    int *etts[GROUPS + 2];
    for (unsigned i = 0; i < GROUPS; i++) {
        ett[i] = -1;
        etts[i] = &ett[i];
    }
    etts[GROUPS] = &ett_root;
    etts[GROUPS + 1] = &ett_pause;
    proto_register_subtree_array(etts, G_N_ELEMENTS(etts));
}
