/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Congestion control of one QP: what a reaction point has to answer. */
#ifndef ENGINE_CC_H
#define ENGINE_CC_H

#include "engine/engine.h"

struct cc;

struct cc_ops {
    void (*cnp)(struct cc *cc, roce_tstamp now);
    void (*sent)(struct cc *cc, roce_tstamp now, uint32_t bytes); /* data frames */
    void (*expire)(struct cc *cc, roce_tstamp now);
    roce_tstamp (*next)(const struct cc *cc); /* when it wants expire, or ENG_NEVER */
    double (*rate_bps)(const struct cc *cc);  /* 0: does not limit */
    double (*alpha)(const struct cc *cc);     /* as of the newest event; 0: has none */
};

/* Parameters as struct eng_dcqcn has them, in half the room: there is one of these in each QP. */
struct cc_params {
    float g, alpha_initial;
    float rai_bps, rhai_bps;
    float min_bps, min_dec, first_cnp_bps;
    uint32_t alpha_ns, cut_ns, timer_ns;
    uint32_t threshold;
    bool sampled, clamp, clamp_after_ti;
    uint64_t byte_counter;
};

/* DCQCN, the state of one reaction point. */
struct cc_dcqcn {
    struct cc_params p;
    double line_bps;        /* rate without congestion */
    double current, target; /* Rc, Rt in bits per second */
    double alpha;
    roce_tstamp alpha_at;            /* alpha is settled up to here */
    roce_tstamp cut_at;              /* sampled: no cut before */
    roce_tstamp timer_at;            /* next increase by time */
    uint64_t bytes;                  /* since the last increase by bytes */
    uint32_t time_steps, byte_steps; /* increases since the last cut */
    bool limited;                    /* from the first CNP until the line rate is reached again */
    bool cnp_seen;                   /* sampled: in the current alpha period */
    bool cut_wanted;                 /* sampled: a CNP came since the last cut */
};

struct cc {
    const struct cc_ops *ops; /* never NULL */
    struct cc_dcqcn dcqcn;
};

/* cc_none_init: nothing limits. cc_dcqcn_init: DCQCN below |line_bps|, which is not 0. */
void cc_none_init(struct cc *cc);
void cc_dcqcn_init(struct cc *cc, const struct eng_dcqcn *params, double line_bps);

#endif
