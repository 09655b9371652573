/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a file can be written, told before frames are gathered for it. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "save.h"

static int try_folder(const char *path)
{
    char folder[UI_TEXT_LEN];
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return access(".", W_OK | X_OK);
    (void)snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return access(folder, W_OK | X_OK);
}

bool tui_save_path_fault(const char *path, char *text, size_t size)
{
    const bool there = access(path, F_OK) == 0;
    if ((there ? access(path, W_OK) : try_folder(path)) == 0)
        return false;
    const int error = errno;
    const struct passwd *user = error == EACCES ? getpwuid(geteuid()) : NULL;
    if (user != NULL)
        (void)snprintf(text, size, "%s may not write there; another folder, as /tmp/",
                       user->pw_name);
    else if (error == ENOENT)
        (void)snprintf(text, size, "there is no such folder");
    else
        (void)snprintf(text, size, "%s", strerror(error));
    return true;
}
