/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stranger's program: decodes the ConnectX-4 Lx CNP of Scapy's tests, and asks libpcap about it.
 */
#include <roce/capture.h>
#include <roce/icrc.h>
#include <stdio.h>

int main(void)
{
    static const uint8_t cnp[] = "\xe4\x1d\x2d\xab\x2b\xc2\x7c\xfe\x90\x64\x3b\x32\x08\x00\x45\xc2"
                                 "\x00\x3c\x71\x8c\x40\x00\x40\x11"
                                 "\x91\x61\x0a\x00\x11\x01\x0a\x00\x12\x01\x00\x00\x12\xb7\x00\x28"
                                 "\x00\x00\x81\x00\xff\xff\x40\x00"
                                 "\x01\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x82\xfd\x00\x2a";
    const struct roce_frame frame = {
        .data = cnp, .caplen = 74, .origlen = 74, .linktype = ROCE_LINK_ETHERNET};
    struct roce_packet pkt;
    struct roce_icrc icrc;
    roce_packet_decode(&frame, NULL, &pkt);
    roce_icrc_check(&frame, &pkt, &icrc);
    printf("%s to QP 0x%x, ICRC %s\n", roce_opcode_info(pkt.bth.opcode)->text,
           (unsigned)pkt.bth.dqpn, roce_icrc_status_name(icrc.status));
    struct roce_bpf *bpf = roce_bpf_compile("udp dst port 4791", ROCE_LINK_ETHERNET, NULL, NULL);
    const bool match = bpf != NULL && roce_bpf_match(bpf, &frame);
    roce_bpf_del(bpf);
    return match && pkt.bth.dqpn == 0x118 && icrc.status == ROCE_ICRC_OK ? 0 : 1;
}
