/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults from a YAML file, in the form of the published event lists for RNIC tests (Lumina,
 * SIGCOMM 2023): each has qpn, psn, type and iter. */
#ifndef ROCEREPLAY_EVENTS_H
#define ROCEREPLAY_EVENTS_H

#include "rocereplay/fault.h"

/* events_load adds the events of |path| to |plan|. The list is the document, or stands in it under
 * data-pkt-events, in traffic or not, or under events; all else in the document is left alone. 0,
 * or -1 with a message printed.
 *
 * qpn counts connections from 0, psn packets of the connection from 0 ("all": each), iter from 1
 * how often the PSNs of the connection have begun again; absolute: true makes qpn and psn those on
 * the wire. type is drop, ecn, corrupt (the ICRC is damaged, as a switch corrupts), or a kind of
 * fault.h; nak takes the field nak, rnr timer, delay delay, pauses priority and quanta. */
int events_load(struct fault_plan *plan, const char *path);

#endif
