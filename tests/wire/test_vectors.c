/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every packet of vectors.def decodes to its stated facts and ICRC verdict. */
#include <stdbool.h>
#include <stdio.h>

#include <roce/icrc.h>
#include <roce/packet.h>

#include "tests/cmocka_all.h"
#include "tests/hex.h"

enum verdict { OK, BAD, NONE };

struct vector {
    const char *name;
    uint32_t linktype;
    const char *hex;
    enum verdict verdict;
    uint32_t icrc;
    int kind;
    const char *src, *dst;
    unsigned tos, ttl, sport, opcode, se, migreq, pad, tver, pkey, fecn, becn, ackreq, trailer,
        version;
    uint32_t dqpn, psn;
    bool has_aeth;
    uint32_t syndrome, msn;
    unsigned enable;
    uint16_t quanta[8];
};

static const struct vector vectors[] = {
#define VECTOR(name_, link_, hex_, verdict_, icrc_, kind_, ...) \
    {.name = #name_,                                            \
     .linktype = (link_),                                       \
     .hex = (hex_),                                             \
     .verdict = (verdict_),                                     \
     .icrc = (icrc_),                                           \
     .kind = ROCE_KIND_##kind_,                                 \
     __VA_ARGS__},
#include "vectors.def"
#undef VECTOR
};

static void check_addr(const uint8_t addr[16], const char *hex)
{
    size_t len;
    uint8_t *bytes = hex_bytes(hex, &len);
    assert_int_equal(len, 16);
    assert_memory_equal(addr, bytes, 16);
    free(bytes);
}

static void check_roce(const struct vector *v, const struct roce_frame *frame,
                       const struct roce_packet *pkt)
{
    assert_true(roce_packet_is_roce(pkt));
    check_addr(pkt->ip.src, v->src);
    check_addr(pkt->ip.dst, v->dst);
    assert_int_equal(pkt->ip.version, v->version);
    if (pkt->kind == ROCE_KIND_ROCEV2) {
        assert_int_equal(pkt->ip.tos, v->tos);
        assert_int_equal(pkt->udp.sport, v->sport);
        assert_int_equal(pkt->trailer_len, v->trailer);
        if (v->ttl != 0)
            assert_int_equal(pkt->ip.ttl, v->ttl);
    }
    assert_int_equal(pkt->bth.opcode, v->opcode);
    assert_int_equal(pkt->bth.se, v->se);
    assert_int_equal(pkt->bth.migreq, v->migreq);
    assert_int_equal(pkt->bth.pad, v->pad);
    assert_int_equal(pkt->bth.tver, v->tver);
    assert_int_equal(pkt->bth.pkey, v->pkey);
    assert_int_equal(pkt->bth.fecn, v->fecn);
    assert_int_equal(pkt->bth.becn, v->becn);
    assert_int_equal(pkt->bth.dqpn, v->dqpn);
    assert_int_equal(pkt->bth.ackreq, v->ackreq);
    assert_int_equal(pkt->bth.psn, v->psn);
    if (v->has_aeth) {
        assert_true(pkt->has & ROCE_H_AETH);
        assert_int_equal(pkt->aeth.syndrome, v->syndrome);
        assert_int_equal(pkt->aeth.msn, v->msn);
    }
    struct roce_icrc icrc;
    roce_icrc_check(frame, pkt, &icrc);
    assert_int_equal(icrc.status, v->verdict == OK ? ROCE_ICRC_OK : ROCE_ICRC_BAD);
    assert_int_equal(icrc.value, v->icrc);
    if (v->verdict == OK)
        assert_int_equal(icrc.expected, v->icrc);
}

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        const struct vector *v = &vectors[i];
        size_t len;
        uint8_t *bytes = hex_bytes(v->hex, &len);
        const struct roce_frame frame = {.data = bytes,
                                         .caplen = (uint32_t)len,
                                         .origlen = (uint32_t)len,
                                         .linktype = v->linktype};
        struct roce_packet pkt;
        print_message("%s\n", v->name);
        assert_int_equal(roce_packet_decode(&frame, NULL, &pkt), v->kind);
        assert_int_equal(pkt.status, ROCE_STATUS_OK);
        if (v->kind == ROCE_KIND_PFC) {
            assert_int_equal(pkt.pfc.enable, v->enable);
            assert_memory_equal(pkt.pfc.quanta, v->quanta, sizeof(v->quanta));
        } else if (v->kind == ROCE_KIND_PAUSE) {
            assert_int_equal(pkt.pause.quanta, v->enable);
        } else {
            check_roce(v, &frame, &pkt);
        }
        free(bytes);
    }
}

/* Every prefix of every vector: headers that are there are the same, nothing is read beyond, and
 * cutting is never called malformed. */
static void test_prefixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        size_t len;
        uint8_t *bytes = hex_bytes(vectors[i].hex, &len);
        struct roce_packet whole;
        struct roce_frame frame = {.data = bytes,
                                   .caplen = (uint32_t)len,
                                   .origlen = (uint32_t)len,
                                   .linktype = vectors[i].linktype};
        roce_packet_decode(&frame, NULL, &whole);
        for (size_t cut = 0; cut < len; cut++) {
            uint8_t *prefix = exact_copy(bytes, cut);
            struct roce_packet pkt;
            struct roce_icrc icrc;
            frame.data = prefix;
            frame.caplen = (uint32_t)cut;
            roce_packet_decode(&frame, NULL, &pkt);
            assert_true(pkt.status == ROCE_STATUS_OK || pkt.status == ROCE_STATUS_TRUNCATED);
            assert_int_equal(pkt.has & ~whole.has, 0);
            if (pkt.has & ROCE_HAS_BTH) {
                assert_int_equal(pkt.bth.psn, whole.bth.psn);
                assert_int_equal(pkt.payload_len, whole.payload_len);
                assert_true(pkt.payload_captured <= pkt.payload_len);
            }
            if (pkt.has & ROCE_H_AETH)
                assert_int_equal(pkt.aeth.msn, whole.aeth.msn);
            roce_icrc_check(&frame, &pkt, &icrc);
            if (cut < len - whole.trailer_len)
                assert_int_equal(icrc.status, ROCE_ICRC_UNCHECKED);
            free(prefix);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_prefixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
