/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The public reader: recognises the format, then lets its parser walk the source's windows. */
#include "reader.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"

/* Every section of a pcapng file may bring interfaces; a hostile one brings nothing else. */
#define IFACES_MAX 65536u

int cap_reader_fault(struct roce_reader *reader, int err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader->text, sizeof(reader->text), format, args);
    va_end(args);
    reader->result = err;
    return err;
}

int cap_reader_packet_fault(struct roce_reader *reader, int n, const uint8_t *record,
                            const char *format, ...)
{
    const struct cap_source *source = &reader->source;
    char what[ROCE_ERRTEXT_LEN / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return cap_reader_fault(reader, ROCE_ERR_FORMAT, "packet %" PRIu64 " at byte %" PRIu64 ": %s",
                            reader->number + (uint64_t)n + 1,
                            source->start_offset + (uint64_t)(record - source->start), what);
}

int cap_reader_add_iface(struct roce_reader *reader)
{
    if (reader->iface_count == IFACES_MAX)
        return cap_reader_fault(reader, ROCE_ERR_UNSUPPORTED, "more than %u interfaces",
                                IFACES_MAX);
    if (reader->iface_count == reader->iface_cap) {
        const uint32_t cap = reader->iface_cap == 0 ? 4 : 2 * reader->iface_cap;
        struct roce_iface *ifaces = realloc(reader->ifaces, cap * sizeof(*ifaces));
        if (ifaces != NULL)
            reader->ifaces = ifaces;
        struct cap_iface *details = realloc(reader->details, cap * sizeof(*details));
        if (details != NULL)
            reader->details = details;
        if (ifaces == NULL || details == NULL)
            return cap_reader_fault(reader, ROCE_ERR_NOMEM, "out of memory");
        reader->iface_cap = cap;
    }
    const uint32_t index = reader->iface_count++;
    memset(&reader->ifaces[index], 0, sizeof(reader->ifaces[index]));
    memset(&reader->details[index], 0, sizeof(reader->details[index]));
    return (int)index;
}

/* Whether fewer than four bytes could be the beginning of a capture file. */
static bool may_begin(const uint8_t *p, size_t len)
{
    static const uint8_t magics[][4] = {
        {0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d},
        {0x4d, 0x3c, 0xb2, 0xa1}, {0xa1, 0xb2, 0xcd, 0x34}, {0x34, 0xcd, 0xb2, 0xa1},
        {0x0a, 0x0d, 0x0d, 0x0a}, {0x1f, 0x8b, 0x08, 0},    {0x28, 0xb5, 0x2f, 0xfd},
    };
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (memcmp(p, magics[i], len) == 0)
            return true;
    return false;
}

static int not_a_capture(struct roce_reader *reader)
{
    const struct cap_source *source = &reader->source;
    const size_t have = cap_source_avail(source);
    char bytes[4 * 3 + 1] = "";
    for (size_t i = 0; i < have && i < 4; i++)
        snprintf(bytes + 3 * i, sizeof(bytes) - 3 * i, " %02x", source->pos[i]);
    return cap_reader_fault(reader, ROCE_ERR_FORMAT, "not a capture file (%s with%s)",
                            source->codec != NULL ? "its uncompressed data begins" : "begins",
                            bytes);
}

static int recognise(struct roce_reader *reader)
{
    struct cap_source *source = &reader->source;
    const int filled = cap_source_fill(source, 4);
    if (filled < 0)
        return cap_reader_fault(reader, filled, "%s", source->text);
    const size_t have = cap_source_avail(source);
    if (have == 0 && source->cut != NULL)
        return cap_reader_fault(reader, ROCE_ERR_TRUNCATED, "cut short (%s data)", source->cut);
    if (have == 0)
        return cap_reader_fault(reader, ROCE_ERR_EMPTY, "%s",
                                source->codec != NULL ? "empty file inside the compression"
                                                      : "empty file");
    if (have < 4 && may_begin(source->pos, have))
        return cap_reader_fault(reader, ROCE_ERR_TRUNCATED, "cut short in the file header");
    int known = have < 4 ? 0 : cap_pcap_open(reader);
    if (known == 0 && have >= 4)
        known = cap_pcapng_open(reader);
    if (known == 0)
        return not_a_capture(reader);
    return known;
}

static void report(int *err, char *text, int code, const char *words)
{
    if (err != NULL)
        *err = code;
    if (text != NULL)
        snprintf(text, ROCE_ERRTEXT_LEN, "%s", words);
}

/* The source of |reader| has been opened with status |opened|. */
static struct roce_reader *open_reader(struct roce_reader *reader, int opened, int *err,
                                       char text[ROCE_ERRTEXT_LEN])
{
    if (opened < 0)
        cap_reader_fault(reader, opened, "%s", reader->source.text);
    else
        opened = recognise(reader);
    /* The leading blocks of a pcapng file, so that its first interfaces are known at once. A fault
     * behind the first of them is for roce_reader_next to tell, like every later one. */
    if (opened >= 0)
        (void)reader->walk(reader, NULL, 0);
    if (reader->result < 0 && reader->iface_count == 0) {
        report(err, text, reader->result, reader->text);
        roce_reader_del(reader);
        return NULL;
    }
    reader->source.opening = false;
    report(err, text, 0, "");
    return reader;
}

struct roce_reader *roce_reader_open(const char *path, const struct roce_reader_opts *opts,
                                     int *err, char text[ROCE_ERRTEXT_LEN])
{
    struct roce_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        report(err, text, ROCE_ERR_NOMEM, "out of memory");
        return NULL;
    }
    const int opened = cap_source_open(&reader->source, path, opts);
    return open_reader(reader, opened, err, text);
}

struct roce_reader *cap_reader_open_fd(int fd, const struct roce_reader_opts *opts, int *err,
                                       char text[ROCE_ERRTEXT_LEN])
{
    struct roce_reader *reader = calloc(1, sizeof(*reader));
    assert(reader != NULL);
    const int opened = cap_source_fd(&reader->source, fd, opts);
    return open_reader(reader, opened, err, text);
}

struct roce_reader *cap_reader_open_memory(const uint8_t *data, size_t len, int *err,
                                           char text[ROCE_ERRTEXT_LEN])
{
    struct roce_reader *reader = calloc(1, sizeof(*reader));
    assert(reader != NULL);
    return open_reader(reader, cap_source_memory(&reader->source, data, len), err, text);
}

static int finish(struct roce_reader *reader, int result)
{
    reader->done = true;
    reader->result = result;
    return result;
}

static int at_the_end(struct roce_reader *reader)
{
    const struct cap_source *source = &reader->source;
    const size_t rest = cap_source_avail(source);
    if (source->broken || (rest == 0 && reader->skip == 0 && source->cut == NULL))
        return finish(reader, 0);
    char codec[64] = "";
    if (source->codec != NULL)
        snprintf(codec, sizeof(codec), source->cut != NULL ? " (%s data)" : " of the %s data",
                 cap_codec_name(source->codec));
    if (rest == 0 && reader->skip == 0)
        cap_reader_fault(reader, ROCE_ERR_TRUNCATED, "cut short after packet %" PRIu64 "%s",
                         reader->number, codec);
    else if (reader->skip > 0 || reader->in_block)
        cap_reader_fault(reader, ROCE_ERR_TRUNCATED,
                         "cut short in a block after packet %" PRIu64 " at byte %" PRIu64 "%s",
                         reader->number, cap_source_offset(source), codec);
    else
        cap_reader_fault(reader, ROCE_ERR_TRUNCATED,
                         "cut short in packet %" PRIu64 " at byte %" PRIu64
                         "%s: %zu of %s%zu bytes",
                         reader->number + 1, cap_source_offset(source), codec, rest,
                         rest < 16 ? "at least " : "", reader->need);
    return finish(reader, ROCE_ERR_TRUNCATED);
}

/* struct roce_frame counts without FCS. */
static void trim_fcs(const struct roce_reader *reader, struct roce_frame *frames, int n)
{
    for (int i = 0; i < n; i++) {
        struct roce_frame *frame = &frames[i];
        const uint32_t fcs = reader->details[frame->iface].fcs_len;
        if (frame->origlen < fcs)
            continue;
        frame->origlen -= fcs;
        if (frame->caplen > frame->origlen)
            frame->caplen = frame->origlen;
    }
}

int roce_reader_next(struct roce_reader *reader, struct roce_frame *frames, int max)
{
    if (max <= 0)
        return ROCE_ERR_INVALID;
    if (reader->done)
        return reader->result;
    if (reader->live != NULL)
        return reader->live->next(reader, frames, max);
    if (cap_wake_broken(&reader->source.wake))
        return finish(reader, 0);
    for (;;) {
        const int n = reader->result < 0 ? 0 : reader->walk(reader, frames, max);
        if (n > 0) {
            reader->number += (uint64_t)n;
            if (CAP_UNLIKELY(reader->has_fcs))
                trim_fcs(reader, frames, n);
            return n;
        }
        if (reader->result < 0)
            return finish(reader, reader->result);
        reader->source.mark = reader->number;
        const int filled = cap_source_fill(&reader->source, reader->need);
        if (filled < 0)
            return finish(reader, cap_reader_fault(reader, filled, "%s", reader->source.text));
        if (filled == 0)
            return at_the_end(reader);
    }
}

bool roce_reader_holds(const struct roce_reader *reader)
{
    return reader->source.hold && reader->source.regular && !reader->source.follow;
}

bool roce_reader_compressed(const struct roce_reader *reader)
{
    return reader->source.codec != NULL;
}

void roce_reader_release(struct roce_reader *reader, uint64_t number)
{
    cap_source_release(&reader->source, number);
}

const char *roce_reader_text(const struct roce_reader *reader)
{
    return reader->done ? reader->text : "";
}

const struct roce_iface *roce_reader_iface(const struct roce_reader *reader, uint32_t index)
{
    return index < reader->iface_count ? &reader->ifaces[index] : NULL;
}

uint32_t roce_reader_iface_count(const struct roce_reader *reader)
{
    return reader->iface_count;
}

uint64_t roce_reader_dropped(const struct roce_reader *reader)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < reader->iface_count; i++)
        sum += reader->ifaces[i].dropped + reader->ifaces[i].if_dropped;
    return sum;
}

void roce_reader_progress(const struct roce_reader *reader, uint64_t *consumed, uint64_t *size)
{
    *consumed = cap_source_consumed(&reader->source);
    *size = reader->source.file_size;
}

void roce_reader_break(struct roce_reader *reader)
{
    cap_wake_break(&reader->source.wake);
}

void roce_reader_del(struct roce_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->live != NULL)
        reader->live->del(reader);
    cap_source_close(&reader->source);
    free(reader->ifaces);
    free(reader->details);
    free(reader);
}
