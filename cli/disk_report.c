#include "base/units.h"
#include "cli/diagnostics.h"
#include "cli/run_report.h"
#include "model/workload.h"
#include "reports/record_view.h"

#include <math.h>
#include <string.h>

/* One folder: the cases from `first` on that have it. */
struct disk {
    const struct record *record;
    const json_t *facts;
    size_t first, end;
};

static const char *fact(const struct disk *d, const char *key) {
    const char *value = json_string_value(json_object_get(d->facts, key));
    return value ? value : "";
}

static const json_t *facts_of(const struct record_case *c) {
    return op_is_file(&c->op) ? json_object_get(c->device, "facts") : NULL;
}

static const char *folder_of(const json_t *facts) {
    const char *folder = json_string_value(json_object_get(facts, "folder"));
    return folder ? folder : "";
}

static bool next_disk(struct disk *d) {
    const struct record *r = d->record;
    for (d->first = d->end; d->first < r->case_count && !facts_of(&r->cases[d->first]);)
        d->first++;
    if (d->first == r->case_count)
        return false;
    d->facts = facts_of(&r->cases[d->first]);
    for (d->end = d->first; d->end < r->case_count; d->end++) {
        const json_t *facts = facts_of(&r->cases[d->end]);
        if (!facts || strcmp(folder_of(facts), folder_of(d->facts)) != 0)
            break;
    }
    return true;
}

static bool is_warm(const struct record_case *c) {
    for (size_t i = 0; i < c->warning_count; i++)
        if (strncmp(c->warnings[i], "warm only", 9) == 0)
            return true;
    return false;
}

/* NULL = not measured. */
static const struct record_case *find_case(const struct disk *d, enum op_kind kind, bool deep,
                                           double *per_s) {
    for (size_t i = d->first; i < d->end; i++) {
        struct record_figure f;
        const struct record_case *c = &d->record->cases[i];
        if (c->op.kind == kind && (c->op.batch > 1) == deep && record_case_figure(d->record, c, &f)) {
            *per_s = f.per_s;
            return c;
        }
    }
    return NULL;
}

static void print_line(const struct disk *d, FILE *out) {
    static const struct {
        enum op_kind kind;
        bool deep;
        const char *text;
    } parts[] = {
        {OP_FILE_WRITE, false, "write"},
        {OP_FILE_READ, false, "read"},
        {OP_FILE_RANDOM_READ, false, "random reads one at a time"},
        {OP_FILE_RANDOM_READ, true, "random reads at depth"},
        {OP_FILE_SYNC, false, "appends, each synced"},
    };
    const char *before = "  ";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        double per_s;
        char rate[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE];
        const struct record_case *c = find_case(d, parts[i].kind, parts[i].deep, &per_s);
        if (!c)
            continue;
        fprintf(out, "%s%s ", before, parts[i].text);
        if (parts[i].deep)
            fprintf(out, "%lld ", (long long)c->op.batch);
        fputs(run_report_rate(c->unit, per_s, rate), out);
        if (strcmp(c->unit, "B") != 0)
            fprintf(out, " of %s", units_format_bytes((double)c->op.n, size));
        if (is_warm(c) && c->op.kind != OP_FILE_WRITE && c->op.kind != OP_FILE_SYNC)
            fputs(" (warm only)", out);
        before = "; ";
    }
    fputs(*before == ';' ? "\n" : "", out);
}

/* What a loader must wait for when the data set is read once as these files. */
static void print_epoch(double dataset_bytes, struct money per_hour, double bytes_per_s, FILE *out) {
    char size[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE], cost[32];
    double epoch_s = dataset_bytes / bytes_per_s;
    fprintf(out, "; an epoch of the dataset (%s) loads in %s", units_format_bytes(dataset_bytes, size),
            units_format_duration(epoch_s, time));
    if (isfinite(per_hour.amount))
        fprintf(out, ", %s of waiting at the price given",
                money_format(money_scale(per_hour, epoch_s / 3600), cost));
}

static void print_feeds(const struct disk *d, double dataset_bytes, struct money per_hour, FILE *out) {
    static const struct {
        enum op_kind kind;
        const char *text;
    } forms[] = {{OP_FILE_SMALL, "small files"}, {OP_FILE_TAR, "one tar"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        double per_s;
        char count[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
        const struct record_case *c = find_case(d, forms[i].kind, false, &per_s);
        if (!c)
            continue;
        double bytes_per_s = per_s * (double)c->op.n;
        fprintf(out, "  as %s it feeds %s samples/s of %lld bytes (%s)%s", forms[i].text,
                units_format_count(per_s, count), (long long)c->op.n,
                units_format_bytes_per_s(bytes_per_s, rate), is_warm(c) ? ", warm only" : "");
        if (dataset_bytes > 0)
            print_epoch(dataset_bytes, per_hour, bytes_per_s, out);
        fputc('\n', out);
    }
}

static bool is_yes(const char *word) {
    return strcmp(word, "yes") == 0;
}

/* The run's own figure, else its workload's; NaN for a workload of another version. */
static double dataset_bytes_of(const struct record *r, const struct data *data) {
    const json_t *settings = json_object_get(r->head, "settings");
    const json_t *own = json_object_get(settings, "dataset_bytes");
    const char *name = json_string_value(json_object_get(settings, "workload"));
    struct workload w;
    struct err ignored;
    if (json_number_value(own) > 0)
        return json_number_value(own);
    if (!name || workload_load(data, name, &w, &ignored) != 0)
        return NAN;
    double bytes = w.dataset_bytes;
    workload_free(&w);
    return bytes;
}

void disk_report_print(const struct record *r, const struct data *data, struct money per_hour, FILE *out) {
    struct disk d = {.record = r};
    double dataset_bytes = dataset_bytes_of(r, data);
    while (next_disk(&d)) {
        fprintf(out, "disk %s: %s (%s), %s%s\n", folder_of(d.facts), fact(&d, "fs_type"), fact(&d, "fs_kind"),
                fact(&d, "fs_source"),
                is_yes(fact(&d, "rotational")) ? ", rotational by the kernel's word" : "");
        print_line(&d, out);
        print_feeds(&d, dataset_bytes, per_hour, out);
    }
}
