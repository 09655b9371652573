/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication management messages (IBTA 12.6) behind the MAD header, with the RDMA-CM private
 * header of IBTA annex A11. */
#ifndef ROCE_CM_H
#define ROCE_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCE_CM_LEN 232 /* bytes behind the 24-byte MAD header */

enum roce_cm_message { /* MAD attribute ids */
                       ROCE_CM_REQ = 0x10,
                       ROCE_CM_MRA,
                       ROCE_CM_REJ,
                       ROCE_CM_REP,
                       ROCE_CM_RTU,
                       ROCE_CM_DREQ,
                       ROCE_CM_DREP,
                       ROCE_CM_SIDR_REQ,
                       ROCE_CM_SIDR_REP,
                       ROCE_CM_LAP,
                       ROCE_CM_APR,
};

/* One path of a REQ or LAP. GIDs are as on the wire: an IPv4 address is ::ffff:a.b.c.d. */
struct roce_cm_path {
    uint16_t local_lid, remote_lid; /* 0xFFFF when routed RoCE */
    uint8_t local_gid[16], remote_gid[16];
    uint32_t flow_label; /* 20 bits */
    uint8_t packet_rate; /* 6 bits */
    uint8_t traffic_class, hop_limit;
    uint8_t sl;
    bool subnet_local;
    uint8_t ack_timeout; /* 4.096 us * 2^n */
};

/* RDMA-CM IP header in the private data of REQ and SIDR_REQ (annex A11): who talks to whom by IP.
 */
struct roce_cm_ip {
    uint8_t major, minor;     /* 0.0 */
    uint8_t ip_version;       /* 4 or 6 */
    uint16_t src_port;        /* the destination port is in the service id */
    uint8_t src[16], dst[16]; /* as struct roce_ip: IPv4 in mapped form */
};

/* All fields of all messages; |message| decides which are meaningful, the others are 0. */
struct roce_cm {
    uint8_t message; /* enum roce_cm_message */
    uint32_t local_comm_id, remote_comm_id;
    uint64_t service_id; /* REQ, SIDR_REQ, SIDR_REP */
    uint64_t ca_guid;    /* REQ, REP */
    uint32_t qkey;       /* REQ, REP, SIDR_REP */
    uint32_t local_qpn;  /* REQ, REP: the sender's QP; SIDR_REP: the QP that serves */
    uint32_t remote_qpn; /* DREQ, LAP: QP of the message's receiver */
    uint32_t local_eecn, remote_eecn;
    uint32_t starting_psn; /* REQ, REP: what the receiver of the message shall begin to send with */
    uint32_t vendor_id;    /* REQ, REP, SIDR_REP */
    uint8_t responder_resources, initiator_depth; /* REQ, REP */
    uint8_t remote_cm_timeout, local_cm_timeout;  /* 4.096 us * 2^n; REQ (LAP: remote) */
    uint8_t transport; /* REQ: 0 RC, 1 UC, 2 RD, 3 see ext_transport (1 = XRC) */
    uint8_t ext_transport;
    bool flow_control;              /* REQ, REP: end-to-end flow control */
    uint8_t retry_count, rnr_retry; /* REQ; REP: rnr_retry */
    uint16_t pkey;                  /* REQ, SIDR_REQ */
    uint8_t path_mtu;               /* REQ: 1 = 256 .. 5 = 4096 */
    bool rdc_exists, srq;           /* REQ; REP: srq */
    uint8_t max_cm_retries;
    uint8_t target_ack_delay, failover;     /* REP */
    struct roce_cm_path primary, alternate; /* REQ; LAP: alternate only */
    bool has_alternate;                     /* the alternate path is not all zero */
    uint8_t rejected;       /* REJ: 0 REQ, 1 REP, 2 other; MRA: message MRAed 0 REQ, 1 REP, 2 LAP */
    uint16_t reject_reason; /* REJ */
    uint8_t service_timeout; /* MRA */
    uint8_t status;          /* SIDR_REP, APR */
    uint32_t request_id;     /* SIDR_REQ, SIDR_REP */
    uint8_t info_len; /* REJ (ARI), APR, SIDR_REP: bytes of additional information that count */
    uint8_t info[72]; /* REJ, APR, SIDR_REP */
    bool has_ip;      /* |ip| was recognised: RDMA-CM service id and version 0 */
    struct roce_cm_ip ip;
    uint16_t private_off,
        private_len; /* from the first byte of the CM message: behind the IP header when has_ip */
};

/* roce_cm_decode reads a CM message of attribute |attr_id| (roce_mad.attr_id) from |buf|, the bytes
 * behind the MAD header. Returns ROCE_CM_LEN, ROCE_ERR_TRUNCATED when |len| < ROCE_CM_LEN (fields
 * that lie within |len| are still filled), or ROCE_ERR_UNKNOWN for another attribute. */
int roce_cm_decode(uint16_t attr_id, const uint8_t *buf, size_t len, struct roce_cm *cm);

/* roce_cm_encode writes |cm| (private data excepted: its bytes are zeroed, the RDMA-CM IP header
 * written when has_ip) as ROCE_CM_LEN bytes. Returns ROCE_CM_LEN, ROCE_ERR_NOSPACE or
 * ROCE_ERR_UNKNOWN. */
int roce_cm_encode(const struct roce_cm *cm, uint8_t *buf, size_t len);

const char *roce_cm_message_name(uint8_t message); /* "REQ", ...; NULL when unknown */
const char *roce_cm_reject_text(
    uint16_t reason); /* "invalid service id (nobody listens)"; never NULL */
const char *roce_cm_sidr_status_text(uint8_t status); /* never NULL */
/* roce_cm_timeout_ns returns 4.096 us * 2^|exp| in ns; |exp| is cut to 5 bits. 0 has its literal
 * value here. */
uint64_t roce_cm_timeout_ns(uint8_t exp);
/* roce_cm_port returns the destination port of an RDMA-CM service id, or -1 when it is not one. */
int roce_cm_port(uint64_t service_id);

#ifdef __cplusplus
}
#endif
#endif
