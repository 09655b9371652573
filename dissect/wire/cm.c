/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connection management messages, IBTA 12.6.5-12.6.12 and 12.11: one table of bit fields serves
 * decoder and encoder. */
#include <roce/cm.h>

#include <stddef.h>
#include <string.h>

#include <roce/err.h>
#include <roce/net.h>

#include "cursor.h"

/* |width| bits (or, with |bytes|, that many bytes) at bit |bit| (from the most significant) of byte
 * |off| of |message|; they are member |member| of struct roce_cm, shifted left by |shift| inside
 * it. */
struct field {
    uint8_t message, off, bit, width, bytes, shift;
    uint8_t size; /* of the member */
    uint16_t member;
};

#define MEMBER(m) .size = sizeof(((struct roce_cm *)0)->m), .member = offsetof(struct roce_cm, m)
#define BITS(msg, o, b, w, m)                                                     \
    {                                                                             \
        .message = ROCE_CM_##msg, .off = (o), .bit = (b), .width = (w), MEMBER(m) \
    }
#define PART(msg, o, w, s, m)                                                       \
    {                                                                               \
        .message = ROCE_CM_##msg, .off = (o), .width = (w), .shift = (s), MEMBER(m) \
    }
#define BYTES(msg, o, n, m)                                           \
    {                                                                 \
        .message = ROCE_CM_##msg, .off = (o), .bytes = (n), MEMBER(m) \
    }
#define COMM_IDS(msg) BITS(msg, 0, 0, 32, local_comm_id), BITS(msg, 4, 0, 32, remote_comm_id)
/* IBTA table 99, the primary and the alternate path of a REQ have one shape. */
#define REQ_PATH(o, path)                                                                         \
    BITS(REQ, (o), 0, 16, path.local_lid), BITS(REQ, (o) + 2, 0, 16, path.remote_lid),            \
        BYTES(REQ, (o) + 4, 16, path.local_gid), BYTES(REQ, (o) + 20, 16, path.remote_gid),       \
        BITS(REQ, (o) + 36, 0, 20, path.flow_label), BITS(REQ, (o) + 39, 2, 6, path.packet_rate), \
        BITS(REQ, (o) + 40, 0, 8, path.traffic_class), BITS(REQ, (o) + 41, 0, 8, path.hop_limit), \
        BITS(REQ, (o) + 42, 0, 4, path.sl), BITS(REQ, (o) + 42, 4, 1, path.subnet_local),         \
        BITS(REQ, (o) + 43, 0, 5, path.ack_timeout)

static const struct field fields[] = {
    BITS(REQ, 0, 0, 32, local_comm_id),
    BITS(REQ, 5, 0, 24, vendor_id),
    BITS(REQ, 8, 0, 64, service_id),
    BITS(REQ, 16, 0, 64, ca_guid),
    BITS(REQ, 28, 0, 32, qkey),
    BITS(REQ, 32, 0, 24, local_qpn),
    BITS(REQ, 35, 0, 8, responder_resources),
    BITS(REQ, 36, 0, 24, local_eecn),
    BITS(REQ, 39, 0, 8, initiator_depth),
    BITS(REQ, 40, 0, 24, remote_eecn),
    BITS(REQ, 43, 0, 5, remote_cm_timeout),
    BITS(REQ, 43, 5, 2, transport),
    BITS(REQ, 43, 7, 1, flow_control),
    BITS(REQ, 44, 0, 24, starting_psn),
    BITS(REQ, 47, 0, 5, local_cm_timeout),
    BITS(REQ, 47, 5, 3, retry_count),
    BITS(REQ, 48, 0, 16, pkey),
    BITS(REQ, 50, 0, 4, path_mtu),
    BITS(REQ, 50, 4, 1, rdc_exists),
    BITS(REQ, 50, 5, 3, rnr_retry),
    BITS(REQ, 51, 0, 4, max_cm_retries),
    BITS(REQ, 51, 4, 1, srq),
    BITS(REQ, 51, 5, 3, ext_transport),
    REQ_PATH(52, primary),
    REQ_PATH(96, alternate),

    COMM_IDS(REP),
    BITS(REP, 8, 0, 32, qkey),
    BITS(REP, 12, 0, 24, local_qpn),
    PART(REP, 15, 8, 16, vendor_id),
    BITS(REP, 16, 0, 24, local_eecn),
    PART(REP, 19, 8, 8, vendor_id),
    BITS(REP, 20, 0, 24, starting_psn),
    PART(REP, 23, 8, 0, vendor_id),
    BITS(REP, 24, 0, 8, responder_resources),
    BITS(REP, 25, 0, 8, initiator_depth),
    BITS(REP, 26, 0, 5, target_ack_delay),
    BITS(REP, 26, 5, 2, failover),
    BITS(REP, 26, 7, 1, flow_control),
    BITS(REP, 27, 0, 3, rnr_retry),
    BITS(REP, 27, 3, 1, srq),
    BITS(REP, 28, 0, 64, ca_guid),

    COMM_IDS(RTU),
    COMM_IDS(DREP),
    COMM_IDS(DREQ),
    BITS(DREQ, 8, 0, 24, remote_qpn),

    COMM_IDS(REJ),
    BITS(REJ, 8, 0, 2, rejected),
    BITS(REJ, 9, 0, 7, info_len),
    BITS(REJ, 10, 0, 16, reject_reason),
    BYTES(REJ, 12, 72, info),

    COMM_IDS(MRA),
    BITS(MRA, 8, 0, 2, rejected),
    BITS(MRA, 9, 0, 5, service_timeout),

    COMM_IDS(LAP),
    BITS(LAP, 12, 0, 24, remote_qpn),
    BITS(LAP, 15, 0, 5, remote_cm_timeout),
    BITS(LAP, 20, 0, 16, alternate.local_lid),
    BITS(LAP, 22, 0, 16, alternate.remote_lid),
    BYTES(LAP, 24, 16, alternate.local_gid),
    BYTES(LAP, 40, 16, alternate.remote_gid),
    BITS(LAP, 56, 0, 20, alternate.flow_label),
    BITS(LAP, 59, 0, 8, alternate.traffic_class),
    BITS(LAP, 60, 0, 8, alternate.hop_limit),
    BITS(LAP, 61, 2, 6, alternate.packet_rate),
    BITS(LAP, 62, 0, 4, alternate.sl),
    BITS(LAP, 62, 4, 1, alternate.subnet_local),
    BITS(LAP, 63, 0, 5, alternate.ack_timeout),

    COMM_IDS(APR),
    BITS(APR, 8, 0, 8, info_len),
    BITS(APR, 9, 0, 8, status),
    BYTES(APR, 12, 72, info),

    BITS(SIDR_REQ, 0, 0, 32, request_id),
    BITS(SIDR_REQ, 4, 0, 16, pkey),
    BITS(SIDR_REQ, 8, 0, 64, service_id),

    BITS(SIDR_REP, 0, 0, 32, request_id),
    BITS(SIDR_REP, 4, 0, 8, status),
    BITS(SIDR_REP, 5, 0, 8, info_len),
    PART(SIDR_REP, 6, 16, 8, vendor_id),
    BITS(SIDR_REP, 8, 0, 24, local_qpn),
    PART(SIDR_REP, 11, 8, 0, vendor_id),
    BITS(SIDR_REP, 12, 0, 64, service_id),
    BITS(SIDR_REP, 20, 0, 32, qkey),
    BYTES(SIDR_REP, 24, 72, info),
};

/* Private data of each message; those of REQ and SIDR_REQ may begin with the RDMA-CM IP header. */
static const struct {
    const char *name;
    uint8_t private_off;
    bool may_have_ip;
} messages[] = {
    [0] = {"REQ", 140, true},
    [ROCE_CM_MRA - ROCE_CM_REQ] = {"MRA", 10, false},
    [ROCE_CM_REJ - ROCE_CM_REQ] = {"REJ", 84, false},
    [ROCE_CM_REP - ROCE_CM_REQ] = {"REP", 36, false},
    [ROCE_CM_RTU - ROCE_CM_REQ] = {"RTU", 8, false},
    [ROCE_CM_DREQ - ROCE_CM_REQ] = {"DREQ", 12, false},
    [ROCE_CM_DREP - ROCE_CM_REQ] = {"DREP", 8, false},
    [ROCE_CM_SIDR_REQ - ROCE_CM_REQ] = {"SIDR_REQ", 16, true},
    [ROCE_CM_SIDR_REP - ROCE_CM_REQ] = {"SIDR_REP", 96, false},
    [ROCE_CM_LAP - ROCE_CM_REQ] = {"LAP", 64, false},
    [ROCE_CM_APR - ROCE_CM_REQ] = {"APR", 84, false},
};

#define IP_HEADER_LEN 36

static unsigned field_bytes(const struct field *f)
{
    return f->bytes != 0 ? f->bytes : (f->bit + f->width + 7U) / 8;
}

static uint64_t load_member(const void *member, uint8_t size)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size) {
    case 1:
        memcpy(&u8, member, 1);
        return u8;
    case 2:
        memcpy(&u16, member, 2);
        return u16;
    case 4:
        memcpy(&u32, member, 4);
        return u32;
    }
    memcpy(&u64, member, 8);
    return u64;
}

static void store_member(void *member, uint8_t size, uint64_t v)
{
    const uint8_t u8 = (uint8_t)v;
    const uint16_t u16 = (uint16_t)v;
    const uint32_t u32 = (uint32_t)v;
    switch (size) {
    case 1:
        memcpy(member, &u8, 1);
        return;
    case 2:
        memcpy(member, &u16, 2);
        return;
    case 4:
        memcpy(member, &u32, 4);
        return;
    }
    memcpy(member, &v, 8);
}

/* A field of at most 64 bits spans at most 8 bytes: none that is wider than 57 bits begins inside a
 * byte. */
static uint64_t mask_of(const struct field *f)
{
    return f->width == 64 ? UINT64_MAX : (UINT64_C(1) << f->width) - 1;
}

static unsigned right_shift(const struct field *f)
{
    return field_bytes(f) * 8 - f->bit - f->width;
}

static void decode_field(const struct field *f, const uint8_t *buf, struct roce_cm *cm)
{
    void *member = (uint8_t *)cm + f->member;
    if (f->bytes != 0) {
        memcpy(member, buf + f->off, f->bytes);
        return;
    }
    const uint64_t bits = load_be(buf + f->off, field_bytes(f)) >> right_shift(f) & mask_of(f);
    store_member(member, f->size, load_member(member, f->size) | bits << f->shift);
}

static void encode_field(const struct field *f, const struct roce_cm *cm, uint8_t *buf)
{
    const void *member = (const uint8_t *)cm + f->member;
    if (f->bytes != 0) {
        memcpy(buf + f->off, member, f->bytes);
        return;
    }
    const uint64_t bits = (load_member(member, f->size) >> f->shift & mask_of(f)) << right_shift(f);
    const unsigned n = field_bytes(f);
    for (unsigned i = 0; i < n; i++)
        buf[f->off + i] |= (uint8_t)(bits >> (8 * (n - 1 - i)));
}

static bool is_known(uint16_t attr_id)
{
    return attr_id >= ROCE_CM_REQ && attr_id <= ROCE_CM_APR;
}

/* An address of the RDMA-CM header: IPv4 stands in the last four of sixteen bytes. */
static void decode_address(uint8_t out[16], const uint8_t *p, uint8_t version)
{
    if (version == 4)
        roce_ip_v4(out, p[12], p[13], p[14], p[15]);
    else
        memcpy(out, p, 16);
}

static void encode_address(uint8_t *p, const uint8_t addr[16], uint8_t version)
{
    if (version == 4)
        memcpy(p + 12, addr + 12, 4);
    else
        memcpy(p, addr, 16);
}

static void decode_ip(const uint8_t *p, size_t len, struct roce_cm *cm)
{
    if (len < IP_HEADER_LEN || roce_cm_port(cm->service_id) < 0)
        return;
    const uint8_t version = p[1] >> 4;
    if (p[0] != 0 || (version != 4 && version != 6))
        return;
    cm->has_ip = true;
    cm->ip.ip_version = version;
    cm->ip.src_port = load_be16(p + 2);
    decode_address(cm->ip.src, p + 4, version);
    decode_address(cm->ip.dst, p + 20, version);
    cm->private_off = (uint16_t)(cm->private_off + IP_HEADER_LEN);
    cm->private_len = (uint16_t)(cm->private_len - IP_HEADER_LEN);
}

/* An alternate path of zeros says that there is none (IBTA 12.6.5). */
static bool has_alternate(uint16_t attr_id, const uint8_t *buf, size_t len)
{
    enum { REQ_ALTERNATE = 96, LAP_ALTERNATE = 20, PATH_LEN = 44 };
    if (attr_id != ROCE_CM_REQ && attr_id != ROCE_CM_LAP)
        return false;
    const size_t begin = attr_id == ROCE_CM_REQ ? REQ_ALTERNATE : LAP_ALTERNATE;
    for (size_t i = begin; i < begin + PATH_LEN && i < len; i++)
        if (buf[i] != 0)
            return true;
    return false;
}

int roce_cm_decode(uint16_t attr_id, const uint8_t *buf, size_t len, struct roce_cm *cm)
{
    if (!is_known(attr_id))
        return ROCE_ERR_UNKNOWN;
    memset(cm, 0, sizeof(*cm));
    cm->message = (uint8_t)attr_id;
    if (len > ROCE_CM_LEN)
        len = ROCE_CM_LEN;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (fields[i].message == attr_id && fields[i].off + field_bytes(&fields[i]) <= len)
            decode_field(&fields[i], buf, cm);

    cm->has_alternate = has_alternate(attr_id, buf, len);
    cm->private_off = messages[attr_id - ROCE_CM_REQ].private_off;
    cm->private_len = (uint16_t)(ROCE_CM_LEN - cm->private_off);
    if (messages[attr_id - ROCE_CM_REQ].may_have_ip && len > cm->private_off)
        decode_ip(buf + cm->private_off, len - cm->private_off, cm);
    return len < ROCE_CM_LEN ? ROCE_ERR_TRUNCATED : ROCE_CM_LEN;
}

int roce_cm_encode(const struct roce_cm *cm, uint8_t *buf, size_t len)
{
    if (!is_known(cm->message))
        return ROCE_ERR_UNKNOWN;
    if (len < ROCE_CM_LEN)
        return ROCE_ERR_NOSPACE;
    memset(buf, 0, ROCE_CM_LEN);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (fields[i].message == cm->message)
            encode_field(&fields[i], cm, buf);
    if (cm->has_ip && messages[cm->message - ROCE_CM_REQ].may_have_ip) {
        uint8_t *p = buf + messages[cm->message - ROCE_CM_REQ].private_off;
        p[1] = (uint8_t)(cm->ip.ip_version << 4);
        p[2] = (uint8_t)(cm->ip.src_port >> 8);
        p[3] = (uint8_t)cm->ip.src_port;
        encode_address(p + 4, cm->ip.src, cm->ip.ip_version);
        encode_address(p + 20, cm->ip.dst, cm->ip.ip_version);
    }
    return ROCE_CM_LEN;
}

const char *roce_cm_message_name(uint8_t message)
{
    return is_known(message) ? messages[message - ROCE_CM_REQ].name : NULL;
}

uint64_t roce_cm_timeout_ns(uint8_t exp)
{
    return UINT64_C(4096) << (exp & 0x1F);
}

/* RDMA-CM service ids: 00000000 01 PP xxxx, port space and destination port. */
int roce_cm_port(uint64_t service_id)
{
    return service_id >> 24 == 1 ? (int)(service_id & 0xFFFF) : -1;
}
