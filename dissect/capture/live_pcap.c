/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live capture through libpcap: other systems, and interfaces that are neither Ethernet nor IP.
 * Frames are copied out of libpcap's buffer, since its next call may overwrite them. */
#include "live.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "libpcap.h"

/* A batch takes frames until this much is used; the largest frame still fits behind. */
enum { COPY_ENOUGH = 256 * 1024, COPY_LEN = COPY_ENOUGH + LIVE_SNAPLEN };

/* Where there is no descriptor to wait on, look this often. */
enum { LOOK_MS = 10 };

struct handle {
    pcap_t *pcap;
    uint32_t whole_len;
    bool nanosecond;
};

struct handles {
    const struct cap_pcap *lib;
    uint32_t count;
    struct handle handle[ROCE_LIVE_IFACES_MAX];
    uint32_t wait_ms;
    uint8_t *copy;
    size_t used;
};

/* What one pcap_dispatch fills. */
struct batch {
    struct roce_reader *reader;
    struct roce_frame *frames;
    int n;
    uint32_t index;
};

static uint32_t linktype_of(int dlt)
{
    return dlt == DLT_RAW ? ROCE_LINK_RAW : (uint32_t)dlt;
}

static void take(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes)
{
    void *const context = user;
    struct batch *batch = context;
    struct handles *handles = batch->reader->live_state;
    const struct handle *handle = &handles->handle[batch->index];
    struct roce_iface *iface = &batch->reader->ifaces[batch->index];
    const uint32_t caplen = header->caplen < LIVE_SNAPLEN ? header->caplen : LIVE_SNAPLEN;
    uint8_t *data = handles->copy + handles->used;
    memcpy(data, bytes, caplen);
    handles->used += caplen;
    const uint64_t fraction = (uint64_t)header->ts.tv_usec;
    batch->frames[batch->n++] = (struct roce_frame){
        .data = data,
        .caplen = caplen,
        .origlen = header->len,
        .ts = (uint64_t)header->ts.tv_sec * 1000000000u +
              (handle->nanosecond ? fraction : fraction * 1000),
        .iface = batch->index,
        .linktype = iface->linktype,
    };
    if (handle->whole_len != 0 && header->len > handle->whole_len)
        iface->merged++;
    if (handles->used >= COPY_ENOUGH)
        handles->lib->breakloop(handle->pcap);
}

static void read_counters(struct roce_reader *reader)
{
    struct handles *handles = reader->live_state;
    const struct cap_pcap *lib = handles->lib;
    for (uint32_t i = 0; i < handles->count; i++) {
        struct pcap_stat stat;
        if (lib->stats(handles->handle[i].pcap, &stat) != 0)
            continue;
        reader->ifaces[i].received = stat.ps_recv;
        reader->ifaces[i].dropped = stat.ps_drop;
        reader->ifaces[i].if_dropped = stat.ps_ifdrop;
        reader->ifaces[i].has_stats = true;
    }
}

/* Order within the batch is what libpcap allows: the next call may bring an older frame of another
 * interface. Batches are short, and nearly in order. */
static void sort(struct roce_frame *frames, int n)
{
    for (int i = 1; i < n; i++) {
        const struct roce_frame frame = frames[i];
        int k = i;
        for (; k > 0 && frames[k - 1].ts > frame.ts; k--)
            frames[k] = frames[k - 1];
        frames[k] = frame;
    }
}

static int gather(struct roce_reader *reader, struct roce_frame *frames, int max)
{
    struct handles *handles = reader->live_state;
    const struct cap_pcap *lib = handles->lib;
    struct batch batch = {.reader = reader, .frames = frames};
    handles->used = 0;
    for (uint32_t i = 0; i < handles->count; i++) {
        if (batch.n == max || handles->used >= COPY_ENOUGH)
            break;
        batch.index = i;
        void *const context = &batch;
        const int rc = lib->dispatch(handles->handle[i].pcap, max - batch.n, take, context);
        if (rc == PCAP_ERROR && batch.n == 0)
            return cap_live_fault(reader, i, ROCE_ERR_IO, "%.150s",
                                  lib->geterr(handles->handle[i].pcap));
    }
    if (handles->count > 1)
        sort(frames, batch.n);
    for (int i = 0; i < batch.n; i++)
        frames[i].number = ++reader->number;
    return batch.n;
}

/* Returns whether frames may be there. libpcap's own time limit does not end the wait on a quiet
 * interface, so it is never asked to wait. */
static bool await(struct roce_reader *reader)
{
    const struct handles *handles = reader->live_state;
    struct pollfd fds[ROCE_LIVE_IFACES_MAX + 1];
    int timeout = (int)handles->wait_ms;
    nfds_t n = 0;
    fds[n++] = (struct pollfd){.fd = reader->source.wake.pipe[0], .events = POLLIN};
    for (uint32_t i = 0; i < handles->count; i++) {
        const int fd = handles->lib->get_selectable_fd(handles->handle[i].pcap);
        if (fd >= 0)
            fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
        else if (timeout > LOOK_MS)
            timeout = LOOK_MS;
    }
    return poll(fds, n, timeout) > 0;
}

static int pcap_reader_next(struct roce_reader *reader, struct roce_frame *frames, int max)
{
    for (bool again = true;; again = await(reader)) {
        const int n = gather(reader, frames, max);
        if (n > 0)
            return n;
        read_counters(reader);
        if (n < 0)
            return cap_live_finish(reader, n);
        if (cap_wake_broken(&reader->source.wake))
            return cap_live_finish(reader, 0);
        if (!again)
            return ROCE_ERR_AGAIN;
    }
}

static int pcap_reader_fd(const struct roce_reader *reader)
{
    const struct handles *handles = reader->live_state;
    return handles->count == 1 ? handles->lib->get_selectable_fd(handles->handle[0].pcap) : -1;
}

static void pcap_reader_del(struct roce_reader *reader)
{
    struct handles *handles = reader->live_state;
    for (uint32_t i = 0; i < handles->count; i++)
        handles->lib->close(handles->handle[i].pcap);
    free(handles->copy);
    free(handles);
}

static int refused(struct roce_reader *reader, uint32_t index, int rc, const char *words)
{
    int err = ROCE_ERR_IO;
    if (rc == PCAP_ERROR_PERM_DENIED || rc == PCAP_ERROR_PROMISC_PERM_DENIED)
        return cap_live_fault(reader, index, ROCE_ERR_PERMISSION, "no permission to capture");
    if (rc == PCAP_ERROR_NO_SUCH_DEVICE)
        return cap_live_fault(reader, index, ROCE_ERR_UNKNOWN, "no such interface");
    if (rc == PCAP_ERROR_IFACE_NOT_UP)
        return cap_live_fault(reader, index, ROCE_ERR_STATE, "the interface is down");
    return cap_live_fault(reader, index, err, "%.150s", words);
}

static int set_filter(struct roce_reader *reader, const struct cap_pcap *lib, uint32_t index,
                      pcap_t *pcap, const char *words)
{
    struct bpf_program program;
    if (words == NULL || words[0] == '\0')
        return 0;
    if (lib->compile(pcap, &program, words, 1, PCAP_NETMASK_UNKNOWN) != 0)
        return cap_reader_fault(reader, ROCE_ERR_SYNTAX, "%.150s", lib->geterr(pcap));
    const int rc = lib->setfilter(pcap, &program);
    lib->freecode(&program);
    return rc == 0 ? 0 : cap_live_fault(reader, index, ROCE_ERR_IO, "%.150s", lib->geterr(pcap));
}

static int open_handle(struct roce_reader *reader, uint32_t index,
                       const struct roce_live_opts *opts)
{
    struct handles *handles = reader->live_state;
    const struct cap_pcap *lib = handles->lib;
    struct roce_iface *iface = &reader->ifaces[index];
    char text[PCAP_ERRBUF_SIZE] = "";
    pcap_t *pcap = lib->create(iface->name, text);
    if (pcap == NULL)
        return cap_live_fault(reader, index, ROCE_ERR_UNKNOWN, "%.150s", text);
    struct handle *handle = &handles->handle[handles->count++];
    const uint64_t buffer =
        (uint64_t)(opts->buffer_kib == 0 ? ROCE_LIVE_BUFFER_KIB : opts->buffer_kib) * 1024;
    handle->pcap = pcap;
    int rc = lib->set_snaplen(pcap, (int)cap_live_snaplen(opts));
    rc = rc != 0 ? rc : lib->set_buffer_size(pcap, buffer > INT32_MAX ? INT32_MAX : (int)buffer);
    rc = rc != 0 ? rc : lib->set_timeout(pcap, LIVE_RETIRE_MS);
    rc = rc != 0 ? rc : lib->set_promisc(pcap, !opts->no_promiscuous);
    handle->nanosecond = lib->set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO) == 0;
    if (opts->adapter_time && lib->set_tstamp_type(pcap, PCAP_TSTAMP_ADAPTER_UNSYNCED) != 0)
        return cap_live_fault(reader, index, ROCE_ERR_UNSUPPORTED,
                              "the adapter does not give all frames a time");
    rc = rc != 0 ? rc : lib->activate(pcap);
    if (rc < 0)
        return refused(reader, index, rc,
                       lib->geterr(pcap)[0] != '\0' ? lib->geterr(pcap) : lib->statustostr(rc));
    if (lib->setnonblock(pcap, 1, text) != 0)
        return cap_live_fault(reader, index, ROCE_ERR_IO, "%.150s", text);
    iface->linktype = linktype_of(lib->datalink(pcap));
    iface->snaplen = cap_live_snaplen(opts);
    iface->nanosecond = handle->nanosecond;
    iface->adapter_time = opts->adapter_time;
    return set_filter(reader, lib, index, pcap, opts->filter);
}

/* Interfaces have an MTU in the list; loopback does not tell by it what was merged. */
static void find_mtu(struct roce_reader *reader)
{
    struct handles *handles = reader->live_state;
    struct roce_live_iface list[64];
    const int n = roce_live_list(list, 64);
    for (int k = 0; k < n && k < 64; k++)
        for (uint32_t i = 0; i < reader->iface_count; i++)
            if (strcmp(list[k].name, reader->ifaces[i].name) == 0) {
                reader->ifaces[i].mtu = list[k].mtu;
                handles->handle[i].whole_len = cap_live_merged_len(
                    reader->ifaces[i].linktype, list[k].loopback ? 0 : list[k].mtu);
            }
}

int cap_live_pcap(struct roce_reader *reader, const struct roce_live_opts *opts)
{
    static const struct cap_live_ops ops = {pcap_reader_next, pcap_reader_fd, pcap_reader_del};
    if (opts->fanout_group != 0)
        return cap_reader_fault(reader, ROCE_ERR_UNSUPPORTED,
                                "frames cannot be shared out through libpcap");
    char text[ROCE_ERRTEXT_LEN];
    const struct cap_pcap *lib = cap_pcap_load(text);
    if (lib == NULL)
        return cap_live_fault(reader, 0, ROCE_ERR_IO, "%.180s", text);
    struct handles *handles = calloc(1, sizeof(*handles));
    if (handles == NULL)
        return cap_reader_fault(reader, ROCE_ERR_NOMEM, "out of memory");
    handles->lib = lib;
    handles->wait_ms = opts->wait_ms;
    reader->live = &ops;
    reader->live_state = handles;
    handles->copy = malloc(COPY_LEN);
    if (handles->copy == NULL)
        return cap_reader_fault(reader, ROCE_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < reader->iface_count; i++) {
        const int rc = open_handle(reader, i, opts);
        if (rc != 0)
            return rc;
    }
    find_mtu(reader);
    return 0;
}
