#include "reports/run_cost.h"

#include <math.h>

static struct rank_interval times(const struct rank_interval *i, double low, double high) {
    return (struct rank_interval){
        .low = i->low * low, .mid = i->mid * (low + high) / 2, .high = i->high * high};
}

void run_cost(const struct job *j, const struct workload *w, const struct rank_row *row,
              struct run_cost *out) {
    out->steps = j ? job_steps(j, w) : NAN;
    out->time_s = times(&row->step_s, out->steps * row->goodput_low, out->steps * row->goodput_high);
    out->cost = times(&row->cost, out->steps, out->steps);
}

enum run_limit run_against(const struct rank_interval *figure, double limit) {
    if (figure->low > limit)
        return RUN_BEYOND;
    return figure->high > limit ? RUN_DOUBTFUL : RUN_WITHIN;
}

enum run_limit run_within(const struct job *j, const struct run_cost *run) {
    enum run_limit late = run_against(&run->time_s, j->deadline_s);
    enum run_limit dear = run_against(&run->cost, j->budget.amount);
    return late > dear ? late : dear;
}
