/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket filter, run by the kernel: attached to a local datagram socket, which sees the same
 * bytes that a packet socket would. */
#include "cmocka_all.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <roce/net.h>

#include "port/filter.h"

enum { ROOM = 128 };

struct frame {
    uint8_t data[ROOM];
    size_t len;
};

static void put16(struct frame *f, unsigned v)
{
    f->data[f->len++] = (uint8_t)(v >> 8);
    f->data[f->len++] = (uint8_t)v;
}

static struct frame ethernet(unsigned type, int vlan)
{
    struct frame f = {.len = 12};
    if (vlan >= 0) {
        put16(&f, (unsigned)vlan);
        put16(&f, 0x6064);
    }
    put16(&f, type);
    return f;
}

/* IPv4 with |words| of header, RFC 791. */
static struct frame ipv4(int vlan, uint8_t last, uint8_t proto, unsigned frag, unsigned words,
                         unsigned port)
{
    struct frame f = ethernet(0x0800, vlan);
    uint8_t *ip = f.data + f.len;
    ip[0] = (uint8_t)(0x40 | words);
    ip[6] = (uint8_t)(frag >> 8);
    ip[7] = (uint8_t)frag;
    ip[9] = proto;
    memcpy(ip + 12, (const uint8_t[]){10, 0, 0, 9, 10, 0, 0, last}, 8);
    f.len += 4 * words + 2;
    put16(&f, port);
    f.len += 24;
    return f;
}

static struct frame ipv6(int vlan, uint8_t last, uint8_t next, unsigned port)
{
    struct frame f = ethernet(0x86DD, vlan);
    uint8_t *ip = f.data + f.len;
    ip[0] = 0x60;
    ip[6] = next;
    ip[24] = 0xFD;
    ip[39] = last;
    f.len += 42;
    put16(&f, port);
    f.len += 24;
    return f;
}

static const uint8_t own4[16] = {[10] = 0xFF, [11] = 0xFF, [12] = 10, [15] = 1};
static const uint8_t own6[16] = {[0] = 0xFD, [15] = 1};

static bool passes(const uint8_t ip[16], struct frame f)
{
    struct sock_filter code[FILTER_MAX];
    struct sock_fprog program = {.filter = code};
    int pair[2];
    uint8_t got[ROOM];
    program.len = (unsigned short)filter_build(ip, code);
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)),
                     0);
    (void)send(pair[0], f.data, f.len, 0);
    const ssize_t n = recv(pair[1], got, sizeof(got), MSG_DONTWAIT);
    close(pair[0]);
    close(pair[1]);
    if (n < 0)
        return false;
    assert_int_equal(n, f.len); /* kept whole */
    return true;
}

static void test_filter_keeps_what_is_for_us(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const int vlan = (int[]){-1, 0x8100, 0x88A8}[i];
        assert_true(passes(own4, ipv4(vlan, 1, 17, 0x4000, 5, 4791)));
        assert_true(passes(own4, ipv4(vlan, 1, 17, 0, 7, 4791))); /* options */
        assert_true(passes(own6, ipv6(vlan, 1, 17, 4791)));
        struct frame pause = ethernet(0x8808, vlan);
        pause.len += 46;
        assert_true(passes(own4, pause));
        assert_true(passes(own6, pause));
    }
}

static void test_filter_drops_all_else(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const int vlan = (int[]){-1, 0x8100}[i];
        assert_false(passes(own4, ipv4(vlan, 2, 17, 0, 5, 4791)));   /* another host's */
        assert_false(passes(own4, ipv4(vlan, 1, 6, 0, 5, 4791)));    /* TCP */
        assert_false(passes(own4, ipv4(vlan, 1, 17, 0, 5, 4790)));   /* VXLAN-GPE */
        assert_false(passes(own4, ipv4(vlan, 1, 17, 185, 5, 4791))); /* no ports in it */
        assert_false(passes(own6, ipv6(vlan, 2, 17, 4791)));
        assert_false(passes(own6, ipv6(vlan, 1, 6, 4791)));
        assert_false(passes(own6, ipv6(vlan, 1, 17, 4790)));
        assert_false(passes(own4, ipv6(vlan, 1, 17, 4791)));
        assert_false(passes(own6, ipv4(vlan, 1, 17, 0, 5, 4791)));
        struct frame arp = ethernet(0x0806, vlan);
        arp.len += 28;
        assert_false(passes(own4, arp));
    }
    struct frame runt = {.len = 13};
    assert_false(passes(own4, runt));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_keeps_what_is_for_us),
        cmocka_unit_test(test_filter_drops_all_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
