/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Management datagrams of a line: connection management in words. */
#include "rocedump/line_parts.h"

enum { CM_SHOWN_LEN = 48 };

static char *put_hex(char *out, const char *label, uint64_t value)
{
    out = roce_fmt_str(out, label);
    return roce_fmt_hex(out, value);
}

static char *put_uint(char *out, const char *label, uint64_t value)
{
    out = roce_fmt_str(out, label);
    return roce_fmt_uint(out, value);
}

/* Where a REQ wants to go: an RDMA-CM port, else the bare service id. */
static char *put_service(char *out, uint64_t service_id)
{
    const int port = roce_cm_port(service_id);
    if (port >= 0)
        return put_uint(out, " -> port ", (uint64_t)port);
    return put_hex(out, " service ", service_id);
}

static char *put_ids(char *out, const struct roce_cm *cm)
{
    out = put_hex(out, " comm ", cm->local_comm_id);
    return put_hex(out, "/", cm->remote_comm_id);
}

static char *put_connect(char *out, const struct roce_cm *cm)
{
    out = put_hex(out, " qpn ", cm->local_qpn);
    return put_uint(out, " psn ", cm->starting_psn);
}

static char *put_rejected(char *out, const struct roce_cm *cm)
{
    static const char *const messages[4] = {" of REQ", " of REP", "", ""};
    out = roce_fmt_str(out, messages[cm->rejected & 3]);
    out = put_uint(out, " reason ", cm->reject_reason);
    out = TEXT(out, " (");
    out = roce_fmt_str(out, roce_cm_reject_text(cm->reject_reason));
    *out++ = ')';
    return out;
}

static char *put_cm(char *out, const struct roce_cm *cm)
{
    switch ((enum roce_cm_message)cm->message) {
    case ROCE_CM_REQ:
        out = put_connect(out, cm);
        out = put_service(out, cm->service_id);
        return put_hex(out, " comm ", cm->local_comm_id);
    case ROCE_CM_REP:
        return put_ids(put_connect(out, cm), cm);
    case ROCE_CM_REJ:
        return put_rejected(put_ids(out, cm), cm);
    case ROCE_CM_MRA:
        out = put_ids(out, cm);
        out = TEXT(out, " wait ");
        out = roce_fmt_uint(out, roce_cm_timeout_ns(cm->service_timeout) / 1000000);
        return TEXT(out, " ms");
    case ROCE_CM_RTU:
    case ROCE_CM_DREP:
    case ROCE_CM_APR:
        return put_ids(out, cm);
    case ROCE_CM_DREQ:
    case ROCE_CM_LAP:
        return put_hex(put_ids(out, cm), " remote qpn ", cm->remote_qpn);
    case ROCE_CM_SIDR_REQ:
        out = put_service(out, cm->service_id);
        return put_hex(out, " request ", cm->request_id);
    case ROCE_CM_SIDR_REP:
        out = put_hex(out, " qpn ", cm->local_qpn);
        out = put_hex(out, " qkey ", cm->qkey);
        out = put_hex(out, " request ", cm->request_id);
        if (cm->status == 0)
            return out;
        out = TEXT(out, " (");
        out = roce_fmt_str(out, roce_cm_sidr_status_text(cm->status));
        *out++ = ')';
        return out;
    }
    return out;
}

char *line_mad(char *out, const struct roce_view *view)
{
    if (view->has_cm) {
        const char *name = roce_cm_message_name(view->cm.message);
        out = TEXT(out, " CM ");
        out = roce_fmt_str(out, name != NULL ? name : "?");
        /* What a line shows lies in the first 48 bytes of every message. */
        if (!view->cm_cut || view->cm_len >= CM_SHOWN_LEN)
            out = put_cm(out, &view->cm);
        return view->cm_cut ? TEXT(out, " (cut)") : out;
    }
    const char *name = roce_mad_class_name(view->mad.mgmt_class);
    out = TEXT(out, " MAD ");
    if (name != NULL)
        out = roce_fmt_str(out, name);
    else
        out = put_hex(out, "class ", view->mad.mgmt_class);
    out = put_hex(out, " method ", view->mad.method);
    return put_hex(out, " attribute ", view->mad.attr_id);
}
