/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Privileges. */
#include "common/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "common/msg.h"

static int give_up_capabilities(void)
{
#if defined(__linux__)
    /* The wrapper is in a library of its own (libcap). */
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
    memset(none, 0, sizeof(none));
    if (syscall(SYS_capset, &header, none) != 0) {
        msg_print("capabilities cannot be given up (%s)", strerror(errno));
        return -1;
    }
#endif
    return 0;
}

static int forbid_new(void)
{
#if defined(__linux__)
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        msg_print("NO_NEW_PRIVS cannot be set (%s)", strerror(errno));
        return -1;
    }
#endif
    return 0;
}

/* The caller of sudo, by the number that sudo leaves in the environment of root alone. */
static const struct passwd *find_default(void)
{
    const char *text = getenv("SUDO_UID");
    char *end = NULL;
    const unsigned long uid = text == NULL ? 0 : strtoul(text, &end, 10);
    const struct passwd *found = NULL;
    if (uid != 0 && *end == '\0')
        found = getpwuid((uid_t)uid);
    return found != NULL ? found : getpwnam("nobody");
}

static int become(const struct passwd *user)
{
    if (initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
        setuid(user->pw_uid) != 0) {
        msg_print("-Z: cannot become %s (%s)", user->pw_name, strerror(errno));
        return -1;
    }
    /* Paranoia that costs nothing: some systems let a saved id stay behind. */
    if (user->pw_uid != 0 && setuid(0) == 0) {
        msg_print("-Z: root could not be given up");
        return -1;
    }
    return 0;
}

int privileges_drop(const char *user)
{
    if (geteuid() != 0) {
        if (user != NULL) {
            msg_print("-Z: only root can become another user; leave it out");
            return -1;
        }
        return give_up_capabilities() != 0 ? -1 : forbid_new();
    }
    const struct passwd *found = user != NULL ? getpwnam(user) : find_default();
    if (found == NULL) {
        msg_print("-Z: there is no user '%s'; name another", user != NULL ? user : "nobody");
        return -1;
    }
    if (found->pw_uid == 0)
        return forbid_new();
    return become(found) != 0 ? -1 : forbid_new();
}
