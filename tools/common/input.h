/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the capture that is read, with messages that help. */
#ifndef TOOLS_INPUT_H
#define TOOLS_INPUT_H

#include <roce/capture.h>

/* input_name returns what messages call |file|: "standard input" for "-". */
const char *input_name(const char *file);

/* input_open opens |file| for |program|; |opts| may be NULL. When that fails it says why and what
 * to do on standard error and returns NULL. */
struct roce_reader *input_open(const char *program, const char *file,
                               const struct roce_reader_opts *opts);

/* input_same tells whether |a| and |b| name the same regular file. */
bool input_same(const char *a, const char *b);

#endif
