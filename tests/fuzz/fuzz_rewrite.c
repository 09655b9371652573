/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a recorded frame that is rewritten: no byte outside is touched, no ICRC that was
 * right goes out wrong. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <roce/icrc.h>

#include "rocereplay/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t linktypes[] = {ROCE_LINK_ETHERNET, ROCE_LINK_RAW,        ROCE_LINK_SLL,
                                     ROCE_LINK_SLL2,     ROCE_LINK_INFINIBAND, 9999};

static void rules_of(uint8_t choice, struct rewrite *rw)
{
    char why[REWRITE_WHY_MAX];
    *rw = (struct rewrite){.keep_bad_icrc = (choice & 1) != 0};
    assert(rewrite_parse_ip(rw, "0.0.0.0/1=128.0.0.0/1,::/3=2000::/3", why) == 0);
    assert(rewrite_parse_mac(rw, "src=02:00:00:00:00:01", why) == 0);
    assert(rewrite_parse_qp(rw, "0x11=0x12,0x26=0x27", why) == 0);
    assert(rewrite_parse_rkey(rw, "0x42", why) == 0);
    assert(rewrite_parse_psn(rw, "-5", why) == 0);
    if ((choice & 6) == 2)
        assert(rewrite_parse_vlan(rw, "7:1", why) == 0);
    if ((choice & 6) == 4)
        assert(rewrite_parse_vlan(rw, "none", why) == 0);
}

static void check(const struct roce_frame *in, const struct rewrite *rw, uint8_t *buf)
{
    struct rewritten out;
    struct roce_packet pkt;
    struct roce_icrc was, is;
    if (rewrite_apply(rw, in, buf, &out) != REWRITE_OK)
        return;
    assert(out.data >= buf && out.data + out.len <= buf + in->caplen + REWRITE_ROOM);
    (void)roce_packet_decode(in, NULL, &pkt);
    roce_icrc_check(in, &pkt, &was);
    const struct roce_frame sent = {
        .data = out.data, .caplen = out.len, .origlen = out.len, .linktype = in->linktype};
    (void)roce_packet_decode(&sent, NULL, &pkt);
    roce_icrc_check(&sent, &pkt, &is);
    if (was.status == ROCE_ICRC_OK || (was.status == ROCE_ICRC_BAD && !rw->keep_bad_icrc))
        assert(is.status == ROCE_ICRC_OK);
    if (was.status == ROCE_ICRC_BAD && rw->keep_bad_icrc)
        assert((is.value ^ is.expected) == (was.value ^ was.expected));
}

/* First byte: the rules and the link type; the rest is the frame. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 16384)
        return 0;
    struct rewrite rw;
    const size_t len = size - 1;
    uint8_t *copy = malloc(len > 0 ? len : 1), *buf = malloc(len + REWRITE_ROOM);
    if (copy != NULL && buf != NULL) {
        memcpy(copy, data + 1, len);
        const struct roce_frame frame = {.data = copy,
                                         .caplen = (uint32_t)len,
                                         .origlen = (uint32_t)len,
                                         .linktype = linktypes[(data[0] >> 3) % 6]};
        rules_of(data[0], &rw);
        check(&frame, &rw, buf);
    }
    free(copy);
    free(buf);
    return 0;
}
