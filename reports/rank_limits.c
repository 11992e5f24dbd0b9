#include "reports/rank_parts.h"

#include "base/units.h"
#include "reports/run_cost.h"

#include <math.h>

/* What one limit leaves out: how many offers, and the least that the low end of any of them comes to. */
struct left_out {
    size_t offers;
    double least;
};

static void leave_out(struct left_out *l, double low) {
    if (l->offers == 0 || low < l->least)
        l->least = low;
    l->offers++;
}

static void add_reasons(struct rank_work *w, const struct left_out *late, const struct left_out *dear) {
    const struct job *job = w->request->job;
    char limit[UNITS_TEXT_SIZE], least[UNITS_TEXT_SIZE];
    if (late->offers)
        rank_reason_add(
            w, late->offers,
            arena_printf(
                &w->arena,
                "misses the deadline: the run takes over %s even at the low end of its interval; the "
                "quickest needs %s",
                units_format_duration(job->deadline_s, limit), units_format_duration(late->least, least)));
    if (dear->offers)
        rank_reason_add(
            w, dear->offers,
            arena_printf(&w->arena,
                         "over the budget: the run costs over %s even at the low end of its interval; the "
                         "cheapest costs %s",
                         money_format(job->budget, limit),
                         money_format(money_make(dear->least, job->budget.currency), least)));
}

/* This machine stays: without a price it has no cost, and its time is worth seeing. */
void rank_limits(struct rank_work *w) {
    const struct job *job = w->request->job;
    struct left_out late = {0}, dear = {0};
    size_t kept = 0;
    if (!job || (isnan(job->deadline_s) && isnan(job->budget.amount)))
        return;
    for (size_t i = 0; i < w->entry_count; i++) {
        struct rank_row row;
        struct run_cost run;
        rank_entry_figures(w, &w->entries[i], &row);
        run_cost(job, w->request->workload, &row, &run);
        if (!row.offer || run_within(job, &run) != RUN_BEYOND)
            w->entries[kept++] = w->entries[i];
        else if (run_against(&run.time_s, job->deadline_s) == RUN_BEYOND)
            leave_out(&late, run.time_s.low);
        else
            leave_out(&dear, run.cost.low);
    }
    w->entry_count = kept;
    add_reasons(w, &late, &dear);
}
