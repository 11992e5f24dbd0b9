#include "base/stats.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double SQRT_2PI = 2.50662827463100050242;

double stats_sum(const double *x, size_t n) {
    if (n == 0)
        return NAN;
    /* Neumaier (1974): the low bits that each addition loses are kept beside the sum */
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double next = sum + x[i];
        lost += fabs(sum) >= fabs(x[i]) ? (sum - next) + x[i] : (x[i] - next) + sum;
        sum = next;
    }
    return sum + lost;
}

double stats_mean(const double *x, size_t n) {
    return stats_sum(x, n) / (double)n;
}

double stats_sd(const double *x, size_t n) {
    if (n < 2)
        return NAN;
    double mean = stats_mean(x, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool has_nan(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (isnan(x[i]))
            return true;
    return false;
}

double stats_quantile(const double *x, size_t n, double p) {
    if (n == 0 || !(p >= 0 && p <= 1) || has_nan(x, n))
        return NAN;
    double *sorted = xmalloc(n * sizeof *sorted);
    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    double at = p * (double)(n - 1);
    size_t below = (size_t)at;
    size_t above = below + 1 < n ? below + 1 : below;
    double share = at - (double)below;
    double value = sorted[below] + (share > 0 ? share * (sorted[above] - sorted[below]) : 0);
    free(sorted);
    return value;
}

double stats_median(const double *x, size_t n) {
    return stats_quantile(x, n, 0.5);
}

double stats_mad_sigma(const double *x, size_t n) {
    double median = stats_median(x, n);
    if (isnan(median))
        return NAN;
    double *distance = xmalloc(n * sizeof *distance);
    for (size_t i = 0; i < n; i++)
        distance[i] = fabs(x[i] - median);
    double mad = stats_median(distance, n);
    free(distance);
    return 1.4826 * mad;
}

double stats_autocorrelation(const double *x, size_t n) {
    if (n < 2)
        return NAN;
    double mean = stats_mean(x, n), squares = 0, products = 0;
    for (size_t i = 0; i < n; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
        if (i > 0)
            products += (x[i - 1] - mean) * (x[i] - mean);
    }
    return products / squares;
}

double stats_normal_cdf(double z) {
    return 0.5 * erfc(-z * 0.70710678118654752440);
}

/* Abramowitz and Stegun 26.2.23 (within 4.5e-4), then Halley's iteration, which trebles the digits. */
static double upper_normal_quantile(double tail) {
    double t = sqrt(-2 * log(tail));
    double z =
        t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int step = 0; step < 3; step++) {
        double here = stats_normal_cdf(-z);
        double u = (here - tail) * SQRT_2PI * exp(0.5 * z * z);
        z += u / (1 + 0.5 * z * u);
    }
    return z;
}

double stats_normal_quantile(double p) {
    if (!(p > 0 && p < 1))
        return NAN;
    if (p == 0.5)
        return 0;
    return p < 0.5 ? -upper_normal_quantile(p) : upper_normal_quantile(1 - p);
}

/* Regularised incomplete beta I_x(a, b) by the continued fraction of Abramowitz and Stegun 26.5.8, summed
 * with Lentz's method as Thompson and Barnett (1986) changed it. Converges fast for x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double terms[2] = {even, odd};
        double change = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + terms[i] * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + terms[i] / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            h *= change;
        }
        if (fabs(change - 1) < 1e-16)
            break;
    }
    return h;
}

/* complement is 1 - x, given apart so that neither loses digits. */
static double incomplete_beta(double a, double b, double x, double complement) {
    int sign;
    double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
                       b * log(complement));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, complement) / b;
}

static double t_density(double t, double df) {
    int sign;
    return exp(lgamma_r((df + 1) / 2, &sign) - lgamma_r(df / 2, &sign) - (df + 1) / 2 * log1p(t * t / df)) /
           sqrt(df * 3.14159265358979323846);
}

/* P(T > t). */
static double t_tail(double t, double df) {
    double square = t * t;
    return 0.5 * incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

/* P(0 < T < t), with all digits for small t. */
static double t_centre(double t, double df) {
    double square = t * t;
    return 0.5 * incomplete_beta(0.5, df / 2, square / (df + square), df / (df + square));
}

/* Cornish-Fisher expansion in 1/df (Abramowitz and Stegun 26.7.5). */
static double t_quantile_large_df(double z, double df) {
    double z2 = z * z;
    double g1 = z * (z2 + 1) / 4;
    double g2 = z * (3 + z2 * (16 + z2 * 5)) / 96;
    double g3 = z * (-15 + z2 * (17 + z2 * (19 + z2 * 3))) / 384;
    return z + (g1 + (g2 + g3 / df) / df) / df;
}

/* Newton on P(0 < T < t) near the centre and on log P(T > t) in log t further out: both are concave, so a
 * start on the left never leads astray. For few degrees of freedom the expansion is none. */
static double upper_t_quantile(double tail, double df) {
    double z = upper_normal_quantile(tail);
    double t = df < 4 ? z : t_quantile_large_df(z, df);
    bool done = df > 1e4;
    for (int step = 0; step < 100 && !done; step++) {
        double next, density = t_density(t, df);
        if (tail > 0.25) {
            next = t + (0.5 - tail - t_centre(t, df)) / density;
        } else {
            double here = t_tail(t, df);
            next = t * exp(log(here / tail) * here / (t * density));
        }
        done = fabs(next - t) <= 1e-9 * t; /* each step squares the error */
        t = next;
    }
    return t;
}

double stats_t_quantile(double p, double df) {
    if (!(p > 0 && p < 1 && df > 0))
        return NAN;
    if (p == 0.5)
        return 0;
    return p < 0.5 ? -upper_t_quantile(p, df) : upper_t_quantile(1 - p, df);
}

double stats_expected_max_normal(size_t n) {
    if (n == 0)
        return NAN;
    return stats_normal_quantile(((double)n - 0.375) / ((double)n + 0.25));
}
