/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A look at the whole capture before it is replayed: which flows there are, which belong together,
 * how many PSNs each of them spends. */
#ifndef ROCEREPLAY_RAW_SURVEY_H
#define ROCEREPLAY_RAW_SURVEY_H

#include <roce/flow.h>

struct port;

struct raw_survey {
    struct roce_flow_table *flows;
    uint64_t pass; /* passes already done: PSNs have moved on so often */
};

/* raw_survey_make reads |file|. 0, or -1 with a message printed. */
int raw_survey_make(struct raw_survey *survey, const char *file,
                    const struct roce_decode_opts *decode);
void raw_survey_free(struct raw_survey *survey);

/* raw_survey_psn is the psn_extra of struct rewrite, |ctx| a struct raw_survey. */
int64_t raw_survey_psn(void *ctx, const struct roce_packet *pkt, const uint8_t src[16],
                       const uint8_t dst[16], uint32_t dqpn, bool response);

/* raw_survey_teach tells |fault| the connections in order of their appearance. */
void raw_survey_teach(const struct raw_survey *survey, struct port *fault);

#endif
