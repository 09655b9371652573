/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcapng files: draft-ietf-opsawg-pcapng. Packet blocks become frames, interface and statistics
 * blocks are kept, all others are stepped over. */
#include "reader.h"

#define BLOCK_SHB 0x0a0d0d0au /* the same in both byte orders */
#define BLOCK_IDB 1u
#define BLOCK_PB  2u /* obsolete Packet Block */
#define BLOCK_SPB 3u
#define BLOCK_ISB 5u
#define BLOCK_EPB 6u

#define BLOCK_LEN_MIN 12u
#define SHB_LEN_MIN   28u
#define IDB_LEN_MIN   20u
#define ISB_LEN_MIN   24u
#define SPB_LEN_MIN   16u
#define EPB_LEN_MIN   32u

/* A packet and its options; and what has to be in memory as a whole for its options. */
#define PACKET_BLOCK_MAX (CAP_CAPLEN_MAX + (1u << 20))
#define HEADER_BLOCK_MAX (16u << 20)

#define AHEAD 1024u /* prefetched, as in pcap.c */

#define BYTE_ORDER_MAGIC 0x1a2b3c4du

enum {
    OPT_END = 0,
    OPT_IF_NAME = 2,
    OPT_IF_TSRESOL = 9,
    OPT_IF_FCSLEN = 13,
    OPT_IF_TSOFFSET = 14,
    OPT_ISB_IFRECV = 4,
    OPT_ISB_IFDROP = 5,
    OPT_ISB_OSDROP = 7,
    OPT_EPB_DROPCOUNT = 4,
};

struct option {
    uint16_t code;
    uint16_t len;
    const uint8_t *value;
};

/* Options are padded to 32 bits; a list may end without OPT_END at the end of its block. */
static bool next_option(const uint8_t **p, const uint8_t *end, bool swap, struct option *option)
{
    const size_t left = (size_t)(end - *p);
    if (left < 4)
        return false;
    option->code = cap_u16(*p, swap);
    option->len = cap_u16(*p + 2, swap);
    option->value = *p + 4;
    const size_t padded = ((size_t)option->len + 3) & ~(size_t)3;
    if (option->code == OPT_END || padded > left - 4)
        return false;
    *p += 4 + padded;
    return true;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static void update_dropped(struct roce_reader *reader, uint32_t index)
{
    const struct cap_iface *details = &reader->details[index];
    struct roce_iface *iface = &reader->ifaces[index];
    iface->dropped = iface->has_stats ? details->counted_drops : details->packet_drops;
}

static void packet_drops(struct roce_reader *reader, uint32_t index, uint64_t count)
{
    struct cap_iface *details = &reader->details[index];
    details->packet_drops = add_saturated(details->packet_drops, count);
    update_dropped(reader, index);
}

/* Cut between two characters when it is longer than the room. */
static void set_name(struct roce_iface *iface, const struct option *option)
{
    size_t len = strnlen((const char *)option->value, option->len);
    if (len >= sizeof(iface->name)) {
        len = sizeof(iface->name) - 1;
        while (len > 0 && (option->value[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(iface->name, option->value, len);
    iface->name[len] = '\0';
}

static bool interface_block(struct roce_reader *reader, const uint8_t *p, uint32_t total)
{
    const bool swap = reader->swap;
    const int index = cap_reader_add_iface(reader);
    if (index < 0)
        return false;
    struct roce_iface *iface = &reader->ifaces[index];
    struct cap_iface *details = &reader->details[index];
    iface->linktype = details->linktype = cap_u16(p + 8, swap);
    iface->snaplen = details->snaplen = cap_u32(p + 12, swap);
    uint8_t resol = CAP_TSRESOL_DEFAULT;
    uint64_t offset = 0;
    struct option option;
    const uint8_t *at = p + 16;
    while (next_option(&at, p + total - 4, swap, &option)) {
        if (option.code == OPT_IF_NAME) {
            set_name(iface, &option);
        } else if (option.code == OPT_IF_TSRESOL && option.len == 1) {
            resol = option.value[0];
        } else if (option.code == OPT_IF_TSOFFSET && option.len == 8) {
            offset = cap_u64(option.value, swap);
        } else if (option.code == OPT_IF_FCSLEN && option.len == 1) {
            /* The draft's text counts bits, its example and most programs octets. */
            const uint32_t len = option.value[0];
            details->fcs_len = len >= 8 ? len / 8 : len;
        }
    }
    cap_ticks_init(&details->ticks, resol, (int64_t)offset);
    iface->nanosecond = cap_ticks_finer_than_us(resol);
    reader->has_fcs = reader->has_fcs || details->fcs_len > 0;
    return true;
}

static void statistics_block(struct roce_reader *reader, const uint8_t *p, uint32_t total)
{
    const bool swap = reader->swap;
    const uint32_t id = cap_u32(p + 8, swap);
    if (id >= reader->iface_count - reader->section)
        return; /* a capture is no less readable for it */
    struct roce_iface *iface = &reader->ifaces[reader->section + id];
    uint64_t dropped = 0;
    bool told = false;
    struct option option;
    const uint8_t *at = p + 20;
    while (next_option(&at, p + total - 4, swap, &option)) {
        if (option.len != 8)
            continue;
        if (option.code == OPT_ISB_IFRECV) {
            iface->received = cap_u64(option.value, swap);
            iface->has_stats = true;
        } else if (option.code == OPT_ISB_IFDROP || option.code == OPT_ISB_OSDROP) {
            dropped = add_saturated(dropped, cap_u64(option.value, swap));
            told = true;
        }
    }
    if (told) {
        iface->has_stats = true;
        reader->details[reader->section + id].counted_drops = dropped;
    }
    update_dropped(reader, reader->section + id);
}

static void packet_options(struct roce_reader *reader, uint32_t index, const uint8_t *at,
                           const uint8_t *end, bool swap)
{
    struct option option;
    while (next_option(&at, end, swap, &option))
        if (option.code == OPT_EPB_DROPCOUNT && option.len == 8)
            packet_drops(reader, index, cap_u64(option.value, swap));
}

/* Enhanced and obsolete packet block differ in one word: |id| is the interface. False: a fault. */
CAP_INLINE bool packet_block(struct roce_reader *reader, struct roce_frame *frames, int n,
                             const uint8_t *p, uint32_t total, uint32_t id, const bool swap)
{
    const uint32_t caplen = cap_u32(p + 20, swap);
    if (CAP_UNLIKELY(caplen > total - EPB_LEN_MIN)) {
        cap_reader_packet_fault(reader, n, p, "a captured length of %u in a block of %u bytes",
                                caplen, total);
        return false;
    }
    if (CAP_UNLIKELY(id >= reader->iface_count - reader->section)) {
        cap_reader_packet_fault(reader, n, p, "interface %u of %u", id,
                                reader->iface_count - reader->section);
        return false;
    }
    const uint32_t index = reader->section + id;
    const struct cap_iface *details = &reader->details[index];
    const uint64_t count = (uint64_t)cap_u32(p + 12, swap) << 32 | cap_u32(p + 16, swap);
    struct roce_frame *frame = &frames[n];
    frame->data = p + 28;
    frame->caplen = caplen;
    frame->origlen = cap_u32(p + 24, swap);
    frame->ts = cap_ticks_ns(&details->ticks, count);
    frame->number = reader->number + (uint64_t)n + 1;
    frame->iface = index;
    frame->linktype = details->linktype;
    const uint32_t padded = (caplen + 3) & ~3u;
    if (CAP_UNLIKELY(padded < total - EPB_LEN_MIN))
        packet_options(reader, index, p + 28 + padded, p + total - 4, swap);
    return true;
}

/* A Simple Packet Block has the first interface of its section and no time stamp. */
static bool simple_packet_block(struct roce_reader *reader, struct roce_frame *frames, int n,
                                const uint8_t *p, uint32_t total)
{
    if (reader->iface_count == reader->section) {
        cap_reader_packet_fault(reader, n, p, "no interface was described");
        return false;
    }
    const struct cap_iface *details = &reader->details[reader->section];
    const uint32_t origlen = cap_u32(p + 8, reader->swap);
    uint32_t caplen = origlen;
    if (details->snaplen != 0 && caplen > details->snaplen)
        caplen = details->snaplen;
    if (caplen > total - SPB_LEN_MIN) {
        cap_reader_packet_fault(reader, n, p, "a captured length of %u in a block of %u bytes",
                                caplen, total);
        return false;
    }
    frames[n] = (struct roce_frame){
        .data = p + 12,
        .caplen = caplen,
        .origlen = origlen,
        .number = reader->number + (uint64_t)n + 1,
        .iface = reader->section,
        .linktype = details->linktype,
    };
    return true;
}

/* A length is a multiple of 4 between the least that the type can have and the most that a program
 * could have meant. */
static bool check_length(struct roce_reader *reader, int n, const uint8_t *p, uint32_t total)
{
    uint32_t least = BLOCK_LEN_MIN;
    uint32_t most = CAP_CAPLEN_MAX;
    switch (cap_u32(p, reader->swap)) {
    case BLOCK_SHB:
        least = SHB_LEN_MIN;
        most = HEADER_BLOCK_MAX;
        break;
    case BLOCK_IDB:
        least = IDB_LEN_MIN;
        most = HEADER_BLOCK_MAX;
        break;
    case BLOCK_ISB:
        least = ISB_LEN_MIN;
        most = HEADER_BLOCK_MAX;
        break;
    case BLOCK_SPB:
        least = SPB_LEN_MIN;
        break;
    case BLOCK_PB:
    case BLOCK_EPB:
        least = EPB_LEN_MIN;
        most = PACKET_BLOCK_MAX;
        break;
    }
    if (total >= least && total <= most && total % 4 == 0)
        return true;
    cap_reader_packet_fault(reader, n, p, "a block length of %u", total);
    return false;
}

static bool check_trailer(struct roce_reader *reader, int n, const uint8_t *p, uint32_t total)
{
    const uint32_t again = cap_u32(p + total - 4, reader->swap);
    if (again == total)
        return true;
    cap_reader_packet_fault(
        reader, n, p, "a block length of %u at its beginning and of %u at its end", total, again);
    return false;
}

/* The byte order has to be known before anything else of a Section Header Block is read. */
static bool section_order(struct roce_reader *reader, int n, const uint8_t *p)
{
    if (cap_u32(p + 8, false) == BYTE_ORDER_MAGIC) {
        reader->swap = false;
    } else if (cap_u32(p + 8, true) == BYTE_ORDER_MAGIC) {
        reader->swap = true;
    } else {
        cap_reader_packet_fault(reader, n, p, "a section header without byte order");
        return false;
    }
    return true;
}

/* The length of the section is of no use, as blocks are stepped over one by one. */
static bool section_block(struct roce_reader *reader, const uint8_t *p)
{
    const unsigned major = cap_u16(p + 12, reader->swap);
    const unsigned minor = cap_u16(p + 14, reader->swap);
    if (major != 1) {
        cap_reader_fault(reader, ROCE_ERR_UNSUPPORTED, "pcapng version %u.%u is not supported",
                         major, minor);
        return false;
    }
    reader->section = reader->iface_count;
    return true;
}

/* What a block that is in the window as a whole says. False: a fault. */
static bool parse_block(struct roce_reader *reader, struct roce_frame *frames, int n,
                        const uint8_t *p, uint32_t type, uint32_t total)
{
    const bool swap = reader->swap;
    switch (type) {
    case BLOCK_SHB:
        return section_block(reader, p);
    case BLOCK_IDB:
        return interface_block(reader, p, total);
    case BLOCK_ISB:
        statistics_block(reader, p, total);
        return true;
    case BLOCK_SPB:
        return simple_packet_block(reader, frames, n, p, total);
    case BLOCK_EPB:
        return packet_block(reader, frames, n, p, total, cap_u32(p + 8, swap), swap);
    case BLOCK_PB: {
        const uint16_t drops = cap_u16(p + 10, swap);
        if (!packet_block(reader, frames, n, p, total, cap_u16(p + 8, swap), swap))
            return false;
        if (drops != UINT16_MAX) /* not known */
            packet_drops(reader, frames[n].iface, drops);
        return true;
    }
    default:
        return true;
    }
}

static bool is_packet(uint32_t type)
{
    return type == BLOCK_EPB || type == BLOCK_PB || type == BLOCK_SPB;
}

static bool is_wanted(uint32_t type)
{
    return is_packet(type) || type == BLOCK_SHB || type == BLOCK_IDB || type == BLOCK_ISB;
}

/* Deals with the block at source.pos, of which at least BLOCK_LEN_MIN bytes are there, and moves on
 * behind it. Returns false when the walk has to stop: batch full, bytes needed, or a fault. */
static bool any_block(struct roce_reader *reader, struct roce_frame *frames, int max, int *n)
{
    struct cap_source *source = &reader->source;
    const uint8_t *p = source->pos;
    const size_t avail = cap_source_avail(source);
    if (cap_u32(p, false) == BLOCK_SHB && !section_order(reader, *n, p))
        return false;
    const uint32_t type = cap_u32(p, reader->swap);
    const uint32_t total = cap_u32(p + 4, reader->swap);
    if (is_packet(type) && *n == max)
        return false;
    if (!check_length(reader, *n, p, total))
        return false;
    if (avail < total) {
        reader->need = total;
        reader->in_block = !is_packet(type);
        if (!is_wanted(type)) {
            source->pos = source->end;
            reader->skip = total - avail;
            reader->need = 1;
        }
        return false;
    }
    if (!check_trailer(reader, *n, p, total) || !parse_block(reader, frames, *n, p, type, total))
        return false;
    source->pos = p + total;
    *n += is_packet(type);
    return true;
}

/* One instance for each byte order. Returns false when the walk has to stop, true at a section of
 * the other byte order. */
CAP_INLINE bool walk_section(struct roce_reader *reader, struct roce_frame *frames, int max, int *n,
                             const bool swap)
{
    struct cap_source *source = &reader->source;
    while (reader->swap == swap) {
        const uint8_t *p = source->pos;
        const size_t avail = cap_source_avail(source);
        if (CAP_UNLIKELY(avail < BLOCK_LEN_MIN)) {
            reader->need = BLOCK_LEN_MIN;
            return false;
        }
        const uint32_t total = cap_u32(p + 4, swap);
        /* The usual block; whatever is odd about one is for any_block to say. */
        if (CAP_LIKELY(cap_u32(p, swap) == BLOCK_EPB && total >= EPB_LEN_MIN && total <= avail &&
                       total % 4 == 0 && *n < max && cap_u32(p + total - 4, swap) == total)) {
            CAP_PREFETCH_AT(p, AHEAD);
            if (!packet_block(reader, frames, *n, p, total, cap_u32(p + 8, swap), swap))
                return false;
            source->pos = p + total;
            ++*n;
        } else if (!any_block(reader, frames, max, n)) {
            return false;
        }
    }
    return true;
}

static int walk_pcapng(struct roce_reader *reader, struct roce_frame *frames, int max)
{
    struct cap_source *source = &reader->source;
    const size_t avail = cap_source_avail(source);
    const size_t skip = reader->skip < avail ? (size_t)reader->skip : avail;
    source->pos += skip;
    reader->skip -= skip;
    reader->need = 0;
    reader->in_block = false;
    if (reader->skip > 0) {
        reader->need = 1;
        return 0;
    }
    int n = 0;
    bool on = true;
    while (on)
        on = reader->swap ? walk_section(reader, frames, max, &n, true)
                          : walk_section(reader, frames, max, &n, false);
    return n;
}

int cap_pcapng_open(struct roce_reader *reader)
{
    struct cap_source *source = &reader->source;
    if (cap_u32(source->pos, false) != BLOCK_SHB)
        return 0;
    const int filled = cap_source_fill(source, SHB_LEN_MIN);
    if (filled < 0)
        return cap_reader_fault(reader, filled, "%s", source->text);
    if (filled == 0)
        return cap_reader_fault(reader, ROCE_ERR_TRUNCATED, "cut short in the file header");
    if (cap_u32(source->pos + 8, false) != BYTE_ORDER_MAGIC &&
        cap_u32(source->pos + 8, true) != BYTE_ORDER_MAGIC)
        return 0;
    reader->walk = walk_pcapng;
    return 1;
}
