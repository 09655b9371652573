/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DCQCN, the reaction point: "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015,
 * and the sampled form of NICs. */
#include "cc.h"

void cc_dcqcn_init(struct cc *cc, const struct eng_dcqcn *params, double line_bps)
{
    (void)params;
    (void)line_bps;
    cc_none_init(cc);
}

void eng_dcqcn_preset(enum eng_dcqcn_preset preset, struct eng_dcqcn *out)
{
    (void)preset;
    *out = (struct eng_dcqcn){0};
}
