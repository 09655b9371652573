/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded frames made fit for another network: addresses, tags, QP numbers, PSNs and keys changed
 * by rule, with all checksums right afterwards. */
#ifndef ROCEREPLAY_REWRITE_H
#define ROCEREPLAY_REWRITE_H

#include <roce/packet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REWRITE_RULES_MAX = 64, REWRITE_WHY_MAX = 160 };

/* Bytes that a frame may grow by; a buffer for it needs so many more. */
enum { REWRITE_ROOM = ROCE_VLAN_LEN };

struct rewrite_ip { /* addresses as in struct roce_ip */
    uint8_t from[16], to[16];
    uint8_t from_bits, to_bits; /* of 128 */
};
enum rewrite_mac_kind { REWRITE_MAC_BOTH, REWRITE_MAC_SRC, REWRITE_MAC_DST };
struct rewrite_mac {
    enum rewrite_mac_kind kind; /* SRC, DST: any such address of the outermost header */
    uint8_t from[6], to[6];
};
struct rewrite_qp {
    uint32_t from, to;
    bool has_host;
    uint8_t host[16]; /* the QP's owner, as recorded */
};
struct rewrite_rkey {
    bool any;
    uint32_t from, to;
};
enum rewrite_vlan { REWRITE_VLAN_KEEP, REWRITE_VLAN_SET, REWRITE_VLAN_ADD, REWRITE_VLAN_STRIP };

/* struct rewrite is a set of rules; all zero changes nothing. */
struct rewrite {
    struct rewrite_ip ip[REWRITE_RULES_MAX];
    struct rewrite_mac mac[REWRITE_RULES_MAX];
    struct rewrite_qp qp[REWRITE_RULES_MAX];
    struct rewrite_rkey rkey[REWRITE_RULES_MAX];
    unsigned n_ip, n_mac, n_qp, n_rkey;
    enum rewrite_vlan vlan;
    uint16_t vlan_tci;
    int64_t psn_offset;
    bool keep_bad_icrc; /* an ICRC that was wrong stays wrong by the same bits; else it is repaired
                         */
    struct roce_decode_opts decode;
    /* psn_extra tells what is added to the PSNs of a flow, beside |psn_offset|: to those of the
     * requests from |src| to |dqpn| of |dst|, or of the responses that go there. NULL: nothing.
     * |pkt| is the packet concerned, for its encapsulation. */
    int64_t (*psn_extra)(void *ctx, const struct roce_packet *pkt, const uint8_t src[16],
                         const uint8_t dst[16], uint32_t dqpn, bool response);
    void *psn_ctx;
};

/* These add the rules of |text|, several divided by commas. 0; or -1 with the reason in |why|.
 *   ip     NET/N=NET/N or ADDRESS=ADDRESS
 *   mac    MAC=MAC, src=MAC, dst=MAC
 *   qp     QP=QP, or QP@ADDRESS=QP for the QP of that host alone
 *   rkey   KEY=KEY, or KEY for all
 *   vlan   VID[:PCP] (the outermost tag, added where there is none), add:VID[:PCP], none
 *   psn    a number, to be added */
int rewrite_parse_ip(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX]);
int rewrite_parse_mac(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX]);
int rewrite_parse_qp(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX]);
int rewrite_parse_rkey(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX]);
int rewrite_parse_vlan(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX]);
int rewrite_parse_psn(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX]);

enum rewrite_result {
    REWRITE_OK,
    REWRITE_SLICED,       /* not all bytes were captured: its checksums cannot be made */
    REWRITE_UNREPAIRABLE, /* a fragment, IP options, malformed or unknown headers: nobody can say
                             what its ICRC should be, and a rule changes what it covers */
    REWRITE_RESULTS
};
struct rewritten {
    uint8_t *data; /* within the caller's buffer */
    uint32_t len;
    bool roce;     /* it has a BTH */
    bool changed;  /* not the bytes that were recorded */
    bool was_bad;  /* its ICRC was wrong; with keep_bad_icrc it still is */
    bool repaired; /* it was wrong and is right now */
};

/* rewrite_apply copies |in| to |buf|, which has room for its captured bytes and REWRITE_ROOM, and
 * changes it there. */
enum rewrite_result rewrite_apply(const struct rewrite *rw, const struct roce_frame *in,
                                  uint8_t *buf, struct rewritten *out);

/* For the parts of the rewriter. Each returns whether it changed a byte. */
bool rewrite_map_ip(const struct rewrite *rw, uint8_t ip[16]);
bool rewrite_map_ip4(const struct rewrite *rw, uint8_t ip[4]);
bool rewrite_map_qp(const struct rewrite *rw, const uint8_t host[16], uint8_t qpn[3]);
bool rewrite_add_psn(const struct rewrite *rw, const struct roce_packet *pkt, const uint8_t src[16],
                     const uint8_t dst[16], uint32_t dqpn, bool response, uint8_t psn[3]);
/* rewrite_cm changes a CM message of attribute |attr_id| at |cm| (ROCE_CM_LEN bytes) in |pkt|,
 * whose addresses are still those recorded. */
bool rewrite_cm(const struct rewrite *rw, const struct roce_packet *pkt, uint16_t attr_id,
                uint8_t *cm);

#endif
