/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of targets, and what they carry. */
#include "rocereplay/target.h"

#include "rocereplay/target_meet.h"

enum {
    RC = 1 << ENG_RC,
    UC = 1 << ENG_UC,
    UD = 1 << ENG_UD,
    ALL = ENG_REMOTE_WRITE | ENG_REMOTE_READ | ENG_REMOTE_ATOMIC,
};

static const struct target_kind by_hand = {
    .name = "a peer by hand",
    .services = RC | UC | UD,
    .access = ALL,
    .max_qps = HAND_MAX,
    .receives = true,
    .qp_access = ALL,
    .meet = target_meet_by_hand,
};

/* What is told without its key and address is no memory. */
static const struct target_kind by_hand_no_memory = {
    .name = "a peer by hand without --rkey and --va",
    .services = RC | UC | UD,
    .max_qps = HAND_MAX,
    .receives = true,
    .qp_access = ALL,
    .meet = target_meet_by_hand,
};

static const struct target_kind cm[] = {
    [APP_LOAD] = {.name = "rocereplay serve --accept cm",
                  .services = RC | UC,
                  .access = ALL,
                  .qp_access = ALL,
                  .max_qps = QPS_MAX,
                  .receives = true,
                  .meet = target_meet_cm,
                  .part = target_part_cm},
    /* Its memory is for itself, and what it receives has to be its own 16 bytes. */
    [APP_RPING] = {.name = "rping",
                   .services = RC,
                   .qp_access = ALL,
                   .max_qps = QPS_MAX,
                   .own_receives = true,
                   .prompt = TARGET_PROMPT_RPING,
                   .meet = target_meet_cm,
                   .part = target_part_cm},
    [APP_ECHO] = {.name = "ucmatose",
                  .services = RC,
                  .qp_access = ALL,
                  .max_qps = QPS_MAX,
                  .receives = true,
                  .answers = true,
                  .stays = true,
                  .meet = target_meet_cm,
                  .part = target_part_cm},
};

/* Each tool opens its memory and its QPs for its own operation alone. */
static const struct target_kind perftest[] = {
    [TOOL_SEND] = {.name = "ib_send_bw",
                   .services = RC,
                   .qp_access = ENG_REMOTE_WRITE,
                   .max_qps = QPS_MAX,
                   .receives = true,
                   .stays = true,
                   .meet = target_meet_perftest,
                   .part = target_part_perftest},
    [TOOL_WRITE] = {.name = "ib_write_bw",
                    .services = RC,
                    .access = ENG_REMOTE_WRITE,
                    .qp_access = ENG_REMOTE_WRITE,
                    .max_qps = QPS_MAX,
                    .meet = target_meet_perftest,
                    .part = target_part_perftest},
    [TOOL_READ] = {.name = "ib_read_bw",
                   .services = RC,
                   .access = ENG_REMOTE_READ,
                   .qp_access = ENG_REMOTE_READ,
                   .max_qps = QPS_MAX,
                   .meet = target_meet_perftest,
                   .part = target_part_perftest},
    [TOOL_ATOMIC] = {.name = "ib_atomic_bw",
                     .services = RC,
                     .access = ENG_REMOTE_ATOMIC,
                     .qp_access = ENG_REMOTE_ATOMIC,
                     .max_qps = QPS_MAX,
                     .meet = target_meet_perftest,
                     .part = target_part_perftest},
};

static const struct target_kind pingpong[] = {
    [ENG_RC] = {.name = "ibv_rc_pingpong",
                .services = RC,
                .max_qps = 1,
                .receives = true,
                .answers = true,
                .in_turn = true,
                .stays = true,
                .prompt = TARGET_PROMPT_SEND,
                .meet = target_meet_pingpong},
    [ENG_UC] = {.name = "ibv_uc_pingpong",
                .services = UC,
                .max_qps = 1,
                .receives = true,
                .answers = true,
                .in_turn = true,
                .stays = true,
                .prompt = TARGET_PROMPT_SEND,
                .meet = target_meet_pingpong},
    [ENG_UD] = {.name = "ibv_ud_pingpong",
                .services = UD,
                .max_qps = 1,
                .receives = true,
                .answers = true,
                .in_turn = true,
                .stays = true,
                .prompt = TARGET_PROMPT_SEND,
                .meet = target_meet_pingpong},
};

const struct target_kind *target_kind_of(const struct replay_opts *opts)
{
    if (opts->by_hand)
        return opts->rkey != NULL ? &by_hand : &by_hand_no_memory;
    switch (opts->how) {
    case CONNECT_PINGPONG:
        return &pingpong[opts->service];
    case CONNECT_PERFTEST:
        return &perftest[target_tool_of(opts->wr_op)];
    case CONNECT_CM:
        return &cm[opts->app];
    case CONNECT_NATIVE:
    case CONNECT_NONE:
        break;
    }
    return NULL;
}

int target_open(struct target *t, const struct target_kind *kind, struct station *st,
                const uint8_t ip[16], struct lane *lanes, uint32_t n)
{
    *t = (struct target){.kind = kind, .st = st, .lanes = lanes, .n = n, .first = t->first};
    return kind->meet(t, ip);
}

void target_close(struct target *t, const struct load_result *load)
{
    if (t->kind != NULL && t->kind->part != NULL)
        t->kind->part(t, load);
    *t = (struct target){0};
}

static unsigned right_for(enum eng_wr_op op)
{
    switch (op) {
    case ENG_WR_WRITE:
    case ENG_WR_WRITE_IMM:
    case ENG_WR_ATOMIC_WRITE:
        return ENG_REMOTE_WRITE;
    case ENG_WR_READ:
    case ENG_WR_FLUSH:
        return ENG_REMOTE_READ;
    case ENG_WR_CMP_SWAP:
    case ENG_WR_FETCH_ADD:
        return ENG_REMOTE_ATOMIC;
    case ENG_WR_SEND:
    case ENG_WR_SEND_IMM:
    case ENG_WR_SEND_INV:
    case ENG_WR_OPS:
        break;
    }
    return 0;
}

enum target_no target_carries(const struct target_kind *kind, enum eng_service service,
                              enum eng_wr_op op, uint64_t len, uint64_t room)
{
    const unsigned right = right_for(op);
    const bool takes = right == 0 || op == ENG_WR_WRITE_IMM;
    if ((kind->services & 1U << service) == 0)
        return TARGET_NO_SERVICE;
    if (takes && !kind->receives)
        return kind->own_receives ? TARGET_OWN_RECEIVES : TARGET_NO_RECEIVES;
    if (right != 0 && kind->access == 0 && len != 0)
        return TARGET_NO_MEMORY;
    if (right != 0 && kind->access != 0 && (kind->access & right) == 0)
        return TARGET_NO_RIGHT;
    return len > room ? TARGET_TOO_LONG : TARGET_CAN;
}

const char *target_no_text(enum target_no why)
{
    static const char *const texts[TARGET_REASONS] = {
        [TARGET_CAN] = "",
        [TARGET_NO_RECEIVES] = "posts no receives for them",
        [TARGET_OWN_RECEIVES] = "takes messages of its own kind alone",
        [TARGET_NO_MEMORY] = "tells of no memory",
        [TARGET_NO_RIGHT] = "opens its memory for another operation",
        [TARGET_TOO_LONG] = "has less room than they are long, see --memory",
        [TARGET_NO_SERVICE] = "speaks another transport service",
    };
    return texts[why];
}
