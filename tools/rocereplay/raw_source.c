/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded frames. */
#include "rocereplay/raw_source.h"

#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "common/msg.h"
#include "common/signals.h"

static int grow(void **memory, uint64_t *room, uint64_t wanted, size_t size)
{
    uint64_t n = *room != 0 ? *room : 1024;
    while (n < wanted)
        n += n / 2;
    void *grown = n <= SIZE_MAX / size ? realloc(*memory, n * size) : NULL;
    if (grown == NULL) {
        msg_print("no memory for all frames of the capture; leave --preload out");
        return -1;
    }
    *memory = grown;
    *room = n;
    return 0;
}

int raw_store_add(struct raw_store *store, const struct roce_frame *frame)
{
    void *bytes = store->bytes, *kept = store->kept;
    if (store->used + frame->caplen > store->room &&
        grow(&bytes, &store->room, store->used + frame->caplen, 1) != 0)
        return -1;
    store->bytes = bytes;
    if (store->n == store->kept_room &&
        grow(&kept, &store->kept_room, store->n + 1, sizeof(*store->kept)) != 0)
        return -1;
    store->kept = kept;
    store->kept[store->n++] = (struct raw_kept){
        .off = store->used,
        .len = frame->caplen,
        .origlen = frame->origlen,
        .linktype = frame->linktype,
        .ts = frame->ts,
    };
    memcpy(store->bytes + store->used, frame->data, frame->caplen);
    store->used += frame->caplen;
    return 0;
}

void raw_store_get(const struct raw_store *store, uint64_t i, struct roce_frame *frame)
{
    const struct raw_kept *kept = &store->kept[i];
    *frame = (struct roce_frame){
        .data = store->bytes + kept->off,
        .caplen = kept->len,
        .origlen = kept->origlen,
        .linktype = kept->linktype,
        .ts = kept->ts,
        .number = i + 1,
    };
}

void raw_store_free(struct raw_store *store)
{
    free(store->bytes);
    free(store->kept);
    *store = (struct raw_store){0};
}

int raw_source_open(struct raw_source *src, const char *file)
{
    *src = (struct raw_source){.file = file};
    src->reader = input_open("rocereplay", file, NULL);
    if (src->reader == NULL)
        return -1;
    signals_reader(src->reader);
    return 0;
}

int raw_source_next(struct raw_source *src, struct roce_frame *frame)
{
    if (src->at == src->n) {
        src->n = roce_reader_next(src->reader, src->batch, RAW_BATCH);
        src->at = 0;
        if (src->n < 0) {
            msg_file(input_name(src->file), "%s; what came before it is replayed",
                     roce_reader_text(src->reader));
            src->status = -1;
        }
        if (src->n <= 0) {
            src->n = 0;
            return 0;
        }
    }
    *frame = src->batch[src->at++];
    return 1;
}

void raw_source_close(struct raw_source *src)
{
    signals_reader(NULL);
    roce_reader_del(src->reader);
    src->reader = NULL;
}
