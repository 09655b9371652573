/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection to spoil, and what is found about it. */
#ifndef TESTS_FINDINGS_RIG_H
#define TESTS_FINDINGS_RIG_H

#include "tests/cmocka_all.h"
#include "tests/flow/scene.h"

static const struct roce_observer_opts opts = {.timeout_exp = 14}; /* 67.1 ms */
#define TIMEOUT (68 * MS)

/* ready is a connection that is known to be a pair: ten SENDs from PSN 100. The next PSN is 110. */
static inline struct scene ready(void)
{
    struct scene s = scene_new(&opts);
    scene_talk(&s, 100, 10);
    return s;
}

static inline const struct roce_finding *want(const struct scene *s, enum roce_finding_kind kind,
                                              enum roce_severity severity, uint64_t count)
{
    const struct roce_finding *f = scene_find(s, kind);
    if (f == NULL)
        fail_msg("no %s", roce_finding_info(kind)->name);
    else
        assert_int_equal(f->severity, severity);
    assert_int_equal(f->count, count);
    /* What the capturer did not keep, and what is not there, no frame shows. */
    const bool nothing =
        kind == ROCE_FINDING_CAPTURE_NO_ROCE || (kind == ROCE_FINDING_LOSS_CAPTURE && !f->has_flow);
    assert_true(f->n_frames > 0 || nothing);
    return f;
}

static inline void text_is(const struct roce_finding *f, const char *want)
{
    char text[ROCE_FINDING_TEXT];
    roce_finding_text(f, text, sizeof text);
    assert_string_equal(text, want);
}

static inline void clean(struct scene *s)
{
    assert_int_equal(scene_alarms(s), 0);
    scene_free(s);
}

#endif
