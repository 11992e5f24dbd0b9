/* stepcost show: the cases of a record with their rates and intervals, and its findings. */
#include "cli/commands.h"
#include "cli/run_report.h"
#include "model/data.h"
#include "reports/report.h"
#include "reports/table.h"

#include <stddef.h>

struct show_options {
    int format;
    bool findings;
    const char *data, *out;
};

/* clang-format off */
static const struct opt rows[] = {
    {.name = "format", .type = OPT_CHOICE, .offset = offsetof(struct show_options, format), .def = "table",
     .choices = writer_names, .value_name = "FORMAT", .help = "how to print"},
    {.name = "findings", .type = OPT_FLAG, .offset = offsetof(struct show_options, findings),
     .help = "list every finding, not only the first few of each kind"},
    {.name = "out", .type = OPT_STRING, .offset = offsetof(struct show_options, out), .value_name = "FILE",
     .help = "write there instead of the standard output"},
    {.name = "data", .type = OPT_STRING, .offset = offsetof(struct show_options, data), .value_name = "DIR",
     .help = "folder whose files replace the built-in tables"},
};
/* clang-format on */

static const struct opt_table table = {
    .usage = "stepcost show RECORD [OPTION]...",
    .summary = "Shows what a record holds: every case with its rate and interval, and the findings.",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};

static int show(const struct show_options *o, const char *path, struct err *e) {
    struct data data = {.folder = o->data};
    struct record r;
    if (record_read(path, &r, e))
        return -1;
    FILE *out = command_open_output(o->out, e);
    struct run_view view = {.format = o->format, .all_findings = o->findings, .per_hour = money_unknown()};
    int result = out ? run_report_print(&r, &data, &view, out, e) : -1;
    if (out && command_close_output(out, o->out, e))
        result = -1;
    record_free(&r);
    return result;
}

static int run(int argc, char **argv, struct err *e) {
    struct show_options o;
    struct opt_list paths = {0};
    bool done;
    int result = command_parse(&table, argc, argv, &o, &paths, &done, e);
    if (!result && !done) {
        if (paths.count != 1)
            result = err_set(e, ERR_USAGE, "stepcost show: give one record, not %zu: stepcost show RECORD",
                             paths.count);
        else
            result = show(&o, paths.items[0], e);
    }
    opt_list_free(&paths);
    return result;
}

const struct command command_show = {
    .name = "show", .summary = "print a record's cases and findings", .options = &table, .run = run};
