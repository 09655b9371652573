/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between libwireshark 4.0 and 4.6, in one place; included first by every file. */
#ifndef PLUGIN_COMPAT_H
#define PLUGIN_COMPAT_H

/* The headers of libwireshark expect what its own build defines. */
#ifndef HAVE_SSIZE_T
#define HAVE_SSIZE_T 1
#endif
#define WS_BUILD_DLL

#include <ws_version.h>
#define WS_AT_LEAST(major, minor)         \
    (WIRESHARK_VERSION_MAJOR > (major) || \
     (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR >= (minor)))

#include <wireshark.h>

#include <epan/packet.h>
#include <epan/tap.h>

/* Preferences and callbacks turned from gboolean (an int) to bool in 4.4. */
#if WS_AT_LEAST(4, 4)
typedef bool ws_bool;
#else
typedef gboolean ws_bool;
#endif

/* Conversation filters and followed streams took more arguments in 4.2. */
#if WS_AT_LEAST(4, 2)
#define FILTER_USER_DATA    , void *user_data _U_
#define FILTER_NO_DATA      , NULL
#define FOLLOW_COUNT(count) , count, NULL
#else
#define FILTER_USER_DATA
#define FILTER_NO_DATA
#define FOLLOW_COUNT(count)
#endif

/* Menu paths of statistics: a single slash up to 4.0. */
#if WS_AT_LEAST(4, 2)
#define STATS_MENU "RoCEv2" STATS_TREE_MENU_SEPARATOR
#else
#define STATS_MENU "RoCEv2/"
#endif

/* plugin_describe() is looked up by 4.4 and newer; the bit never changed. */
#ifndef WS_PLUGIN_DESC_DISSECTOR
#define WS_PLUGIN_DESC_DISSECTOR (1UL << 0)
#endif

#endif
