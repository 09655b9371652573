/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error codes: functions return 0 or a count on success and a negative enum roce_err on failure. */
#ifndef ROCE_ERR_H
#define ROCE_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

enum roce_err {
    ROCE_OK = 0,
#define ERR(name, value, text) ROCE_ERR_##name = -(value),
#include <roce/err.def>
#undef ERR
};

/* roce_strerror returns a static, lower-case English text for |err| (a negative enum roce_err, or
 * 0). It never returns NULL. */
const char *roce_strerror(int err);

#ifdef __cplusplus
}
#endif
#endif
