/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches of frames selected, decoded and checked by one thread. */
#include "rocestat/decoder.h"

#include "common/input.h"
#include "common/msg.h"

static bool filter_suits(const struct roce_filter *filter, const struct stat_opts *opts)
{
    if (roce_filter_needs_flow(filter)) {
        msg_print("-Y asks for what the report is to find out; use fields of the packet alone, or"
                  " rocedump");
        return false;
    }
    if (opts->common.no_icrc && roce_filter_needs_icrc(filter)) {
        msg_print("-Y asks for the ICRC that --no-icrc leaves unchecked; leave one out");
        return false;
    }
    return true;
}

int decoder_init(struct decoder *decoder, const struct stat_opts *opts, const char *bpf,
                 uint32_t linktype)
{
    char text[ROCE_ERRTEXT_LEN];
    decoder->opts = opts;
    for (uint8_t i = 0; i < opts->common.ports.n && i < ROCE_UDP_PORTS_MAX; i++)
        decoder->decode.udp_ports[decoder->decode.n_udp_ports++] = opts->common.ports.port[i];
    decoder->decode.rd = opts->common.rd;
    selection_init(&decoder->selection, bpf, opts->common.roce_filter);
    const int err = selection_prepare(&decoder->selection, linktype, text);
    if (err != 0)
        return selection_fault(bpf, err, text);
    if (opts->filter == NULL)
        return EXIT_DONE;
    decoder->selection.filter = selection_filter("-Y", opts->filter);
    if (decoder->selection.filter == NULL || !filter_suits(decoder->selection.filter, opts))
        return EXIT_USAGE;
    return EXIT_DONE;
}

void decoder_free(struct decoder *decoder)
{
    selection_free(&decoder->selection);
}

static bool matches(struct decoder *decoder, const struct roce_frame *frame,
                    const struct roce_packet *pkt, const struct roce_icrc *icrc)
{
    if (decoder->selection.filter == NULL)
        return true;
    struct roce_view view;
    roce_view_init(&view, frame, pkt, icrc);
    view.link_speed_bps = decoder->opts->common.link_speed_bps;
    return roce_filter_match(decoder->selection.filter, &view);
}

enum { CLAIM_AHEAD = 6, FETCH_AHEAD = 4, FETCH_MAX = 4608 };

/* The ICRC looks at every byte, and another thread may have read them. */
static inline void fetch_bytes(const struct roce_frame *frame)
{
#if defined(__GNUC__)
    for (uint32_t at = 0; at < frame->caplen && at < FETCH_MAX; at += 64)
        __builtin_prefetch(frame->data + at);
#else
    (void)frame;
#endif
}

/* The place was last read by another processor, which is asked for it before it is written: else
 * the stores queue up behind each other. x86 has that instruction since before it has 64 bits, but
 * compilers want to be told. */
#if defined(__GNUC__) && defined(__x86_64__)
#define CLAIMS __attribute__((target("prfchw")))
#else
#define CLAIMS
#endif

CLAIMS static inline void claim(const struct roce_digest *digest)
{
#if defined(__GNUC__)
    __builtin_prefetch(digest, 1);
#else
    (void)digest;
#endif
}

static void decode_one(const struct decoder *decoder, const struct roce_frame *frame,
                       struct roce_packet *pkt, struct roce_icrc *icrc, bool check)
{
    roce_packet_decode(frame, &decoder->decode, pkt);
    if (!check)
        return;
    if (roce_packet_is_roce(pkt))
        roce_icrc_check(frame, pkt, icrc);
    else
        *icrc = (struct roce_icrc){.status = ROCE_ICRC_UNCHECKED, .reason = ROCE_ICRC_NOT_ASKED};
}

/* Closes up over the frames that do not pass, and decodes the others with |decode|. */
static void select_frames(struct decoder *decoder, struct feed_batch *batch, bool decode)
{
    const uint32_t snaplen = decoder->opts->common.snaplen;
    const bool selects = decoder->selection.expression[0] != '\0' || decoder->selection.roce_filter;
    const int n = batch->count;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        struct roce_frame *frame = &batch->frame[kept];
        *frame = batch->frame[i];
        if (selects) {
            const int passes = selection_bpf(&decoder->selection, frame, batch->text);
            if (passes < 0)
                batch->selection_err = passes;
            if (passes <= 0)
                continue;
        }
        if (snaplen != 0 && frame->caplen > snaplen)
            frame->caplen = snaplen;
        struct roce_packet *pkt = &batch->packet[kept];
        struct roce_icrc *icrc = &batch->icrc[kept];
        if (decode)
            decode_one(decoder, frame, pkt, icrc, batch->checked);
        if (!decode || matches(decoder, frame, pkt, batch->checked ? icrc : NULL))
            kept++;
    }
    batch->count = kept;
}

CLAIMS static void digest_frames(const struct decoder *decoder, struct feed_batch *batch,
                                 const struct roce_flow_table *flows)
{
    const int n = batch->count;
    for (int i = 0; i < n; i++) {
        if (decoder->far) {
            claim(&batch->digest[i + CLAIM_AHEAD < n ? i + CLAIM_AHEAD : i]);
            if (batch->checked && i + FETCH_AHEAD < n)
                fetch_bytes(&batch->frame[i + FETCH_AHEAD]);
        }
        (void)roce_flow_digest(flows, &batch->frame[i], &decoder->decode, batch->checked,
                               &batch->packet[i], &batch->icrc[i], &batch->digest[i]);
    }
}

void decoder_run(struct decoder *decoder, struct feed_batch *batch,
                 const struct roce_flow_table *flows)
{
    const struct selection *selection = &decoder->selection;
    const bool decode = decoder->whole || selection->filter != NULL || flows == NULL;
    batch->checked = !decoder->opts->common.no_icrc;
    batch->selection_err = 0;
    batch->digested = !decode;
    batch->decode = &decoder->decode;
    if (decode || selection->expression[0] != '\0' || selection->roce_filter ||
        decoder->opts->common.snaplen != 0)
        select_frames(decoder, batch, decode);
    if (!decode)
        digest_frames(decoder, batch, flows);
}
