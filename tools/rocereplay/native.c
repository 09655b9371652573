/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of rocereplay's own exchange. */
#include "rocereplay/native.h"

#include <inttypes.h>
#include <roce/err.h>
#include <roce/psn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocereplay/jsonread.h"

enum { HEAD_ROOM = 512, QP_ROOM = 192, KEY_ROOM = 32, VERSION = 1 };

enum { SERVICES = 3 };
static const char *const services[SERVICES] = {"rc", "uc", "ud"};
#define SERVICE_NOT_TOLD ENG_XRC_TGT
static const char *const op_names[ENG_WR_OPS] = {
    [ENG_WR_SEND] = "send",
    [ENG_WR_SEND_IMM] = "send_imm",
    [ENG_WR_SEND_INV] = "send_inv",
    [ENG_WR_WRITE] = "write",
    [ENG_WR_WRITE_IMM] = "write_imm",
    [ENG_WR_READ] = "read",
    [ENG_WR_CMP_SWAP] = "cas",
    [ENG_WR_FETCH_ADD] = "fadd",
    [ENG_WR_ATOMIC_WRITE] = "atomic_write",
    [ENG_WR_FLUSH] = "flush",
};

char *native_encode(const struct native_offer *offer)
{
    const size_t room = HEAD_ROOM + (size_t)offer->n * QP_ROOM;
    char *line = malloc(room);
    char ip[NETIF_IP_TEXT];
    if (line == NULL)
        return NULL;
    netif_ip_text(offer->ip, ip);
    int n =
        snprintf(line, room,
                 "{\"rocereplay\":%d,\"service\":\"%s\",\"op\":\"%s\",\"mtu\":%u,\"size\":%" PRIu32
                 ",\"depth\":%" PRIu32 ",\"places\":%" PRIu32 ",\"iters\":%" PRIu64
                 ",\"duration_ns\":%" PRIu64
                 ",\"verify\":%s,\"bidirectional\":%s,\"rd_atomic\":%u,\"ip\":\"%s\",\"qps\":[",
                 (int)VERSION, services[offer->service], op_names[offer->op], offer->mtu,
                 offer->size, offer->depth, offer->places, offer->iters, offer->duration_ns,
                 offer->verify ? "true" : "false", offer->bidirectional ? "true" : "false",
                 offer->rd_atomic, ip);
    for (uint32_t i = 0; i < offer->n; i++) {
        const struct remote *qp = &offer->qp[i];
        n += snprintf(line + n, room - (size_t)n,
                      "%s{\"qpn\":%" PRIu32 ",\"psn\":%" PRIu32 ",\"rkey\":%" PRIu32
                      ",\"va\":%" PRIu64 ",\"len\":%" PRIu64,
                      i > 0 ? "," : "", qp->qpn, qp->psn, qp->rkey, qp->va, qp->len);
        if (qp->service != offer->service)
            n += snprintf(line + n, room - (size_t)n, ",\"service\":\"%s\"", services[qp->service]);
        n += snprintf(line + n, room - (size_t)n, "}");
    }
    (void)snprintf(line + n, room - (size_t)n, "]}\n");
    return line;
}

static bool read_choice(struct jsonread *r, const char *const *words, int n, int *value)
{
    char word[KEY_ROOM];
    if (!jsonread_str(r, word, sizeof(word)))
        return false;
    for (int i = 0; i < n; i++) {
        if (strcmp(words[i], word) == 0) {
            *value = i;
            return true;
        }
    }
    r->bad = true;
    return false;
}

static bool read_u32(struct jsonread *r, uint32_t max, uint32_t *value)
{
    uint64_t n;
    if (!jsonread_uint(r, max, &n))
        return false;
    *value = (uint32_t)n;
    return true;
}

static bool read_qp(struct jsonread *r, struct remote *qp)
{
    char key[KEY_ROOM];
    int choice;
    *qp = (struct remote){.service = SERVICE_NOT_TOLD};
    (void)jsonread_open(r, '{');
    while (jsonread_key(r, key, sizeof(key))) {
        if (strcmp(key, "qpn") == 0)
            (void)read_u32(r, ROCE_PSN_MASK, &qp->qpn);
        else if (strcmp(key, "psn") == 0)
            (void)read_u32(r, ROCE_PSN_MASK, &qp->psn);
        else if (strcmp(key, "rkey") == 0)
            (void)read_u32(r, UINT32_MAX, &qp->rkey);
        else if (strcmp(key, "va") == 0)
            (void)jsonread_uint(r, UINT64_MAX, &qp->va);
        else if (strcmp(key, "len") == 0)
            (void)jsonread_uint(r, UINT64_MAX, &qp->len);
        else if (strcmp(key, "service") != 0)
            (void)jsonread_skip(r);
        else if (read_choice(r, services, SERVICES, &choice))
            qp->service = (enum eng_service)choice;
    }
    return !r->bad;
}

static int read_qps(struct jsonread *r, struct native_offer *offer)
{
    uint32_t room = 0;
    (void)jsonread_open(r, '[');
    while (jsonread_more(r)) {
        if (offer->n == room) {
            room = room == 0 ? 16 : 2 * room;
            struct remote *grown = realloc(offer->qp, room * sizeof(*grown));
            if (grown == NULL)
                return ROCE_ERR_NOMEM;
            offer->qp = grown;
        }
        if (offer->n == QPS_MAX || !read_qp(r, &offer->qp[offer->n]))
            return ROCE_ERR_INVALID;
        offer->n++;
    }
    return 0;
}

static int read_member(struct jsonread *r, const char *key, struct native_offer *offer,
                       uint64_t *version)
{
    uint64_t n = 0;
    int choice = 0;
    char ip[NETIF_IP_TEXT];
    if (strcmp(key, "qps") == 0)
        return read_qps(r, offer);
    if (strcmp(key, "rocereplay") == 0) {
        (void)jsonread_uint(r, UINT32_MAX, version);
    } else if (strcmp(key, "service") == 0) {
        if (read_choice(r, services, SERVICES, &choice))
            offer->service = (enum eng_service)choice;
    } else if (strcmp(key, "op") == 0) {
        if (read_choice(r, op_names, ENG_WR_OPS, &choice))
            offer->op = (enum eng_wr_op)choice;
    } else if (strcmp(key, "mtu") == 0) {
        if (jsonread_uint(r, 4096, &n))
            offer->mtu = (uint16_t)n;
    } else if (strcmp(key, "size") == 0) {
        (void)read_u32(r, INT32_MAX, &offer->size);
    } else if (strcmp(key, "depth") == 0) {
        (void)read_u32(r, DEPTH_MAX, &offer->depth);
    } else if (strcmp(key, "places") == 0) {
        (void)read_u32(r, DEPTH_MAX, &offer->places);
    } else if (strcmp(key, "iters") == 0) {
        (void)jsonread_uint(r, INT64_MAX, &offer->iters);
    } else if (strcmp(key, "duration_ns") == 0) {
        (void)jsonread_uint(r, INT64_MAX, &offer->duration_ns);
    } else if (strcmp(key, "verify") == 0) {
        (void)jsonread_bool(r, &offer->verify);
    } else if (strcmp(key, "bidirectional") == 0) {
        (void)jsonread_bool(r, &offer->bidirectional);
    } else if (strcmp(key, "rd_atomic") == 0) {
        if (jsonread_uint(r, 128, &n))
            offer->rd_atomic = (uint8_t)n;
    } else if (strcmp(key, "ip") == 0) {
        if (jsonread_str(r, ip, sizeof(ip)) && netif_ip_parse(ip, offer->ip) != 0)
            r->bad = true;
    } else {
        (void)jsonread_skip(r);
    }
    return 0;
}

static bool is_valid(const struct native_offer *offer)
{
    const uint32_t mtu = offer->mtu;
    return mtu >= 256 && mtu <= 4096 && (mtu & (mtu - 1)) == 0 && offer->depth > 0 &&
           offer->places > 0 && offer->n > 0 && (offer->service != ENG_UD || offer->size <= mtu);
}

int native_decode(const char *line, struct native_offer *offer)
{
    struct jsonread r;
    char key[KEY_ROOM];
    uint64_t version = 0;
    int rc = 0;
    *offer = (struct native_offer){0};
    jsonread_init(&r, line);
    (void)jsonread_open(&r, '{');
    while (rc == 0 && jsonread_key(&r, key, sizeof(key)))
        rc = read_member(&r, key, offer, &version);
    if (rc == 0 && !jsonread_end(&r))
        rc = ROCE_ERR_SYNTAX;
    if (rc == 0 && (version != VERSION || !is_valid(offer)))
        rc = ROCE_ERR_INVALID;
    for (uint32_t i = 0; i < offer->n; i++) {
        memcpy(offer->qp[i].ip, offer->ip, 16);
        offer->qp[i].mtu = offer->mtu;
        offer->qp[i].rd_atomic = offer->rd_atomic;
        if (offer->qp[i].service == SERVICE_NOT_TOLD)
            offer->qp[i].service = offer->service;
    }
    if (rc != 0)
        native_free(offer);
    return rc;
}

void native_free(struct native_offer *offer)
{
    free(offer->qp);
    *offer = (struct native_offer){0};
}

int native_report_encode(const struct native_report *report, char *line, size_t room)
{
    return snprintf(line, room,
                    "{\"done\":true,\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64
                    ",\"mismatches\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n",
                    report->messages, report->bytes, report->mismatches, report->lost);
}

int native_report_decode(const char *line, struct native_report *report)
{
    struct jsonread r;
    char key[KEY_ROOM];
    *report = (struct native_report){0};
    jsonread_init(&r, line);
    (void)jsonread_open(&r, '{');
    while (jsonread_key(&r, key, sizeof(key))) {
        if (strcmp(key, "messages") == 0)
            (void)jsonread_uint(&r, UINT64_MAX, &report->messages);
        else if (strcmp(key, "bytes") == 0)
            (void)jsonread_uint(&r, UINT64_MAX, &report->bytes);
        else if (strcmp(key, "mismatches") == 0)
            (void)jsonread_uint(&r, UINT64_MAX, &report->mismatches);
        else if (strcmp(key, "lost") == 0)
            (void)jsonread_uint(&r, UINT64_MAX, &report->lost);
        else
            (void)jsonread_skip(&r);
    }
    return jsonread_end(&r) ? 0 : ROCE_ERR_SYNTAX;
}
