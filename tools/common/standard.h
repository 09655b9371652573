/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Beginning and end of every program: its three standard files. */
#ifndef TOOLS_STANDARD_H
#define TOOLS_STANDARD_H

/* standard_begin sets the |program|'s name for messages, makes a closed pipe an error of the write
 * and takes the places of standard files that are closed, so that no capture gets them: reading and
 * writing there fails. */
void standard_begin(const char *program);

/* standard_end writes what is left of standard output; returns |status|, or EXIT_IO behind a
 * message when that failed. A reader that went away is no failure. */
int standard_end(int status);

#endif
