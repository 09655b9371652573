/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The look ahead. */
#include "rocereplay/raw_survey.h"

#include <roce/psn.h>

#include "common/msg.h"
#include "rocereplay/fault.h"
#include "rocereplay/raw_source.h"

/* Caller's state of a flow: PSNs that its requests took. */
struct spent {
    int64_t psns;
};

static void note_spent(struct roce_flow_table *flows)
{
    for (uint32_t id = roce_flow_first(flows); id != ROCE_FLOW_NONE;
         id = roce_flow_next(flows, id)) {
        struct roce_flow_counters counters;
        struct spent *spent = roce_flow_ext(flows, id);
        if (roce_flow_counters(flows, id, &counters) && counters.has_psn)
            spent->psns = roce_psn_add(counters.next_psn, -(int64_t)counters.first_psn);
    }
}

int raw_survey_make(struct raw_survey *survey, const char *file,
                    const struct roce_decode_opts *decode)
{
    const struct roce_flow_opts opts = {.ext_bytes = sizeof(struct spent), .no_latency = true};
    struct raw_source src;
    struct roce_frame frame;
    *survey = (struct raw_survey){.flows = roce_flow_table_new(&opts)};
    if (survey->flows == NULL) {
        msg_print("out of memory");
        return -1;
    }
    if (raw_source_open(&src, file) != 0)
        return -1;
    while (raw_source_next(&src, &frame) > 0) {
        struct roce_packet pkt;
        struct roce_verdict verdict;
        (void)roce_packet_decode(&frame, decode, &pkt);
        (void)roce_flow_update(survey->flows, &frame, &pkt, NULL, &verdict);
    }
    raw_source_close(&src);
    roce_flow_finish(survey->flows);
    note_spent(survey->flows);
    return 0;
}

void raw_survey_free(struct raw_survey *survey)
{
    roce_flow_table_del(survey->flows);
    *survey = (struct raw_survey){0};
}

int64_t raw_survey_psn(void *ctx, const struct roce_packet *pkt, const uint8_t src[16],
                       const uint8_t dst[16], uint32_t dqpn, bool response)
{
    const struct raw_survey *survey = ctx;
    if (survey->pass == 0)
        return 0;
    bool keyed = false;
    uint32_t key = 0;
    for (int i = 0; i < pkt->n_tunnel; i++) /* the innermost key, as flows are told apart */
        if (pkt->tunnel[i].has_key) {
            keyed = true;
            key = pkt->tunnel[i].kind == ROCE_TUNNEL_NVGRE ? pkt->tunnel[i].key >> 8
                                                           : pkt->tunnel[i].key;
        }
    uint32_t id = roce_flow_find(survey->flows, src, dst, dqpn, keyed, key);
    struct roce_flow_info info;
    if (response && roce_flow_info(survey->flows, id, &info))
        id = info.peer; /* whose requests it answers */
    const struct spent *spent = roce_flow_ext(survey->flows, id);
    return spent != NULL ? (int64_t)survey->pass * spent->psns : 0;
}

void raw_survey_teach(const struct raw_survey *survey, struct port *fault)
{
    struct roce_connection c;
    for (uint32_t after = ROCE_FLOW_NONE; roce_connection_next(survey->flows, after, &c);
         after = c.id) {
        struct roce_flow_counters there, back;
        if (roce_flow_counters(survey->flows, c.flows[0], &there) &&
            roce_flow_counters(survey->flows, c.flows[1], &back))
            fault_learn(fault, c.qp[0], there.has_psn ? there.first_psn : 0, c.qp[1],
                        back.has_psn ? back.first_psn : 0);
    }
}
