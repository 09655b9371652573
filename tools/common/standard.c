/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The three standard files. */
#include "common/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"

void standard_begin(const char *program)
{
    msg_program(program);
    (void)signal(SIGPIPE, SIG_IGN);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int standard_end(int status)
{
    static bool said;
    errno = 0;
    const bool lost = ferror(stdout) != 0;
    const bool failed = fflush(stdout) != 0 || lost;
    const int error = errno != 0 ? errno : EIO;
    clearerr(stdout);
    if (said)
        return EXIT_IO;
    if (!failed || error == EPIPE)
        return status;
    said = true;
    msg_file("standard output", "%s; not everything was printed", strerror(error));
    return EXIT_IO;
}
