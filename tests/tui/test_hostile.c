/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Damaged frames with any time stamps, and a day of flows that come and go: every screen can be
 * drawn at every size, and memory stays what it was. */
#include "../cmocka_all.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <roce/capture.h>
#include <roce/psn.h>

#include "frames.h"
#include "view.h"

enum { LEN_MAX = 2048, PER_CAPTURE = 600 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void draw_all(struct model *model, struct snapshot *snap, struct ui *ui, uint32_t *seed)
{
    for (int screen = SCREEN_OVERVIEW; screen <= SCREEN_QP; screen++) {
        for (int tab = TAB_PSN; tab <= (screen == SCREEN_QP ? TAB_HEADERS : TAB_PSN); tab++) {
            ui->rows = 1 + (int)(next_random(seed) % 80);
            ui->cols = 1 + (int)(next_random(seed) % 250);
            ui->screen = (enum ui_screen)screen;
            ui->tab = (enum ui_tab)tab;
            const struct snap_want want = ui_want(ui);
            tui_model_snapshot(model, &want, snap);
            ui_settle(ui, snap);
            if (screen == SCREEN_QPS && ui->n_order > 0) {
                const uint32_t row = ui->order[next_random(seed) % ui->n_order];
                ui_open(ui, &snap->row[row], next_random(seed) % 3 == 0 ? next_random(seed) : 0);
                continue;
            }
            struct canvas *canvas = tui_canvas_new(ui->rows, ui->cols, false);
            assert_non_null(canvas);
            view_draw(ui, snap, canvas);
            tui_canvas_del(canvas);
        }
    }
}

static void feed_damaged(struct model *model, const char *path, uint32_t *seed)
{
    struct roce_frame frame;
    int err;
    char text[ROCE_ERRTEXT_LEN];
    struct roce_reader *reader = roce_reader_open(path, NULL, &err, text);
    assert_non_null(reader);
    for (int n = 0; n < PER_CAPTURE && roce_reader_next(reader, &frame, 1) > 0; n++) {
        uint32_t len = frame.caplen < LEN_MAX ? frame.caplen : LEN_MAX;
        if (next_random(seed) % 4 == 0)
            len = next_random(seed) % (len + 1);
        /* Exactly as large as the frame: a byte too many is seen by the sanitizer. */
        uint8_t *data = malloc(len + (len == 0));
        assert_non_null(data);
        memcpy(data, frame.data, len);
        for (uint32_t k = next_random(seed) % 4; k > 0 && len > 0; k--)
            data[next_random(seed) % len] = (uint8_t)next_random(seed);
        roce_tstamp ts = frame.ts;
        if (next_random(seed) % 20 == 0)
            ts = (uint64_t)next_random(seed) << (next_random(seed) % 45);
        frames_feed(model, data, len, ts);
        free(data);
    }
    roce_reader_del(reader);
}

static void test_damaged_frames(void **state)
{
    (void)state;
    struct settings settings;
    struct ui ui;
    glob_t list;
    uint32_t seed = 7;
    struct model_opts opts = FRAMES_OPTS;
    opts.link_speed_bps = UINT64_C(100000000000);
    struct model *model = tui_model_new(&opts);
    struct snapshot *snap = tui_snapshot_new();
    tui_settings_defaults(&settings);
    settings.level = LOG_INFO;
    assert_non_null(model);
    assert_non_null(snap);
    assert_int_equal(ui_init(&ui, &settings, false), 0);
    assert_int_equal(glob(SOURCE_DIR "/pcaps/*.pcap", 0, NULL, &list), 0);
    for (size_t i = 0; i < list.gl_pathc; i++) {
        feed_damaged(model, list.gl_pathv[i], &seed);
        draw_all(model, snap, &ui, &seed);
    }
    tui_model_finish(model);
    draw_all(model, snap, &ui, &seed);
    globfree(&list);
    ui_free(&ui);
    tui_snapshot_del(snap);
    tui_model_del(model);
}

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
    (void)fclose(file);
    return resident;
}

/* Eight frames a second for 24 hours at the default limits: 40 QPs at any time, each of 30 s with
 * four requests, of which one is missing, and two ACKs; a snapshot every five minutes. */
enum { LIVING = 40, FRAMES_OF_QP = 6, DAY_FRAMES = 8 * 86400, DAY_QPS = DAY_FRAMES / FRAMES_OF_QP };

static void day_frame(struct model *model, uint32_t i)
{
    static const struct {
        bool reverse;
        uint8_t psn;
    } life[FRAMES_OF_QP] = {{false, 0}, {true, 0}, {false, 1}, {false, 3}, {true, 0}, {false, 4}};
    const uint32_t turn = i / LIVING, lane = i % LIVING;
    const uint32_t qp = turn / FRAMES_OF_QP * LIVING + lane, step = turn % FRAMES_OF_QP;
    const struct frames_spec spec = {.opcode = life[step].reverse ? ROCE_OPCODE_RC_ACKNOWLEDGE
                                                                  : ROCE_OPCODE_RC_SEND_ONLY,
                                     .qpn = 2 + qp * 2 + life[step].reverse,
                                     .psn = (qp * 7919 + life[step].psn) & ROCE_PSN_MASK,
                                     .syndrome = 0x1F,
                                     .reverse = life[step].reverse,
                                     .ackreq = true,
                                     .payload = life[step].reverse ? 0 : 8};
    frames_send(model, &spec, FRAMES_T0 + i * (FRAMES_SEC / 8));
}

static void test_a_day_of_churn_keeps_memory(void **state)
{
    (void)state;
    const struct snap_want nothing = {.detail = ROCE_FLOW_NONE};
    struct model_opts opts = FRAMES_OPTS;
    opts.max_flows = 0;
    opts.idle_ns = ROCE_FLOW_IDLE_NS;
    /* With large pages the kernel makes memory resident that was not touched, when it likes. */
    assert_int_equal(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
    struct model *model = tui_model_new(&opts);
    struct snapshot *snap = tui_snapshot_new();
    assert_non_null(model);
    assert_non_null(snap);
    long pages = 0;
    uint64_t memory = 0;
    for (uint32_t i = 0; i < DAY_FRAMES; i++) {
        day_frame(model, i);
        if (i % (8 * 300) == 0)
            tui_model_snapshot(model, &nothing, snap);
        if (i == 2 * 8 * 3600) {
            pages = resident_pages();
            memory = snap->stats.memory;
        }
    }
    const struct snap_want hosts = {.detail = ROCE_FLOW_NONE, .hosts = true};
    tui_model_snapshot(model, &hosts, snap);
    assert_int_equal(snap->stats.memory, memory);
    assert_true((resident_pages() - pages) * sysconf(_SC_PAGESIZE) < 1 << 18);
    assert_int_equal(snap->stats.evicted, 0);
    assert_int_equal(snap->stats.created, 2 * DAY_QPS);
    assert_int_equal(snap->stats.ended, 2 * DAY_QPS - snap->stats.flows);
    assert_in_range(snap->stats.flows, ROCE_FLOW_IDLE_KEEP - 2 * LIVING, 2 * ROCE_FLOW_IDLE_KEEP);
    /* No flow is missing in the totals, and none counted twice. */
    assert_int_equal(snap->n_hosts, 2);
    assert_int_equal(snap->host[0].packets_out + snap->host[1].packets_out, DAY_FRAMES);
    assert_int_equal(snap->host[0].flows_out + snap->host[1].flows_out, 2 * DAY_QPS);
    /* The QPs of the last 30 s, each with its one gap. */
    uint32_t living = 0;
    for (uint32_t i = 0; i < snap->n_rows; i++) {
        const struct snap_row *row = &snap->row[i];
        if (row->dest_qp % 2 != 0 || row->dest_qp < 2 + 2 * (DAY_QPS - LIVING))
            continue;
        living++;
        assert_int_equal(row->packets, 4);
        assert_int_equal(row->gap_events, 1);
        assert_int_equal(row->gap_psns, 1);
    }
    assert_int_equal(living, LIVING);
    tui_snapshot_del(snap);
    tui_model_del(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_frames),
        cmocka_unit_test(test_a_day_of_churn_keeps_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
