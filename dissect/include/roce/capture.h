/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture input and output: the library's only I/O. One reader interface serves files, pipes and
 * live interfaces. */
#ifndef ROCE_CAPTURE_H
#define ROCE_CAPTURE_H

#include <roce/err.h>
#include <roce/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce_reader;

#define ROCE_ERRTEXT_LEN 256

/* What is known of one interface (pcapng) or of the file as a whole (pcap). */
struct roce_iface {
    uint32_t linktype;
    uint32_t snaplen;  /* 0: no limit known */
    char name[64];     /* pcapng if_name, "" without */
    uint64_t received; /* packets the capturer saw and dropped, as pcapng statistics blocks or the
                          kernel tell; */
    uint64_t dropped;  /* 0 until told */
    bool has_stats;    /* received and dropped have been told */
    bool nanosecond;   /* time stamps finer than 1 us */

    /* live interfaces alone */
    uint64_t if_dropped; /* frames the interface lost before the kernel's ring, since the opening */
    uint64_t merged;     /* frames longer than |mtu| allows: the receive offload (GRO, LRO) glued
                            packets together, and what they were is lost */
    uint32_t mtu;        /* 0: unknown */
    uint32_t downs;      /* how often it went down; frames come again once it is up */
    bool adapter_time;   /* time stamps are the adapter's */
};

struct roce_reader_opts {
    bool follow; /* at the end of a growing regular file wait for more (until roce_reader_break)
                    instead of ending */
    bool hold;   /* frames of a file stay valid until roce_reader_release */
};

/* roce_reader_open opens |path| ("-": standard input): pcap, pcapng, either of them inside gzip or
 * zstd. |opts| may be NULL. Returns NULL on failure, with a negative enum roce_err in |*err| and in
 * |text| (ROCE_ERRTEXT_LEN bytes) what went wrong, without program or file name: "is a directory",
 * "Permission denied", "empty file", "not a capture file (begins with 7f 45 4c 46)". */
struct roce_reader *roce_reader_open(const char *path, const struct roce_reader_opts *opts,
                                     int *err, char text[ROCE_ERRTEXT_LEN]);

/* roce_reader_next fetches up to |max| frames. Returns how many (> 0), 0 at a clean end, or a
 * negative error: ROCE_ERR_TRUNCATED when the file is cut short inside a record, ROCE_ERR_FORMAT
 * when it holds what no capture file holds, ROCE_ERR_IO. Frames before the fault are handed out
 * first. The frames stay valid until the next call on this reader. After an error or the end every
 * further call returns the same. */
int roce_reader_next(struct roce_reader *reader, struct roce_frame *frames, int max);

/* roce_reader_holds tells whether |reader| does as opts.hold asks; pipes, growing files and
 * interfaces cannot. roce_reader_release then says that the frames up to number |number| are not
 * used any more. Between these calls memory is used for all frames handed out: release soon. */
bool roce_reader_holds(const struct roce_reader *reader);
void roce_reader_release(struct roce_reader *reader, uint64_t number);

/* roce_reader_compressed tells whether |reader| decompresses its input, which takes longer than
 * decoding what comes out. */
bool roce_reader_compressed(const struct roce_reader *reader);

/* roce_reader_text explains the error that roce_reader_next returned, "" when there was none; owned
 * by the reader. */
const char *roce_reader_text(const struct roce_reader *reader);

/* roce_reader_iface returns interface |index| as known so far, or NULL; those behind it follow as
 * in an array, which may move at the next roce_reader_next. */
const struct roce_iface *roce_reader_iface(const struct roce_reader *reader, uint32_t index);
uint32_t roce_reader_iface_count(const struct roce_reader *reader);

/* roce_reader_dropped returns the sum of all interfaces' dropped and if_dropped: frames that were
 * there and that this capture does not have. */
uint64_t roce_reader_dropped(const struct roce_reader *reader);

/* roce_reader_progress tells bytes of the input file consumed and its size; size is 0 when unknown
 * (pipe). */
void roce_reader_progress(const struct roce_reader *reader, uint64_t *consumed, uint64_t *size);

/* roce_reader_break makes a waiting or later roce_reader_next return 0. Safe in a signal handler.
 */
void roce_reader_break(struct roce_reader *reader);

/* roce_reader_del closes everything; NULL is accepted. */
void roce_reader_del(struct roce_reader *reader);

/* ---- live ---- */

#define ROCE_LIVE_BUFFER_KIB 32768
#define ROCE_LIVE_IFACES_MAX 16

struct roce_live_opts {
    const char *filter;  /* tcpdump expression that the kernel runs; NULL or "": all frames */
    uint32_t snaplen;    /* 0: 262144 */
    uint32_t buffer_kib; /* ring of each interface; 0: ROCE_LIVE_BUFFER_KIB */
    uint32_t wait_ms;    /* longest that roce_reader_next waits for a frame; 0: not at all (some ms
                            all the same while the order of frames of several is settled) */
    bool no_promiscuous;
    bool adapter_time;     /* time stamps of the adapter's clock instead of the host's; an adapter
                              without is an error */
    bool portable;         /* go through libpcap even where the ring of our own works */
    uint16_t fanout_group; /* not 0: share the frames of the interface among all readers of this
                              group, each of them for a thread or process of its own: both
                              directions between two addresses come to the same reader */
};

/* roce_reader_open_live opens |count| interfaces (1 to ROCE_LIVE_IFACES_MAX) as one reader, whose
 * frame.iface and roce_reader_iface number them in this order. Frames of several come merged by
 * their time, where their clocks and the kernel's delays (some ms) allow. |opts| may be NULL.
 *
 * roce_reader_next then gives frames as soon as there are some (within 20 ms of their arrival), at
 * least one; ROCE_ERR_AGAIN after wait_ms without or when a signal came, and the reader goes on; 0
 * after roce_reader_break and the frames that had come before it; another error when an interface
 * vanished. roce_iface.received, dropped and if_dropped are up to date whenever roce_reader_next
 * has returned 0 or ROCE_ERR_AGAIN, and else at most 100 ms old.
 *
 * Returns NULL on failure, as roce_reader_open: ROCE_ERR_PERMISSION, ROCE_ERR_UNKNOWN (no such
 * interface), ROCE_ERR_STATE (it is down), ROCE_ERR_SYNTAX (the filter), ROCE_ERR_UNSUPPORTED,
 * ROCE_ERR_INVALID, ROCE_ERR_NOMEM, ROCE_ERR_IO. The text names the interface. */
struct roce_reader *roce_reader_open_live(const char *const *names, uint32_t count,
                                          const struct roce_live_opts *opts, int *err,
                                          char text[ROCE_ERRTEXT_LEN]);

/* roce_reader_fd returns a descriptor that polls readable when roce_reader_next may have a frame,
 * or -1 when there is none (files, systems without epoll). It is the reader's. */
int roce_reader_fd(const struct roce_reader *reader);

/* struct roce_live_iface is an interface that could be opened. */
struct roce_live_iface {
    char name[64];
    bool up, running, loopback;
    uint32_t mtu;       /* 0: unknown */
    uint64_t speed_bps; /* 0: unknown */
    char driver[32];    /* "" unknown */
};

/* roce_live_list writes up to |max| interfaces of this machine, in the system's order, and returns
 * how many there are, or ROCE_ERR_IO. No privileges are needed. */
int roce_live_list(struct roce_live_iface *list, uint32_t max);

struct roce_writer;

enum roce_file_format { ROCE_FILE_PCAP, ROCE_FILE_PCAPNG };

/* roce_file_format_by_name returns ROCE_FILE_PCAPNG for names that end in ".pcapng" or ".ntar",
 * else ROCE_FILE_PCAP. */
enum roce_file_format roce_file_format_by_name(const char *path);

/* roce_writer_open creates |path| ("-": standard output) with nanosecond time stamps. A pcap file
 * takes one link type, |linktype|; a pcapng file starts with that one and takes more as they come.
 * |snaplen| 0 stands for 262144. Returns NULL on failure, as roce_reader_open. */
struct roce_writer *roce_writer_open(const char *path, enum roce_file_format format,
                                     uint32_t linktype, uint32_t snaplen, int *err,
                                     char text[ROCE_ERRTEXT_LEN]);

/* roce_writer_write appends |frame|, cut to the snap length. Returns 0, ROCE_ERR_IO, or
 * ROCE_ERR_UNSUPPORTED when a pcap file is given a second link type. */
int roce_writer_write(struct roce_writer *writer, const struct roce_frame *frame);

/* roce_writer_write_note appends |frame| with |comment| (UTF-8, cut to 1024 bytes), which pcapng
 * files keep and pcap files do not; NULL: none. Returns as roce_writer_write. */
int roce_writer_write_note(struct roce_writer *writer, const struct roce_frame *frame,
                           const char *comment);

/* roce_writer_flush pushes buffered bytes to the file. roce_writer_close flushes, closes and frees;
 * NULL is accepted. Both return 0 or ROCE_ERR_IO (errno tells why). */
int roce_writer_flush(struct roce_writer *writer);
int roce_writer_close(struct roce_writer *writer);

struct roce_bpf;

/* roce_bpf_compile compiles a tcpdump expression for |linktype|. Returns NULL on failure, as
 * roce_reader_open: ROCE_ERR_SYNTAX (the expression, in libpcap's words), ROCE_ERR_IO (libpcap,
 * which the first call of a process loads, cannot be loaded), ROCE_ERR_NOMEM. */
struct roce_bpf *roce_bpf_compile(const char *expression, uint32_t linktype, int *err,
                                  char text[ROCE_ERRTEXT_LEN]);
bool roce_bpf_match(const struct roce_bpf *bpf, const struct roce_frame *frame);
void roce_bpf_del(struct roce_bpf *bpf);

/* ROCE_BPF_ROCE keeps RoCEv1, RoCEv2, the encapsulations that may carry them and MAC control
 * frames, with and without a VLAN tag: the --roce-filter of the programs. */
extern const char ROCE_BPF_ROCE[];

#ifdef __cplusplus
}
#endif
#endif
