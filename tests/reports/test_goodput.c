#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reports/goodput.h"

#include <math.h>

#define assert_near(got, want, tolerance) assert_true(fabs((got) - (want)) <= (tolerance))

/* Captions of the figures of Daly 2006 (J. T. Daly, FGCS 22, 303-312) for checkpoints of 5 minutes: M = 24 h,
 * 6 h and 15 min give 117, 57 and 9.1 minutes; to more digits 116.7, 56.7 and 9.14. */
static void meets_the_intervals_that_daly_prints(void **state) {
    (void)state;
    static const struct {
        double mean_min, want_min, tolerance;
    } rows[] = {{24 * 60, 116.7, 0.05}, {6 * 60, 56.7, 0.05}, {15, 9.14, 0.005}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_near(goodput_checkpoint_interval_s(5 * 60, rows[i].mean_min * 60) / 60, rows[i].want_min,
                    rows[i].tolerance);
}

/* Same paper: from C = 2 M on, the interval is M. */
static void gives_up_on_frequent_checkpoints_when_they_cost_too_much(void **state) {
    (void)state;
    assert_near(goodput_checkpoint_interval_s(120, 60), 60, 0);
    assert_near(goodput_checkpoint_interval_s(1000, 60), 60, 0);
}

/* -730 / ln(1 - 0.05) = 14 232 h; -730 / ln(0.8) = 3 271 h (natural logarithms from a table:
 * ln 0.95 = -0.0512933, ln 0.8 = -0.2231436). */
static void turns_a_monthly_share_into_a_mean_time(void **state) {
    (void)state;
    assert_near(goodput_interruption_mean_s(0.05) / 3600, 730 / 0.0512933, 0.5);
    assert_near(goodput_interruption_mean_s(0.20) / 3600, 730 / 0.2231436, 0.5);
    assert_true(isnan(goodput_interruption_mean_s(0)));
    assert_true(isnan(goodput_interruption_mean_s(1)));
    assert_true(isnan(goodput_interruption_mean_s(NAN)));
}

/* First order (Young 1974): G = 1 + C/tau + (tau + C)/(2M) + R/M. For C = 60 s, R = 600 s, M = 3271 h =
 * 1.17756e7 s: tau = 37 551 s by Daly; 1 + 0.001598 + 0.001597 + 0.000051 = 1.003246. */
static void agrees_with_the_first_order_formula_when_interruptions_are_rare(void **state) {
    (void)state;
    assert_near(goodput_factor(60, 600, 3271 * 3600.0), 1.003246, 5e-6);
}

/* C = 0: tau = 0, the limit is exp(R/M); exp(0.5) = 1.648721. */
static void has_only_restarts_to_pay_when_checkpoints_are_free(void **state) {
    (void)state;
    assert_near(goodput_factor(0, 50, 100), 1.648721, 1e-6);
    assert_near(goodput_factor(0, 0, 100), 1, 0);
}

static void grows_with_every_cost_and_is_never_below_one(void **state) {
    (void)state;
    double base = goodput_factor(60, 300, 36000);
    assert_true(base > 1);
    assert_true(goodput_factor(120, 300, 36000) > base);
    assert_true(goodput_factor(60, 600, 36000) > base);
    assert_true(goodput_factor(60, 300, 18000) > base);
    assert_true(isnan(goodput_factor(60, 300, NAN)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meets_the_intervals_that_daly_prints),
        cmocka_unit_test(gives_up_on_frequent_checkpoints_when_they_cost_too_much),
        cmocka_unit_test(turns_a_monthly_share_into_a_mean_time),
        cmocka_unit_test(agrees_with_the_first_order_formula_when_interruptions_are_rare),
        cmocka_unit_test(has_only_restarts_to_pay_when_checkpoints_are_free),
        cmocka_unit_test(grows_with_every_cost_and_is_never_below_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
