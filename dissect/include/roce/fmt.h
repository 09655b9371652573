/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fast text for numbers and addresses: each function writes at |out| and returns the end; no
 * terminating NUL, no locale. The caller has ensured the room named. */
#ifndef ROCE_FMT_H
#define ROCE_FMT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_FMT_UINT_MAX 20
#define ROCE_FMT_HEX_MAX  18 /* with 0x */
#define ROCE_FMT_ADDR_MAX 46
#define ROCE_FMT_MAC_MAX  17

char *roce_fmt_uint(char *out, uint64_t v);
char *roce_fmt_uint_pad(char *out, uint64_t v,
                        int width);        /* zero padded to |width| digits, at most 20 */
char *roce_fmt_hex(char *out, uint64_t v); /* "0x1f" */
char *roce_fmt_hex_pad(char *out, uint64_t v, int digits); /* "0x00001f" with |digits| hex digits */
char *roce_fmt_str(char *out, const char *s);              /* strlen(s) bytes */
/* roce_fmt_addr writes dotted decimal when |ip_version| is 4 (mapped form), else RFC 5952 text. */
char *roce_fmt_addr(char *out, const uint8_t addr[16], uint8_t ip_version);
char *roce_fmt_mac(char *out, const uint8_t mac[6]);

#ifdef __cplusplus
}
#endif
#endif
