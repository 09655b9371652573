/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of fields, from fields.def, and the getters behind it. */
#include <roce/field.h>

#include <string.h>

#include "any.h"
#include "words.h"

static bool aeth_is(const struct roce_packet *p, enum roce_aeth_kind kind)
{
    return (p->has & ROCE_H_AETH) && roce_aeth_kind(p->aeth.syndrome) == kind;
}

static int32_t credits(const struct roce_packet *p)
{
    return roce_aeth_credits(roce_aeth_value(p->aeth.syndrome));
}

static unsigned outer_tags(const struct roce_packet *p)
{
    return p->n_tunnel > 0 ? p->n_outer_vlan : 0;
}

/* The tag a switch acts on: the first one of the packet's own Ethernet header, else the first one
 * in front of the encapsulation. */
static const struct roce_vlan *priority_tag(const struct roce_packet *p)
{
    if (p->n_vlan > 0)
        return &p->vlan[0];
    return outer_tags(p) > 0 ? &p->outer_vlan[0] : NULL;
}

static unsigned count_vlans(const struct roce_packet *p)
{
    return p->n_vlan + outer_tags(p);
}

static bool has_session(const struct roce_packet *p)
{
    return p->n_tunnel > 0 &&
           (p->tunnel[0].kind == ROCE_TUNNEL_ERSPAN2 || p->tunnel[0].kind == ROCE_TUNNEL_ERSPAN3);
}

static bool has_outer_ip(const struct roce_packet *p)
{
    return (p->has & ROCE_HAS_OUTER_IP) != 0;
}

static const char *encapsulation(const struct roce_view *v)
{
    if (v->pkt->n_tunnel > 1)
        return v->encapsulation;
    return roce_tunnel_name((enum roce_tunnel_kind)v->pkt->tunnel[0].kind);
}

/* Transport 3 of a REQ points to the extended transport type, of which 1, XRC, is the only one. */
static unsigned cm_transport(const struct roce_cm *cm)
{
    if (cm->transport < 3)
        return cm->transport;
    return cm->ext_transport == 1 ? 3 : 4;
}

static double pause_us(uint16_t quanta, uint64_t speed_bps)
{
    return (double)quanta * ROCE_QUANTUM_BITS * 1e6 / (double)speed_bps;
}

static bool set_text(struct roce_value *out, const char *text)
{
    out->s = text;
    return text != NULL;
}

static bool set_word(struct roce_value *out, const char *(*word)(unsigned code), unsigned code)
{
    out->code = (uint16_t)code;
    return set_text(out, word(code));
}

static bool set_addr(struct roce_value *out, uint8_t ip_version, const uint8_t addr[16])
{
    memcpy(out->addr, addr, sizeof(out->addr));
    out->ip_version = ip_version;
    return true;
}

static bool set_gid(struct roce_value *out, const uint8_t gid[16])
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    return set_addr(out, memcmp(gid, mapped, sizeof(mapped)) == 0 ? 4 : 6, gid);
}

static bool set_mac(struct roce_value *out, const uint8_t mac[6])
{
    memset(out->addr, 0, sizeof(out->addr));
    memcpy(out->addr, mac, 6);
    out->ip_version = 0;
    return true;
}

static bool set_vlans(struct roce_value *out, const struct roce_packet *p)
{
    out->n = 0;
    for (unsigned i = 0; i < outer_tags(p); i++)
        out->list[out->n++] = roce_vlan_vid(p->outer_vlan[i]);
    for (unsigned i = 0; i < p->n_vlan; i++)
        out->list[out->n++] = roce_vlan_vid(p->vlan[i]);
    return true;
}

static bool set_priorities(struct roce_value *out, const struct roce_pfc *pfc)
{
    out->n = 0;
    for (unsigned i = 0; i < 8; i++)
        if (pfc->enable >> i & 1)
            out->list[out->n++] = i;
    return true;
}

static bool set_quanta(struct roce_value *out, const struct roce_pfc *pfc)
{
    for (out->n = 0; out->n < 8; out->n++)
        out->list[out->n] = pfc->quanta[out->n];
    return true;
}

static bool set_pause_us(struct roce_value *out, const struct roce_pfc *pfc, uint64_t speed_bps)
{
    for (out->n = 0; out->n < 8; out->n++)
        out->reals[out->n] = pause_us(pfc->quanta[out->n], speed_bps);
    return true;
}

#define HAS(layer)  ((p->has & ROCE_HAS_##layer) != 0)
#define EXT(header) ((p->has & ROCE_H_##header) != 0)
#define IS(kind_)   (p->kind == ROCE_KIND_##kind_ && p->status == ROCE_STATUS_OK)

/* A field of a CM message is there when the message has it and it is captured: |end| is the offset
 * behind its last byte (IBTA 12.6). */
#define CM(msg, end)        (v->has_cm && v->cm.message == ROCE_CM_##msg && v->cm_len >= (end))
#define REQ(end)            CM(REQ, end)
#define REP(end)            CM(REP, end)
#define REJ(end)            CM(REJ, end)
#define MRA(end)            CM(MRA, end)
#define DREQ(end)           CM(DREQ, end)
#define LAP(end)            CM(LAP, end)
#define APR(end)            CM(APR, end)
#define SIDR_REQ(end)       CM(SIDR_REQ, end)
#define SIDR_REP(end)       CM(SIDR_REP, end)
#define SIDR                (SIDR_REQ(0) || SIDR_REP(0))
#define ALTERNATE(req, lap) (v->has_cm && v->cm.has_alternate && (REQ(req) || LAP(lap)))
/* The 36 bytes of the RDMA-CM header begin the private data. */
#define CM_IP (v->has_cm && v->cm.has_ip && (REQ(140 + 36) || SIDR_REQ(16 + 36)))

/* What flow state knows of the packet. */
#define FLOW          (v->verdict != NULL && v->verdict->flow != ROCE_FLOW_NONE)
#define SAYS(flag)    ((v->verdict->flags & ROCE_V_##flag) != 0)
#define MICRO(member) ((double)v->verdict->member / 1000)

#define SET_BOOL(words, value)  (out->b = (value), true)
#define SET_UINT(words, value)  (out->u = (uint64_t)(value), true)
#define SET_HEX64(words, value) (out->u = (value), true)
#define SET_REAL(words, value)  (out->r = (value), true)
#define SET_WORD(words, value)  set_word(out, words, value)
#define SET_TEXT(words, value)  (value)
#define SET_ADDR(words, value)  (value)
#define SET_MAC(words, value)   (value)
#define SET_LIST(words, value)  (value)
#define SET_REALS(words, value) (value)

#define FIELD(id, name, alias, label, help, type, show, words, present, value) \
    static bool get_##id(const struct roce_view *v, struct roce_value *out)    \
    {                                                                          \
        const struct roce_packet *p = v->pkt;                                  \
        (void)p;                                                               \
        if (!(present))                                                        \
            return false;                                                      \
        return SET_##type(words, value);                                       \
    }
#define ALIAS(word, name)
#define ANY(word, first, second, third)
#include "fields.def"
#include "computed.def"
#undef FIELD

enum show { DEC, HEX, CODE };

static const struct roce_field table[] = {
#define FIELD(id, name_, alias_, label_, help_, type_, show_, words_, present, value) \
    {                                                                                 \
        .name = (name_),                                                              \
        .alias = (alias_),                                                            \
        .label = (label_),                                                            \
        .help = (help_),                                                              \
        .type = ROCE_FIELD_##type_,                                                   \
        .hex = (show_) == HEX,                                                        \
        .numbered = (show_) == CODE,                                                  \
        .computed = COMPUTED,                                                         \
        .word = (words_),                                                             \
        .get = get_##id,                                                              \
    },
#define COMPUTED false
#include "fields.def"
#undef COMPUTED
#define COMPUTED true
#include "computed.def"
#undef COMPUTED
#undef FIELD
#undef ALIAS
};

static const struct {
    const char *word, *name;
} aliases[] = {
#define FIELD(id, name, alias, label, help, type, show, words, present, value)
#define ALIAS(word, name) {word, name},
#include "fields.def"
#undef ALIAS
#undef ANY
};

static const struct any anys[] = {
#define ALIAS(word, name)
#define ANY(word, first, second, third) {word, {first, second, third}},
#include "fields.def"
#undef FIELD
#undef ALIAS
#undef ANY
};

size_t roce_field_count(void)
{
    return sizeof(table) / sizeof(table[0]);
}

const struct roce_field *roce_field_at(size_t index)
{
    return index < roce_field_count() ? &table[index] : NULL;
}

static const struct roce_field *find_name(const char *name)
{
    for (size_t i = 0; i < roce_field_count(); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

const struct roce_field *roce_field_find(const char *name)
{
    const struct roce_field *field = find_name(name);
    if (field != NULL)
        return field;
    for (size_t i = 0; i < roce_field_count(); i++)
        if (table[i].alias != NULL && strcmp(table[i].alias, name) == 0)
            return &table[i];
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(aliases[i].word, name) == 0)
            return find_name(aliases[i].name);
    return NULL;
}

size_t any_count(void)
{
    return sizeof(anys) / sizeof(anys[0]);
}

const struct any *any_at(size_t index)
{
    return &anys[index];
}
