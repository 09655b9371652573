/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys, at any time and any size: nothing breaks, and each does what it says. */
#include "../cmocka_all.h"

#include <stdlib.h>

#include "frames.h"
#include "view.h"

struct fixture {
    struct model *model;
    struct snapshot *snap;
    struct ui ui;
};

static void refresh(struct fixture *f)
{
    const struct snap_want want = ui_want(&f->ui);
    tui_model_snapshot(f->model, &want, f->snap);
    ui_settle(&f->ui, f->snap);
}

/* Eight QPs; the fifth has a gap of two, the seventh one of three. */
static int set_up(void **state)
{
    static struct fixture f;
    struct settings settings;
    tui_settings_defaults(&settings);
    f.model = tui_model_new(&FRAMES_OPTS);
    f.snap = tui_snapshot_new();
    if (f.model == NULL || f.snap == NULL || ui_init(&f.ui, &settings, false) != 0)
        return -1;
    for (uint32_t psn = 0; psn < 30; psn++) {
        for (uint32_t qp = 1; qp <= 8; qp++) {
            const uint32_t skip = qp == 5 && psn > 10 ? 2 : qp == 7 && psn > 20 ? 3 : 0;
            const struct frames_spec spec = {.opcode = ROCE_OPCODE_RC_SEND_ONLY,
                                             .qpn = 0x10 + qp,
                                             .psn = psn + skip,
                                             .payload = (uint16_t)(qp * 10),
                                             .ackreq = true};
            const struct frames_spec ack = {.opcode = ROCE_OPCODE_RC_ACKNOWLEDGE,
                                            .qpn = 0x80 + qp,
                                            .psn = psn + skip,
                                            .syndrome = 0x1F,
                                            .reverse = true};
            frames_send(f.model, &spec, FRAMES_T0 + (psn * 8 + qp) * FRAMES_MS);
            frames_send(f.model, &ack, FRAMES_T0 + (psn * 8 + qp) * FRAMES_MS + 1000);
        }
    }
    refresh(&f);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tui_model_del(f->model);
    tui_snapshot_del(f->snap);
    ui_free(&f->ui);
    return 0;
}

static void press(struct fixture *f, uint32_t key)
{
    ui_key(&f->ui, f->snap, key);
    refresh(f);
}

static void type(struct fixture *f, const char *text)
{
    while (*text != '\0')
        press(f, (unsigned char)*text++);
}

static uint32_t selected_qp(const struct fixture *f)
{
    return f->snap->row[f->ui.order[f->ui.cursor_at]].dest_qp;
}

static void test_worst_is_first_and_opens_at_its_gap(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(selected_qp(f), 0x17);
    press(f, UI_KEY_ENTER);
    assert_int_equal(f->ui.screen, SCREEN_QP);
    const struct snap_frame *frame = &f->snap->frame[f->ui.frame_at];
    assert_int_equal(frame->record.psn, 24);
    assert_int_equal(frame->record.missing, 3);
    assert_true(f->ui.at == frame->record.ts);
    assert_true(f->ui.from < f->ui.at && f->ui.at < f->ui.until);
    press(f, 'q');
    assert_int_equal(f->ui.screen, SCREEN_OVERVIEW);
    press(f, 'q');
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_QUIT);
}

static void send_one(struct fixture *f, uint32_t psn, roce_tstamp ts)
{
    const struct frames_spec spec = {
        .opcode = ROCE_OPCODE_RC_SEND_ONLY, .qpn = 0x20, .psn = psn, .payload = 100};
    frames_send(f->model, &spec, ts);
}

/* A gap and what fills it, seconds of silence around: the window has the one and not the other. */
static void test_window_leaves_out_silence(void **state)
{
    struct fixture *f = *state;
    const roce_tstamp start = FRAMES_T0 + 20000 * FRAMES_MS;
    for (uint32_t psn = 0; psn < 5; psn++)
        send_one(f, psn, start - (5005 - psn) * FRAMES_MS);
    for (uint32_t i = 0; i < 40; i++) /* 5..24, 26..34, then 25..35 again: 20, 9 and 11 frames */
        send_one(f, i < 20 ? 5 + i : i < 29 ? 6 + i : i - 4, start + i * FRAMES_MS);
    for (uint32_t psn = 36; psn < 80; psn++)
        send_one(f, psn, start + (5000 + psn) * FRAMES_MS);
    refresh(f);
    const struct snap_row *row = NULL;
    for (uint32_t i = 0; i < f->snap->n_rows; i++)
        row = f->snap->row[i].dest_qp == 0x20 ? &f->snap->row[i] : row;
    assert_non_null(row);
    ui_open(&f->ui, row, 0);
    refresh(f);
    refresh(f);
    assert_int_equal((f->ui.at - start) / FRAMES_MS, 20);
    assert_int_equal((f->ui.from - start) / FRAMES_MS, 0);
    assert_int_equal((f->ui.until - start) / FRAMES_MS, 39);
}

static void test_sorting(void **state)
{
    struct fixture *f = *state;
    press(f, '2');
    press(f, UI_KEY_F0 + 6);
    assert_int_equal(f->ui.mode, MODE_SORT);
    press(f, UI_KEY_HOME);
    press(f, UI_KEY_ENTER);
    assert_int_equal(f->ui.sort, COLUMN_DQPN);
    assert_int_equal(f->snap->row[f->ui.order[0]].dest_qp, 0x11);
    press(f, 'I');
    assert_int_equal(f->snap->row[f->ui.order[0]].dest_qp, 0x88);
    press(f, '<');
    assert_int_equal(f->ui.sort, COLUMN_LAST);
    press(f, '>');
    assert_int_equal(f->ui.sort, COLUMN_DQPN);
    /* The cursor has stayed at the top without having been moved; moved, it stays on its QP. */
    press(f, UI_KEY_DOWN);
    const uint32_t qp = selected_qp(f);
    press(f, 'I');
    assert_int_equal(selected_qp(f), qp);
}

static void test_marking_and_saving(void **state)
{
    struct fixture *f = *state;
    press(f, '2');
    press(f, ' ');
    press(f, ' ');
    assert_int_equal(f->ui.marks, 2);
    assert_int_equal(f->ui.cursor_at, 2);
    press(f, UI_KEY_F0 + 2);
    type(f, "m");
    assert_int_equal(f->ui.mode, MODE_PROMPT);
    press(f, 'U' & 0x1F);
    type(f, "/x/y.pcapng");
    press(f, UI_KEY_ENTER);
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_SAVE);
    assert_int_equal(f->ui.save_what, SAVE_MARKED);
    assert_string_equal(f->ui.path, "/x/y.pcapng");
    press(f, UI_KEY_ESCAPE);
    press(f, 'U');
    assert_int_equal(f->ui.marks, 0);
    press(f, 's');
    type(f, "m");
    assert_true(f->ui.message_bad);
}

static void test_searching(void **state)
{
    struct fixture *f = *state;
    press(f, UI_KEY_F0 + 3);
    type(f, "0x13");
    press(f, UI_KEY_ENTER);
    assert_int_equal(selected_qp(f), 0x13);
    press(f, '/');
    press(f, 'U' & 0x1F);
    type(f, "000008");
    press(f, UI_KEY_ENTER);
    const uint32_t first = selected_qp(f);
    press(f, '/');
    press(f, 'U' & 0x1F);
    type(f, "nowhere");
    press(f, UI_KEY_ENTER);
    assert_int_equal(selected_qp(f), first);
    assert_true(f->ui.message_bad);
    /* Acknowledgements have a name of their own. */
    press(f, '/');
    press(f, 'U' & 0x1F);
    type(f, "ack");
    press(f, UI_KEY_ENTER);
    const uint32_t a = selected_qp(f);
    assert_true(a > 0x80);
    press(f, 'n');
    assert_true(selected_qp(f) > 0x80 && selected_qp(f) != a);
    press(f, 'N');
    assert_int_equal(selected_qp(f), a);
}

static void test_filter_prompt(void **state)
{
    struct fixture *f = *state;
    press(f, UI_KEY_F0 + 4);
    type(f, "qp == ");
    press(f, UI_KEY_ENTER);
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_FILTER);
    assert_string_equal(f->ui.path, "qp == ");
    ui_filter_done(&f->ui, "qp == ", "a value is missing", 6);
    assert_int_equal(f->ui.mode, MODE_PROMPT);
    assert_string_equal(f->ui.text, "qp == ");
    press(f, UI_KEY_HOME);
    press(f, UI_KEY_DELETE);
    press(f, UI_KEY_END);
    press(f, UI_KEY_BACKSPACE);
    assert_string_equal(f->ui.text, "p ==");
    press(f, UI_KEY_ESCAPE);
    assert_int_equal(f->ui.mode, MODE_SCREEN);
    ui_filter_done(&f->ui, "qp == 1", NULL, 0);
    assert_string_equal(f->ui.filter, "qp == 1");
}

static void test_jumping_between_gaps(void **state)
{
    struct fixture *f = *state;
    press(f, '/');
    type(f, "0x15");
    press(f, UI_KEY_ENTER);
    press(f, UI_KEY_ENTER);
    press(f, 'r');
    assert_int_equal(f->ui.tab, TAB_HEADERS);
    const uint32_t at = f->ui.frame_at;
    assert_int_equal(f->snap->frame[at].record.missing, 2);
    press(f, UI_KEY_UP);
    assert_int_equal(f->ui.frame_at, at - 1);
    press(f, 'n');
    assert_int_equal(f->ui.frame_at, at);
    press(f, UI_KEY_F0 + 3);
    type(f, "3");
    press(f, UI_KEY_ENTER);
    assert_int_equal(f->snap->frame[f->ui.frame_at].record.psn, 3);
    press(f, 'd');
    press(f, '0');
    const uint64_t all = f->ui.until - f->ui.from;
    press(f, '>');
    assert_true(f->ui.until - f->ui.from == all / 2);
    press(f, UI_KEY_RIGHT);
    press(f, '<');
    assert_int_equal(f->ui.tab, TAB_PSN);
}

static void test_file_keys(void **state)
{
    struct fixture *f = *state;
    f->ui.status.speed = 1;
    f->ui.status.run = RUN_PLAYING;
    press(f, '+');
    struct ui_action a = ui_next_action(&f->ui);
    assert_true(a.kind == ACTION_SPEED && a.number == 2);
    press(f, '-');
    a = ui_next_action(&f->ui);
    assert_true(a.kind == ACTION_SPEED && a.number == 0.5);
    press(f, 'p');
    a = ui_next_action(&f->ui);
    assert_true(a.kind == ACTION_PAUSE && a.on);
    press(f, '.');
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_STEP);
    press(f, '[');
    a = ui_next_action(&f->ui);
    assert_true(a.kind == ACTION_SEEK && a.number == -10);
    press(f, ':');
    type(f, "+1500ms");
    press(f, UI_KEY_ENTER);
    a = ui_next_action(&f->ui);
    assert_true(a.kind == ACTION_SEEK_TIME);
    assert_true(a.ts == f->snap->first + UINT64_C(1500000000));
    press(f, ':');
    type(f, "77");
    press(f, UI_KEY_ENTER);
    a = ui_next_action(&f->ui);
    assert_true(a.kind == ACTION_SEEK_FRAME && a.frame == 77);
    f->ui.status.live = true;
    press(f, '+');
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_NONE);
    press(f, 'p');
    assert_true(f->ui.frozen);
    press(f, 'p');
    assert_false(f->ui.frozen);
}

static void test_reset_asks(void **state)
{
    struct fixture *f = *state;
    press(f, UI_KEY_F0 + 5);
    press(f, 'n');
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_NONE);
    press(f, 'L' & 0x1F);
    press(f, 'y');
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_RESET);
}

static void test_columns_and_setup(void **state)
{
    struct fixture *f = *state;
    press(f, '2');
    press(f, 't');
    press(f, UI_KEY_DOWN);
    press(f, ' '); /* SRC is hidden */
    assert_int_equal(f->ui.columns, COLUMN_COUNT - 1);
    assert_int_equal(f->ui.column[1], COLUMN_DST);
    press(f, ' ');
    assert_int_equal(f->ui.columns, COLUMN_COUNT);
    assert_string_equal(f->ui.settings.columns, "");
    press(f, UI_KEY_ESCAPE);
    press(f, UI_KEY_F0 + 8);
    press(f, UI_KEY_RIGHT);
    assert_int_equal(f->ui.settings.interval, UINT64_C(2000000000));
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_TUNE);
    press(f, UI_KEY_ENTER);
    press(f, 'U' & 0x1F);
    type(f, "250ms");
    press(f, UI_KEY_ENTER);
    assert_int_equal(f->ui.settings.interval, UINT64_C(250000000));
    press(f, 'w');
    (void)ui_next_action(&f->ui);
    assert_int_equal(ui_next_action(&f->ui).kind, ACTION_SAVE_SETTINGS);
}

static void test_frozen_order(void **state)
{
    struct fixture *f = *state;
    press(f, '2');
    press(f, 'o');
    const uint32_t first = f->snap->row[f->ui.order[0]].dest_qp;
    /* Another one becomes the worst; the places stay. */
    const struct frames_spec spec = {
        .opcode = ROCE_OPCODE_RC_SEND_ONLY, .qpn = 0x11, .psn = 5000, .ackreq = true};
    frames_send(f->model, &spec, FRAMES_T0 + 500 * FRAMES_MS);
    refresh(f);
    assert_int_equal(f->snap->row[f->ui.order[0]].dest_qp, first);
    press(f, 'o');
    assert_int_equal(f->snap->row[f->ui.order[0]].dest_qp, 0x11);
}

static void empty(struct fixture *f)
{
    tui_model_del(f->model);
    f->model = tui_model_new(&FRAMES_OPTS);
    assert_non_null(f->model);
    refresh(f);
}

static void test_searching_before_any_frame(void **state)
{
    struct fixture *f = *state;
    empty(f);
    assert_int_equal(f->ui.n_order, 0);
    press(f, '/');
    type(f, "0x13");
    press(f, UI_KEY_ENTER);
    assert_true(f->ui.message_bad);
    press(f, 'n');
    press(f, 'N');
    assert_true(f->ui.message_bad);
}

/* Random keys and clicks on random sizes, drawn each time: nothing to check but that it goes on. */
static void press_any(struct fixture *f, int count, uint32_t seed)
{
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        const uint32_t r = seed >> 8;
        if (i % 40 == 0) {
            f->ui.rows = 1 + (int)(r % 70);
            f->ui.cols = 1 + (int)(r / 70 % 260);
            f->ui.status.live = r % 3 == 0;
            f->ui.ascii = r % 5 == 0;
        }
        if (r % 16 == 0)
            ui_mouse(&f->ui, f->snap, (int)(r >> 4) % f->ui.rows, (int)(r >> 9) % f->ui.cols,
                     (int)(r >> 5) % 3 - 1, r % 32 == 0);
        else if (r % 3 == 0)
            ui_key(&f->ui, f->snap, KEY_CODES + r % (UI_KEYS - KEY_CODES));
        else
            ui_key(&f->ui, f->snap, r % 0x80);
        while (ui_next_action(&f->ui).kind != ACTION_NONE)
            ;
        refresh(f);
        struct canvas *canvas = tui_canvas_new(f->ui.rows, f->ui.cols, f->ui.ascii);
        view_draw(&f->ui, f->snap, canvas);
        tui_canvas_del(canvas);
    }
}

static void test_any_key_at_any_size(void **state)
{
    press_any(*state, 6000, 42);
}

static void test_any_key_before_any_frame(void **state)
{
    empty(*state);
    press_any(*state, 3000, 43);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_worst_is_first_and_opens_at_its_gap),
        TEST(test_window_leaves_out_silence),
        TEST(test_sorting),
        TEST(test_marking_and_saving),
        TEST(test_searching),
        TEST(test_filter_prompt),
        TEST(test_jumping_between_gaps),
        TEST(test_file_keys),
        TEST(test_reset_asks),
        TEST(test_columns_and_setup),
        TEST(test_frozen_order),
        TEST(test_searching_before_any_frame),
        TEST(test_any_key_at_any_size),
        TEST(test_any_key_before_any_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
