/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every decoded and computed field of a packet by its name: the JSON key, the word of the filter
 * language, the column of CSV and the line of rocedump -V come from this one list
 * (dissect/filter/fields.def). */
#ifndef ROCE_FIELD_H
#define ROCE_FIELD_H

#include <roce/cm.h>
#include <roce/icrc.h>
#include <roce/mad.h>
#include <roce/packet.h>
#include <roce/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

/* struct roce_view is one packet with all that is known of it; it borrows what it points to. */
struct roce_view {
    const struct roce_frame *frame;
    const struct roce_packet *pkt;
    const struct roce_icrc
        *icrc; /* never NULL; status unchecked, reason not_asked when it was not asked for */
    const struct roce_verdict *verdict; /* NULL without flow state */
    uint64_t acked_in; /* frame that acknowledges this request; 0 unknown: needs a look ahead */
    uint64_t link_speed_bps; /* for pause times; 0 unknown */
    bool has_mad, has_cm;
    bool cm_cut;         /* the CM message is sliced: fields behind the cut are 0 */
    uint16_t cm_len;     /* bytes of the CM message that are captured, with has_cm */
    struct roce_mad mad; /* with has_mad */
    struct roce_cm cm;   /* with has_cm */
    char encapsulation[ROCE_TUNNEL_MAX * 16]; /* "erspan2+vxlan"; valid with two tunnels or more */
};

/* roce_view_init fills |view| and decodes MAD and CM message where the packet has them. |icrc| NULL
 * stands for "not asked for"; verdict, acked_in and link speed are left to the caller (NULL and 0
 * here). */
void roce_view_init(struct roce_view *view, const struct roce_frame *frame,
                    const struct roce_packet *pkt, const struct roce_icrc *icrc);

enum roce_field_type {
    ROCE_FIELD_BOOL,
    ROCE_FIELD_UINT,  /* u; below 2^53: a JSON number */
    ROCE_FIELD_HEX64, /* u; a JSON string "0x..." */
    ROCE_FIELD_REAL,  /* r */
    ROCE_FIELD_WORD,  /* s: one of a fixed set of words; code: its place among them */
    ROCE_FIELD_TEXT,  /* s: free text */
    ROCE_FIELD_ADDR,  /* addr and ip_version: IPv4 in mapped form when ip_version is 4 */
    ROCE_FIELD_MAC,   /* addr[0..5] */
    ROCE_FIELD_LIST,  /* n numbers in list; a filter comparison holds when one of them fits */
    ROCE_FIELD_REALS, /* n numbers in reals; as LIST */
};

#define ROCE_WORD_MAX 512 /* codes of a WORD field are below */

struct roce_value {
    union {
        bool b;
        uint64_t u;
        double r;
        const char *s; /* static, or inside the view */
        uint8_t addr[16];
        uint32_t list[8];
        double reals[8];
    };
    uint8_t ip_version;
    uint8_t n;
    uint16_t code; /* WORD: roce_field.word(code) is s */
};

struct roce_field {
    const char *name;  /* "reth.va": the dot opens a JSON object */
    const char *alias; /* another word of the filter language ("qp" for dest_qp), or NULL */
    const char *label; /* "Virtual address", for -V */
    const char *help;  /* one line, with the unit */
    uint8_t type;      /* enum roce_field_type */
    bool hex;          /* people read it in hexadecimal */
    bool computed;     /* needs flow state */
    bool numbered; /* WORD: the low byte of a code is the standard's number for the word, and the
                      filter language takes it too */
    const char *(*word)(unsigned code); /* WORD: the word of |code|, NULL when there is none
                                           (another code may have one, up to ROCE_WORD_MAX) */
    bool (*get)(const struct roce_view *view,
                struct roce_value *out); /* false: not in this packet */
};

size_t roce_field_count(void);
const struct roce_field *roce_field_at(size_t index); /* in printing order */
/* roce_field_find looks |name| up among names and aliases; NULL when there is none. */
const struct roce_field *roce_field_find(const char *name);

#define ROCE_VALUE_TEXT_LEN 256 /* room for any value but a TEXT */

/* roce_value_format writes |value| of |field| as people read it: hexadecimal where they do, reals
 * with up to 6 decimals and always a point, lists with a space between. It writes at most |size| -
 * 1 bytes (cutting what does not fit) and a NUL, |size| at least 1. Returns the address of the NUL.
 */
char *roce_value_format(const struct roce_field *field, const struct roce_value *value, char *out,
                        size_t size);

#ifdef __cplusplus
}
#endif
#endif
