#include "base/series.h"

#include "base/mem.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL = 0.975;           /* two-sided 95 % */
static const double MAX_CORRELATION = 0.1;   /* of batch means */
static const double CORRELATION_ERROR = 0.6; /* of its standard error, added to the estimate */
static const double NOISE_FLOOR = 1e-9;      /* of the mean: no clock shows less */
static const double CHANGE_LIMIT = 6.5;      /* standard errors that prove a change */
static const double ABSENCE_LEVEL = 0.999;   /* confidence, at each place, that there is none */

/* How much the mean of n samples varies: sd / sqrt(n). */
struct noise {
    size_t batch, batches;
    double correlation; /* lag 1, of the batch means */
    double skew;        /* of the batch means, its size */
    double sd;          /* of independent samples whose mean would vary as much */
};

/* A change of the level: a step before sample `split`, or a straight line from first to last. */
struct change {
    size_t split;
    double size;
    double weight; /* the standard error of size is noise.sd / weight */
};

/* The estimate is low by (1 + 4 rho) / n on average: Marriott and Pope (1954), Kendall (1954). */
static double unbiased_autocorrelation(const double *x, size_t n) {
    return (stats_autocorrelation(x, n) * (double)n + 1) / ((double)n - 4);
}

static double skewness_size(const double *x, size_t n) {
    double mean = stats_mean(x, n), sd = stats_sd(x, n), cubes = 0;
    for (size_t i = 0; i < n; i++) {
        double z = (x[i] - mean) / sd;
        cubes += z * z * z;
    }
    return fabs(cubes / (double)n);
}

/* means has room for n numbers. */
static struct noise noise_of(const double *x, size_t n, double floor, double *means) {
    struct noise out = {.batch = 1, .batches = n};
    if (stats_sd(x, n) <= floor)
        return out;
    memcpy(means, x, n * sizeof *means);
    for (;;) {
        out.correlation = unbiased_autocorrelation(means, out.batches);
        if (out.correlation < MAX_CORRELATION || out.batches / 2 < SERIES_MIN_BATCHES)
            break;
        out.batch *= 2;
        out.batches /= 2;
        for (size_t i = 0; i < out.batches; i++)
            means[i] = 0.5 * (means[2 * i] + means[2 * i + 1]);
    }
    /* A rule that stops when the correlation looks small picks the estimates that came out too small. */
    double upper = out.correlation + CORRELATION_ERROR / sqrt((double)out.batches);
    upper = upper > 0 ? fmin(upper, 0.9) : 0;
    out.sd = stats_sd(means, out.batches) * sqrt((double)out.batch * (1 + upper) / (1 - upper));
    out.skew = skewness_size(means, out.batches);
    return out;
}

/* Student's t on the batch means, widened on both sides by the correction that Johnson (1978) makes on one
 * for a skewed distribution: a few slow samples in a hundred carry much of the mean. */
static double half_width_of(const struct noise *noise, size_t n) {
    if (noise->sd == 0)
        return 0;
    double batches = (double)noise->batches;
    double t = stats_t_quantile(LEVEL, batches - 1);
    double skewed = noise->skew * (1 + 2 * t * t) / (6 * sqrt(batches));
    return (t + skewed) * noise->sd / sqrt((double)n);
}

/* The step that stands out most, in the middle 80 % of the series; and in *hidden the largest step that may
 * hide there: at each place what is seen, and `excess` standard errors of noise with sd 1 on top. */
static struct change find_step(const double *x, size_t n, double mean, double excess, double *hidden) {
    struct change out = {0};
    double before = 0;
    size_t edge = (n + 9) / 10;
    *hidden = 0;
    for (size_t i = 0; i <= n - edge; before += x[i] - mean, i++) {
        if (i < edge)
            continue;
        struct change here = {.split = i};
        here.size = -before / (double)(n - i) - before / (double)i;
        here.weight = sqrt((double)i * (double)(n - i) / (double)n);
        if (fabs(here.size) * here.weight >= fabs(out.size) * out.weight)
            out = here;
        *hidden = fmax(*hidden, fabs(here.size) + excess / here.weight);
    }
    return out;
}

static struct change find_line(const double *x, size_t n, double mean) {
    double moment = 0, count = (double)n;
    for (size_t i = 0; i < n; i++)
        moment += (x[i] - mean) * ((double)i - 0.5 * (count - 1));
    double slope = moment / (count * (count * count - 1) / 12);
    return (struct change){.size = slope * count, .weight = sqrt(count / 12)};
}

/* Size of the change in standard errors, judged by the noise that is left without it. A step has a split. */
static double significance(const double *x, size_t n, struct change c, double floor, double *scratch) {
    double *rest = scratch, *means = scratch + n;
    for (size_t i = 0; i < n; i++) {
        double share = c.split > 0 ? (double)(i >= c.split) : (double)i / (double)n;
        rest[i] = x[i] - share * c.size;
    }
    return fabs(c.size) * c.weight / noise_of(rest, n, floor, means).sd;
}

static struct series_summary judge(const double *x, size_t n, double goal, double *scratch) {
    struct series_summary out = {.n = n, .mean = stats_mean(x, n)};
    double floor = NOISE_FLOOR * fabs(out.mean), limit = goal * fabs(out.mean);
    struct noise noise = noise_of(x, n, floor, scratch);
    out.batch = noise.batch;
    out.half_width = half_width_of(&noise, n);

    double excess = noise.sd * stats_t_quantile(ABSENCE_LEVEL, (double)noise.batches - 2), hidden;
    struct change step = find_step(x, n, out.mean, excess, &hidden);
    struct change line = find_line(x, n, out.mean);
    hidden = fmax(hidden, fabs(line.size) + excess / line.weight);
    out.shift = fabs(step.size / out.mean);

    bool changed = (fabs(step.size) > limit && significance(x, n, step, floor, scratch) > CHANGE_LIMIT) ||
                   (fabs(line.size) > limit && significance(x, n, line, floor, scratch) > CHANGE_LIMIT);
    bool good = out.half_width <= limit && noise.correlation < MAX_CORRELATION &&
                hidden <= SERIES_CHANGE_GOALS * limit;
    out.state = changed                     ? SERIES_UNSTEADY
                : n < SERIES_STEADY_SAMPLES ? SERIES_FEW
                : good                      ? SERIES_STEADY
                                            : SERIES_WIDE;
    return out;
}

struct series_summary series_judge(const double *x, size_t n, double goal) {
    if (n < SERIES_MIN_SAMPLES) {
        struct series_summary few = {n, stats_mean(x, n), NAN, 1, NAN, SERIES_FEW};
        if (n >= 5)
            few.half_width = stats_t_quantile(LEVEL, (double)n - 1) * stats_sd(x, n) / sqrt((double)n);
        return few;
    }
    double *scratch = xmalloc(2 * n * sizeof *scratch);
    struct series_summary out = judge(x, n, goal, scratch);
    free(scratch);
    return out;
}

bool series_is_look(size_t n) {
    size_t times = n / SERIES_MIN_SAMPLES;
    return times > 0 && n % SERIES_MIN_SAMPLES == 0 && (times & (times - 1)) == 0;
}

const char *series_state_name(enum series_state state) {
    static const char *const names[] = {
        [SERIES_FEW] = "few",
        [SERIES_STEADY] = "steady",
        [SERIES_WIDE] = "wide",
        [SERIES_UNSTEADY] = "unsteady",
    };
    return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}
