/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DCQCN, the reaction point: "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM 2015),
 * and the form of NICs, which sample CNPs by period and cut at most once in each. */
#include "cc.h"

/* Recovery only comes nearer and nearer to the target: this near to the line rate it is over. */
#define NEAR_ENOUGH 0.999
/* Steps that one call makes up for: more than lie between the lowest rate and the line rate. */
#define STEPS_MAX 1000000

#define US 1000

void eng_dcqcn_preset(enum eng_dcqcn_preset preset, struct eng_dcqcn *out)
{
    switch (preset) {
    case ENG_DCQCN_PAPER:
        *out = (struct eng_dcqcn){
            .g = 1.0 / 256,
            .alpha_initial = 1,
            .alpha_ns = 55 * US,
            .timer_ns = 55 * US,
            .byte_counter = 10000000,
            .threshold = 5,
            .rai_bps = 40e6,
            .rhai_bps = 200e6, /* not in the paper: its authors' simulator */
            .min_bps = 10e6,
            .clamp = true,
        };
        break;
    case ENG_DCQCN_NIC: /* defaults of ConnectX: DCE_TCP_G 1019, and so on */
        *out = (struct eng_dcqcn){
            .g = 1 - 1019.0 / 1024,
            .alpha_initial = 1023.0 / 1024,
            .alpha_ns = 1 * US,
            .sampled = true,
            .cut_ns = 4 * US,
            .timer_ns = 300 * US,
            .byte_counter = 32767,
            .threshold = 1,
            .rai_bps = 5e6,
            .rhai_bps = 50e6,
            .min_bps = 1e6,
            .min_dec = 0.5,
            .clamp_after_ti = true,
        };
        break;
    }
}

static double power(double base, uint64_t n)
{
    double result = 1;
    for (; n > 0; n >>= 1, base *= base)
        if (n & 1)
            result *= base;
    return result;
}

/* Alpha over the whole periods that have passed: a CNP counts in the first of them. */
static void settle_alpha(struct cc_dcqcn *d, roce_tstamp now)
{
    const double keep = 1 - (double)d->p.g;
    const uint64_t periods = (now - d->alpha_at) / d->p.alpha_ns;
    if (periods == 0)
        return;
    d->alpha *= power(keep, periods);
    if (d->cnp_seen)
        d->alpha += (double)d->p.g * power(keep, periods - 1);
    d->cnp_seen = false;
    d->alpha_at += periods * d->p.alpha_ns;
}

static void cut(struct cc_dcqcn *d, roce_tstamp now)
{
    if (!d->p.sampled || d->p.clamp || (d->p.clamp_after_ti && d->time_steps > 0))
        d->target = d->current;
    double rate = d->current * (1 - d->alpha / 2);
    if (rate < d->current * (double)d->p.min_dec)
        rate = d->current * (double)d->p.min_dec;
    if (rate < (double)d->p.min_bps)
        rate = (double)d->p.min_bps;
    if (rate < d->current)
        d->current = rate;
    d->time_steps = d->byte_steps = 0;
    d->bytes = 0;
    d->timer_at = now + d->p.timer_ns;
    d->cut_at = now + d->p.cut_ns;
    d->cut_wanted = false;
}

/* One increase, by time or by bytes; the steps are those before it. */
static void increase(struct cc_dcqcn *d)
{
    const uint32_t i = d->time_steps;
    const uint32_t j = d->p.byte_counter != 0 ? d->byte_steps : i;
    const uint32_t most = i > j ? i : j;
    const uint32_t least = i < j ? i : j;
    if (least > d->p.threshold) {
        const double factor = d->p.sampled ? 1 : (double)(least - d->p.threshold);
        d->target += (double)d->p.rhai_bps * factor;
    } else if (most >= d->p.threshold) {
        d->target += (double)d->p.rai_bps;
    }
    if (d->target > d->line_bps)
        d->target = d->line_bps;
    d->current = (d->current + d->target) / 2;
    if (d->current >= d->line_bps * NEAR_ENOUGH) {
        d->current = d->target = d->line_bps;
        d->limited = d->cut_wanted = false;
    }
}

static roce_tstamp dcqcn_next(const struct cc *cc)
{
    const struct cc_dcqcn *d = &cc->dcqcn;
    if (!d->limited)
        return ENG_NEVER;
    return d->cut_wanted && d->cut_at < d->timer_at ? d->cut_at : d->timer_at;
}

static void dcqcn_expire(struct cc *cc, roce_tstamp now)
{
    struct cc_dcqcn *d = &cc->dcqcn;
    for (uint32_t n = 0; dcqcn_next(cc) <= now; n++) {
        if (n == STEPS_MAX) {
            d->timer_at = now + d->p.timer_ns;
            break;
        }
        const roce_tstamp at = dcqcn_next(cc);
        settle_alpha(d, at);
        if (d->cut_wanted && at == d->cut_at) {
            cut(d, at);
        } else {
            increase(d);
            d->time_steps++;
            d->timer_at = at + d->p.timer_ns;
        }
    }
}

/* The first CNP finds the QP unlimited, at line rate. The paper's alpha has decayed since the one
 * before; a NIC begins anew. */
static void start(struct cc_dcqcn *d, roce_tstamp now)
{
    d->limited = true;
    if (d->alpha_at == 0 || d->p.sampled) {
        d->alpha = (double)d->p.alpha_initial;
        d->alpha_at = now;
    }
    d->cnp_seen = d->cut_wanted = false;
    d->cut_at = now;
    d->target = d->current;
    if (d->p.first_cnp_bps > 0 && (double)d->p.first_cnp_bps < d->current)
        d->target = d->current = (double)d->p.first_cnp_bps;
}

static void dcqcn_cnp(struct cc *cc, roce_tstamp now)
{
    struct cc_dcqcn *d = &cc->dcqcn;
    dcqcn_expire(cc, now);
    const bool first = !d->limited;
    if (first)
        start(d, now);
    settle_alpha(d, now);
    if (!d->p.sampled) {
        cut(d, now);
        d->alpha = (1 - (double)d->p.g) * d->alpha + (double)d->p.g;
        d->alpha_at = now;
        return;
    }
    d->cnp_seen = !first;
    if (now >= d->cut_at)
        cut(d, now);
    else
        d->cut_wanted = true;
}

static void dcqcn_sent(struct cc *cc, roce_tstamp now, uint32_t bytes)
{
    struct cc_dcqcn *d = &cc->dcqcn;
    (void)now;
    if (!d->limited || d->p.byte_counter == 0)
        return;
    d->bytes += bytes;
    while (d->limited && d->bytes >= d->p.byte_counter) {
        d->bytes -= d->p.byte_counter;
        increase(d);
        d->byte_steps++;
    }
}

static double dcqcn_rate(const struct cc *cc)
{
    return cc->dcqcn.current;
}

static double dcqcn_alpha(const struct cc *cc)
{
    return cc->dcqcn.alpha;
}

static const struct cc_ops dcqcn_ops = {.cnp = dcqcn_cnp,
                                        .sent = dcqcn_sent,
                                        .expire = dcqcn_expire,
                                        .next = dcqcn_next,
                                        .rate_bps = dcqcn_rate,
                                        .alpha = dcqcn_alpha};

void cc_dcqcn_init(struct cc *cc, const struct eng_dcqcn *params, double line_bps)
{
    *cc = (struct cc){
        .ops = &dcqcn_ops,
        .dcqcn = {.p = {.g = (float)params->g,
                        .alpha_initial = (float)params->alpha_initial,
                        .rai_bps = (float)params->rai_bps,
                        .rhai_bps = (float)params->rhai_bps,
                        .min_bps = (float)params->min_bps,
                        .min_dec = (float)params->min_dec,
                        .first_cnp_bps = (float)params->first_cnp_bps,
                        .alpha_ns = (uint32_t)params->alpha_ns,
                        .cut_ns = (uint32_t)params->cut_ns,
                        .timer_ns = (uint32_t)params->timer_ns,
                        .threshold = params->threshold,
                        .sampled = params->sampled,
                        .clamp = params->clamp,
                        .clamp_after_ti = params->clamp_after_ti,
                        .byte_counter = params->byte_counter},
                  .line_bps = line_bps,
                  .current = line_bps,
                  .target = line_bps,
                  .alpha = params->alpha_initial},
    };
}
