/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a capture file: from memory and through a pipe they give the same frames and the
 * same end, and nothing outside is touched. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <roce/capture.h>

#include "../../dissect/capture/reader.h"

#define PIPE_ROOM 65536 /* what a pipe holds without a reader */
#define BATCH     16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    uint64_t hash;
    uint64_t frames;
    uint64_t dropped;
    uint32_t ifaces;
    int result;
    char text[ROCE_ERRTEXT_LEN];
};

static void mix(struct outcome *outcome, uint64_t value)
{
    outcome->hash = (outcome->hash ^ value) * UINT64_C(0x100000001b3);
}

static void mix_frame(struct outcome *outcome, const struct roce_frame *frame)
{
    assert(frame->number == outcome->frames + 1);
    outcome->frames++;
    mix(outcome, frame->ts);
    mix(outcome, frame->caplen);
    mix(outcome, frame->origlen);
    mix(outcome, (uint64_t)frame->iface << 32 | frame->linktype);
    for (uint32_t i = 0; i < frame->caplen; i += 8) {
        uint64_t word = 0;
        memcpy(&word, frame->data + i, frame->caplen - i < 8 ? frame->caplen - i : 8);
        mix(outcome, word);
    }
}

static void run(struct roce_reader *reader, struct outcome *outcome)
{
    struct roce_frame frames[BATCH];
    uint64_t consumed;
    uint64_t size;
    int n;
    if (reader == NULL)
        return;
    while ((n = roce_reader_next(reader, frames, BATCH)) > 0)
        for (int i = 0; i < n; i++) {
            mix_frame(outcome, &frames[i]);
            assert(frames[i].iface < roce_reader_iface_count(reader));
        }
    assert(roce_reader_next(reader, frames, BATCH) == n);
    assert((n < 0) == (roce_reader_text(reader)[0] != '\0'));
    roce_reader_progress(reader, &consumed, &size);
    outcome->result = n;
    outcome->dropped = roce_reader_dropped(reader);
    outcome->ifaces = roce_reader_iface_count(reader);
    for (uint32_t i = 0; i < outcome->ifaces; i++)
        assert(strlen(roce_reader_iface(reader, i)->name) < 64);
    memcpy(outcome->text, roce_reader_text(reader), sizeof(outcome->text));
    roce_reader_del(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome memory = {0};
    struct outcome piped = {0};
    int fds[2];

    run(cap_reader_open_memory(data, size, &memory.result, memory.text), &memory);
    if (size > PIPE_ROOM || pipe(fds) != 0)
        return 0;
    const ssize_t written = size > 0 ? write(fds[1], data, size) : 0;
    close(fds[1]);
    assert(written == (ssize_t)size);
    run(cap_reader_open_fd(fds[0], NULL, &piped.result, piped.text), &piped);
    close(fds[0]);

    /* Compressed data have a meaning only to the pipe. */
    if (cap_codec_detect(data, size) != CAP_CODEC_NONE)
        return 0;
    assert(memory.result == piped.result && strcmp(memory.text, piped.text) == 0);
    assert(memory.frames == piped.frames && memory.hash == piped.hash);
    assert(memory.dropped == piped.dropped && memory.ifaces == piped.ifaces);
    return 0;
}
