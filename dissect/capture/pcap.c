/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcap files: draft-ietf-opsawg-pcap, and the record header with 8 more bytes of Alexey Kuznetzov's
 * patched libpcap. */
#include "reader.h"

#define HEADER_LEN          24
#define RECORD_LEN          16
#define RECORD_LEN_MODIFIED 24

#define MAGIC_US       0xa1b2c3d4u
#define MAGIC_NS       0xa1b23c4du
#define MAGIC_MODIFIED 0xa1b2cd34u

/* Draft section 4: the upper bits of the link type word tell of the FCS. */
#define LINKTYPE_MASK 0x03ffffffu
#define FCS_KNOWN_BIT 0x04000000u
#define FCS_LEN_SHIFT 28 /* in units of 16 bits */

/* libpcap's limit for any link type, MAXIMUM_SNAPLEN; a file may announce more. */
#define SNAPLEN_USUAL 262144u

/* The place of the next record is known only when this one's length has been loaded, so the walk
 * runs at the latency of a load: this far ahead the line is brought into the first-level cache. */
#define AHEAD 1024u

/* One instance for each byte order, time unit and header length, so that the loop has nothing to
 * decide but the record's length. */
CAP_INLINE int walk(struct roce_reader *reader, struct roce_frame *frames, int max, const bool swap,
                    const uint32_t frac_ns, const size_t header_len)
{
    struct cap_source *source = &reader->source;
    const uint8_t *p = source->pos;
    const uint8_t *const end = source->end;
    const uint32_t caplen_max = reader->caplen_max;
    const uint32_t linktype = reader->details[0].linktype;
    const uint64_t first = reader->number + 1;
    int n = 0;
    reader->need = 0;
    while (n < max) {
        const size_t avail = (size_t)(end - p);
        if (CAP_UNLIKELY(avail < header_len)) {
            reader->need = header_len;
            break;
        }
        const uint32_t caplen = cap_u32(p + 8, swap);
        if (CAP_UNLIKELY(caplen > avail - header_len || caplen > caplen_max)) {
            if (caplen > caplen_max)
                cap_reader_packet_fault(reader, n, p,
                                        "a captured length of %u, which is above the limit of %u",
                                        caplen, caplen_max);
            else
                reader->need = header_len + caplen;
            break;
        }
        /* The records to come have unknown places, but often this one's size: fetch where the sixth
         * from here would begin, its packet headers in the second line. Small ones lie within
         * AHEAD. */
        CAP_PREFETCH_AT(p, AHEAD);
        CAP_PREFETCH_AT(p, 6 * (header_len + caplen));
        CAP_PREFETCH_AT(p, 6 * (header_len + caplen) + 64);
        struct roce_frame *frame = &frames[n];
        frame->data = p + header_len;
        frame->caplen = caplen;
        frame->origlen = cap_u32(p + 12, swap);
        frame->ts =
            cap_u32(p, swap) * UINT64_C(1000000000) + (uint64_t)cap_u32(p + 4, swap) * frac_ns;
        frame->number = first + (uint64_t)n;
        frame->iface = 0;
        frame->linktype = linktype;
        n++;
        p += header_len + caplen;
    }
    source->pos = p;
    return n;
}

#define WALK(name, swap, frac_ns, header_len)                                       \
    static int name(struct roce_reader *reader, struct roce_frame *frames, int max) \
    {                                                                               \
        return walk(reader, frames, max, swap, frac_ns, header_len);                \
    }
WALK(walk_us, false, 1000, RECORD_LEN)
WALK(walk_ns, false, 1, RECORD_LEN)
WALK(walk_us_swapped, true, 1000, RECORD_LEN)
WALK(walk_ns_swapped, true, 1, RECORD_LEN)
WALK(walk_modified, false, 1000, RECORD_LEN_MODIFIED)
WALK(walk_modified_swapped, true, 1000, RECORD_LEN_MODIFIED)
#undef WALK

static cap_walk choose_walk(uint32_t magic, bool swap)
{
    switch (magic) {
    case MAGIC_US:
        return swap ? walk_us_swapped : walk_us;
    case MAGIC_NS:
        return swap ? walk_ns_swapped : walk_ns;
    case MAGIC_MODIFIED:
        return swap ? walk_modified_swapped : walk_modified;
    }
    return NULL;
}

int cap_pcap_open(struct roce_reader *reader)
{
    struct cap_source *source = &reader->source;
    bool swap = false;
    uint32_t magic = cap_u32(source->pos, false);
    cap_walk found = choose_walk(magic, false);
    if (found == NULL) {
        swap = true;
        magic = cap_u32(source->pos, true);
        found = choose_walk(magic, true);
    }
    if (found == NULL)
        return 0;
    const int filled = cap_source_fill(source, HEADER_LEN);
    if (filled < 0)
        return cap_reader_fault(reader, filled, "%s", source->text);
    if (filled == 0)
        return cap_reader_fault(reader, ROCE_ERR_TRUNCATED, "cut short in the file header");
    const uint8_t *p = source->pos;
    const unsigned major = cap_u16(p + 4, swap);
    const unsigned minor = cap_u16(p + 6, swap);
    /* Before 2.4 the two lengths of a record changed places. */
    if (major != 2 || minor < 4)
        return cap_reader_fault(reader, ROCE_ERR_UNSUPPORTED, "pcap version %u.%u is not supported",
                                major, minor);
    if (cap_reader_add_iface(reader) < 0)
        return reader->result;
    struct roce_iface *iface = &reader->ifaces[0];
    const uint32_t network = cap_u32(p + 20, swap);
    iface->linktype = network & LINKTYPE_MASK;
    iface->snaplen = cap_u32(p + 16, swap);
    iface->nanosecond = magic == MAGIC_NS;
    struct cap_iface *details = &reader->details[0];
    details->linktype = iface->linktype;
    details->fcs_len = (network & FCS_KNOWN_BIT) != 0 ? (network >> FCS_LEN_SHIFT) * 2 : 0;
    reader->has_fcs = details->fcs_len > 0;
    reader->caplen_max = iface->snaplen > SNAPLEN_USUAL ? iface->snaplen : SNAPLEN_USUAL;
    if (reader->caplen_max > CAP_CAPLEN_MAX)
        reader->caplen_max = CAP_CAPLEN_MAX;
    reader->walk = found;
    source->pos += HEADER_LEN;
    return 1;
}
