/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that are filled late. */
#include "late_table.h"

#include "rocev2.h"

static void set_item(struct late_table *self, guint row, guint column,
                     const stat_tap_table_item_type *value)
{
    stat_tap_table_item_type *item = stat_tap_get_field_data(self->table, row, column);
    char *const old = item->type == TABLE_ITEM_STRING ? item->user_data.ptr_value : NULL;
    *item = *value;
    item->user_data.ptr_value = NULL;
    if (value->type == TABLE_ITEM_STRING) {
        char *const copy = g_strdup(value->value.string_value);
        item->value.string_value = copy;
        item->user_data.ptr_value = copy;
    }
    g_free(old);
}

static void blank_rows(struct late_table *self)
{
    for (guint row = self->rows; row < self->table->num_elements; row++)
        for (guint column = 0; column < self->table->num_fields; column++) {
            const stat_tap_table_item_type *item =
                stat_tap_get_field_data(self->table, row, column);
            stat_tap_table_item_type blank = {.type = item->type};
            if (item->type == TABLE_ITEM_STRING)
                blank.value.string_value = "";
            set_item(self, row, column, &blank);
        }
}

static void fill(struct late_table *self)
{
    if (self->table == NULL)
        return;
    analysis_settle();
    self->rows = 0;
    self->fill(self);
    /* There may have been more rows before. */
    blank_rows(self);
}

static tap_packet_status listen(void *tapdata, packet_info *pinfo, epan_dissect_t *edt,
                                const void *data, tap_flags_t flags)
{
    (void)tapdata;
    (void)pinfo;
    (void)edt;
    (void)data;
    (void)flags;
    return TAP_PACKET_REDRAW;
}

static void draw(void *tapdata)
{
    fill(tapdata);
}

/* Listeners are drawn newest first: one that is registered behind the table's own is drawn in front
 * of it. */
static void ask(struct late_table *self)
{
    if (self->asked)
        return;
    self->asked = true;
    GString *error =
        register_tap_listener("rocev2", self, NULL, TL_REQUIRES_NOTHING, NULL, listen, draw, NULL);
    if (error != NULL)
        g_string_free(error, TRUE);
}

void late_table_packet(struct late_table *self, bool first)
{
    if (self->table == NULL)
        return;
    if (first) {
        ask(self);
    } else if (!self->filled) {
        self->filled = true;
        fill(self);
    }
}

void late_table_row(struct late_table *self, guint row, const stat_tap_table_item_type *items)
{
    const guint columns = self->table->num_fields;
    if (row >= self->table->num_elements) {
        stat_tap_table_item_type *blank = g_new0(stat_tap_table_item_type, columns);
        stat_tap_init_table_row(self->table, row, columns, blank);
        g_free(blank);
    }
    for (guint column = 0; column < columns; column++)
        set_item(self, row, column, &items[column]);
    self->rows = row + 1;
}

void late_table_reset(struct late_table *self)
{
    if (self->table == NULL)
        return;
    self->filled = false;
    self->rows = 0;
    blank_rows(self);
}

void late_table_open(struct late_table *self, stat_tap_table_ui *ui, const char *name)
{
    stat_tap_table *table = stat_tap_find_table(ui, name);
    if (table == NULL) {
        table = stat_tap_init_table(name, (int)ui->nfields, 0, NULL);
        stat_tap_add_table(ui, table);
    }
    self->table = table;
    late_table_reset(self);
}

void late_table_free_item(struct late_table *self, stat_tap_table *table, guint row, guint column,
                          stat_tap_table_item_type *item)
{
    (void)column;
    if (item->type == TABLE_ITEM_STRING)
        g_free(item->user_data.ptr_value);
    if (table != self->table || row != 0)
        return;
    self->table = NULL;
    if (self->asked)
        remove_tap_listener(self);
    self->asked = false;
    self->filled = false;
}
