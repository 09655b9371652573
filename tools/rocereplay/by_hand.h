/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers whose numbers were given on the command line. */
#ifndef ROCEREPLAY_BY_HAND_H
#define ROCEREPLAY_BY_HAND_H

#include "rocereplay/station.h"

/* by_hand_client runs a load against that peer; by_hand_serve answers it until a signal. An exit
 * status. Both tell the own numbers on standard error. */
int by_hand_client(struct station *st);
int by_hand_serve(struct station *st);

#endif
