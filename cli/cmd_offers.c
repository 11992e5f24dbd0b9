/* stepcost offers: what stands in price files, and what became of every row. */
#include "base/money.h"
#include "base/units.h"
#include "cli/commands.h"
#include "reports/report.h"
#include "reports/table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct offers_options {
    int format;
    bool list, refused;
    const char *data, *out;
};

/* clang-format off */
static const struct opt rows[] = {
    {.name = "list", .type = OPT_FLAG, .offset = offsetof(struct offers_options, list),
     .help = "list the offers and not only the account of the rows"},
    {.name = "refused", .type = OPT_FLAG, .offset = offsetof(struct offers_options, refused),
     .help = "list the refused rows, each with its line and reason"},
    {.name = "format", .type = OPT_CHOICE, .offset = offsetof(struct offers_options, format),
     .def = "table", .choices = writer_names, .value_name = "FORMAT", .help = "how to print"},
    {.name = "out", .type = OPT_STRING, .offset = offsetof(struct offers_options, out),
     .value_name = "FILE", .help = "write there instead of the standard output"},
    {.name = "data", .type = OPT_STRING, .offset = offsetof(struct offers_options, data),
     .value_name = "DIR", .help = "folder whose files replace the built-in tables"},
};
/* clang-format on */

static const struct opt_table table = {
    .usage = "stepcost offers [FILE]... [OPTION]...",
    .summary = "Reads price files and accounts for every row: read, kept, merged, refused, and why.\n"
               "Without a file: the example prices that come with the program.",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};

static const struct column account_columns[] = {
    {"file", "file", COLUMN_TEXT},
    {"format", "format", COLUMN_TEXT},
    {"provider", "provider", COLUMN_TEXT},
    {"rows_read", "read", COLUMN_NUMBER},
    {"rows_kept", "kept", COLUMN_NUMBER},
    {"rows_merged", "merged", COLUMN_NUMBER},
    {"rows_refused", "refused", COLUMN_NUMBER},
    {"offers", "offers", COLUMN_NUMBER},
    {"columns_not_read", "columns not read", COLUMN_TEXT, 1},
};

static const struct column refusal_columns[] = {
    {"file", "file", COLUMN_TEXT},
    {"line", "line", COLUMN_NUMBER},
    {"reason", "refused because", COLUMN_TEXT},
};

static const struct column offer_columns[] = {
    {"provider", "provider", COLUMN_TEXT},
    {"sku", "sku", COLUMN_TEXT},
    {"region", "region", COLUMN_TEXT},
    {"device", "device", COLUMN_TEXT},
    {"device_count", "n", COLUMN_NUMBER},
    {"term", "term", COLUMN_TEXT},
    {"price_per_node_hour", "price/h", COLUMN_NUMBER},
    {"currency", "currency", COLUMN_TEXT},
    {"rows", "rows", COLUMN_NUMBER},
    {"note", "note", COLUMN_TEXT, 1},
};

static void add_count(struct table *t, double count) {
    char text[UNITS_TEXT_SIZE];
    snprintf(text, sizeof text, "%.0f", count);
    table_number(t, count, text);
}

static void fill_accounts(struct table *t, const struct offer_set *set) {
    table_init(t, account_columns, sizeof account_columns / sizeof account_columns[0]);
    for (size_t i = 0; i < set->account_count; i++) {
        const struct offer_account *a = &set->accounts[i];
        table_text(t, a->file);
        table_text(t, a->format);
        table_text(t, a->provider);
        const size_t counts[] = {a->rows_read, a->rows_kept, a->rows_merged, a->rows_refused, a->offers};
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            add_count(t, (double)counts[k]);
        table_text(t, *a->ignored ? a->ignored : "-");
    }
}

static void fill_refusals(struct table *t, const struct offer_set *set) {
    table_init(t, refusal_columns, sizeof refusal_columns / sizeof refusal_columns[0]);
    for (size_t i = 0; i < set->refusal_count; i++) {
        table_text(t, set->refusals[i].file);
        add_count(t, (double)set->refusals[i].line);
        table_text(t, set->refusals[i].reason);
    }
}

/* The canonical name when it is certain, else what the catalogue wrote. */
static const char *device_text(const struct offer *o) {
    if (!o->device[0])
        return "-";
    return o->match->count == 1 ? o->match->candidates[0]->name : o->device;
}

static void fill_offers(struct table *t, const struct offer_set *set) {
    table_init(t, offer_columns, sizeof offer_columns / sizeof offer_columns[0]);
    for (size_t i = 0; i < set->count; i++) {
        const struct offer *o = &set->offers[i];
        char price[32];
        table_text(t, o->provider);
        table_text(t, o->sku);
        table_text(t, o->region);
        table_text(t, device_text(o));
        add_count(t, (double)o->device_count);
        table_text(t, term_name(o->term));
        table_number(t, o->price.per_hour.amount, money_format(o->price.per_hour, price));
        table_text(t, o->price.per_hour.currency);
        add_count(t, (double)o->merged);
        table_text(t, o->note);
    }
}

static void print_refusals(const struct offer_set *set, FILE *out) {
    for (size_t i = 0; i < set->refusal_count; i++)
        fprintf(out, "refused %s: %s %zu: %s\n", set->refusals[i].file, set->refusals[i].counted,
                set->refusals[i].line, set->refusals[i].reason);
}

static int offers(const struct offers_options *o, const struct opt_list *paths, struct err *e) {
    struct data data = {.folder = o->data};
    struct gpu_table gpus;
    struct offer_set set = {0};
    struct table t;
    FILE *out = NULL;
    int result = -1;
    if (gpu_table_load(&data, &gpus, e))
        return -1;
    if (offers_read_files(&set, &gpus, &data, paths->items, paths->count, e) ||
        !(out = command_open_output(o->out, e)))
        goto out;
    if (o->list)
        fill_offers(&t, &set);
    else if (o->refused)
        fill_refusals(&t, &set);
    else
        fill_accounts(&t, &set);
    table_write(&t, o->format, out);
    table_free(&t);
    if (!o->list && !o->refused && writer_is_for_people(o->format))
        print_refusals(&set, out);
    result = command_close_output(out, o->out, e);
out:
    offers_free(&set);
    gpu_table_free(&gpus);
    return result;
}

static int run(int argc, char **argv, struct err *e) {
    struct offers_options o;
    struct opt_list paths = {0};
    bool done;
    int result = command_parse(&table, argc, argv, &o, &paths, &done, e);
    if (!result && !done)
        result = offers(&o, &paths, e);
    opt_list_free(&paths);
    return result;
}

const struct command command_offers = {
    .name = "offers", .summary = "read price files and account for every row", .options = &table, .run = run};
