#include "cli/run_report.h"

#include "base/text.h"
#include "base/units.h"
#include "cli/diagnostics.h"
#include "cli/limits.h"
#include "reports/disturbance.h"
#include "reports/record_view.h"
#include "reports/report.h"
#include "reports/table.h"

#include <math.h>
#include <string.h>

/* ---- for machines: every rank of every case ---- */

static const struct column full_columns[] = {
    {"case", "case", COLUMN_TEXT},
    {"bench", "bench", COLUMN_TEXT},
    {"rank", "rank", COLUMN_NUMBER},
    {"status", "status", COLUMN_TEXT},
    {"rate_per_s", "rate", COLUMN_NUMBER},
    {"unit", "unit", COLUMN_TEXT},
    {"rate_low_95", "low", COLUMN_NUMBER},
    {"rate_high_95", "high", COLUMN_NUMBER},
    {"rate_median", "median", COLUMN_NUMBER},
    {"rate_p5", "p5", COLUMN_NUMBER},
    {"rate_p95", "p95", COLUMN_NUMBER},
    {"cv", "cv", COLUMN_NUMBER},
    {"peak_ratio", "of peak", COLUMN_NUMBER},
    {"samples", "samples", COLUMN_NUMBER},
    {"state", "state", COLUMN_TEXT},
    {"rms_rel_error", "rms error", COLUMN_NUMBER},
    {"max_rel_error", "max error", COLUMN_NUMBER},
    {"note", "note", COLUMN_TEXT},
    {"throttled_samples", "throttled", COLUMN_NUMBER},
    {"others_cpus", "others", COLUMN_NUMBER},
};

/* A case without samples has one row all the same. */
struct row {
    const struct record *record;
    const struct record_case *c;
    const struct record_rank *rank; /* NULL = no samples */
    struct record_rate rate;
    double peak_ratio;
    const char *note;
};

static void add_full_row(struct table *t, const struct row *row) {
    const struct record_rate *rate = &row->rate;
    const double figures[] = {rate->low, rate->high, rate->median,   rate->p5,
                              rate->p95, rate->cv,   row->peak_ratio};
    table_text(t, row->c->id);
    table_text(t, row->c->bench);
    table_number_exact(t, row->rank ? row->rank->rank : NAN);
    table_text(t, case_status_name(row->c->status));
    table_number_exact(t, rate->rate);
    char unit[UNITS_TEXT_SIZE];
    snprintf(unit, sizeof unit, "%.20s/s", row->c->unit);
    table_text(t, unit);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        table_number_exact(t, figures[i]);
    table_number_exact(t, row->rank ? (double)row->rank->count : 0);
    table_text(t, row->rank ? series_state_name(rate->state) : "");
    table_number_exact(t, row->c->deviation.rms_rel);
    table_number_exact(t, row->c->deviation.max_rel);
    table_text(t, row->note);
    bool counted = row->rank && !isnan(record_throttled_s(row->rank));
    table_number_exact(t, counted ? (double)record_throttled_samples(row->rank, NULL) : NAN);
    table_number_exact(t, case_others_cpus(row->c));
}

/* ---- for people ---- */

char *run_report_rate(const char *unit, double per_s, char *out) {
    if (strcmp(unit, "B") == 0)
        return units_format_bytes_per_s(per_s, out);
    if (strcmp(unit, "FLOP") == 0)
        return units_format_flop_per_s(per_s, out);
    char count[UNITS_TEXT_SIZE];
    bool prefixed = strchr(units_format_count(per_s, count), ' ') != NULL;
    snprintf(out, UNITS_TEXT_SIZE, "%.12s%s%.8s/s", count, prefixed ? "" : " ", unit);
    return isnan(per_s) ? memcpy(out, "-", 2) : out;
}

static const struct column short_columns[] = {
    {"case", "case", COLUMN_TEXT},
    {"rate", "rate", COLUMN_NUMBER},
    {"interval", "95 %", COLUMN_NUMBER},
    {"peak_ratio", "of peak", COLUMN_NUMBER, 2},
    {"samples", "samples", COLUMN_NUMBER, 3},
    {"note", "note", COLUMN_TEXT, 1},
};

static void add_short_row(struct table *t, const struct row *row) {
    char text[UNITS_TEXT_SIZE], longer[OP_NAME_SIZE + 64];
    const struct record_rate *rate = &row->rate;
    double half = (rate->high - rate->low) / 2 / rate->rate;
    if (row->record->device_count > 1 && row->rank && !row->c->device)
        snprintf(longer, sizeof longer, "%s, device %d", row->c->id, row->rank->rank);
    else
        snprintf(longer, sizeof longer, "%s", row->c->id);
    table_text(t, longer);
    table_number(t, rate->rate, run_report_rate(row->c->unit, rate->rate, text));
    snprintf(longer, sizeof longer, "±%s", units_format_percent(half, text));
    table_number(t, half, isfinite(half) ? longer : "-");
    table_number(t, row->peak_ratio, units_format_percent(row->peak_ratio, text));
    snprintf(text, sizeof text, "%zu", row->rank ? row->rank->count : 0);
    table_number(t, row->rank ? (double)row->rank->count : 0, text);
    table_text(t, row->note);
}

/* The marks that rank carries as well. */
static void note_disturbance(const struct row *row, struct text *note) {
    struct throttling t;
    struct contamination by;
    if (row->rank && rank_throttled(row->record, row->rank, &t))
        text_printf(note, "throttled%s in %zu of %zu samples; ", t.by_quota ? " by the CPU quota" : "",
                    t.samples, t.of_samples);
    if (case_contaminated(row->record, row->c, &by))
        text_printf(note, "contaminated: %s had %.2f of %.0f CPUs; ", by.by, by.cpus, by.of_cpus);
}

static void note_of_case(const struct row *row, struct text *note) {
    const struct record_case *c = row->c;
    const struct record_rate *rate = &row->rate;
    text_clear(note);
    if (c->status != CASE_MEASURED) {
        text_printf(note, "%s%s%s", case_status_name(c->status), *c->reason ? ": " : "", c->reason);
        return;
    }
    note_disturbance(row, note);
    if (rate->state == SERIES_UNSTEADY)
        text_printf(note, "unsteady: a step of %.0f %%; ", 100 * rate->shift);
    for (size_t i = 0; i < c->warning_count; i++)
        text_printf(note, "%s; ", c->warnings[i]);
    if (note->length)
        note->data[note->length -= 2] = '\0';
}

static void add_row(struct table *t, const struct record *r, const struct record_case *c,
                    const struct record_rank *rank, bool for_people) {
    struct text note = {0};
    struct row row = {.record = r,
                      .c = c,
                      .rank = rank,
                      .rate = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, SERIES_FEW},
                      .peak_ratio = NAN};
    if (rank)
        row.rate = record_rank_rate(rank);
    if (strcmp(c->unit, "FLOP") == 0)
        row.peak_ratio = row.rate.rate / findings_calibrated_peak(r, c->op.dtype);
    note_of_case(&row, &note);
    if (record_case_is_emulated(r, c) && rank)
        text_printf(&note, "%semulated", note.length ? "; " : "");
    row.note = text_get(&note);
    if (for_people)
        add_short_row(t, &row);
    else
        add_full_row(t, &row);
    text_free(&note);
}

static void fill(struct table *t, const struct record *r, bool for_people) {
    for (size_t i = 0; i < r->case_count; i++) {
        const struct record_case *c = &r->cases[i];
        for (size_t k = 0; k < c->rank_count; k++)
            add_row(t, r, c, &c->ranks[k], for_people);
        if (c->rank_count == 0)
            add_row(t, r, c, NULL, for_people);
    }
}

static void print_limits(const struct record *r, FILE *out) {
    struct text limits = {0};
    const json_t *host = json_object_get(r->head, "host");
    bool not_visible = r->case_count > 0 && !r->simulated;
    for (size_t i = 0; i < r->case_count; i++)
        not_visible = not_visible && r->cases[i].host.window_s > 0 && isnan(r->cases[i].host.others_cpu_s);
    if (limits_describe(host, &limits))
        fprintf(out, "limits: %s\n", text_get(&limits));
    if (not_visible)
        fputs("work of others on this host: not visible from here\n", out);
    text_free(&limits);
}

static void print_state(const struct record *r, FILE *out) {
    char memory[UNITS_TEXT_SIZE];
    fprintf(out, "%s%s, %lld x, %s memory, backend %s%s\n", r->device_name,
            r->host_name[0] ? "" : " (unknown host)", (long long)r->device_count,
            units_format_bytes(r->device_memory_bytes, memory), r->backend,
            r->simulated ? " (SIMULATED: these are no measurements)" : "");
    print_limits(r, out);
    if (r->state == RECORD_BROKEN)
        fprintf(out, "the record is broken at line %zu: only what stands before it is shown\n",
                r->broken_line);
    else if (r->state == RECORD_UNFINISHED)
        fprintf(out, "the record is intact but unfinished: stepcost run --resume %s goes on\n", r->path);
    else if (*r->end_reason)
        fprintf(out, "the run ended early: %s\n", r->end_reason);
}

enum { SHOWN_OF_A_KIND = 3 };

/* A sick device says the same of every case: a few lines of each kind are enough for people. */
static void print_finding_list(const struct findings *f, const char *path, bool all_of_them, FILE *out) {
    if (f->count == 0)
        fputs("findings: none\n", out);
    for (size_t i = 0; i < f->count; i++) {
        const struct finding *it = &f->items[i];
        size_t earlier = 0, all = 0;
        for (size_t k = 0; k < f->count; k++) {
            bool same = strcmp(f->items[k].id, it->id) == 0;
            all += same;
            earlier += same && k < i;
        }
        if (all_of_them || earlier < SHOWN_OF_A_KIND)
            fprintf(out, "finding %s%s%s: %s\n", it->id, it->case_id[0] ? " in " : "", it->case_id, it->text);
        else if (earlier == SHOWN_OF_A_KIND)
            fprintf(out, "finding %s: and %zu more of this kind (stepcost show %s --findings lists all)\n",
                    it->id, all - earlier, path);
    }
}

static int print_findings(const struct record *r, const struct data *data, bool all_of_them, FILE *out,
                          struct err *e) {
    struct gpu_table gpus;
    struct findings f = {0};
    if (gpu_table_load(data, &gpus, e))
        return -1;
    int result = findings_read(r, &gpus, data, &f, e);
    if (!result)
        print_finding_list(&f, r->path, all_of_them, out);
    findings_free(&f);
    gpu_table_free(&gpus);
    return result;
}

int run_report_print(const struct record *r, const struct data *data, const struct run_view *view, FILE *out,
                     struct err *e) {
    struct table t;
    bool for_people = writer_is_for_people(view->format);
    if (for_people)
        table_init(&t, short_columns, sizeof short_columns / sizeof short_columns[0]);
    else
        table_init(&t, full_columns, sizeof full_columns / sizeof full_columns[0]);
    fill(&t, r, for_people);
    if (for_people)
        print_state(r, out);
    table_write(&t, view->format, out);
    table_free(&t);
    if (for_people) {
        precision_report_print(r, view->format, out);
        cache_report_print(r, out);
        disk_report_print(r, data, view->per_hour, out);
    }
    return for_people ? print_findings(r, data, view->all_findings, out, e) : 0;
}
