/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of the error codes. */
#include <roce/err.h>

const char *roce_strerror(int err)
{
    switch (err) {
    case ROCE_OK:
        return "success";
#define ERR(name, value, text) \
    case ROCE_ERR_##name:      \
        return text;
#include <roce/err.def>
#undef ERR
    }
    return "unknown error";
}
