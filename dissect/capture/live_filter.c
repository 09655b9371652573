/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel filters: expressions compiled by libpcap, and the program that shares frames out. */
#include "live_filter.h"

#if defined(__linux__)

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "libpcap.h"
#include "live.h"

/* The kernel takes the outer VLAN tag out of the frame and keeps it beside. libpcap writes programs
 * that look there, but for an interface that it has opened itself only: a small ring, for a moment.
 */
static int compile_live(struct roce_reader *reader, const struct cap_pcap *lib, uint32_t index,
                        const char *expression, uint32_t snaplen, struct bpf_program *program)
{
    char text[PCAP_ERRBUF_SIZE] = "";
    pcap_t *pcap = lib->create(reader->ifaces[index].name, text);
    if (pcap == NULL)
        return cap_live_fault(reader, index, ROCE_ERR_IO, "%.150s", text);
    int rc = lib->set_snaplen(pcap, (int)snaplen);
    rc = rc != 0 ? rc : lib->set_buffer_size(pcap, 64 * 1024);
    rc = rc != 0 ? rc : lib->set_timeout(pcap, LIVE_RETIRE_MS);
    rc = rc != 0 ? rc : lib->activate(pcap);
    if (rc < 0)
        rc = cap_live_fault(reader, index, ROCE_ERR_IO, "no filter: %.150s", lib->geterr(pcap));
    else if (lib->compile(pcap, program, expression, 1, PCAP_NETMASK_UNKNOWN) != 0)
        rc = cap_reader_fault(reader, ROCE_ERR_SYNTAX, "%.150s", lib->geterr(pcap));
    else
        rc = 0;
    lib->close(pcap);
    return rc;
}

static int attach(int fd, struct sock_filter *code, unsigned len)
{
    const struct sock_fprog program = {.len = (unsigned short)len, .filter = code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int attach_expression(struct roce_reader *reader, uint32_t index, int fd,
                             const struct bpf_program *program)
{
    struct sock_filter code[BPF_MAXINSNS];
    if (program->bf_len > BPF_MAXINSNS)
        return cap_reader_fault(reader, ROCE_ERR_UNSUPPORTED,
                                "the expression is too long for the kernel");
    for (unsigned i = 0; i < program->bf_len; i++)
        code[i] = (struct sock_filter){.code = program->bf_insns[i].code,
                                       .jt = program->bf_insns[i].jt,
                                       .jf = program->bf_insns[i].jf,
                                       .k = program->bf_insns[i].k};
    if (attach(fd, code, program->bf_len) != 0)
        return cap_live_fault(reader, index, ROCE_ERR_IO, "the kernel refuses the filter (%s)",
                              strerror(errno));
    return 0;
}

int live_filter_attach(struct roce_reader *reader, uint32_t index, int fd, const char *expression,
                       uint32_t snaplen)
{
    if (expression != NULL && expression[0] != '\0') {
        struct bpf_program program = {0};
        char text[ROCE_ERRTEXT_LEN];
        const struct cap_pcap *lib = cap_pcap_load(text);
        if (lib == NULL)
            return cap_live_fault(reader, index, ROCE_ERR_IO, "no filter: %.180s", text);
        int rc = compile_live(reader, lib, index, expression, snaplen, &program);
        if (rc == 0) {
            rc = attach_expression(reader, index, fd, &program);
            lib->freecode(&program);
        }
        return rc;
    }
    if (snaplen >= LIVE_SNAPLEN)
        return 0;
    struct sock_filter cut[] = {BPF_STMT(BPF_RET | BPF_K, snaplen)};
    if (attach(fd, cut, 1) != 0)
        return cap_live_fault(reader, index, ROCE_ERR_IO, "no snap length (%s)", strerror(errno));
    return 0;
}

void live_filter_shut(int fd)
{
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    (void)attach(fd, nothing, 1);
}

/* X ^= the word at |offset| of the network header. */
#define FOLD(offset)                                                        \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_NET_OFF + (offset))), \
        BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0), BPF_STMT(BPF_MISC | BPF_TAX, 0)

/* The exclusive or of all words of both addresses, which is the same in both directions. The hashes
 * of the kernel's own fanout modes take the UDP ports in, and RoCE has another source port in each
 * direction. Frames that are neither IP nor RoCEv1 (a GRH is laid out as IPv6) all go to one.
 * Neighbouring addresses differ in few bits: these are spread (Knuth's multiplicative hash), and
 * the upper ones used, as the kernel takes the remainder. */
int live_filter_share(int fd, uint16_t group)
{
    enum { IPV4 = 6, IPV6 = 13, SPREAD = 37 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, IPV4 - 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, IPV6 - 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IBOE, IPV6 - 5, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        [IPV4] = FOLD(12),
        FOLD(16),
        BPF_JUMP(BPF_JMP | BPF_JA, SPREAD - IPV6, 0, 0),
        [IPV6] = FOLD(8),
        FOLD(12),
        FOLD(16),
        FOLD(20),
        FOLD(24),
        FOLD(28),
        FOLD(32),
        FOLD(36),
        [SPREAD] = BPF_STMT(BPF_MISC | BPF_TXA, 0),
        BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 2654435761u),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 16),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    const uint32_t how = (uint32_t)group | (uint32_t)PACKET_FANOUT_CBPF << 16;
    if (setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &how, sizeof(how)) != 0)
        return -1;
    const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    return setsockopt(fd, SOL_PACKET, PACKET_FANOUT_DATA, &program, sizeof(program));
}

#else
typedef int live_filter_needs_linux;
#endif
