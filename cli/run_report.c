#include "cli/run_report.h"

#include "base/text.h"
#include "base/units.h"
#include "reports/report.h"

#include <math.h>
#include <string.h>

static const struct column columns[] = {
    {"case", "case", COLUMN_TEXT},
    {"rank", "rank", COLUMN_NUMBER},
    {"status", "status", COLUMN_TEXT},
    {"rate_per_s", "rate", COLUMN_NUMBER},
    {"unit", "unit", COLUMN_TEXT},
    {"interval_95_relative", "95 %", COLUMN_NUMBER},
    {"peak_ratio", "of peak", COLUMN_NUMBER},
    {"samples", "samples", COLUMN_NUMBER},
    {"note", "note", COLUMN_TEXT},
};

/* The calibrated register-only rate of the same dtype: the peak of this very run. NaN without one. */
static double calibrated_peak(const struct record *r, enum dtype t, int rank) {
    for (size_t i = 0; i < r->case_count; i++) {
        const struct record_case *c = &r->cases[i];
        if (c->op.kind != OP_FMA || c->op.dtype != t || c->status != CASE_MEASURED)
            continue;
        for (size_t k = 0; k < c->rank_count; k++)
            if (c->ranks[k].rank == rank)
                return record_rank_rate(&c->ranks[k]).rate;
    }
    return NAN;
}

static void note_of_case(const struct record_case *c, const struct record_rate *rate, struct text *note) {
    text_clear(note);
    if (c->status != CASE_MEASURED) {
        text_add(note, c->reason);
        return;
    }
    if (rate->state != SERIES_STEADY)
        text_add(note, series_state_name(rate->state));
    for (size_t i = 0; i < c->warning_count; i++)
        text_printf(note, "%s%s", note->length ? "; " : "", c->warnings[i]);
}

static void add_row(struct table *t, const struct record *r, const struct record_case *c,
                    const struct record_rank *rank, struct text *note) {
    char text[UNITS_TEXT_SIZE];
    struct record_rate rate = {.rate = NAN, .low = NAN, .high = NAN, .state = SERIES_FEW};
    bool is_flop = strcmp(c->unit, "B") != 0;
    if (rank)
        rate = record_rank_rate(rank);
    double half = (rate.high - rate.low) / 2 / rate.rate;
    double peak = is_flop && rank ? rate.rate / calibrated_peak(r, c->op.dtype, rank->rank) : NAN;
    note_of_case(c, &rate, note);
    table_text(t, c->id);
    snprintf(text, sizeof text, "%d", rank ? rank->rank : 0);
    table_number(t, rank ? rank->rank : NAN, rank ? text : "-");
    table_text(t, case_status_name(c->status));
    table_number(t, rate.rate,
                 is_flop ? units_format_flop_per_s(rate.rate, text)
                         : units_format_bytes_per_s(rate.rate, text));
    table_text(t, is_flop ? "FLOP/s" : "B/s");
    char interval[UNITS_TEXT_SIZE + 4] = "-";
    if (isfinite(half))
        snprintf(interval, sizeof interval, "±%s", units_format_percent(half, text));
    table_number(t, half, interval);
    table_number(t, peak, units_format_percent(peak, text));
    snprintf(text, sizeof text, "%zu", rank ? rank->count : 0);
    table_number(t, rank ? (double)rank->count : 0, text);
    table_text(t, text_get(note));
}

static void fill(struct table *t, const struct record *r) {
    struct text note = {0};
    for (size_t i = 0; i < r->case_count; i++) {
        const struct record_case *c = &r->cases[i];
        for (size_t k = 0; k < c->rank_count; k++)
            add_row(t, r, c, &c->ranks[k], &note);
        if (c->rank_count == 0)
            add_row(t, r, c, NULL, &note);
    }
    text_free(&note);
}

static void print_state(const struct record *r, FILE *out) {
    char memory[UNITS_TEXT_SIZE];
    fprintf(out, "%s%s, %lld x, %s memory, backend %s%s\n", r->device_name,
            r->host_name[0] ? "" : " (unknown host)", (long long)r->device_count,
            units_format_bytes(r->device_memory_bytes, memory), r->backend,
            r->simulated ? " (SIMULATED: these are no measurements)" : "");
    if (r->state == RECORD_BROKEN)
        fprintf(out, "the record is broken at line %zu: only what stands before it is shown\n",
                r->broken_line);
    else if (r->state == RECORD_UNFINISHED)
        fprintf(out, "the record is intact but unfinished: stepcost run --resume %s goes on\n", r->path);
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
    bool for_people = strcmp(writer_names[view->format], "table") == 0;
    table_init(&t, NULL, columns, sizeof columns / sizeof columns[0]);
    fill(&t, r);
    if (for_people)
        print_state(r, out);
    table_write(&t, view->format, out);
    table_free(&t);
    return for_people ? print_findings(r, data, view->all_findings, out, e) : 0;
}
