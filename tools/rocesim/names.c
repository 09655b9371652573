/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and ranges of them. */
#include "rocesim/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX_MAX = 16, DIGITS_MAX = 6 };

/* Letters, digits, _ and -, no digit first: up to |len| characters that a file name may have. */
static bool is_name(const char *word, size_t len)
{
    if (len == 0 || len >= SIM_NAME_MAX || !(isalpha((unsigned char)word[0]) || word[0] == '_'))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)word[i]) && word[i] != '_' && word[i] != '-')
            return false;
    return true;
}

/* The length of what stands before the digits at the end. */
static size_t prefix_len(const char *word, size_t len)
{
    while (len > 0 && isdigit((unsigned char)word[len - 1]))
        len--;
    return len;
}

int names_read(struct names *names, const char *word)
{
    const char *dots = strstr(word, "..");
    const size_t len = dots != NULL ? (size_t)(dots - word) : strlen(word);
    *names = (struct names){.n = 1};
    if (!is_name(word, len))
        return -1;
    memcpy(names->prefix, word, len);
    if (dots == NULL)
        return 0;
    const char *last = dots + 2;
    const size_t last_len = strlen(last), prefix = prefix_len(word, len);
    if (!is_name(last, last_len) || prefix_len(last, last_len) != prefix ||
        memcmp(word, last, prefix) != 0 || len == prefix || last_len == prefix ||
        prefix > PREFIX_MAX || len - prefix > DIGITS_MAX || last_len - prefix > DIGITS_MAX)
        return -1;
    const unsigned long from = strtoul(word + prefix, NULL, 10);
    const unsigned long to = strtoul(last + prefix, NULL, 10);
    if (to < from || to - from >= FAB_NODES_MAX)
        return -1;
    memset(names->prefix, 0, sizeof(names->prefix));
    memcpy(names->prefix, word, prefix);
    names->numbered = true;
    names->first = (uint32_t)from;
    names->n = (uint32_t)(to - from + 1);
    return 0;
}

void names_get(const struct names *names, uint32_t i, char out[SIM_NAME_MAX])
{
    if (names->numbered)
        snprintf(out, SIM_NAME_MAX, "%.16s%u", names->prefix, (names->first + i) % 1000000);
    else
        snprintf(out, SIM_NAME_MAX, "%s", names->prefix);
}
