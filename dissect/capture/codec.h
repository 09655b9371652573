/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streaming decompression of gzip and zstd, several members or frames in a row. */
#ifndef CAPTURE_CODEC_H
#define CAPTURE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cap_codec_kind { CAP_CODEC_NONE, CAP_CODEC_GZIP, CAP_CODEC_ZSTD };

#define CAP_CODEC_MAGIC_LEN 4

/* cap_codec_detect tells the compression of input that begins with the |len| bytes at |p|. */
enum cap_codec_kind cap_codec_detect(const uint8_t *p, size_t len);

struct cap_codec;

/* cap_codec_new returns NULL without memory; |kind| is not CAP_CODEC_NONE. */
struct cap_codec *cap_codec_new(enum cap_codec_kind kind);
void cap_codec_del(struct cap_codec *codec);

/* cap_codec_run decompresses from |*in| (moved on, |*in_len| lowered) into |out| and adds to
 * |*produced|. Returns 0, or ROCE_ERR_FORMAT with |*why| set to a static text. */
int cap_codec_run(struct cap_codec *codec, const uint8_t **in, size_t *in_len, uint8_t *out,
                  size_t out_len, size_t *produced, const char **why);

/* cap_codec_complete tells whether the input may end here: the last member is whole. */
bool cap_codec_complete(const struct cap_codec *codec);
const char *cap_codec_name(const struct cap_codec *codec);

#endif
