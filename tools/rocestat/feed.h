/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of a capture in order, selected, decoded and checked, by one thread or several.
 *
 * Flow state is one thread's work, in capture order. What comes before it is not: whichever thread
 * is free takes the next batch from the one reader, or else digests the oldest that has been read,
 * its ICRCs checked; so does the thread that owns the state while the batch it waits for is not
 * ready. The batches are handed out in order: the result does not depend on the number of threads.
 */
#ifndef ROCESTAT_FEED_H
#define ROCESTAT_FEED_H

#include <roce/capture.h>
#include <roce/filter.h>
#include <roce/flow.h>
#include <roce/icrc.h>
#include <roce/packet.h>

#include "rocestat/options.h"

/* Alone a batch stays in the first cache levels; among threads it has to pay for a rendezvous. */
enum { FEED_BATCH_ALONE = 64, FEED_BATCH = 1024 };

enum feed_stage { FEED_READING, FEED_READ, FEED_DIGESTING, FEED_READY };

struct feed_batch {
    struct roce_frame frame[FEED_BATCH]; /* |count| of each: the frames that passed */
    _Alignas(64) struct roce_digest digest[FEED_BATCH]; /* when |digested| */
    struct roce_packet packet[FEED_BATCH]; /* when |digested|, what roce_flow_digest has filled */
    struct roce_icrc icrc[FEED_BATCH];     /* when |checked|, likewise */
    bool digested;
    const struct roce_decode_opts *decode; /* how the packets were decoded, and would be */
    int count;
    int read;  /* frames that the reader handed out; 0 at the end, negative enum roce_err */
    bool idle; /* no frames came for a while, but more may: |read| is 0 */
    bool checked;
    int selection_err; /* not 0: the BPF expression does not suit a link type: |text| */
    char text[ROCE_ERRTEXT_LEN];
    uint64_t dropped; /* by the capturer so far */
    bool has_dropped;
    uint32_t ifaces; /* interfaces captured from, as they were then; 0: from a file */
    struct roce_iface iface[ROCE_LIVE_IFACES_MAX];
    uint64_t consumed, size; /* of the input */
    uint64_t last_number;    /* of the newest frame read */
    enum feed_stage stage;
    uint8_t *copy; /* frames of inputs that cannot be held */
    size_t copy_cap;
};

struct feed;

/* feed_open opens the input and starts the threads. On failure it has said why, and returns NULL
 * with the exit status in |*status|. |opts| is kept. */
struct feed *feed_open(const struct stat_opts *opts, int *status);

/* feed_flows names the table that the packets will go to, so that threads can take over what does
 * not depend on its state. */
void feed_flows(struct feed *feed, const struct roce_flow_table *flows);

/* feed_next returns the next batch. It stays valid until the next call. */
struct feed_batch *feed_next(struct feed *feed);

/* feed_text explains a negative feed_batch.read. feed_reader gives the reader, for what it knows at
 * the end of the capture. */
const char *feed_text(const struct feed *feed);
const struct roce_reader *feed_reader(const struct feed *feed);

/* feed_close stops the threads; NULL is accepted. */
void feed_close(struct feed *feed);

#endif
