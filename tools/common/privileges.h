/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up what opening the interfaces needed: what parses strangers' frames should own nothing.
 */
#ifndef TOOLS_PRIVILEGES_H
#define TOOLS_PRIVILEGES_H

/* privileges_drop makes a root process |user|'s (NULL: who called sudo, else nobody; "root": it
 * stays root), takes all capabilities from any other, and forbids to gain any (NO_NEW_PRIVS). Call
 * it before the first thread is started. Returns 0, or -1 with the reason on standard error. */
int privileges_drop(const char *user);

#endif
