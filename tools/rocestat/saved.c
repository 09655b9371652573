/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved counters. */
#include "rocestat/saved.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/hwcounters.h>

#include "common/msg.h"

#define FILE_MAX (16u << 20)

/* What soft-RoCE calls the same things. */
static const struct {
    const char *name;
    enum roce_hw hw;
} aliases[] = {
    {"out_of_seq_request", ROCE_HW_OUT_OF_SEQUENCE},
    {"rcvd_seq_err", ROCE_HW_PACKET_SEQ_ERR},
    {"rcvd_rnr_err", ROCE_HW_RNR_NAK_RETRY_ERR},
    {"send_rnr_err", ROCE_HW_OUT_OF_BUFFER},
};

static int counter_of(const char *name)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(aliases[i].name, name) == 0)
            return (int)aliases[i].hw;
    return roce_hw_by_name(name);
}

static void add(struct saved *saved, int hw, uint64_t value, uint64_t *first)
{
    if (!saved->has[hw]) {
        saved->has[hw] = true;
        first[hw] = saved->value[hw] = value;
        return;
    }
    saved->two[hw] = true;
    saved->went_back[hw] = value < first[hw];
    saved->value[hw] = value - first[hw];
}

static bool number(const char *word, uint64_t *value)
{
    char *end;
    if (word[0] < '0' || word[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(word, &end, 10);
    return errno == 0 && *end == '\0';
}

/* A word that is a counter's name and the number behind it; a path counts by its last part. */
static void parse(struct saved *saved, char *text)
{
    static const char between[] = " \t\r\n:=,\"{}[]";
    uint64_t first[ROCE_HW_COUNT] = {0};
    int hw = -1;
    char *rest;
    for (char *word = strtok_r(text, between, &rest); word != NULL;
         word = strtok_r(NULL, between, &rest)) {
        uint64_t value;
        if (hw >= 0 && number(word, &value)) {
            add(saved, hw, value, first);
            hw = -1;
            continue;
        }
        const char *slash = strrchr(word, '/');
        hw = counter_of(slash != NULL ? slash + 1 : word);
    }
}

/* As struct roce_ip: IPv4 in mapped form. */
static bool parse_address(uint8_t addr[16], const char *text)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    memcpy(addr, mapped, sizeof(mapped));
    return inet_pton(AF_INET, text, addr + 12) == 1 || inet_pton(AF_INET6, text, addr) == 1;
}

/* Cuts "HOST=" off; a file name may hold a '=' as well, behind no address. */
static const char *take_host(struct saved *saved, const char *argument)
{
    char host[64];
    const char *equals = strchr(argument, '=');
    if (equals == NULL || (size_t)(equals - argument) >= sizeof(host))
        return argument;
    memcpy(host, argument, (size_t)(equals - argument));
    host[equals - argument] = '\0';
    saved->has_addr = parse_address(saved->addr, host);
    return saved->has_addr ? equals + 1 : argument;
}

int saved_read(struct saved *saved, const char *argument)
{
    *saved = (struct saved){0};
    saved->path = take_host(saved, argument);
    FILE *f = fopen(saved->path, "rb");
    if (f == NULL) {
        msg_file(saved->path, "%s; name a file with saved counters", strerror(errno));
        return EXIT_IO;
    }
    char *text = calloc(1, FILE_MAX + 1);
    const size_t len = text == NULL ? 0 : fread(text, 1, FILE_MAX, f);
    const bool failed = ferror(f) != 0;
    (void)fclose(f);
    if (text == NULL || failed) {
        msg_file(saved->path, "cannot be read; name a file with saved counters");
        free(text);
        return EXIT_IO;
    }
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    parse(saved, text);
    free(text);
    for (int hw = 0; hw < ROCE_HW_COUNT; hw++)
        if (saved->has[hw])
            return EXIT_DONE;
    msg_file(saved->path, "names no counter that the wire can show; save the output of"
                          " \"rdma statistic show\" there");
    return EXIT_IO;
}

uint32_t saved_host(const struct saved *saved, const struct roce_observer *obs, uint32_t hosts)
{
    uint32_t best = hosts > 0 ? 0 : ROCE_FLOW_NONE;
    unsigned most = 0;
    for (uint32_t i = 0; i < hosts; i++) {
        const struct roce_host *host = roce_observer_host(obs, i);
        unsigned agree = 0;
        if (saved->has_addr) {
            if (memcmp(saved->addr, host->addr, 16) == 0)
                return i;
            continue;
        }
        for (int hw = 0; hw < ROCE_HW_COUNT; hw++)
            agree += saved->has[hw] && saved->value[hw] != 0 && saved->value[hw] == host->hw[hw] &&
                     roce_host_has(host, (enum roce_hw)hw);
        if (agree > most) {
            most = agree;
            best = i;
        }
    }
    return saved->has_addr ? ROCE_FLOW_NONE : best;
}
