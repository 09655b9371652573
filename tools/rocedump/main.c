/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rocedump: prints the RoCE packets of a capture. */
#include <stdio.h>

#include "common/msg.h"
#include "common/standard.h"
#include "rocedump/columns.h"
#include "rocedump/run.h"

static const char *type_name(enum roce_field_type type)
{
    switch (type) {
    case ROCE_FIELD_BOOL:
        return "bool";
    case ROCE_FIELD_UINT:
        return "number";
    case ROCE_FIELD_HEX64:
        return "hex64";
    case ROCE_FIELD_REAL:
        return "real";
    case ROCE_FIELD_WORD:
        return "word";
    case ROCE_FIELD_TEXT:
        return "text";
    case ROCE_FIELD_ADDR:
        return "address";
    case ROCE_FIELD_MAC:
        return "mac";
    case ROCE_FIELD_LIST:
        return "list";
    case ROCE_FIELD_REALS:
        return "reals";
    }
    return "";
}

static int list_fields(void)
{
    for (size_t i = 0; i < roce_field_count(); i++) {
        const struct roce_field *field = roce_field_at(i);
        (void)printf("%-28s %-8s %s%s%s%s%s\n", field->name,
                     type_name((enum roce_field_type)field->type), field->help,
                     field->computed ? " [analysis]" : "", field->alias != NULL ? " (also: " : "",
                     field->alias != NULL ? field->alias : "", field->alias != NULL ? ")" : "");
    }
    return standard_end(EXIT_DONE);
}

static int check_filter(const char *expression)
{
    struct roce_filter *filter = selection_filter("--check-filter", expression);
    if (filter == NULL)
        return EXIT_USAGE;
    roce_filter_del(filter);
    (void)puts("valid");
    return standard_end(EXIT_DONE);
}

/* Compiles what the command line asks for before any file is touched. */
static int prepare(struct selection *selection, struct columns *columns,
                   const struct dump_opts *opts)
{
    /* The kernel runs the expression over what comes from interfaces. */
    selection_init(selection, live_wanted(&opts->live) ? "" : opts->bpf, opts->common.roce_filter);
    if (opts->filter != NULL) {
        selection->filter = selection_filter("-Y", opts->filter);
        if (selection->filter == NULL)
            return EXIT_USAGE;
        if (opts->common.no_icrc && roce_filter_needs_icrc(selection->filter)) {
            msg_print("-Y asks for the ICRC that --no-icrc leaves unchecked; leave one out");
            return EXIT_USAGE;
        }
    }
    if (opts->mode == MODE_LINES || opts->mode == MODE_WRITE)
        return EXIT_DONE;
    const char *list = opts->fields;
    if (list == NULL && opts->mode == MODE_CSV)
        list = columns_csv_default;
    char error[128];
    if (columns_init(columns, list, opts->mode != MODE_CSV && opts->mode != MODE_TABS,
                     opts->analysis, error, sizeof(error)) != 0) {
        msg_print("--fields: %s; rocedump --list-fields names them", error);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    static struct dump_opts opts;
    standard_begin("rocedump");
    switch (dump_opts_parse(&opts, argc, argv)) {
    case OPT_EXIT_DONE:
        return standard_end(EXIT_DONE);
    case OPT_EXIT_USAGE:
        return EXIT_USAGE;
    default:
        break;
    }
    if (opts.list_fields)
        return list_fields();
    if (opts.live.list)
        return live_list();
    if (opts.check_filter != NULL)
        return check_filter(opts.check_filter);

    struct selection selection = {0};
    struct columns columns = {0};
    int status = prepare(&selection, &columns, &opts);
    if (status == EXIT_DONE)
        status = run(&opts, &selection, &columns);
    columns_free(&columns);
    selection_free(&selection);
    return status;
}
