/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles any bytes as a filter; what compiles runs over packets that differ in all they have. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <roce/filter.h>

#include "../filter/samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum sample_id ids[] = {S_ALL, S_TUNNEL, S_REQ, S_PFC};
    static struct sample samples[sizeof(ids) / sizeof(ids[0])];
    if (samples[0].frame.number == 0)
        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
            sample_make(&samples[i], ids[i]);

    char *text = malloc(size + 1);
    assert(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    struct roce_filter_error error;
    struct roce_filter *filter = roce_filter_compile(text, &error);
    if (filter == NULL)
        assert(error.offset <= strlen(text) && error.len >= 1 && error.text[0] != '\0');
    else
        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
            roce_filter_match(filter, &samples[i].view);
    roce_filter_del(filter);
    free(text);
    return 0;
}
