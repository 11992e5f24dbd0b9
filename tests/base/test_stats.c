#include "tests/base/check.h"

#include "base/stats.h"

#include <stdlib.h>

static void sum_keeps_what_plain_addition_loses(void **state) {
    (void)state;
    /* plain addition gives 0 and 0 */
    const double hidden[] = {1, 1e100, 1, -1e100};
    const double small[] = {1e16, 1, 1, -1e16};
    assert_same(stats_sum(hidden, 4), 2);
    assert_same(stats_sum(small, 4), 2);
}

static void sum_of_a_tenth_ten_million_times_is_a_million(void **state) {
    (void)state;
    enum { N = 10000000 };
    double *x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++)
        x[i] = 0.1;
    /* the double next to 0.1 is 0.1 + 5.55e-18; plain addition is off by 1.6e-4 */
    assert_near(stats_sum(x, N), 1e6, 1e-15);
    free(x);
}

/* 2 4 4 4 5 5 7 9: mean 5, squares 9+1+1+1+0+0+4+16 = 32, so sd = sqrt(32/7); the median is 4.5, distances
 * from it 2.5 .5 .5 .5 .5 .5 2.5 4.5 with median 0.5; neighbours' products 3+1+1+0+0+0+8 = 13 of 32. */
static void describes_a_small_sample(void **state) {
    (void)state;
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    assert_same(stats_mean(x, 8), 5);
    assert_near(stats_sd(x, 8), 2.13808993529939, 1e-14);
    assert_same(stats_median(x, 8), 4.5);
    assert_near(stats_mad_sigma(x, 8), 1.4826 * 0.5, 1e-15);
    assert_near(stats_autocorrelation(x, 8), 13.0 / 32, 1e-15);
}

static void spread_survives_a_large_mean(void **state) {
    (void)state;
    const double x[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}; /* squares 36+9+9+36 = 90, /3 = 30 */
    assert_near(stats_sd(x, 4), sqrt(30), 1e-14);
}

/* Type 7: place p (n - 1) between the sorted values, 10 20 30 40 here. */
static void quantile_interpolates_between_order_statistics(void **state) {
    (void)state;
    const double x[] = {40, 10, 30, 20};
    static const struct {
        double p, want;
    } rows[] = {{0, 10}, {1, 40}, {0.5, 25}, {0.25, 17.5}, {0.05, 11.5}, {0.95, 38.5}, {2.0 / 3, 30}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_near(stats_quantile(x, 4, rows[i].p), rows[i].want, 1e-14);
    assert_same(x[0], 40);
    assert_same(stats_quantile(x, 1, 0.3), 40);
}

static void nothing_in_gives_nan_out(void **state) {
    (void)state;
    const double x[] = {1, NAN, 3};
    assert_same(stats_mean(x, 0), NAN);
    assert_same(stats_sum(x, 0), NAN);
    assert_same(stats_sd(x, 1), NAN);
    assert_same(stats_median(x, 0), NAN);
    assert_same(stats_mad_sigma(x, 0), NAN);
    assert_same(stats_autocorrelation(x, 1), NAN);
    assert_same(stats_mean(x, 3), NAN);
    assert_same(stats_sd(x, 3), NAN);
    assert_same(stats_median(x, 3), NAN);
    assert_same(stats_mad_sigma(x, 3), NAN);
    assert_same(stats_quantile(x, 1, 1.5), NAN);
    assert_same(stats_quantile(x, 1, NAN), NAN);
    assert_same(stats_expected_max_normal(0), NAN);
}

/* By bisection of mpmath 1.3's erfc at 40 digits; 1.959963985 and the like are in every table. */
static void normal_quantiles_agree_with_the_tables(void **state) {
    (void)state;
    static const struct {
        double p, want;
    } rows[] = {
        {0.5, 0},
        {0.6, 0.2533471031358},
        {0.75, 0.674489750196082},
        {0.9, 1.2815515655446},
        {0.95, 1.64485362695147},
        {0.975, 1.95996398454005},
        {0.995, 2.5758293035489},
        {0.999999, 4.7534243088229},
        {0.025, -1.95996398454005},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_near(stats_normal_quantile(rows[i].p), rows[i].want, 1e-10);
}

static void normal_distribution_is_the_inverse_of_its_quantile(void **state) {
    (void)state;
    assert_near(stats_normal_cdf(-3), 0.00134989803163009, 1e-14);
    assert_near(stats_normal_cdf(1), 0.841344746068543, 1e-14);
    static const double rows[] = {1e-300, 1e-20, 1e-5, 0.01, 0.3, 0.49999, 0.50001, 0.8, 0.9999};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_near(stats_normal_cdf(stats_normal_quantile(rows[i])), rows[i], 1e-12);
}

/* By bisection of mpmath 1.3's incomplete beta function at 40 digits. One degree of freedom is tan(pi (p -
 * 1/2)), two is (2p - 1) / sqrt(2 p (1 - p)). */
static void t_quantiles_agree_with_the_tables(void **state) {
    (void)state;
    static const struct {
        double p, df, want;
    } rows[] = {
        {0.75, 1, 1},
        {0.975, 1, 12.7062047361747},
        {0.975, 2, 4.30265272974946},
        {0.999999, 4, 41.577854150451},
        {0.95, 5, 2.01504837333302},
        {0.975, 9, 2.26215716279821},
        {0.9995, 10, 4.58689385870264},
        {0.975, 19, 2.09302405440831},
        {0.999, 28, 3.40815517835336},
        {0.975, 29, 2.0452296421327},
        {0.6, 30, 0.255605364951913},
        {0.995, 59, 2.66175875216297},
        {0.975, 119, 1.98009987645694},
        {0.975, 1919, 1.96120095313931},
        {0.975, 20000, 1.96008260515814},
        {0.025, 9, -2.26215716279821},
        {0.5, 7, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_near(stats_t_quantile(rows[i].p, rows[i].df), rows[i].want, 1e-10);
}

static void t_quantiles_of_one_and_two_degrees_follow_the_closed_forms(void **state) {
    (void)state;
    for (int i = 501; i < 1000; i += 7) {
        double p = i / 1000.0;
        assert_near(stats_t_quantile(p, 1), tan(3.14159265358979324 * (p - 0.5)), 1e-10);
        assert_near(stats_t_quantile(p, 2), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-10);
    }
}

static void t_quantile_has_no_seam_where_the_method_changes(void **state) {
    (void)state;
    for (int i = 55; i < 100; i += 5)
        assert_near(stats_t_quantile(i / 100.0, 10001), stats_t_quantile(i / 100.0, 9999), 1e-7);
    assert_near(stats_t_quantile(0.2500001, 7), stats_t_quantile(0.2499999, 7), 1e-6);
}

static void quantiles_outside_their_range_are_nan(void **state) {
    (void)state;
    static const double rows[] = {0, 1, -0.1, 1.1, NAN};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_same(stats_normal_quantile(rows[i]), NAN);
        assert_same(stats_t_quantile(rows[i], 5), NAN);
    }
    assert_same(stats_t_quantile(0.9, 0), NAN);
    assert_same(stats_t_quantile(0.9, NAN), NAN);
}

/* Phi^-1(7.625/8.25) and Phi^-1(63.625/64.25), by mpmath; the exact maxima are 1.4236 and 2.3 to 2.4. */
static void expected_maximum_follows_blom(void **state) {
    (void)state;
    assert_near(stats_expected_max_normal(1), 0, 1e-15);
    assert_near(stats_expected_max_normal(8), 1.43420016, 1e-8);
    assert_near(stats_expected_max_normal(64), 2.336691076, 1e-8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_keeps_what_plain_addition_loses),
        cmocka_unit_test(sum_of_a_tenth_ten_million_times_is_a_million),
        cmocka_unit_test(describes_a_small_sample),
        cmocka_unit_test(spread_survives_a_large_mean),
        cmocka_unit_test(quantile_interpolates_between_order_statistics),
        cmocka_unit_test(nothing_in_gives_nan_out),
        cmocka_unit_test(normal_quantiles_agree_with_the_tables),
        cmocka_unit_test(normal_distribution_is_the_inverse_of_its_quantile),
        cmocka_unit_test(t_quantiles_agree_with_the_tables),
        cmocka_unit_test(t_quantiles_of_one_and_two_degrees_follow_the_closed_forms),
        cmocka_unit_test(t_quantile_has_no_seam_where_the_method_changes),
        cmocka_unit_test(quantiles_outside_their_range_are_nan),
        cmocka_unit_test(expected_maximum_follows_blom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
