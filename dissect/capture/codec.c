/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gzip by zlib, zstd by libzstd. */
#include "codec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include <roce/err.h>

#define GZIP_WINDOW_BITS (15 + 16) /* largest window; a gzip header, not a zlib one */

struct cap_codec {
    enum cap_codec_kind kind;
    bool complete; /* between two members */
    z_stream z;
    ZSTD_DStream *zstd;
};

enum cap_codec_kind cap_codec_detect(const uint8_t *p, size_t len)
{
    if (len >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8) /* RFC 1952 2.3.1: CM 8 is deflate */
        return CAP_CODEC_GZIP;
    if (len < 4)
        return CAP_CODEC_NONE;
    /* RFC 8878 3.1.1 and, for skippable frames, 3.1.2. */
    if (p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd)
        return CAP_CODEC_ZSTD;
    if ((p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18)
        return CAP_CODEC_ZSTD;
    return CAP_CODEC_NONE;
}

struct cap_codec *cap_codec_new(enum cap_codec_kind kind)
{
    struct cap_codec *codec = calloc(1, sizeof(*codec));
    if (codec == NULL)
        return NULL;
    codec->kind = kind;
    bool ok;
    if (kind == CAP_CODEC_GZIP) {
        ok = inflateInit2(&codec->z, GZIP_WINDOW_BITS) == Z_OK;
    } else {
        codec->zstd = ZSTD_createDStream();
        ok = codec->zstd != NULL && !ZSTD_isError(ZSTD_initDStream(codec->zstd));
    }
    if (ok)
        return codec;
    cap_codec_del(codec);
    return NULL;
}

void cap_codec_del(struct cap_codec *codec)
{
    if (codec == NULL)
        return;
    if (codec->kind == CAP_CODEC_GZIP)
        inflateEnd(&codec->z);
    ZSTD_freeDStream(codec->zstd);
    free(codec);
}

/* Tapes and block devices pad with zeros; gzip(1) lets those pass as well. Anything else that is
 * not one more member is damage. */
static int next_member(struct cap_codec *codec, const char **why)
{
    z_stream *z = &codec->z;
    while (z->avail_in > 0 && z->next_in[0] == 0) {
        z->next_in++;
        z->avail_in--;
    }
    if (z->avail_in == 0)
        return 0;
    if (z->next_in[0] != 0x1f || inflateReset(z) != Z_OK) {
        *why = "garbage after the last member";
        return ROCE_ERR_FORMAT;
    }
    codec->complete = false;
    return 0;
}

static int run_gzip(struct cap_codec *codec, const char **why)
{
    z_stream *z = &codec->z;
    /* Even without input: zlib may still hold output that found no room. */
    while (z->avail_out > 0) {
        if (codec->complete) {
            const int err = next_member(codec, why);
            if (err < 0)
                return err;
            if (codec->complete)
                return 0;
        }
        const int status = inflate(z, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            codec->complete = true;
        } else if (status == Z_BUF_ERROR) {
            return 0;
        } else if (status != Z_OK) {
            *why = z->msg != NULL ? z->msg : zError(status);
            return ROCE_ERR_FORMAT;
        }
    }
    return 0;
}

static int run_zstd(struct cap_codec *codec, ZSTD_inBuffer *in, ZSTD_outBuffer *out,
                    const char **why)
{
    /* Even without input: libzstd may still hold output that found no room. */
    do {
        const size_t before = in->pos + out->pos;
        const size_t hint = ZSTD_decompressStream(codec->zstd, out, in);
        if (ZSTD_isError(hint)) {
            *why = ZSTD_getErrorName(hint);
            return ROCE_ERR_FORMAT;
        }
        if (in->pos + out->pos == before)
            return 0;
        codec->complete = hint == 0;
    } while (out->pos < out->size);
    return 0;
}

int cap_codec_run(struct cap_codec *codec, const uint8_t **in, size_t *in_len, uint8_t *out,
                  size_t out_len, size_t *produced, const char **why)
{
    int err;
    if (codec->kind == CAP_CODEC_GZIP) {
        z_stream *z = &codec->z;
        const uInt given = *in_len < UINT_MAX ? (uInt)*in_len : UINT_MAX;
        const uInt room = out_len < UINT_MAX ? (uInt)out_len : UINT_MAX;
        z->next_in = *in;
        z->avail_in = given;
        z->next_out = out;
        z->avail_out = room;
        err = run_gzip(codec, why);
        *in += given - z->avail_in;
        *in_len -= given - z->avail_in;
        *produced += room - z->avail_out;
    } else {
        ZSTD_inBuffer src = {*in, *in_len, 0};
        ZSTD_outBuffer dst = {out, out_len, 0};
        err = run_zstd(codec, &src, &dst, why);
        *in += src.pos;
        *in_len -= src.pos;
        *produced += dst.pos;
    }
    return err;
}

bool cap_codec_complete(const struct cap_codec *codec)
{
    return codec->complete;
}

const char *cap_codec_name(const struct cap_codec *codec)
{
    return codec->kind == CAP_CODEC_GZIP ? "gzip" : "zstd";
}
