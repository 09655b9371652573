/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a core a live capture takes, and whether it drops: bench_live RATE LENGTH SECONDS
 * PROGRAM [ARGUMENT]... makes a veth pair in a network namespace of its own (needs root and
 * iproute2), runs PROGRAM with "-i b0" behind its arguments, sends RATE frames a second of LENGTH
 * bytes (FCS not counted) of 64 QPs into the other end, and interrupts PROGRAM. RATE 0 sends as
 * fast as it can. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_packet.h>
#include <net/if.h>

#include <roce/icrc.h>
#include <roce/net.h>
#include <roce/packet.h>

/* struct mmsghdr is not in the headers of C11 with POSIX. */
struct message {
    struct msghdr header;
    unsigned len;
};

enum {
    CLONE_NEWNET_FLAG = 0x40000000,
    QPS = 64,
    BATCH = 32,
    FRAME_MAX = 9000,
    HEADERS = ROCE_ETH_LEN + ROCE_IPV4_LEN + ROCE_UDP_LEN + ROCE_BTH_LEN
};

static uint8_t frame[QPS][FRAME_MAX];
static uint32_t psn[QPS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* SEND Only towards QP |i|: the PSN and the ICRC are for renew to fill in. */
static void build(uint8_t *out, uint32_t i, size_t len)
{
    const struct roce_eth eth = {
        .dst = {2, 0, 0, 0, 0, 2}, .src = {2, 0, 0, 0, 0, 1}, .ethertype = 0x0800};
    struct roce_ip ip = {.version = 4,
                         .tos = 0x6A,
                         .ttl = 64,
                         .proto = 17,
                         .frag = 0x4000,
                         .total_len = (uint32_t)len - ROCE_ETH_LEN};
    roce_ip_v4(ip.src, 10, 1, 0, (uint8_t)i);
    roce_ip_v4(ip.dst, 10, 2, 0, (uint8_t)i);
    const struct roce_udp udp = {.sport = (uint16_t)(0xC000 + i),
                                 .dport = ROCE_UDP_PORT,
                                 .len = (uint16_t)(ip.total_len - ROCE_IPV4_LEN)};
    const size_t payload = len - HEADERS - ROCE_ICRC_LEN;
    const struct roce_bth bth = {.opcode = 0x04,
                                 .migreq = true,
                                 .pkey = 0xFFFF,
                                 .dqpn = 0x100 + i,
                                 .pad = (uint8_t)(payload % 4)};
    memset(out, 0, len);
    uint8_t *p = out;
    p += roce_eth_encode(&eth, p, FRAME_MAX);
    p += roce_ipv4_encode(&ip, p, FRAME_MAX);
    p += roce_udp_encode(&udp, p, FRAME_MAX);
    (void)roce_bth_encode(&bth, p, FRAME_MAX);
}

static void renew(uint32_t i, size_t len)
{
    uint8_t *p = frame[i] + HEADERS - 3;
    p[0] = (uint8_t)(psn[i] >> 16);
    p[1] = (uint8_t)(psn[i] >> 8);
    p[2] = (uint8_t)psn[i];
    psn[i] = (psn[i] + 1) & 0xFFFFFF;
    const size_t covered = len - ROCE_ETH_LEN - ROCE_ICRC_LEN;
    const uint32_t icrc = roce_icrc_compute(frame[i] + ROCE_ETH_LEN, covered);
    p = frame[i] + len - ROCE_ICRC_LEN;
    p[0] = (uint8_t)(icrc >> 24);
    p[1] = (uint8_t)(icrc >> 16);
    p[2] = (uint8_t)(icrc >> 8);
    p[3] = (uint8_t)icrc;
}

static int open_sender(void)
{
    const int on = 1;
    const struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                        .sll_ifindex = (int)if_nametoindex("a0")};
    const int fd = socket(AF_PACKET, SOCK_RAW, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
        die("socket");
    (void)setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
    return fd;
}

static uint64_t send_all(double rate, size_t len, double seconds)
{
    static struct iovec part[BATCH];
    static struct message message[BATCH];
    const int fd = open_sender();
    uint64_t sent = 0;
    for (uint32_t i = 0; i < QPS; i++)
        build(frame[i], i, len);
    const double start = now();
    for (;;) {
        const double t = now() - start;
        if (t >= seconds)
            break;
        if (rate > 0 && (double)sent > t * rate)
            continue; /* busy: sleeping would send bursts */
        for (uint32_t k = 0; k < BATCH; k++) {
            const uint32_t i = (uint32_t)(sent + k) % QPS;
            renew(i, len);
            part[k] = (struct iovec){.iov_base = frame[i], .iov_len = len};
            message[k].header = (struct msghdr){.msg_iov = &part[k], .msg_iovlen = 1};
        }
        const long n = syscall(SYS_sendmmsg, fd, message, BATCH, 0);
        if (n != BATCH)
            die("sendmmsg");
        sent += BATCH;
    }
    (void)close(fd);
    return sent;
}

static void make_network(void)
{
    if (syscall(SYS_unshare, CLONE_NEWNET_FLAG) != 0)
        die("unshare");
    if (system("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6;"
               "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6;"
               "ip link add a0 type veth peer name b0 && ip link set a0 mtu 9000 up arp off &&"
               "ip link set b0 mtu 9000 up arp off") != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    if (argc < 5 || argc > 40) {
        fprintf(stderr, "usage: bench_live RATE LENGTH SECONDS PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    const double rate = strtod(argv[1], NULL), seconds = strtod(argv[3], NULL);
    const size_t len = strtoul(argv[2], NULL, 10);
    if (len < HEADERS + ROCE_ICRC_LEN || len > FRAME_MAX)
        return 2;
    make_network();
    char *arguments[48] = {NULL}, interface_option[] = "-i", interface_name[] = "b0";
    int n = 0;
    for (int i = 4; i < argc; i++)
        arguments[n++] = argv[i];
    arguments[n++] = interface_option;
    arguments[n++] = interface_name;
    const pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], arguments);
        die(arguments[0]);
    }
    (void)poll(NULL, 0, 500); /* until it captures */
    const double start = now();
    const uint64_t sent = send_all(rate, len, seconds);
    const double took = now() - start;
    (void)poll(NULL, 0, 100);
    (void)kill(child, SIGINT);
    int status = -1;
    struct rusage usage;
    if (syscall(SYS_wait4, child, &status, 0, &usage) != child)
        die("wait4");
    const double user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
    const double sys = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
    fprintf(stderr,
            "sent %llu in %.2f s: %.3f M/s, %.2f Gb/s; the program took %.2f + %.2f s: %.1f %% of "
            "a core; status %d\n",
            (unsigned long long)sent, took, (double)sent / took * 1e-6,
            (double)sent * (double)len * 8e-9 / took, user, sys, 100 * (user + sys) / took, status);
    return status == 0 ? 0 : 1;
}
