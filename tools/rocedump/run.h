/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pipeline: read, select, decode, check, filter, print or write. */
#ifndef ROCEDUMP_RUN_H
#define ROCEDUMP_RUN_H

#include "common/selection.h"
#include "rocedump/columns.h"
#include "rocedump/options.h"

/* run does what |opts| ask for and returns the exit status. */
int run(const struct dump_opts *opts, struct selection *selection, const struct columns *columns);

#endif
