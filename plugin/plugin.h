/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registration entry points of the dissector. */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

void proto_register_rocev2(void);
void proto_reg_handoff_rocev2(void);

#endif
