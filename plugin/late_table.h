/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A statistics table that is filled when all packets have been seen: losses, causes and findings
 * are known late, and Wireshark's tables have no moment of their own for that. */
#ifndef PLUGIN_LATE_TABLE_H
#define PLUGIN_LATE_TABLE_H

#include "compat.h"

#include <epan/stat_tap_ui.h>

struct late_table {
    stat_tap_table *table;                 /* NULL while no window and no report shows it */
    void (*fill)(struct late_table *self); /* writes all rows with late_table_row */
    bool asked, filled;
    guint rows; /* written by the newest fill */
};

/* Creates the table, or empties it when it is there already. */
void late_table_open(struct late_table *self, stat_tap_table_ui *ui, const char *name);
void late_table_reset(struct late_table *self);
/* For the free_table_item callback. */
void late_table_free_item(struct late_table *self, stat_tap_table *table, guint row, guint column,
                          stat_tap_table_item_type *item);

/* Called for each packet: has the table filled now when all packets have been seen before, else
 * when results are drawn. */
void late_table_packet(struct late_table *self, bool first);

/* Writes row |row|; strings of |items| are copied. */
void late_table_row(struct late_table *self, guint row, const stat_tap_table_item_type *items);

#endif
