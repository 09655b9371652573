/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was asked of a requester that it has yet to obey: by NAKs, and by itself when it saw that an
 * answer is missing. */
#include "episode.h"

#include "naks.h"

bool asked_exactly(const struct affair *affair, uint32_t psn, struct asked *out)
{
    if (affair->has_rnr && affair->rnr_psn == psn)
        *out = (struct asked){ROCE_CAUSE_RNR, affair->rnr_ts, affair->rnr_frame, affair->rnr_psn};
    else if (affair->has_nak && affair->nak_psn == psn)
        *out = (struct asked){ROCE_CAUSE_NAK, affair->nak_ts, affair->nak_frame, affair->nak_psn};
    else if (affair->has_skip && affair->skip_psn == psn)
        *out = (struct asked){ROCE_CAUSE_IMPLIED_NAK, affair->skip_ts, affair->skip_frame,
                              affair->skip_psn};
    else
        return false;
    return true;
}

bool asked_to_resend(const struct affair *affair, uint32_t psn)
{
    return (affair->has_rnr && affair->rnr_psn == psn) ||
           (affair->has_nak && affair->nak_psn == psn);
}

bool asked_near(uint32_t asked, uint32_t psn, const struct flow *f)
{
    const int32_t back = roce_psn_diff(asked, psn);
    return back > -NEAR_MISSED && back < NEAR_MESSAGE && roce_psn_diff(asked, f->next_psn) < 0;
}

bool asked_nearby(const struct affair *affair, const struct flow *f, uint32_t psn,
                  struct asked *out)
{
    if (affair->has_rnr && asked_near(affair->rnr_psn, psn, f)) {
        *out = (struct asked){ROCE_CAUSE_RNR, affair->rnr_ts, affair->rnr_frame, affair->rnr_psn};
    } else if (affair->has_nak && asked_near(affair->nak_psn, psn, f)) {
        *out = (struct asked){ROCE_CAUSE_NAK, affair->nak_ts, affair->nak_frame, affair->nak_psn};
    } else {
        return false;
    }
    return true;
}

void asked_obeyed(struct roce_flow_table *t, struct affair *affair, uint32_t psn, bool late)
{
    const bool naked = affair->has_nak && affair->nak_psn == psn;
    if (!late)
        naks_drop(t, affair, naked ? affair->nak_ts : UINT64_MAX);
    affair->has_rnr = affair->has_rnr && roce_psn_diff(affair->rnr_psn, psn) < -NEAR_MISSED;
    affair->has_nak = affair->has_nak && roce_psn_diff(affair->nak_psn, psn) < -NEAR_MISSED;
    const int32_t skip = roce_psn_diff(psn, affair->skip_psn);
    affair->has_skip = affair->has_skip && (skip < 0 || skip >= NEAR_MISSED);
    affair->has_bad_ack = affair->has_bad_ack && roce_psn_diff(affair->bad_ack, psn) < 0;
}
