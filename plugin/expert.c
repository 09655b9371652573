/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expert infos. */
#include "rocev2.h"

#include <epan/expert.h>

#include "facts.h"

enum expert_id {
#define EXPERT(id, name, group, severity, text, present) EXPERT_##id,
#include "experts.def"
#undef EXPERT
    EXPERTS
};

static expert_field experts[EXPERTS];
static expert_field ei_ulp = EI_INIT;

static ei_register_info list[EXPERTS + 1] = {
#define EXPERT(id, name, group, severity, text, present) \
    [EXPERT_##id] = {&experts[EXPERT_##id], {name, group, severity, text, EXPFILL}},
#include "experts.def"
#undef EXPERT
    [EXPERTS] = {&ei_ulp,
                 {"rocev2.expert.ulp", PI_UNDECODED, PI_CHAT,
                  "A dissector for the payload gave up: it is probably another protocol", EXPFILL}},
};

void expert_report(const struct view *view, proto_item *item)
{
    const struct roce_packet *p = view->pkt;
    const struct record *r = view->rec;
    const bool icrc_bad = view->icrc->status == ROCE_ICRC_BAD;
    const bool cm_rejected = view->has_cm && cm_is(view, REJ);
#define EXPERT(id, name, group, severity, text, present) \
    if (present)                                         \
        expert_add_info(view->pinfo, item, &experts[EXPERT_##id]);
#include "experts.def"
#undef EXPERT
}

void expert_ulp_gave_up(packet_info *pinfo, proto_item *item)
{
    expert_add_info(pinfo, item, &ei_ulp);
}

void expert_register(void)
{
    for (unsigned i = 0; i < EXPERTS; i++)
        experts[i] = (expert_field)EI_INIT;
    expert_register_field_array(expert_register_protocol(proto_rocev2), list, G_N_ELEMENTS(list));
}
