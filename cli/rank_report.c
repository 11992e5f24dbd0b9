#include "cli/rank_report.h"

#include "base/units.h"
#include "reports/run_cost.h"
#include "reports/table.h"

#include <math.h>
#include <string.h>

static const char *const evidence_names[] = {"A", "B", "C", "D"};

/* ---- for machines: every row, every figure ---- */

static const struct column full_columns[] = {
    {"tie_group", "tie", COLUMN_NUMBER},
    {"offer", "offer", COLUMN_TEXT},
    {"provider", "provider", COLUMN_TEXT},
    {"sku", "sku", COLUMN_TEXT},
    {"region", "region", COLUMN_TEXT},
    {"term", "term", COLUMN_TEXT},
    {"device", "device", COLUMN_TEXT},
    {"devices", "devices", COLUMN_NUMBER},
    {"price_per_node_hour", "price/h", COLUMN_NUMBER},
    {"currency", "currency", COLUMN_TEXT},
    {"cost_per_step", "cost/step", COLUMN_NUMBER},
    {"cost_per_step_low", "low", COLUMN_NUMBER},
    {"cost_per_step_high", "high", COLUMN_NUMBER},
    {"cost_per_mtok", "cost/Mtok", COLUMN_NUMBER},
    {"step_s", "s/step", COLUMN_NUMBER},
    {"compute_s", "compute", COLUMN_NUMBER},
    {"memory_s", "memory", COLUMN_NUMBER},
    {"optimizer_s", "optimizer", COLUMN_NUMBER},
    {"exposed_comm_s", "comm", COLUMN_NUMBER},
    {"bubble_s", "bubble", COLUMN_NUMBER},
    {"straggler_s", "straggler", COLUMN_NUMBER},
    {"dtype", "dtype", COLUMN_TEXT},
    {"micro_batch", "micro-batch", COLUMN_NUMBER},
    {"accumulation", "accumulation", COLUMN_NUMBER},
    {"recompute", "recompute", COLUMN_TEXT},
    {"tensor_ranks", "TP", COLUMN_NUMBER},
    {"pipeline_stages", "PP", COLUMN_NUMBER},
    {"expert_ranks", "EP", COLUMN_NUMBER},
    {"zero_stage", "ZeRO", COLUMN_NUMBER},
    {"bytes_per_device", "memory", COLUMN_NUMBER},
    {"evidence", "evidence", COLUMN_TEXT},
    {"unverified", "unverified", COLUMN_TEXT},
    {"comm_assumed", "comm assumed", COLUMN_TEXT},
    {"interpolated", "interpolated", COLUMN_TEXT},
    {"p_leader_cheaper", "P(leader cheaper)", COLUMN_NUMBER},
    {"break_even_per_node_hour", "break-even/h", COLUMN_NUMBER},
    {"goodput_low", "goodput low", COLUMN_NUMBER},
    {"goodput_high", "goodput high", COLUMN_NUMBER},
    {"rows", "rows", COLUMN_NUMBER},
    {"dominant_uncertainty", "mostly uncertain", COLUMN_TEXT},
    {"run_s", "run", COLUMN_NUMBER},
    {"run_s_low", "run low", COLUMN_NUMBER},
    {"run_s_high", "run high", COLUMN_NUMBER},
    {"run_cost", "run cost", COLUMN_NUMBER},
    {"run_cost_low", "run cost low", COLUMN_NUMBER},
    {"run_cost_high", "run cost high", COLUMN_NUMBER},
    {"within_limits", "within limits", COLUMN_TEXT},
};

static const char *yes_no(bool value) {
    return value ? "yes" : "no";
}

static const char *device_name(const struct rank_row *row) {
    return row->gpu ? row->gpu->name : row->record ? row->record->device_name : "-";
}

static void add_full_identity(struct table *t, const struct rank_row *row) {
    const struct offer *o = row->offer;
    table_number_exact(t, row->tie ? (double)row->tie : NAN);
    table_text(t, row->label);
    table_text(t, o ? o->provider : "");
    table_text(t, o ? o->sku : "");
    table_text(t, o ? o->region : "");
    table_text(t, term_name(row->term));
    table_text(t, device_name(row));
    table_number_exact(t, (double)row->layout.devices);
    table_number_exact(t, row->price.per_hour.amount);
    table_text(t, row->price.per_hour.currency);
}

static struct run_cost run_of(const struct rank_request *request, const struct rank_row *row) {
    struct run_cost run;
    run_cost(request->job, request->workload, row, &run);
    return run;
}

static void add_full_run(struct table *t, const struct rank_request *request, const struct rank_row *row) {
    static const char *const words[] = {
        [RUN_WITHIN] = "yes", [RUN_DOUBTFUL] = "doubtful", [RUN_BEYOND] = "no"};
    struct run_cost run = run_of(request, row);
    const double figures[] = {run.time_s.mid, run.time_s.low, run.time_s.high,
                              run.cost.mid,   run.cost.low,   run.cost.high};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        table_number_exact(t, figures[i]);
    table_text(t, isnan(run.steps) ? "-" : words[run_within(request->job, &run)]);
}

static void add_full_row(struct table *t, const struct rank_request *request, const struct rank_row *row) {
    add_full_identity(t, row);
    const double figures[] = {row->cost.mid,       row->cost.low,  row->cost.high,  row->cost_per_mega,
                              row->step_s.mid,     row->compute_s, row->memory_s,   row->optimizer_s,
                              row->exposed_comm_s, row->bubble_s,  row->straggler_s};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        table_number_exact(t, figures[i]);
    table_text(t, dtype_name(row->layout.dtype));
    table_number_exact(t, (double)row->layout.micro_batch);
    table_number_exact(t, (double)row->layout.accumulation);
    table_text(t, yes_no(row->layout.recompute));
    table_number_exact(t, (double)row->layout.tensor);
    table_number_exact(t, (double)row->layout.pipeline);
    table_number_exact(t, (double)row->layout.expert);
    table_number_exact(t, (double)row->layout.zero);
    table_number_exact(t, row->memory.total);
    table_text(t, evidence_names[row->evidence]);
    table_text(t, yes_no(row->unverified));
    table_text(t, yes_no(row->comm_assumed));
    table_text(t, yes_no(row->interpolated));
    table_number_exact(t, row->p_leader);
    table_number_exact(t, row->break_even_per_hour);
    table_number_exact(t, row->goodput_low);
    table_number_exact(t, row->goodput_high);
    table_number_exact(t, row->offer ? (double)row->offer->merged : 1);
    table_text(t, row->dominant);
    add_full_run(t, request, row);
}

/* "cost_per_mtok"; of a workload that counts in images, "cost_per_million_images". */
static void name_unit(struct column *columns, size_t count, const char *unit, char *key, size_t size) {
    snprintf(key, size, "cost_per_million_%ss", unit);
    for (size_t i = 0; strcmp(unit, "token") != 0 && i < count; i++)
        if (strcmp(columns[i].key, "cost_per_mtok") == 0)
            columns[i].key = columns[i].title = key;
}

static void print_full(const struct ranking *r, const struct rank_request *request, int format, FILE *out) {
    enum { COUNT = sizeof full_columns / sizeof full_columns[0] };
    struct table t;
    struct column columns[COUNT];
    char key[64];
    memcpy(columns, full_columns, sizeof columns);
    name_unit(columns, COUNT, workload_unit(request->workload), key, sizeof key);
    table_init(&t, columns, COUNT);
    for (size_t i = 0; i < r->count; i++) {
        struct rank_row row = ranking_row(r, i);
        add_full_row(&t, request, &row);
    }
    table_write(&t, format, out);
    table_free(&t);
}

/* ---- for people ---- */

static const struct column short_columns[] = {
    {"tie_group", "#", COLUMN_NUMBER},
    {"offer", "offer", COLUMN_TEXT},
    {"devices", "devices", COLUMN_TEXT},
    {"price", "price/h", COLUMN_NUMBER},
    {"step_s", "s/step", COLUMN_NUMBER},
    {"cost_per_step", "cost/step", COLUMN_NUMBER},
    {"interval", "90 %", COLUMN_TEXT, 1},
    {"evidence", "ev", COLUMN_TEXT},
    {"break_even", "even at/h", COLUMN_NUMBER, 2},
    {"dominant", "least sure of", COLUMN_TEXT, 3},
    {"run_s", "run", COLUMN_NUMBER},
    {"run_cost", "run cost", COLUMN_NUMBER},
};
enum {
    SHORT_COLUMNS = sizeof short_columns / sizeof short_columns[0],
    RUN_COLUMNS = 2 /* the last: with a job */
};

static bool has_run(const struct rank_request *request) {
    return request->job && !isnan(job_steps(request->job, request->workload));
}

static void add_money(struct table *t, double amount, const char *currency) {
    char text[32];
    table_number(t, amount, money_format(money_make(amount, currency), text));
}

/* A figure that may break its limit is marked. */
static void add_short_run(struct table *t, const struct rank_request *request, const struct rank_row *row) {
    struct run_cost run = run_of(request, row);
    char text[64], figure[32];
    bool doubt = run_against(&run.time_s, request->job->deadline_s) != RUN_WITHIN;
    snprintf(text, sizeof text, "%s%s", units_format_duration(run.time_s.mid, figure), doubt ? "!" : "");
    table_number(t, run.time_s.mid, text);
    doubt = run_against(&run.cost, request->job->budget.amount) != RUN_WITHIN;
    money_format(money_make(run.cost.mid, row->price.per_hour.currency), figure);
    snprintf(text, sizeof text, "%s%s", figure, doubt ? "!" : "");
    table_number(t, run.cost.mid, text);
}

static void add_short_row(struct table *t, const struct rank_row *row) {
    const char *currency = row->price.per_hour.currency;
    char text[160];
    snprintf(text, sizeof text, row->tie ? "%zu" : "-", row->tie);
    table_number(t, row->tie ? (double)row->tie : NAN, text);
    table_text(t, row->label);
    char brief[LAYOUT_TEXT_SIZE];
    layout_brief(&row->layout, brief);
    snprintf(text, sizeof text, "%lldx %.60s%s%.60s", (long long)row->layout.devices, device_name(row),
             *brief ? ", " : "", brief);
    table_text(t, text);
    add_money(t, row->price.per_hour.amount, currency);
    snprintf(text, sizeof text, row->step_s.mid < 1000 ? "%.3g" : "%.0f", row->step_s.mid);
    table_number(t, row->step_s.mid, text);
    add_money(t, row->cost.mid, currency);
    snprintf(text, sizeof text, "%+.0f..%+.0f %%", 100 * (row->cost.low / row->cost.mid - 1),
             100 * (row->cost.high / row->cost.mid - 1));
    table_text(t, isfinite(row->cost.mid) ? text : "-");
    snprintf(text, sizeof text, "%s%s%s%s", evidence_names[row->evidence], row->unverified ? "?" : "",
             row->comm_assumed ? "*" : "", row->interpolated ? "~" : "");
    table_text(t, text);
    add_money(t, row->break_even_per_hour, currency);
    /* "datasheet GEMM of X, unverified": X and the doubt stand in columns of their own. */
    const char *of = strstr(row->dominant, " of ");
    snprintf(text, sizeof text, "%.*s", of ? (int)(of - row->dominant) : 60, row->dominant);
    table_text(t, text);
}

static bool is_own(const struct ranking *r, size_t i) {
    for (size_t k = 0; k < r->own_count; k++)
        if (r->own[k] == i)
            return true;
    return false;
}

/* Rows of one section, the best `top` of them, and whatever stands for a record. */
static void print_section(const struct ranking *r, const struct rank_request *request, size_t begin,
                          size_t end, const struct rank_view *view, FILE *out) {
    struct table t;
    size_t shown = 0;
    table_init(&t, short_columns, has_run(request) ? SHORT_COLUMNS : SHORT_COLUMNS - RUN_COLUMNS);
    for (size_t i = begin; i < end; i++) {
        if (view->top && i - begin >= view->top && !is_own(r, i))
            continue;
        struct rank_row row = ranking_row(r, i);
        add_short_row(&t, &row);
        if (has_run(request))
            add_short_run(&t, request, &row);
        shown++;
    }
    if (shown)
        table_write(&t, view->format, out);
    if (shown < end - begin)
        fprintf(out, "... and %zu more; --all shows them, --format csv --out FILE keeps them\n",
                end - begin - shown);
    table_free(&t);
}

static struct money row_cost(const struct rank_row *row) {
    return money_make(row->cost.mid, row->price.per_hour.currency);
}

static void print_job(const struct rank_request *request, FILE *out) {
    const struct workload *w = request->workload;
    char count[UNITS_TEXT_SIZE], flop[UNITS_TEXT_SIZE];
    double units = workload_units_per_step(w);
    fprintf(out, "%s: %s; one step = %s %s%s, %s\n", w->name, w->title, units_format_count(units, count),
            workload_unit(w), units > 1 ? "s" : "", units_format_flop(workload_model_flop(w), flop));
}

/* "job: 20,000 steps, deadline 10 d, budget $5000.00; dataset 40.0 GB at aws us-east-1" */
static void print_limits(const struct rank_request *request, FILE *out) {
    const struct job *j = request->job;
    char text[UNITS_TEXT_SIZE], money[32];
    if (!j)
        return;
    fprintf(out, "job %s: ", j->path);
    if (has_run(request))
        fprintf(out, "%.0f steps", job_steps(j, request->workload));
    else
        fputs("no length of the run (steps, tokens or samples)", out);
    if (!isnan(j->deadline_s))
        fprintf(out, ", deadline %s", units_format_duration(j->deadline_s, text));
    if (!isnan(j->budget.amount))
        fprintf(out, ", budget %s", money_format(j->budget, money));
    fprintf(out, "; dataset %.3g GB%s%s, checkpoint %.3g GB\n", request->workload->dataset_bytes / 1e9,
            *j->dataset_at ? " at " : "", j->dataset_at, request->workload->checkpoint_bytes / 1e9);
}

static void print_own(const struct ranking *r, FILE *out) {
    char price[32], cost[32];
    if (r->on_demand == 0)
        return;
    struct rank_row best = ranking_row(r, 0);
    for (size_t i = 0; i < r->own_count; i++) {
        struct rank_row row = ranking_row(r, r->own[i]);
        money_format(money_make(row.break_even_per_hour, best.price.per_hour.currency), price);
        if (isfinite(row.cost.mid))
            fprintf(out, "%s: %s per step, %.3g times the first row (%s); even with it at %s per hour\n",
                    row.label, money_format(row_cost(&row), cost), row.cost.mid / best.cost.mid, best.label,
                    price);
        else
            fprintf(
                out,
                "%s has no price (--price 0.05/h gives one): even with the first row (%s) at %s per hour\n",
                row.label, best.label, price);
    }
}

static void print_refused(const struct offer_set *offers, FILE *out) {
    size_t refused = 0;
    for (size_t i = 0; i < offers->account_count; i++)
        refused += offers->accounts[i].rows_refused;
    if (refused)
        fprintf(out,
                "  %4zu  rows of the price files were refused: stepcost offers FILE --refused says why\n",
                refused);
}

/* A large job fits few machines, and each of the others says how much it lacks: the first few of them tell.
 */
static void print_not_ranked(const struct ranking *r, const struct rank_view *view, FILE *out) {
    enum { UNFIT_SHOWN = 6 };
    static const char unfit[] = "does not fit";
    size_t seen = 0, folded = 0;
    for (size_t i = 0; i < r->not_ranked_count; i++) {
        const struct rank_reason *n = &r->not_ranked[i];
        if (view->top && strncmp(n->reason, unfit, strlen(unfit)) == 0 && seen++ >= UNFIT_SHOWN)
            folded += n->offers;
        else
            fprintf(out, "  %4zu  %s\n", n->offers, n->reason);
    }
    if (folded)
        fprintf(out, "  %4zu  do not fit either; --all says what each lacks\n", folded);
}

static void print_rest(const struct ranking *r, const struct rank_request *request,
                       const struct rank_view *view, FILE *out) {
    size_t own_priced = r->own_count - r->unpriced,
           not_ranked = 0; /* offers without a price are not ranked */
    for (size_t i = 0; i < r->not_ranked_count; i++)
        not_ranked += r->not_ranked[i].offers;
    for (size_t i = 0; i < r->next_count; i++)
        fprintf(out, "next: %s\n", r->next[i].text);
    fprintf(out, "\nranked: %zu on-demand and %zu spot offers%s; not ranked: %zu\n",
            r->on_demand - own_priced, r->spot, r->own_count ? ", and this machine" : "", not_ranked);
    print_not_ranked(r, view, out);
    print_refused(request->offers, out);
}

static void print_spot(const struct ranking *r, const struct rank_request *request,
                       const struct rank_view *view, FILE *out) {
    char checkpoint[UNITS_TEXT_SIZE], restart[UNITS_TEXT_SIZE];
    if (r->spot == 0)
        return;
    struct rank_row spot = ranking_row(r, r->on_demand);
    fprintf(out,
            "\nspot: can be interrupted. The cost holds a goodput factor of %.3f to %.3f, for %.0f to %.0f "
            "%% of nodes "
            "reclaimed a month,\na checkpoint in %s and a restart in %s (--checkpoint, --restart)\n",
            spot.goodput_low, spot.goodput_high, 100 * r->spot_share_low, 100 * r->spot_share_high,
            units_format_duration(r->checkpoint_s, checkpoint),
            units_format_duration(request->restart_s, restart));
    print_section(r, request, r->on_demand, r->on_demand + r->spot, view, out);
}

static void print_legend(const struct rank_request *request, FILE *out) {
    fputs("\n"
          "#   rows with one number are not told apart by the evidence (P(leader is cheaper) < 0.95);\n"
          "    the numbers of spot rows go on from those of the on-demand rows\n"
          "ev  A measured on this very offer or machine, B on this device model, C published achievable\n"
          "    figure, D data sheet x the family's efficiency (C and D take attention at the GEMM rate);\n"
          "    ? an unverified figure, * all-reduce assumed from the line rate, ~ a rate of another shape\n"
          "even at/h  the price at which the row costs what its table's first row costs\n"
          "devices  with the layout where it is not plain data parallelism: tp, pp, ep tensor, pipeline\n"
          "    and expert ranks, z ZeRO stage, rc recomputed activations\n",
          out);
    if (has_run(request))
        fputs("run  of the whole job; ! may break its deadline or budget\n", out);
}

static void print_for_people(const struct ranking *r, const struct rank_request *request,
                             const struct rank_view *view, FILE *out) {
    print_job(request, out);
    print_limits(request, out);
    if (view->prices_note)
        fprintf(out, "%s\n", view->prices_note);
    if (r->on_demand)
        fputs("\non demand\n", out);
    print_section(r, request, 0, r->on_demand, view, out);
    print_spot(r, request, view, out);
    if (r->unpriced) {
        fputs("\nwithout a price\n", out);
        print_section(r, request, r->on_demand + r->spot, r->count, view, out);
    }
    if (r->count)
        print_legend(request, out);
    fputs("\n", out);
    print_own(r, out);
    print_rest(r, request, view, out);
}

void rank_report_print(const struct ranking *r, const struct rank_request *request,
                       const struct rank_view *view, FILE *out) {
    if (writer_is_for_people(view->format))
        print_for_people(r, request, view, out);
    else
        print_full(r, request, view->format, out);
}
