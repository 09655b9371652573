/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of rocereplay check's exchange. */
#include "rocereplay/check_line.h"

#include <inttypes.h>
#include <roce/err.h>
#include <stdio.h>
#include <string.h>

#include "port/netif.h"
#include "rocereplay/jsonread.h"

const char check_start_line[] = "{\"start\":true}\n";
const char check_ask_line[] = "{\"status\":true}\n";

enum { KEY_ROOM = 32 };

struct field {
    const char *key;
    uint64_t max;
    size_t offset;
};

static const struct field want_fields[] = {
#define WANT(member, max) {#member, (max), offsetof(struct check_want, member)},
#include "rocereplay/check_want.def"
#undef WANT
};
static const struct field offer_fields[] = {
    {"qpn", 0xFFFFFF, offsetof(struct check_offer, qpn)},
    {"witness_qpn", 0xFFFFFF, offsetof(struct check_offer, witness_qpn)},
    {"rkey", UINT32_MAX, offsetof(struct check_offer, rkey)},
    {"va", UINT64_MAX, offsetof(struct check_offer, va)},
    {"len", UINT64_MAX, offsetof(struct check_offer, len)},
};
static const struct field status_fields[] = {
    {"received", UINT64_MAX, offsetof(struct check_status, received)},
    {"sent", UINT64_MAX, offsetof(struct check_status, sent)},
    {"error", 255, offsetof(struct check_status, error)},
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void encode(const char *kind, const void *from, const struct field *fields, size_t n,
                   char line[CHECK_LINE_MAX])
{
    int at = snprintf(line, CHECK_LINE_MAX, "{\"%s\":1", kind);
    for (size_t i = 0; i < n; i++) {
        uint64_t value;
        memcpy(&value, (const char *)from + fields[i].offset, sizeof(value));
        at += snprintf(line + at, CHECK_LINE_MAX - (size_t)at, ",\"%s\":%" PRIu64, fields[i].key,
                       value);
    }
    (void)snprintf(line + at, CHECK_LINE_MAX - (size_t)at, "}\n");
}

static const struct field *find(const char *key, const struct field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    return NULL;
}

static int decode(const char *kind, const char *line, void *to, const struct field *fields,
                  size_t n, uint8_t *ip)
{
    struct jsonread r;
    char key[KEY_ROOM], text[NETIF_IP_TEXT];
    uint64_t value = 0;
    bool known = false;
    jsonread_init(&r, line);
    (void)jsonread_open(&r, '{');
    while (jsonread_key(&r, key, sizeof(key))) {
        const struct field *field = find(key, fields, n);
        if (strcmp(key, kind) == 0) {
            known = jsonread_uint(&r, 1, &value) && value == 1;
        } else if (field != NULL) {
            if (jsonread_uint(&r, field->max, &value))
                memcpy((char *)to + field->offset, &value, sizeof(value));
        } else if (ip != NULL && strcmp(key, "ip") == 0) {
            if (jsonread_str(&r, text, sizeof(text)) && netif_ip_parse(text, ip) != 0)
                r.bad = true;
        } else {
            (void)jsonread_skip(&r);
        }
    }
    if (!known)
        return ROCE_ERR_UNKNOWN;
    return jsonread_end(&r) ? 0 : ROCE_ERR_INVALID;
}

void check_want_encode(const struct check_want *want, char line[CHECK_LINE_MAX])
{
    char ip[NETIF_IP_TEXT];
    encode("check", want, want_fields, COUNT(want_fields), line);
    netif_ip_text(want->ip, ip);
    const size_t at = strlen(line) - 2; /* in front of the brace */
    (void)snprintf(line + at, CHECK_LINE_MAX - at, ",\"ip\":\"%s\"}\n", ip);
}

int check_want_decode(const char *line, struct check_want *want)
{
    *want = (struct check_want){0};
    const int rc = decode("check", line, want, want_fields, COUNT(want_fields), want->ip);
    const uint64_t mtu = want->mtu;
    if (rc == 0 && (mtu < 256 || (mtu & (mtu - 1)) != 0))
        return ROCE_ERR_INVALID;
    return rc;
}

void check_offer_encode(const struct check_offer *offer, char line[CHECK_LINE_MAX])
{
    encode("offer", offer, offer_fields, COUNT(offer_fields), line);
}

int check_offer_decode(const char *line, struct check_offer *offer)
{
    *offer = (struct check_offer){0};
    return decode("offer", line, offer, offer_fields, COUNT(offer_fields), NULL);
}

void check_status_encode(const struct check_status *status, char line[CHECK_LINE_MAX])
{
    encode("status", status, status_fields, COUNT(status_fields), line);
}

int check_status_decode(const char *line, struct check_status *status)
{
    *status = (struct check_status){0};
    return decode("status", line, status, status_fields, COUNT(status_fields), NULL);
}
