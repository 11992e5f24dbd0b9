/* What a whole run of a job comes to on a ranked row: its time and its money, and whether they keep within
 * the job's deadline and budget. Waiting for a node, setting it up and moving data are not in it. */
#ifndef REPORTS_RUN_COST_H
#define REPORTS_RUN_COST_H

#include "model/job.h"
#include "reports/report.h"

#include <stdbool.h>

struct run_cost {
    double steps;                /* NaN = the job does not say how long it is: then all is */
    struct rank_interval time_s; /* steps x step time x goodput factor                     */
    struct rank_interval cost;   /* steps x cost per step, in the price's currency         */
};
void run_cost(const struct job *j, const struct workload *w, const struct rank_row *row,
              struct run_cost *out);

/* Against a limit: kept by the whole interval, by some of it, by none of it. Unknown figures and no limit are
 * WITHIN. */
enum run_limit { RUN_WITHIN, RUN_DOUBTFUL, RUN_BEYOND };
enum run_limit run_against(const struct rank_interval *figure, double limit);

/* Does the whole interval of this run keep within the deadline and the budget, or only some of it? The worse
 * of the two. */
enum run_limit run_within(const struct job *j, const struct run_cost *run);

#endif
