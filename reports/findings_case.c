#include "reports/findings_parts.h"

#include "base/stats.h"
#include "base/units.h"
#include "reports/disturbance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how a case ended ---- */

/* By words of the reason on the done line; the first that fits. */
static const struct {
    const char *words, *id, *mend;
} failures[] = {
    {"wrong result", "wrong_result", "do not train on this device: test its memory, or return it"},
    {"no answer for", "worker_hung", "look into the kernel log for the device, then measure again"},
    {"killed by signal", "worker_died",
     "look into the kernel log (out of memory, illegal instruction, lost device)"},
    {"exited with status", "worker_died",
     "look into the kernel log (out of memory, illegal instruction, lost device)"},
};

void find_failure(struct inspection *in, size_t index) {
    const struct record_case *c = &in->record->cases[index];
    if (c->status != CASE_FAILED)
        return;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (strstr(c->reason, failures[i].words)) {
            finding_add(in, failures[i].id, c->id, "%s: %s", c->reason, failures[i].mend);
            return;
        }
}

/* ---- throttled ---- */

static const double throttled_share = 0.01; /* of the case's time */
static const double clock_fall = 0.05, rate_fall = 0.03;

static double mean_of_quarter(const double *x, size_t n, bool last) {
    size_t quarter = n / 4;
    return quarter ? stats_mean(last ? x + n - quarter : x, quarter) : NAN;
}

/* Relative change from the first to the last quarter; NaN when there are too few rows. */
static double change(const double *x, size_t n) {
    return mean_of_quarter(x, n, true) / mean_of_quarter(x, n, false) - 1;
}

static double rate_change(const struct record_rank *r) {
    double *rates = xmalloc((r->count + 1) * sizeof *rates);
    for (size_t i = 0; i < r->count; i++)
        rates[i] = r->iterations[i] / r->elapsed_s[i];
    double result = change(rates, r->count);
    free(rates);
    return result;
}

static bool throttled_by_counter(struct inspection *in, const struct record_case *c,
                                 const struct record_rank *r) {
    struct throttling t;
    if (!rank_throttled(in->record, r, &t))
        return false;
    if (t.by_quota)
        finding_add(
            in, "throttled", c->id,
            "rank %d: the cgroup's CPU quota held it back for %.2f of %.2f s, within %zu of %zu samples: "
            "this is the quota's rate, not the CPU's; raise the quota or give it whole CPUs",
            t.rank, t.throttled_s, t.case_s, t.samples, t.of_samples);
    else
        finding_add(in, "throttled", c->id,
                    "rank %d was throttled for %.2f of %.2f s by its own counter, within %zu of %zu samples: "
                    "see to cooling and power limit",
                    t.rank, t.throttled_s, t.case_s, t.samples, t.of_samples);
    return true;
}

/* By the CPU's thermal counter, which the host keeps and not the device. */
static bool throttled_by_heat(struct inspection *in, const struct record_case *c) {
    const struct record_host *h = &c->host;
    if (!(h->thermal_throttled_s > throttled_share * h->window_s))
        return false;
    finding_add(in, "throttled", c->id,
                "the CPU was too hot for %.2f of %.2f s by its own counter: see to cooling",
                h->thermal_throttled_s, h->window_s);
    return true;
}

/* A clock that falls counts only when the work slows down with it. */
static bool throttled_by_clock(struct inspection *in, const struct record_case *c,
                               const struct record_rank *r) {
    double clock = change(r->telemetry.clock_hz, r->telemetry.count), rate = rate_change(r);
    if (!(clock < -clock_fall && rate < -rate_fall))
        return false;
    finding_add(
        in, "throttled", c->id,
        "rank %d: the clock fell by %.0f %% and the rate by %.0f %% within the case: see to cooling and "
        "power limit",
        r->rank, -100 * clock, -100 * rate);
    return true;
}

void find_throttled(struct inspection *in, size_t index) {
    const struct record_case *c = &in->record->cases[index];
    for (size_t i = 0; i < c->rank_count && !in->explained[index]; i++)
        in->explained[index] =
            throttled_by_counter(in, c, &c->ranks[i]) || throttled_by_clock(in, c, &c->ranks[i]);
    if (!in->explained[index] && !in->is_gpu)
        in->explained[index] = throttled_by_heat(in, c);
}

/* ---- contaminated ---- */

void find_contaminated(struct inspection *in, size_t index) {
    const struct record_case *c = &in->record->cases[index];
    struct contamination by;
    if (c->status != CASE_MEASURED || !case_contaminated(in->record, c, &by))
        return;
    finding_add(in, "contaminated", c->id,
                "%s had %.2f of these %.0f CPUs meanwhile%s%s%s: stop other work and run again", by.by,
                by.cpus, by.of_cpus, *c->host.busiest ? " (" : "", c->host.busiest,
                *c->host.busiest ? ")" : "");
    in->explained[index] = true;
}

/* ---- unsteady ---- */

void find_unsteady(struct inspection *in, size_t index) {
    const struct record_case *c = &in->record->cases[index];
    if (c->status != CASE_MEASURED)
        return;
    for (size_t i = 0; i < c->rank_count && !in->explained[index]; i++) {
        struct record_rate rate = record_rank_rate(&c->ranks[i]);
        if (rate.state != SERIES_UNSTEADY)
            continue;
        finding_add(in, "unsteady", c->id,
                    "rank %d: the rate moved by %.1f %% within the case (%zu samples): its mean describes no "
                    "single state; stop other work and run again",
                    c->ranks[i].rank, 100 * fabs(rate.shift), c->ranks[i].count);
        in->explained[index] = true;
    }
}

/* ---- outliers ---- */

static const double outlier_sigmas = 5, outlier_slower = 1.5, outlier_share = 0.01;
enum { OUTLIERS_IGNORED = 2 };

static size_t count_outliers(const struct record_rank *r, double *worst) {
    double *seconds = xmalloc((r->count + 1) * sizeof *seconds);
    for (size_t i = 0; i < r->count; i++)
        seconds[i] = r->elapsed_s[i] / r->iterations[i];
    double median = stats_median(seconds, r->count), sigma = stats_mad_sigma(seconds, r->count);
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        if (seconds[i] > outlier_slower * median && seconds[i] - median > outlier_sigmas * sigma) {
            *worst = fmax(*worst, seconds[i] / median);
            count++;
        }
    free(seconds);
    return count;
}

static bool too_many(size_t outliers, size_t samples) {
    return outliers > OUTLIERS_IGNORED && (double)outliers > outlier_share * (double)samples;
}

void find_outliers(struct inspection *in, size_t index) {
    const struct record_case *c = &in->record->cases[index];
    for (size_t i = 0; i < c->rank_count && !in->explained[index]; i++) {
        const struct record_rank *r = &c->ranks[i];
        double worst = 0;
        size_t count = count_outliers(r, &worst);
        in->explained[index] = too_many(count, r->count);
        if (in->explained[index]) {
            finding_add(in, "outliers", c->id,
                        "rank %d: %zu of %zu samples took over 1.5 times the median, the worst %.1f times: "
                        "look for other work on the machine",
                        r->rank, count, r->count, worst);
        } else {
            in->outliers += count;
            in->samples += r->count;
        }
    }
}

void find_scattered_outliers(struct inspection *in) {
    if (too_many(in->outliers, in->samples))
        finding_add(
            in, "outliers", "",
            "%zu of %zu samples, over all cases, took over 1.5 times their case's median: look for other "
            "work on the machine",
            in->outliers, in->samples);
}
