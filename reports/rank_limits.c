#include "reports/rank_parts.h"

#include "base/units.h"
#include "reports/run_cost.h"

#include <math.h>

static const char *late(struct rank_work *w) {
    char text[UNITS_TEXT_SIZE];
    return arena_printf(&w->arena,
                        "misses the deadline: the run takes over %s even at the low end of its interval",
                        units_format_duration(w->request->job->deadline_s, text));
}

static const char *dear(struct rank_work *w) {
    char text[32];
    return arena_printf(&w->arena,
                        "over the budget: the run costs over %s even at the low end of its interval",
                        money_format(w->request->job->budget, text));
}

/* This machine stays: without a price it has no cost, and its time is worth seeing. */
void rank_limits(struct rank_work *w) {
    const struct job *job = w->request->job;
    size_t kept = 0;
    if (!job || (isnan(job->deadline_s) && isnan(job->budget.amount)))
        return;
    const char *reasons[] = {late(w), dear(w)};
    for (size_t i = 0; i < w->entry_count; i++) {
        struct rank_row row;
        struct run_cost run;
        rank_entry_figures(w, &w->entries[i], &row);
        run_cost(job, w->request->workload, &row, &run);
        if (row.offer && run_within(job, &run) == RUN_BEYOND)
            rank_reason_add(w, reasons[run_against(&run.time_s, job->deadline_s) != RUN_BEYOND]);
        else
            w->entries[kept++] = w->entries[i];
    }
    w->entry_count = kept;
}
