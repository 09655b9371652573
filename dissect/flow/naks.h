/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NAKs of sequence errors that a requester has yet to obey, besides the newest: an answer that
 * acknowledges their PSN, or another NAK, reached the capture point before the resend did. */
#ifndef FLOW_NAKS_H
#define FLOW_NAKS_H

#include "internal.h"

/* naks_keep keeps the newest NAK of |affair| for a resend of that very PSN, and makes it none. */
void naks_keep(struct roce_flow_table *t, struct affair *affair);
/* naks_find tells whether one of |psn| is kept. */
bool naks_find(struct roce_flow_table *t, struct affair *affair, uint32_t psn);
/* naks_take makes the oldest one of |psn| the NAK of |affair|, keeps the one that was, and forgets
 * those before; returns false when there is none. */
bool naks_take(struct roce_flow_table *t, struct affair *affair, uint32_t psn);
/* naks_drop forgets those up to |ts|. */
void naks_drop(struct roce_flow_table *t, struct affair *affair, roce_tstamp ts);
/* naks_age forgets those too old to be obeyed still. */
void naks_age(struct roce_flow_table *t, struct affair *affair);

#endif
