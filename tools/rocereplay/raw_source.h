/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorded frames, read again for each pass, or kept in memory. */
#ifndef ROCEREPLAY_RAW_SOURCE_H
#define ROCEREPLAY_RAW_SOURCE_H

#include <roce/capture.h>

struct raw_kept {
    uint64_t off;
    uint32_t len, origlen, linktype;
    roce_tstamp ts;
};

/* struct raw_store keeps frames, one behind the other. */
struct raw_store {
    uint8_t *bytes;
    struct raw_kept *kept;
    uint64_t used, room;
    uint64_t n, kept_room;
};
/* raw_store_add keeps a copy of |frame|. 0, or -1 with a message printed. */
int raw_store_add(struct raw_store *store, const struct roce_frame *frame);
/* raw_store_get gives frame |i| (below |store->n|) back. */
void raw_store_get(const struct raw_store *store, uint64_t i, struct roce_frame *frame);
void raw_store_free(struct raw_store *store);

enum { RAW_BATCH = 64 };

struct raw_source {
    const char *file;
    struct roce_reader *reader;
    struct roce_frame batch[RAW_BATCH];
    int n, at;
    int status; /* 0; -1 once the file was cut short or could not be read (message printed) */
};

/* raw_source_open begins with the first frame. 0, or -1 with a message printed. */
int raw_source_open(struct raw_source *src, const char *file);
/* raw_source_next gives the next frame, borrowed until the next call. 1, or 0 at the end, clean or
 * not (|src->status|). */
int raw_source_next(struct raw_source *src, struct roce_frame *frame);
void raw_source_close(struct raw_source *src);

#endif
