#include "model/record.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The half-width that a headline is judged against: that of the runner's stopping rule. */
static const double GOAL = 0.01;

const char *case_status_name(enum case_status s) {
    static const char *const names[] = {
        [CASE_MEASURED] = "measured",
        [CASE_NOT_TESTED] = "not_tested",
        [CASE_FAILED] = "failed",
        [CASE_OPEN] = "open",
    };
    return (unsigned)s < sizeof names / sizeof names[0] ? names[s] : "unknown";
}

const struct record_case *record_find_case(const struct record *r, const char *id) {
    for (size_t i = 0; i < r->case_count; i++)
        if (strcmp(r->cases[i].id, id) == 0)
            return &r->cases[i];
    return NULL;
}

struct record_rate record_rank_rate(const struct record_rank *r) {
    struct record_rate out = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, SERIES_FEW};
    size_t n = r->count;
    if (n == 0)
        return out;
    double *times = xmalloc(2 * n * sizeof *times), *rates = times + n;
    for (size_t i = 0; i < n; i++) {
        times[i] = r->elapsed_s[i] / (r->iterations[i] * r->work_per_iteration);
        rates[i] = 1 / times[i];
    }
    struct series_summary s = series_judge(times, n, GOAL);
    /* a half-width of the whole time says nothing of a rate */
    double half = s.half_width < s.mean ? s.half_width / s.mean : NAN;
    out.rate = stats_sum(r->iterations, n) * r->work_per_iteration / stats_sum(r->elapsed_s, n);
    out.low = out.rate / (1 + half);
    out.high = out.rate / (1 - half);
    out.p5 = stats_quantile(rates, n, 0.05);
    out.median = stats_median(rates, n);
    out.p95 = stats_quantile(rates, n, 0.95);
    out.cv = stats_sd(rates, n) / stats_mean(rates, n);
    out.shift = s.shift;
    out.state = s.state;
    free(times);
    return out;
}
