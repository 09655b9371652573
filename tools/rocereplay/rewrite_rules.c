/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of rewriting as they are written on the command line. */
#include <errno.h>
#include <roce/psn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port/netif.h"
#include "rocereplay/rewrite.h"

enum { WORD_MAX = 128 };

static int bad(char why[REWRITE_WHY_MAX], const char *word, const char *wanted)
{
    (void)snprintf(why, REWRITE_WHY_MAX, "'%.60s' is not %s", word, wanted);
    return -1;
}

/* Copies the next word up to a comma to |word|. 1; 0 at the end; -1 when it is too long. */
static int next_word(const char **at, char word[WORD_MAX], char why[REWRITE_WHY_MAX])
{
    if (*at == NULL)
        return 0;
    const size_t n = strcspn(*at, ",");
    if (n >= WORD_MAX)
        return bad(why, *at, "a rule: too long");
    memcpy(word, *at, n);
    word[n] = '\0';
    *at = (*at)[n] == ',' ? *at + n + 1 : NULL;
    return 1;
}

/* Cuts |word| at its '='; NULL without one. */
static char *cut(char *word)
{
    char *eq = strchr(word, '=');
    if (eq == NULL)
        return NULL;
    *eq = '\0';
    return eq + 1;
}

static bool number(const char *text, uint64_t max, uint64_t *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
    return errno == 0 && *end == '\0' && *value <= max;
}

static bool parse_net(char *text, uint8_t ip[16], uint8_t *bits)
{
    char *slash = strchr(text, '/');
    uint64_t n = 0;
    if (slash != NULL)
        *slash++ = '\0';
    if (netif_ip_parse(text, ip) != 0)
        return false;
    const unsigned top = netif_is_ipv4(ip) ? 96 : 0;
    if (slash != NULL && !number(slash, 128 - top, &n))
        return false;
    *bits = (uint8_t)(slash != NULL ? top + n : 128);
    return true;
}

int rewrite_parse_ip(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX])
{
    static const char wanted[] = "a rule for addresses; give NET/N=NET/N, both IPv4 or both IPv6";
    char word[WORD_MAX], shown[WORD_MAX];
    int rc;
    while ((rc = next_word(&text, word, why)) > 0) {
        struct rewrite_ip rule;
        memcpy(shown, word, sizeof(shown));
        char *to = cut(word);
        if (to == NULL || rw->n_ip == REWRITE_RULES_MAX ||
            !parse_net(word, rule.from, &rule.from_bits) ||
            !parse_net(to, rule.to, &rule.to_bits) ||
            netif_is_ipv4(rule.from) != netif_is_ipv4(rule.to))
            return bad(why, shown, wanted);
        rw->ip[rw->n_ip++] = rule;
    }
    return rc;
}

static bool parse_mac(const char *text, uint8_t mac[6])
{
    for (int i = 0; i < 6; i++) {
        char *end;
        if (strspn(text, "0123456789abcdefABCDEF") == 0)
            return false;
        const unsigned long n = strtoul(text, &end, 16);
        if (n > 255 || end - text > 2 || *end != (i < 5 ? ':' : '\0'))
            return false;
        mac[i] = (uint8_t)n;
        text = end + 1;
    }
    return true;
}

int rewrite_parse_mac(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX])
{
    static const char wanted[] = "a rule for MAC addresses; give MAC=MAC, src=MAC or dst=MAC";
    char word[WORD_MAX], shown[WORD_MAX];
    int rc;
    while ((rc = next_word(&text, word, why)) > 0) {
        struct rewrite_mac rule = {.kind = REWRITE_MAC_BOTH};
        memcpy(shown, word, sizeof(shown));
        const char *to = cut(word);
        if (to == NULL || rw->n_mac == REWRITE_RULES_MAX || !parse_mac(to, rule.to))
            return bad(why, shown, wanted);
        if (strcmp(word, "src") == 0)
            rule.kind = REWRITE_MAC_SRC;
        else if (strcmp(word, "dst") == 0)
            rule.kind = REWRITE_MAC_DST;
        else if (!parse_mac(word, rule.from))
            return bad(why, shown, wanted);
        rw->mac[rw->n_mac++] = rule;
    }
    return rc;
}

int rewrite_parse_qp(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX])
{
    static const char wanted[] = "a rule for QPs; give QP=QP or QP@ADDRESS=QP (24 bits)";
    char word[WORD_MAX], shown[WORD_MAX];
    int rc;
    while ((rc = next_word(&text, word, why)) > 0) {
        struct rewrite_qp rule = {0};
        uint64_t from, value;
        memcpy(shown, word, sizeof(shown));
        const char *to = cut(word);
        char *host = strchr(word, '@');
        rule.has_host = host != NULL;
        if (host != NULL)
            *host++ = '\0';
        if (to == NULL || rw->n_qp == REWRITE_RULES_MAX || !number(word, ROCE_PSN_MASK, &from) ||
            !number(to, ROCE_PSN_MASK, &value) ||
            (host != NULL && netif_ip_parse(host, rule.host) != 0))
            return bad(why, shown, wanted);
        rule.from = (uint32_t)from;
        rule.to = (uint32_t)value;
        rw->qp[rw->n_qp++] = rule;
    }
    return rc;
}

int rewrite_parse_rkey(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX])
{
    static const char wanted[] = "a rule for keys; give KEY=KEY, or KEY for all (32 bits)";
    char word[WORD_MAX], shown[WORD_MAX];
    int rc;
    while ((rc = next_word(&text, word, why)) > 0) {
        uint64_t from = 0, value;
        memcpy(shown, word, sizeof(shown));
        const char *to = cut(word);
        if (rw->n_rkey == REWRITE_RULES_MAX || (to != NULL && !number(word, UINT32_MAX, &from)) ||
            !number(to != NULL ? to : word, UINT32_MAX, &value))
            return bad(why, shown, wanted);
        rw->rkey[rw->n_rkey++] =
            (struct rewrite_rkey){.any = to == NULL, .from = (uint32_t)from, .to = (uint32_t)value};
    }
    return rc;
}

int rewrite_parse_vlan(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX])
{
    const char *at = text;
    unsigned vid, pcp = 0;
    char rest;
    rw->vlan = REWRITE_VLAN_SET;
    if (strcmp(text, "none") == 0) {
        rw->vlan = REWRITE_VLAN_STRIP;
        return 0;
    }
    if (strncmp(at, "add:", 4) == 0) {
        rw->vlan = REWRITE_VLAN_ADD;
        at += 4;
    }
    const int n = sscanf(at, "%4u:%1u%c", &vid, &pcp, &rest);
    if (n != (strchr(at, ':') != NULL ? 2 : 1) || at[strspn(at, "0123456789:")] != '\0' ||
        vid > 4094 || pcp > 7)
        return bad(why, text, "a tag; give VID[:PCP], add:VID[:PCP] or none");
    rw->vlan_tci = (uint16_t)(pcp << 13 | vid);
    return 0;
}

int rewrite_parse_psn(struct rewrite *rw, const char *text, char why[REWRITE_WHY_MAX])
{
    uint64_t n;
    const bool minus = text[0] == '-';
    if (!number(text + (minus || text[0] == '+'), ROCE_PSN_MASK, &n))
        return bad(why, text, "a PSN offset; give a number of 24 bits, with - to go back");
    rw->psn_offset = minus ? -(int64_t)n : (int64_t)n;
    return 0;
}
