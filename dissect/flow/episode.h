/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files about episodes share: steps back (episode.c), what was asked for (asked.c), what
 * did not get here again (missing.c), what came late (late.c), what became of answers (answer.c),
 * how episodes end (outcome.c), and those from before the pair was known (early.c). */
#ifndef FLOW_EPISODE_H
#define FLOW_EPISODE_H

#include "internal.h"

/* Up to how long a requester takes to issue a READ or atomic again after it saw a later answer. */
#define REISSUE_MAX  50000000 /* ns */
#define NEAR_MESSAGE 0x10000  /* PSNs that a requester may go back too far */
#define NEAR_MISSED  64       /* PSNs of a resend that may be lost before the first one captured */
/* How long a frame that fills a hole may be behind and still be late rather than sent again, where
 * the ACK timeout is not known. */
#define LATE_MAX 4000000 /* ns */

static inline roce_duration episode_since(roce_tstamp now, roce_tstamp then)
{
    return now > then ? (roce_duration)(now - then) : 0;
}

/* episode_full_timeout tells whether |quiet| is as long as the ACK timeout, by what CM or the
 * options tell, or by the timeouts seen on this path. */
bool episode_full_timeout(const struct roce_flow_table *t, const struct flow *f,
                          roce_duration quiet);

/* outcome.c */
/* episode_settle counts an episode whose cause is settled as far as the packets tell. */
void episode_settle(struct roce_flow_table *t, uint32_t id, struct episode *ep, bool at_end);
/* episode_decide ends an undecided one: as many answers as copies arrived have passed by now. */
void episode_decide(struct roce_flow_table *t, uint32_t id, struct episode *ep, bool at_end);
bool episode_needless(const struct episode *ep);

/* asked.c */
struct asked {
    enum roce_cause cause;
    roce_tstamp ts;
    uint64_t frame;
    uint32_t psn;
};
/* asked_exactly tells what was asked for, if the step back to |psn| obeys it to the PSN. An RNR NAK
 * is often followed by a sequence NAK for the packets behind the refused one: the first one is the
 * cause. asked_nearby does so for a step to another PSN than the one asked for: some requesters go
 * back to the first packet of the message; and the frame with that PSN may have been lost once more
 * on its way here. asked_to_resend tells whether a NAK of any kind asked for |psn|. */
bool asked_exactly(const struct affair *affair, uint32_t psn, struct asked *out);
bool asked_nearby(const struct affair *affair, const struct flow *f, uint32_t psn,
                  struct asked *out);
bool asked_to_resend(const struct affair *affair, uint32_t psn);
/* asked_near tells whether a step back to |psn| may obey a NAK of |asked|. */
bool asked_near(uint32_t asked, uint32_t psn, const struct flow *f);
/* asked_obeyed: the step back to |psn| obeys all that was asked for at or behind it; when a NAK
 * asked for that very PSN, those that came later may be obeyed by steps of their own. */
void asked_obeyed(struct roce_flow_table *t, struct affair *affair, uint32_t psn, bool late);

/* missing.c; see internal.h, too */
/* missing_take tells how many frames were missing with |psn| the last time it should have come, 0
 * when it came; forgets about them. */
uint32_t missing_take(struct affair *affair, uint32_t psn);
/* missing_lost notes in |ep| how many frames were missing when a NAK asked for them, as in
 * |nak_missing|. */
void missing_lost(struct episode *ep, uint32_t missing);
/* missing_came: the newest transmission of [psn, psn + n) came, and all before it went by. */
void missing_came(struct affair *affair, uint32_t psn, uint32_t n);
/* missing_kept: all before |upto| is acknowledged; if only one frame there was sent again when it
 * was asked for, the responder had kept those behind it. */
void missing_kept(struct flow *f, struct affair *affair, uint32_t upto);

/* late.c; see internal.h, too */
/* episode_came_late tells that [psn, end) was sent in that order: |psn| came after the rest. */
void episode_came_late(struct rare *rare, uint32_t psn, uint32_t end);
bool episode_overtaken(const struct rare *rare, uint32_t psn);
/* episode_was_late counts an episode that is none: its frames were late. */
void episode_was_late(struct roce_flow_table *t, uint32_t id, const struct episode *ep);
/* late_note_lost notes that the request of |c|, with |psn|, was sent again and counted as lost: its
 * original may yet come. */
void late_note_lost(const struct ctx *c, uint32_t psn);

/* answer.c */
/* answer_skipped judges an implied NAK: was the answer to |psn|, part of a READ or an atomic,
 * captured? answer_silent judges a step back of a paired flow without any word from the responder.
 * |stepped| is when the flow stepped back last. */
void answer_skipped(const struct roce_flow_table *t, const struct flow *f, struct episode *ep,
                    uint32_t psn, roce_tstamp stepped);
void answer_silent(const struct roce_flow_table *t, const struct flow *f, struct episode *ep,
                   roce_tstamp stepped);

/* answer_skipped_before tells whether an answer skipped the one to |*skipped|, of the request just
 * before |psn|, for which the requester still waits. */
bool answer_skipped_before(const struct roce_flow_table *t, const struct flow *f, uint32_t psn,
                           uint32_t *skipped);

/* answer_lost_behind tells whether a READ or atomic is issued again although its answer, and a
 * later one, passed here: the requester missed the first and saw the second. */
bool answer_lost_behind(const struct ctx *c);

/* answer_unasked tells whether what was captured of a requester that waits for an answer asks for
 * one. */
void answer_unasked(const struct roce_flow_table *t, const struct flow *f, struct episode *ep);

/* early.c */
/* early_keep returns false when there is no room. */
bool early_keep(struct roce_flow_table *t, struct affair *affair, const struct episode *ep);
/* early_keep_late is early_keep for frames that seem late, as long as a NAK that is not known yet
 * may have asked for them. */
bool early_keep_late(struct roce_flow_table *t, const struct flow *f, struct affair *affair,
                     const struct episode *ep);

#endif
