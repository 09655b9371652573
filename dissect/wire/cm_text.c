/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CM's reasons and states in words, IBTA tables 104 (REJ) and 121 (SIDR_REP). */
#include <roce/cm.h>

static const char *const reject_reasons[] = {
    [1] = "no QP available",
    [2] = "no EE context available",
    [3] = "no resources available",
    [4] = "timeout",
    [5] = "unsupported request",
    [6] = "invalid communication id",
    [7] = "invalid communication instance",
    [8] = "invalid service id (nobody listens)",
    [9] = "invalid transport service type",
    [10] = "stale connection",
    [11] = "RDC does not exist",
    [12] = "primary remote port GID rejected",
    [13] = "primary remote port LID rejected",
    [14] = "invalid primary SL",
    [15] = "invalid primary traffic class",
    [16] = "invalid primary hop limit",
    [17] = "invalid primary packet rate",
    [18] = "alternate remote port GID rejected",
    [19] = "alternate remote port LID rejected",
    [20] = "invalid alternate SL",
    [21] = "invalid alternate traffic class",
    [22] = "invalid alternate hop limit",
    [23] = "invalid alternate packet rate",
    [24] = "port and CM redirection",
    [25] = "port redirection",
    [26] = "invalid path MTU",
    [27] = "insufficient responder resources",
    [28] = "consumer reject (the application said no)",
    [29] = "RNR retry count rejected",
    [30] = "duplicate local communication id",
    [31] = "invalid class version",
    [32] = "invalid primary flow label",
    [33] = "invalid alternate flow label",
    [35] = "vendor option is not supported",
};

static const char *const sidr_states[] = {
    "valid",    "service id not supported",    "rejected by the service", "no QP available",
    "redirect", "class version not supported",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *roce_cm_reject_text(uint16_t reason)
{
    if (reason < COUNT(reject_reasons) && reject_reasons[reason] != NULL)
        return reject_reasons[reason];
    return "reserved reason";
}

const char *roce_cm_sidr_status_text(uint8_t status)
{
    return status < COUNT(sidr_states) ? sidr_states[status] : "reserved status";
}
