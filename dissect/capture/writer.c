/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing pcap and pcapng files, with nanosecond time stamps and through one buffer. */
#include <roce/capture.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_LEN      (128u << 10)
#define SNAPLEN_DEFAULT 262144u
#define NS_PER_S        UINT64_C(1000000000)

#define PCAP_MAGIC_NS   0xa1b23c4du
#define PCAP_HEADER_LEN 24
#define PCAP_RECORD_LEN 16

/* draft-ietf-opsawg-pcapng 4.1 to 4.3 */
#define BLOCK_SHB        0x0a0d0d0au
#define BLOCK_IDB        1u
#define BLOCK_EPB        6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define SHB_LEN          28u
#define IDB_LEN          32u /* with if_tsresol and the end of options */
#define EPB_LEN          32u /* without packet data */
#define OPT_IF_TSRESOL   9
#define TSRESOL_NS       9
#define OPT_COMMENT      1
#define OPT_LEN          4u
#define COMMENT_MAX      1024u

struct roce_writer {
    int fd;
    bool own_fd;
    enum roce_file_format format;
    uint32_t snaplen;
    uint32_t *linktypes; /* one interface each */
    uint32_t linktype_count;
    size_t used;
    int error; /* errno of the first failure; everything behind it would be out of place */
    uint8_t buf[BUFFER_LEN];
};

enum roce_file_format roce_file_format_by_name(const char *path)
{
    static const char *const endings[] = {".pcapng", ".ntar"};
    const size_t len = strlen(path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const size_t n = strlen(endings[i]);
        if (len >= n && strcmp(path + len - n, endings[i]) == 0)
            return ROCE_FILE_PCAPNG;
    }
    return ROCE_FILE_PCAP;
}

static int fail(struct roce_writer *writer, int why)
{
    if (writer->error == 0)
        writer->error = why;
    errno = writer->error;
    return ROCE_ERR_IO;
}

static int write_all(struct roce_writer *writer, const uint8_t *p, size_t len)
{
    if (writer->error != 0)
        return fail(writer, writer->error);
    while (len > 0) {
        const ssize_t n = write(writer->fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(writer, errno);
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int roce_writer_flush(struct roce_writer *writer)
{
    const int err = write_all(writer, writer->buf, writer->used);
    writer->used = 0;
    return err;
}

/* Whole buffers, so that the file's parts lie as the system caches them best: a reader that finds
 * large pages in its cache copies them several times faster than small ones. */
static int put(struct roce_writer *writer, const void *p, size_t len)
{
    const uint8_t *from = p;
    while (len > 0) {
        const size_t room = sizeof(writer->buf) - writer->used, n = len < room ? len : room;
        memcpy(writer->buf + writer->used, from, n);
        writer->used += n;
        from += n;
        len -= n;
        if (writer->used == sizeof(writer->buf)) {
            const int err = roce_writer_flush(writer);
            if (err < 0)
                return err;
        }
    }
    return 0;
}

/* Two 16-bit words as one of 32 bits, whatever the byte order of the machine. */
static uint32_t pair(uint16_t first, uint16_t second)
{
    const uint16_t words[2] = {first, second};
    uint32_t v;
    memcpy(&v, words, sizeof(v));
    return v;
}

static uint32_t tsresol_value(void)
{
    const uint8_t bytes[4] = {TSRESOL_NS};
    uint32_t v;
    memcpy(&v, bytes, sizeof(v));
    return v;
}

static int put_pcap_header(struct roce_writer *writer, uint32_t linktype)
{
    const uint32_t header[PCAP_HEADER_LEN / 4] = {PCAP_MAGIC_NS,   pair(2, 4), 0, 0,
                                                  writer->snaplen, linktype};
    return put(writer, header, sizeof(header));
}

static int put_section(struct roce_writer *writer)
{
    const uint32_t block[SHB_LEN / 4] = {
        BLOCK_SHB, SHB_LEN, BYTE_ORDER_MAGIC, pair(1, 0), UINT32_MAX, UINT32_MAX, SHB_LEN,
    };
    return put(writer, block, sizeof(block));
}

static int put_interface(struct roce_writer *writer, uint32_t linktype)
{
    const uint32_t block[IDB_LEN / 4] = {
        BLOCK_IDB,
        IDB_LEN,
        pair((uint16_t)linktype, 0),
        writer->snaplen,
        pair(OPT_IF_TSRESOL, 1),
        tsresol_value(),
        0,
        IDB_LEN,
    };
    return put(writer, block, sizeof(block));
}

/* Returns the interface of |linktype|, describing it first if it is new. */
static int find_interface(struct roce_writer *writer, uint32_t linktype)
{
    for (uint32_t i = 0; i < writer->linktype_count; i++)
        if (writer->linktypes[i] == linktype)
            return (int)i;
    if (linktype > UINT16_MAX)
        return ROCE_ERR_UNSUPPORTED;
    uint32_t *grown = realloc(writer->linktypes, (writer->linktype_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return ROCE_ERR_NOMEM;
    writer->linktypes = grown;
    const int err = put_interface(writer, linktype);
    if (err < 0)
        return err;
    writer->linktypes[writer->linktype_count] = linktype;
    return (int)writer->linktype_count++;
}

static int begin(struct roce_writer *writer, uint32_t linktype)
{
    if (writer->format == ROCE_FILE_PCAPNG) {
        const int err = put_section(writer);
        return err < 0 ? err : find_interface(writer, linktype);
    }
    writer->linktypes = malloc(sizeof(*writer->linktypes));
    if (writer->linktypes == NULL)
        return ROCE_ERR_NOMEM;
    writer->linktypes[0] = linktype;
    writer->linktype_count = 1;
    return put_pcap_header(writer, linktype);
}

static void report(int *err, char *text, int code, const char *words)
{
    if (err != NULL)
        *err = code;
    if (text != NULL)
        snprintf(text, ROCE_ERRTEXT_LEN, "%s", words);
}

struct roce_writer *roce_writer_open(const char *path, enum roce_file_format format,
                                     uint32_t linktype, uint32_t snaplen, int *err,
                                     char text[ROCE_ERRTEXT_LEN])
{
    const bool standard_output = strcmp(path, "-") == 0;
    struct roce_writer *writer = malloc(sizeof(*writer));
    if (writer == NULL) {
        report(err, text, ROCE_ERR_NOMEM, roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    writer->own_fd = !standard_output;
    writer->format = format;
    writer->snaplen = snaplen == 0 ? SNAPLEN_DEFAULT : snaplen;
    writer->linktypes = NULL;
    writer->linktype_count = 0;
    writer->used = 0;
    writer->error = 0;
    writer->fd = standard_output ? STDOUT_FILENO
                                 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->fd < 0) {
        report(err, text, ROCE_ERR_IO, strerror(errno));
        free(writer);
        return NULL;
    }
    const int begun = begin(writer, linktype);
    if (begun < 0) {
        report(err, text, begun,
               begun == ROCE_ERR_IO ? strerror(writer->error) : roce_strerror(begun));
        roce_writer_close(writer);
        return NULL;
    }
    report(err, text, 0, "");
    return writer;
}

static int put_record(struct roce_writer *writer, const struct roce_frame *frame, uint32_t caplen)
{
    if (writer->linktypes[0] != frame->linktype)
        return ROCE_ERR_UNSUPPORTED;
    const uint32_t record[PCAP_RECORD_LEN / 4] = {
        (uint32_t)(frame->ts / NS_PER_S),
        (uint32_t)(frame->ts % NS_PER_S),
        caplen,
        frame->origlen,
    };
    const int err = put(writer, record, sizeof(record));
    return err < 0 ? err : put(writer, frame->data, caplen);
}

/* opt_comment and the end of options. */
static int put_comment(struct roce_writer *writer, const char *comment, uint32_t len)
{
    static const uint8_t zeros[OPT_LEN] = {0};
    const uint32_t option = pair(OPT_COMMENT, (uint16_t)len);
    int err = put(writer, &option, OPT_LEN);
    if (err == 0)
        err = put(writer, comment, len);
    if (err == 0)
        err = put(writer, zeros, (4 - len % 4) % 4);
    return err < 0 ? err : put(writer, zeros, OPT_LEN);
}

static int put_block(struct roce_writer *writer, const struct roce_frame *frame, uint32_t caplen,
                     const char *comment)
{
    static const uint8_t zeros[4] = {0};
    const uint32_t said = comment != NULL ? (uint32_t)strnlen(comment, COMMENT_MAX) : 0;
    const uint32_t options = said != 0 ? 2 * OPT_LEN + said + (4 - said % 4) % 4 : 0;
    const int iface = find_interface(writer, frame->linktype);
    if (iface < 0)
        return iface;
    const uint32_t pad = (4 - caplen % 4) % 4;
    const uint32_t total = EPB_LEN + caplen + pad + options;
    const uint32_t head[] = {
        BLOCK_EPB,           total,  (uint32_t)iface, (uint32_t)(frame->ts >> 32),
        (uint32_t)frame->ts, caplen, frame->origlen,
    };
    int err = put(writer, head, sizeof(head));
    if (err == 0)
        err = put(writer, frame->data, caplen);
    if (err == 0)
        err = put(writer, zeros, pad);
    if (err == 0 && said != 0)
        err = put_comment(writer, comment, said);
    return err < 0 ? err : put(writer, &total, sizeof(total));
}

int roce_writer_write_note(struct roce_writer *writer, const struct roce_frame *frame,
                           const char *comment)
{
    if (writer->error != 0)
        return fail(writer, writer->error);
    const uint32_t caplen = frame->caplen < writer->snaplen ? frame->caplen : writer->snaplen;
    return writer->format == ROCE_FILE_PCAPNG ? put_block(writer, frame, caplen, comment)
                                              : put_record(writer, frame, caplen);
}

int roce_writer_write(struct roce_writer *writer, const struct roce_frame *frame)
{
    return roce_writer_write_note(writer, frame, NULL);
}

int roce_writer_close(struct roce_writer *writer)
{
    if (writer == NULL)
        return 0;
    int err = roce_writer_flush(writer);
    int why = errno;
    /* Some file systems tell only now that the disk is full. */
    if (writer->own_fd && close(writer->fd) != 0 && err == 0) {
        err = ROCE_ERR_IO;
        why = errno;
    }
    free(writer->linktypes);
    free(writer);
    if (err < 0)
        errno = why;
    return err;
}
