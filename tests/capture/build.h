/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture files made by hand, byte by byte, and what a reader says of them. */
#ifndef TESTS_CAPTURE_BUILD_H
#define TESTS_CAPTURE_BUILD_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmocka_all.h"

#include <roce/capture.h>

#include "dissect/capture/reader.h"

struct bytes {
    uint8_t data[1 << 16];
    size_t len;
    bool big; /* byte order of what is put next */
};

static inline void put(struct bytes *b, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        b->data[b->len++] = (uint8_t)(value >> 8 * (b->big ? width - 1 - i : i));
}

static inline void put_raw(struct bytes *b, const void *p, size_t len)
{
    memcpy(b->data + b->len, p, len);
    b->len += len;
}

static inline void put_fill(struct bytes *b, uint8_t value, size_t len)
{
    memset(b->data + b->len, value, len);
    b->len += len;
}

static inline void put_pcap_header(struct bytes *b, uint32_t magic, uint32_t snaplen,
                                   uint32_t network)
{
    put(b, magic, 4);
    put(b, 2, 2);
    put(b, 4, 2);
    put(b, 0, 8);
    put(b, snaplen, 4);
    put(b, network, 4);
}

static inline void put_pcap_record(struct bytes *b, uint32_t sec, uint32_t frac, uint32_t caplen,
                                   uint32_t origlen, uint8_t fill)
{
    put(b, sec, 4);
    put(b, frac, 4);
    put(b, caplen, 4);
    put(b, origlen, 4);
    put_fill(b, fill, caplen);
}

/* A block is begun, filled, and ended with its length put in both places. */
static inline size_t begin_block(struct bytes *b, uint32_t type)
{
    const size_t at = b->len;
    put(b, type, 4);
    put(b, 0, 4);
    return at;
}

static inline void end_block(struct bytes *b, size_t at)
{
    const size_t end = b->len + 4;
    b->len = at + 4;
    put(b, end - at, 4);
    b->len = end - 4;
    put(b, end - at, 4);
}

static inline void put_option(struct bytes *b, unsigned code, const void *value, size_t len)
{
    put(b, code, 2);
    put(b, len, 2);
    put_raw(b, value, len);
    put_fill(b, 0, (4 - len % 4) % 4);
}

static inline void put_option_number(struct bytes *b, unsigned code, uint64_t value, unsigned width)
{
    put(b, code, 2);
    put(b, width, 2);
    put(b, value, width);
    put_fill(b, 0, (4 - width % 4) % 4);
}

static inline void put_section(struct bytes *b)
{
    const size_t at = begin_block(b, 0x0a0d0d0a);
    put(b, 0x1a2b3c4d, 4);
    put(b, 1, 2);
    put(b, 0, 2);
    put(b, UINT64_MAX, 8);
    end_block(b, at);
}

static inline void put_interface(struct bytes *b, uint16_t linktype, uint32_t snaplen)
{
    const size_t at = begin_block(b, 1);
    put(b, linktype, 2);
    put(b, 0, 2);
    put(b, snaplen, 4);
    end_block(b, at);
}

/* An interface with if_tsresol and if_tsoffset. */
static inline void put_clocked_interface(struct bytes *b, uint8_t resol, int64_t offset)
{
    const size_t at = begin_block(b, 1);
    put(b, ROCE_LINK_ETHERNET, 2);
    put(b, 0, 2);
    put(b, 0, 4);
    put_option(b, 9, &resol, 1);
    put_option_number(b, 14, (uint64_t)offset, 8);
    put(b, 0, 4);
    end_block(b, at);
}

static inline size_t begin_packet(struct bytes *b, uint32_t iface, uint64_t ticks, uint32_t caplen,
                                  uint32_t origlen, uint8_t fill)
{
    const size_t at = begin_block(b, 6);
    put(b, iface, 4);
    put(b, ticks >> 32, 4);
    put(b, ticks & UINT32_MAX, 4);
    put(b, caplen, 4);
    put(b, origlen, 4);
    put_fill(b, fill, caplen);
    put_fill(b, 0, (4 - caplen % 4) % 4);
    return at;
}

static inline void put_packet(struct bytes *b, uint32_t iface, uint64_t ticks, uint32_t caplen,
                              uint32_t origlen, uint8_t fill)
{
    end_block(b, begin_packet(b, iface, ticks, caplen, origlen, fill));
}

/* What a reader said: the frames, copied, and how it ended. */
#define SEEN_MAX 4096

struct seen {
    struct roce_frame frames[SEEN_MAX];
    int n;
    int result;
    char text[ROCE_ERRTEXT_LEN];
};

static inline void seen_clear(struct seen *seen)
{
    for (int i = 0; i < seen->n; i++)
        free((void *)(uintptr_t)seen->frames[i].data);
    seen->n = 0;
}

static inline void read_rest(struct roce_reader *reader, int batch, struct seen *seen)
{
    struct roce_frame frames[64];
    int n;
    while ((n = roce_reader_next(reader, frames, batch)) > 0) {
        for (int i = 0; i < n; i++) {
            assert_true(seen->n < SEEN_MAX);
            uint8_t *copy = malloc(frames[i].caplen > 0 ? frames[i].caplen : 1);
            memcpy(copy, frames[i].data, frames[i].caplen);
            frames[i].data = copy;
            seen->frames[seen->n++] = frames[i];
        }
    }
    seen->result = n;
    snprintf(seen->text, sizeof(seen->text), "%s", roce_reader_text(reader));
    /* The end is the end, however often it is asked for. */
    assert_int_equal(roce_reader_next(reader, frames, batch), n);
    assert_string_equal(roce_reader_text(reader), seen->text);
}

/* Reads |path|, or the |len| bytes at |data| in a block of exactly that size. A failure to open is
 * told like one while reading. */
static inline void see_path(const char *path, int batch, struct seen *seen)
{
    seen->n = 0;
    struct roce_reader *reader = roce_reader_open(path, NULL, &seen->result, seen->text);
    if (reader != NULL)
        read_rest(reader, batch, seen);
    roce_reader_del(reader);
}

static inline void see_memory(const uint8_t *data, size_t len, int batch, struct seen *seen)
{
    uint8_t *exact = malloc(len > 0 ? len : 1);
    memcpy(exact, data, len);
    seen->n = 0;
    struct roce_reader *reader = cap_reader_open_memory(exact, len, &seen->result, seen->text);
    if (reader != NULL)
        read_rest(reader, batch, seen);
    roce_reader_del(reader);
    free(exact);
}

static inline void assert_frame(const struct roce_frame *frame, uint64_t number, uint64_t ts,
                                uint32_t caplen, uint32_t origlen, uint32_t iface,
                                uint32_t linktype, uint8_t fill)
{
    assert_int_equal(frame->number, number);
    assert_int_equal(frame->ts, ts);
    assert_int_equal(frame->caplen, caplen);
    assert_int_equal(frame->origlen, origlen);
    assert_int_equal(frame->iface, iface);
    assert_int_equal(frame->linktype, linktype);
    for (uint32_t i = 0; i < caplen; i++)
        assert_int_equal(frame->data[i], fill);
}

static inline void assert_same_frames(const struct seen *a, const struct seen *b)
{
    assert_int_equal(a->n, b->n);
    for (int i = 0; i < a->n; i++) {
        const struct roce_frame *x = &a->frames[i];
        const struct roce_frame *y = &b->frames[i];
        assert_int_equal(x->number, y->number);
        assert_int_equal(x->ts, y->ts);
        assert_int_equal(x->caplen, y->caplen);
        assert_int_equal(x->origlen, y->origlen);
        assert_int_equal(x->iface, y->iface);
        assert_int_equal(x->linktype, y->linktype);
        assert_memory_equal(x->data, y->data, x->caplen);
    }
}

/* A file of the test's own in the build folder; the caller unlinks it. */
static inline void temp_path(char path[256], const char *ending)
{
    snprintf(path, 256, BINARY_DIR "/capture-XXXXXX%s", ending);
    const int fd = mkstemps(path, (int)strlen(ending));
    assert_true(fd >= 0);
    close(fd);
}

static inline void write_file(const char *path, const uint8_t *data, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

#endif
