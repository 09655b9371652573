/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No congestion control: CNPs are counted and change nothing. */
#include "cc.h"

static void none_event(struct cc *cc, roce_tstamp now)
{
    (void)cc;
    (void)now;
}

static void none_sent(struct cc *cc, roce_tstamp now, uint32_t bytes)
{
    (void)cc;
    (void)now;
    (void)bytes;
}

static roce_tstamp none_next(const struct cc *cc)
{
    (void)cc;
    return ENG_NEVER;
}

static double none_value(const struct cc *cc)
{
    (void)cc;
    return 0;
}

static const struct cc_ops none_ops = {.cnp = none_event,
                                       .sent = none_sent,
                                       .expire = none_event,
                                       .next = none_next,
                                       .rate_bps = none_value,
                                       .alpha = none_value};

void cc_none_init(struct cc *cc)
{
    cc->ops = &none_ops;
}
