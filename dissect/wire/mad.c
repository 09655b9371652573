/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Management datagram header, IBTA 13.4.3. */
#include <roce/mad.h>

#include <roce/err.h>

#include "cursor.h"
#include "writer.h"

int roce_mad_decode(const uint8_t *buf, size_t len, struct roce_mad *mad)
{
    if (len < ROCE_MAD_HDR_LEN)
        return ROCE_ERR_TRUNCATED;
    mad->base_version = buf[0];
    mad->mgmt_class = buf[1];
    mad->class_version = buf[2];
    mad->method = buf[3];
    mad->status = load_be16(buf + 4);
    mad->class_specific = load_be16(buf + 6);
    mad->tid = load_be64(buf + 8);
    mad->attr_id = load_be16(buf + 16);
    mad->attr_mod = load_be32(buf + 20);
    return ROCE_MAD_HDR_LEN;
}

int roce_mad_encode(const struct roce_mad *mad, uint8_t *buf, size_t len)
{
    struct writer w = writer_at(buf, len);
    writer_be(&w, mad->base_version, 1);
    writer_be(&w, mad->mgmt_class, 1);
    writer_be(&w, mad->class_version, 1);
    writer_be(&w, mad->method, 1);
    writer_be(&w, mad->status, 2);
    writer_be(&w, mad->class_specific, 2);
    writer_be(&w, mad->tid, 8);
    writer_be(&w, mad->attr_id, 2);
    writer_zeros(&w, 2);
    writer_be(&w, mad->attr_mod, 4);
    return w.overrun ? ROCE_ERR_NOSPACE : ROCE_MAD_HDR_LEN;
}

/* IBTA table 111. */
const char *roce_mad_class_name(uint8_t mgmt_class)
{
    switch (mgmt_class) {
    case 0x01:
    case 0x81:
        return "smi";
    case 0x03:
        return "sa";
    case 0x04:
        return "perf";
    case 0x05:
        return "bm";
    case 0x06:
        return "device_management";
    case ROCE_MAD_CLASS_CM:
        return "cm";
    case 0x08:
        return "snmp";
    }
    return NULL;
}
