/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who dissects what: takes the port and EtherTypes from the built-in dissectors, remembers them,
 * and gives them back when asked. */
#ifndef PLUGIN_HANDOFF_H
#define PLUGIN_HANDOFF_H

#include "compat.h"

#include <epan/prefs.h>

enum handoff { HANDOFF_UDP, HANDOFF_ROCEV1, HANDOFF_MAC_CONTROL, HANDOFFS };

void handoff_register_preferences(module_t *module);
void handoff_init(dissector_handle_t udp, dissector_handle_t ethertype);

/* handoff_claim brings the dissector tables in line with the preferences. The built-in dissector
 * lets go of the port, whoever has it, whenever one of its own preferences changes: therefore it is
 * called for every file as well. */
void handoff_claim(void);

/* The dissector that was there before, or NULL. */
dissector_handle_t handoff_builtin(enum handoff which);

/* Whether a protocol above InfiniBand took the payload. */
bool handoff_upper_protocol(const packet_info *pinfo);

/* Whether the UDP datagram came here by its destination port. */
bool handoff_is_ours(const packet_info *pinfo);

#endif
