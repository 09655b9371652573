/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of one packet: what is decoded only for those who look at single packets. */
#include <roce/field.h>

#include <roce/err.h>
#include <roce/fmt.h>

/* Nested tunnels are few and their names short; their sum always fits. */
static void join_tunnels(const struct roce_packet *pkt, char *out)
{
    for (unsigned i = 0; i < pkt->n_tunnel && i < ROCE_TUNNEL_MAX; i++) {
        if (i > 0)
            *out++ = '+';
        out = roce_fmt_str(out, roce_tunnel_name((enum roce_tunnel_kind)pkt->tunnel[i].kind));
    }
    *out = '\0';
}

static void decode_mad(struct roce_view *view)
{
    const struct roce_frame *frame = view->frame;
    const uint32_t off = view->pkt->payload_off;
    if (off > frame->caplen)
        return;
    uint32_t len = view->pkt->payload_captured;
    if (len > frame->caplen - off)
        len = frame->caplen - off;
    const uint8_t *mad = frame->data + off;
    if (roce_mad_decode(mad, len, &view->mad) < 0)
        return;
    view->has_mad = true;
    if (view->mad.mgmt_class != ROCE_MAD_CLASS_CM)
        return;
    len -= ROCE_MAD_HDR_LEN;
    const int rc = roce_cm_decode(view->mad.attr_id, mad + ROCE_MAD_HDR_LEN, len, &view->cm);
    if (rc < 0 && rc != ROCE_ERR_TRUNCATED)
        return;
    view->has_cm = true;
    view->cm_cut = rc < 0;
    view->cm_len = (uint16_t)(len < ROCE_CM_LEN ? len : ROCE_CM_LEN);
}

void roce_view_init(struct roce_view *view, const struct roce_frame *frame,
                    const struct roce_packet *pkt, const struct roce_icrc *icrc)
{
    static const struct roce_icrc not_asked = {
        .status = ROCE_ICRC_UNCHECKED,
        .reason = ROCE_ICRC_NOT_ASKED,
    };
    view->frame = frame;
    view->pkt = pkt;
    view->icrc = icrc != NULL ? icrc : &not_asked;
    view->verdict = NULL;
    view->link_speed_bps = 0;
    view->has_mad = view->has_cm = view->cm_cut = false;
    view->cm_len = 0;
    view->encapsulation[0] = '\0';
    if (pkt->n_tunnel > 1)
        join_tunnels(pkt, view->encapsulation);
    if (pkt->has & ROCE_HAS_MAD)
        decode_mad(view);
}
