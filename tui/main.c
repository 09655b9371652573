/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocetop: watch RoCE queue pairs. */
#include <locale.h>

#include "common/msg.h"
#include "common/selection.h"
#include "common/signals.h"
#include "common/standard.h"

#include "app.h"
#include "batch.h"

int main(int argc, char **argv)
{
    static struct top_opts opts;
    int status;
    standard_begin("rocetop");
    (void)setlocale(LC_CTYPE, "");
    const int parsed = tui_top_opts_parse(&opts, argc, argv);
    if (parsed != 0)
        return parsed == OPT_EXIT_DONE ? standard_end(EXIT_DONE) : EXIT_USAGE;
    if (opts.live.list)
        return live_list();
    struct roce_filter *filter = NULL;
    if (opts.filter != NULL && (filter = selection_filter("-Y", opts.filter)) == NULL)
        return EXIT_USAGE;
    if (filter != NULL && opts.common.no_icrc && roce_filter_needs_icrc(filter)) {
        msg_print("-Y asks for the ICRC that --no-icrc leaves unchecked; leave one out");
        roce_filter_del(filter);
        return EXIT_USAGE;
    }
    /* Before root is given up, which is what others see of the capture's beginning. */
    if (opts.batch)
        signals_catch();
    struct source *source = tui_source_open(&opts, &status);
    if (source == NULL) {
        roce_filter_del(filter);
        return status;
    }
    return opts.batch ? tui_batch_run(&opts, source, filter) : tui_app_run(&opts, source, filter);
}
