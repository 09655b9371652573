/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exchange of perftest's programs (ib_send_bw and its family): items of fixed size, each
 * written by the client first, then by the server. */
#ifndef ROCEREPLAY_PERFTEST_H
#define ROCEREPLAY_PERFTEST_H

#include "rocereplay/lane.h"
#include "rocereplay/load.h"

struct perftest_link;

enum {
    PERFTEST_KEY_LEN = 108,   /* with GID */
    PERFTEST_KEY_CM_LEN = 56, /* where records are SENDs */
    PERFTEST_VERSION_LEN = 16,
    PERFTEST_MTU_LEN = 2,
    PERFTEST_REPORT_LEN = 40,
};

/* perftest_encode_key writes the record of |qp|: LID, outstanding READs, QPN, PSN, R_Key, VA, GID,
 * SRQN. perftest_decode_key reads it; 0, or ROCE_ERR_SYNTAX. */
void perftest_encode_key(const struct remote *qp, char record[PERFTEST_KEY_LEN]);
int perftest_decode_key(const char record[PERFTEST_KEY_LEN], struct remote *qp);

/* perftest_encode_key_cm and perftest_decode_key_cm do the same for what travels by SENDs: the
 * numbers of the record in network order, as their C structure lies in memory. */
void perftest_encode_key_cm(const struct remote *qp, uint8_t record[PERFTEST_KEY_CM_LEN]);
void perftest_decode_key_cm(const uint8_t record[PERFTEST_KEY_CM_LEN], struct remote *qp);

/* The path MTU travels as the digit of its enum (256: 1 ... 4096: 5). */
void perftest_encode_mtu(uint16_t mtu, char item[PERFTEST_MTU_LEN]);
int perftest_decode_mtu(const char item[PERFTEST_MTU_LEN], uint16_t *mtu);

struct perftest_report {
    uint64_t size, iters;
    double peak, average, rate; /* MB/s, MB/s, M messages/s */
};
void perftest_encode_report(const struct perftest_report *report,
                            uint8_t item[PERFTEST_REPORT_LEN]);
void perftest_decode_report(const uint8_t item[PERFTEST_REPORT_LEN],
                            struct perftest_report *report);

/* perftest_client runs the tool that the options ask for against the program at |ip|;
 * perftest_serve answers that behind |link|, which it closes. An exit status. */
int perftest_client(struct station *st, const uint8_t ip[16]);
int perftest_serve(struct station *st, struct perftest_link *link);

/* The exchange alone, for those who have work of their own for the lanes between its two halves:
 * perftest_run_meet connects |lanes|, perftest_run_part reports and ends. 0, or -1 with a message
 * printed; perftest_run_new NULL. */
struct perftest_run;
struct perftest_run *perftest_run_new(struct station *st, struct lane *lanes, uint32_t n,
                                      enum replay_tool tool);
int perftest_run_meet(struct perftest_run *run, const uint8_t ip[16]);
int perftest_run_part(struct perftest_run *run, const struct load_result *load);
void perftest_run_del(struct perftest_run *run);
/* perftest_tool_of tells whose operation |op| is. */
enum replay_tool perftest_tool_of(enum eng_wr_op op);

#endif
