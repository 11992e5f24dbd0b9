/* Statistics of plain samples. Not for time-ordered ones: see series.h.
 * NaN in gives NaN out; an empty sample gives NaN. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>

double stats_sum(const double *x, size_t n); /* compensated */
double stats_mean(const double *x, size_t n);
double stats_sd(const double *x, size_t n); /* n - 1 */
/* Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
 * Sorts a copy. */
double stats_quantile(const double *x, size_t n, double p);
double stats_median(const double *x, size_t n);
/* Median absolute deviation times 1.4826: estimates sigma of a normal. */
double stats_mad_sigma(const double *x, size_t n);
/* Lag-1 autocorrelation (denominator n). */
double stats_autocorrelation(const double *x, size_t n);

/* Inverse of the standard normal and of Student's t distribution; p in (0, 1), df > 0. */
double stats_normal_quantile(double p);
double stats_normal_cdf(double z);
double stats_t_quantile(double p, double df);

/* Expected maximum of n independent standard normals (Blom 1958: Phi^-1((n-0.375)/(n+0.25))). */
double stats_expected_max_normal(size_t n);

#endif
