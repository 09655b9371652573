/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The opcode table against the standard's list of headers and lengths (IBTA tables 38 and 39,
 * annexes A14, A19). */
#include <stdbool.h>
#include <string.h>

#include <roce/err.h>
#include <roce/opcode.h>

#include "tests/cmocka_all.h"

/* One letter a header: R RETH 16, A AETH 4, T AtomicETH 28, K AtomicAckETH 8, I ImmDt 4, V IETH 4,
 * F FETH 4, D DETH 8, E RDETH 4, X XRCETH 4. */
static const struct {
    uint8_t value;
    const char *name, *headers;
    bool response;
} expected[] = {
    {0x00, "send_first", "", false},
    {0x01, "send_middle", "", false},
    {0x02, "send_last", "", false},
    {0x03, "send_last_with_immediate", "I", false},
    {0x04, "send_only", "", false},
    {0x05, "send_only_with_immediate", "I", false},
    {0x06, "rdma_write_first", "R", false},
    {0x07, "rdma_write_middle", "", false},
    {0x08, "rdma_write_last", "", false},
    {0x09, "rdma_write_last_with_immediate", "I", false},
    {0x0A, "rdma_write_only", "R", false},
    {0x0B, "rdma_write_only_with_immediate", "RI", false},
    {0x0C, "rdma_read_request", "R", false},
    {0x0D, "rdma_read_response_first", "A", true},
    {0x0E, "rdma_read_response_middle", "", true},
    {0x0F, "rdma_read_response_last", "A", true},
    {0x10, "rdma_read_response_only", "A", true},
    {0x11, "acknowledge", "A", true},
    {0x12, "atomic_acknowledge", "AK", true},
    {0x13, "cmp_swap", "T", false},
    {0x14, "fetch_add", "T", false},
    {0x16, "send_last_with_invalidate", "V", false},
    {0x17, "send_only_with_invalidate", "V", false},
    {0x1C, "flush", "FR", false},
    {0x1D, "atomic_write", "R", false},
};

static unsigned bits_of(const char *letters, unsigned *len)
{
    static const char order[] = "EDXFRTAKIV";
    static const unsigned lens[] = {4, 8, 4, 4, 16, 28, 4, 8, 4, 4};
    unsigned bits = 0;
    *len = 0;
    for (; *letters != '\0'; letters++) {
        const size_t i = (size_t)(strchr(order, *letters) - order);
        bits |= 1U << i;
        *len += lens[i];
    }
    return bits;
}

static void check(uint8_t value, const char *prefix, const char *name, const char *extra,
                  const char *headers, bool response)
{
    char full[64];
    char all[16];
    unsigned len;
    const struct roce_opcode_info *info = roce_opcode_info(value);
    strcpy(full, prefix);
    strcat(full, name);
    strcpy(all, extra);
    strcat(all, headers);
    assert_non_null(info->name);
    assert_string_equal(info->name, full);
    assert_int_equal(info->headers, bits_of(all, &len));
    assert_int_equal(info->ext_len, len);
    assert_int_equal(info->response, response);
    assert_int_equal(roce_opcode_by_name(full), value);
}

static void test_every_listed_opcode(void **state)
{
    (void)state;
    bool listed[256] = {[0x55] = true, [0x64] = true, [0x65] = true, [0x81] = true};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const uint8_t v = expected[i].value;
        const bool resp = expected[i].response;
        check(v, "rc_", expected[i].name, "", expected[i].headers, resp);
        check(0xA0 | v, "xrc_", expected[i].name, resp ? "" : "X", expected[i].headers, resp);
        listed[v] = listed[0xA0 | v] = true;
        if (v <= 0x0B) {
            check(0x20 | v, "uc_", expected[i].name, "", expected[i].headers, resp);
            listed[0x20 | v] = true;
        }
        if (v <= 0x14 || v == 0x1C) {
            check(0x40 | v, "rd_", expected[i].name, resp || v == 0x1C ? "E" : "ED",
                  expected[i].headers, resp);
            listed[0x40 | v] = true;
        }
    }
    check(0x55, "", "rd_resync", "", "ED", false);
    check(0x64, "", "ud_send_only", "", "D", false);
    check(0x65, "", "ud_send_only_with_immediate", "", "DI", false);
    check(0x81, "", "cnp", "", "", false);
    for (int v = 0; v < 256; v++)
        if (!listed[v])
            assert_null(roce_opcode_info((uint8_t)v)->name);
}

static void test_unlisted_services(void **state)
{
    (void)state;
    assert_int_equal(roce_opcode_info(0x5F)->service, ROCE_SERVICE_DC);
    assert_int_equal(roce_opcode_info(0xE0)->service, ROCE_SERVICE_VENDOR);
    assert_int_equal(roce_opcode_info(0xFF)->service, ROCE_SERVICE_VENDOR);
    assert_int_equal(roce_opcode_info(0x80)->service, ROCE_SERVICE_UNKNOWN);
    assert_int_equal(roce_opcode_info(0x15)->service, ROCE_SERVICE_UNKNOWN);
    assert_int_equal(roce_opcode_info(0xC4)->service, ROCE_SERVICE_UNKNOWN);
    assert_int_equal(roce_opcode_by_name("rc_send"), ROCE_ERR_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_listed_opcode),
        cmocka_unit_test(test_unlisted_services),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
