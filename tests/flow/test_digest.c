/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A digest made from the bytes says what the decoded packet says, in every capture of the
 * repository and with every header byte changed; what the digest leaves out is said to be left out.
 */
#include "../cmocka_all.h"

#include <glob.h>
#include <string.h>

#include <roce/capture.h>

#include "dissect/flow/digest.h"

enum { BATCH = 64, HEADERS = 80, FRAME_MAX = 512 };

static struct roce_flow_table *table;
static unsigned left_out;

static bool is_counted_on(const struct roce_packet *pkt)
{
    const bool ack = pkt->op == ROCE_OP_ACK && roce_aeth_kind(pkt->aeth.syndrome) == ROCE_AETH_ACK;
    return pkt->service == ROCE_SERVICE_RC &&
           (ack || pkt->op == ROCE_OP_SEND || pkt->op == ROCE_OP_WRITE);
}

static void check_fields(const struct roce_digest *d, const struct roce_frame *frame,
                         const struct roce_packet *pkt, const struct roce_icrc *icrc)
{
    assert_true(is_counted_on(pkt));
    assert_int_equal(pkt->status, ROCE_STATUS_OK);
    assert_false(pkt->sliced);
    assert_false(pkt->cut_on_wire);
    assert_int_not_equal(roce_ip_ecn(&pkt->ip), ROCE_ECN_CE);
    assert_int_equal((digest_flags(d) & DIGEST_ICRC_OK) != 0, icrc != NULL);
    assert_true(icrc == NULL || icrc->status == ROCE_ICRC_OK);
    assert_int_equal(d->ts, frame->ts);
    assert_int_equal(d->origlen, frame->origlen);
    assert_int_equal(digest_number(d, frame->number - 5), frame->number);
    assert_int_equal(digest_qp(d), pkt->bth.dqpn);
    assert_int_equal(digest_psn(d), pkt->bth.psn);
    assert_int_equal(digest_opcode(d), pkt->bth.opcode);
    assert_int_equal(d->payload_len, pkt->payload_len);
    assert_int_equal(d->sport, pkt->udp.sport);
    assert_int_equal(d->ip_id, pkt->ip.id);
    assert_int_equal(d->tos, pkt->ip.tos);
    assert_int_equal(d->ttl, pkt->ip.ttl);
    assert_memory_equal(&d->addresses, frame->data + ROCE_ETH_LEN + 12, 8);
    assert_int_equal(digest_pos(d), pkt->pos);
    assert_int_equal((digest_flags(d) & DIGEST_ACKREQ) != 0, pkt->bth.ackreq);
    assert_int_equal((digest_flags(d) & DIGEST_MIGREQ) != 0, pkt->bth.migreq);
    assert_int_equal((digest_flags(d) & DIGEST_ECT) != 0,
                     roce_ip_ecn(&pkt->ip) != ROCE_ECN_NOT_ECT);
    assert_int_equal((digest_flags(d) & DIGEST_RETH) != 0, (pkt->has & ROCE_H_RETH) != 0);
    assert_int_equal((d->kind & DIGEST_RESPONSE) != 0, pkt->response);
    assert_int_equal((d->kind & DIGEST_TAGGED) != 0, pkt->n_vlan > 0);
    if (pkt->has & ROCE_H_RETH) {
        assert_int_equal(d->va, pkt->reth.va);
        assert_int_equal(d->rkey, pkt->reth.rkey);
        assert_int_equal(d->length_msn, pkt->reth.dma_length);
    } else if (pkt->has & ROCE_H_AETH) {
        assert_int_equal(d->length_msn, pkt->aeth.msn);
    } else {
        assert_int_equal(d->length_msn, pkt->payload_len);
    }
}

static void check(const struct roce_frame *frame, bool check_icrc)
{
    struct roce_digest d, other;
    struct roce_packet pkt, told;
    struct roce_icrc icrc = {0}, told_icrc = {0};
    memset(&d, 0xA5, sizeof d);
    memset(&other, 0xA5, sizeof other);
    memset(&pkt, 0, sizeof pkt);
    memset(&told, 0, sizeof told);
    roce_packet_decode(frame, NULL, &pkt);
    if (check_icrc)
        roce_icrc_check(frame, &pkt, &icrc);
    digest_packet(table, frame, &pkt, check_icrc ? &icrc : NULL, &other);
    if (roce_flow_digest(table, frame, NULL, check_icrc, &told, &told_icrc, &d)) {
        assert_memory_equal(&told, &pkt, sizeof pkt);
        assert_int_equal(told_icrc.status, roce_packet_is_roce(&pkt) || !check_icrc
                                               ? icrc.status
                                               : ROCE_ICRC_UNCHECKED);
    } else {
        left_out++;
        assert_true((digest_flags(&d) & (DIGEST_PLAIN | DIGEST_DIRECT)) ==
                    (DIGEST_PLAIN | DIGEST_DIRECT));
        check_fields(&d, frame, &pkt, check_icrc ? &icrc : NULL);
    }
    assert_int_equal(digest_flags(&d), digest_flags(&other));
    assert_int_equal((digest_flags(&d) & DIGEST_FLOW) != 0,
                     (pkt.has & (ROCE_HAS_BTH | ROCE_HAS_IP)) == (ROCE_HAS_BTH | ROCE_HAS_IP));
    assert_memory_equal(&d, &other, sizeof d);
}

/* Every header byte in turn becomes another one. */
static void check_changed(const struct roce_frame *frame, unsigned seed)
{
    uint8_t bytes[FRAME_MAX];
    if (frame->caplen > sizeof bytes)
        return;
    memcpy(bytes, frame->data, frame->caplen);
    struct roce_frame changed = *frame;
    changed.data = bytes;
    for (uint32_t i = 0; i < HEADERS && i < frame->caplen; i++) {
        bytes[i] ^= (uint8_t)(1u << (i + seed) % 8);
        check(&changed, false);
        check(&changed, true);
        bytes[i] = frame->data[i];
    }
    changed.origlen--;
    check(&changed, true);
    changed.caplen--;
    check(&changed, true);
    changed.origlen = UINT16_MAX + 1;
    check(&changed, false);
}

static void read_all(const char *path)
{
    struct roce_frame frame[BATCH];
    int err, n;
    char text[ROCE_ERRTEXT_LEN];
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    assert_non_null(reader);
    for (unsigned batch = 0; (n = roce_reader_next(reader, frame, BATCH)) > 0; batch++)
        for (int i = 0; i < n; i++) {
            check(&frame[i], false);
            check(&frame[i], true);
            if (batch == 0)
                check_changed(&frame[i], (unsigned)i);
        }
    roce_reader_del(reader);
}

static void test_bytes_say_what_the_packet_says(void **state)
{
    (void)state;
    glob_t found;
    table = roce_flow_table_new(NULL);
    assert_non_null(table);
    assert_int_equal(glob(SOURCE_DIR "/pcaps/*.pcap*", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_all(found.gl_pathv[i]);
    globfree(&found);
    roce_flow_table_del(table);
    assert_true(left_out > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes_say_what_the_packet_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
