/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The newest frames, in a bounded ring: what saving, the PSN diagram and the list of headers are
 * made from. Frames of one flow are chained, newest first. */
#ifndef TUI_RING_H
#define TUI_RING_H

#include <roce/types.h>

/* One frame. |data_len| bytes of it lie behind the record (tui_ring_data). */
struct ring_record {
    uint64_t before; /* mark of the record of the same flow before this one; 0: none known */
    uint64_t number; /* of the frame */
    roce_tstamp ts;
    uint32_t flow;  /* ROCE_FLOW_NONE: it belongs to none */
    uint32_t flags; /* ROCE_V_* */
    uint32_t caplen, origlen;
    uint32_t psn;      /* with |has_bth| */
    uint32_t psns;     /* that this request takes */
    uint32_t missing;  /* with ROCE_V_GAP: PSNs skipped before this one */
    uint16_t data_len; /* bytes kept */
    uint8_t opcode, op, syndrome;
    uint8_t ecn;
    uint8_t linktype_code; /* index into ring.linktype */
    uint8_t iface;
    bool has_bth;
    bool icrc_bad;
};

enum { RING_LINKTYPES = 16, RING_BLOCK = 65536 };

struct ring {
    uint8_t *memory;
    uint64_t size;   /* bytes, a multiple of RING_BLOCK */
    uint64_t head;   /* bytes ever written, skipped ends of rounds included */
    uint64_t at;     /* |head| % |size| */
    uint32_t slice;  /* bytes of each frame that are kept at most */
    uint64_t *first; /* by block: where in the stream its first record begins */
    uint64_t begun;  /* head when the ring was emptied */
    uint32_t linktype[RING_LINKTYPES];
    uint8_t linktypes;
    uint64_t records; /* ever written */
};

/* tui_ring_init prepares a ring of about |bytes| bytes (at least 1 MiB) that keeps up to |slice|
 * bytes of each frame, at most 65535. Returns 0, or -1 without memory. */
int tui_ring_init(struct ring *ring, uint64_t bytes, uint32_t slice);
void tui_ring_free(struct ring *ring);
void tui_ring_clear(struct ring *ring);

/* tui_ring_push appends |record|, whose data_len and linktype_code it sets, with the first bytes of
 * |frame|, and returns the record's mark (never 0). */
uint64_t tui_ring_push(struct ring *ring, struct ring_record *record,
                       const struct roce_frame *frame);

/* tui_ring_get returns the record of |mark|, or NULL when it has been overwritten (or |mark| is 0).
 */
const struct ring_record *tui_ring_get(const struct ring *ring, uint64_t mark);
const uint8_t *tui_ring_data(const struct ring_record *record);

/* tui_ring_frame makes a frame of the record, borrowed from the ring. */
void tui_ring_frame(const struct ring *ring, const struct ring_record *record,
                    struct roce_frame *frame);

/* tui_ring_oldest returns the mark of the oldest record, tui_ring_next that of the record behind
 * |mark|; 0 at the end. */
uint64_t tui_ring_oldest(const struct ring *ring);
uint64_t tui_ring_next(const struct ring *ring, uint64_t mark);

#endif
