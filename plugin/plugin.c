/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libwireshark looks for in a plugin. */
#include "compat.h"

#include "plugin.h"

WS_DLL_PUBLIC_DEF const char plugin_version[] = ROCE_VERSION;
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC void plugin_register(void);
WS_DLL_PUBLIC uint32_t plugin_describe(void);

void plugin_register(void)
{
    static proto_plugin plugin;
    plugin.register_protoinfo = proto_register_rocev2;
    plugin.register_handoff = proto_reg_handoff_rocev2;
    proto_register_plugin(&plugin);
}

uint32_t plugin_describe(void)
{
    return WS_PLUGIN_DESC_DISSECTOR;
}
