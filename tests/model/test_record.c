#include "tests/base/check.h"

#include "base/rng.h"
#include "model/record.h"

/* Two quick samples and a slow one: 300 iterations of 1024 in 0.25 s. The mean of the three rates would be
 * 1365333, the best 1638400. Their sd is 819200 / sqrt(3). */
static void rate_is_total_work_over_total_time(void **state) {
    (void)state;
    double iterations[] = {100, 100, 100}, elapsed_s[] = {0.0625, 0.0625, 0.125};
    const struct record_rank r = {
        .work_per_iteration = 1024, .count = 3, .iterations = iterations, .elapsed_s = elapsed_s};
    struct record_rate rate = record_rank_rate(&r);
    assert_near(rate.rate, 1228800, 1e-15);
    assert_near(rate.median, 1638400, 1e-15);
    assert_near(rate.p95, 1638400, 1e-15);
    assert_near(rate.p5, 819200 + 0.1 * 819200, 1e-15);
    assert_near(rate.cv, 819200 / sqrt(3) / (4096000.0 / 3), 1e-12);
    assert_int_equal(rate.state, SERIES_FEW);
    assert_same(rate.low, NAN);
    assert_same(rate.high, NAN);
}

static void samples_of_unequal_length_count_by_their_work(void **state) {
    (void)state;
    double iterations[] = {1, 9}, elapsed_s[] = {1, 1};
    const struct record_rank r = {
        .work_per_iteration = 2, .count = 2, .iterations = iterations, .elapsed_s = elapsed_s};
    assert_near(record_rank_rate(&r).rate, 10, 1e-15);
}

/* Times 8 9 10 11 12: mean 10, half-width t(0.975, 4) sqrt(2.5 / 5) = 2.776445105 x 0.7071067812 = 1.963243.
 */
static void interval_is_that_of_the_time_turned_over(void **state) {
    (void)state;
    double iterations[] = {1, 1, 1, 1, 1}, elapsed_s[] = {8, 9, 10, 11, 12};
    const struct record_rank r = {
        .work_per_iteration = 1, .count = 5, .iterations = iterations, .elapsed_s = elapsed_s};
    struct record_rate rate = record_rank_rate(&r);
    assert_near(rate.rate, 0.1, 1e-15);
    assert_near(rate.low, 1 / 11.963243, 1e-7);
    assert_near(rate.high, 1 / 8.036757, 1e-7);
}

static void time_that_may_be_nothing_gives_no_interval(void **state) {
    (void)state;
    double iterations[] = {1, 1, 1, 1, 1}, elapsed_s[] = {1, 1, 1, 1, 100};
    const struct record_rank r = {
        .work_per_iteration = 1, .count = 5, .iterations = iterations, .elapsed_s = elapsed_s};
    struct record_rate rate = record_rank_rate(&r);
    assert_same(rate.low, NAN);
    assert_same(rate.high, NAN);
    assert_near(rate.rate, 5.0 / 104, 1e-15);
}

static void state_is_that_of_the_series(void **state) {
    (void)state;
    enum { N = 240 };
    static double iterations[N], elapsed_s[N];
    rng_fill_normal(21, 0, elapsed_s, N);
    for (size_t i = 0; i < N; i++) {
        iterations[i] = 7;
        elapsed_s[i] = 0.05 * (1 + 0.003 * elapsed_s[i]);
    }
    const struct record_rank r = {
        .work_per_iteration = 1e9, .count = N, .iterations = iterations, .elapsed_s = elapsed_s};
    struct record_rate rate = record_rank_rate(&r);
    assert_int_equal(rate.state, SERIES_STEADY);
    assert_near(rate.rate, 7e9 / 0.05, 0.001);
    assert_true(rate.low < rate.rate && rate.rate < rate.high && rate.high < 1.002 * rate.low);
    for (size_t i = N / 3; i < N; i++)
        elapsed_s[i] *= 1.25;
    rate = record_rank_rate(&r);
    assert_int_equal(rate.state, SERIES_UNSTEADY);
    assert_near(rate.shift, 0.25 / (1 + 0.25 * 2 / 3), 0.02);
}

static void nothing_measured_has_no_rate(void **state) {
    (void)state;
    const struct record_rank r = {.work_per_iteration = 1};
    struct record_rate rate = record_rank_rate(&r);
    assert_same(rate.rate, NAN);
    assert_same(rate.median, NAN);
    assert_same(rate.low, NAN);
    assert_int_equal(rate.state, SERIES_FEW);
}

static void finds_a_case_by_its_whole_name(void **state) {
    (void)state;
    struct record_case cases[] = {{.id = "gemm/a"}, {.id = "gemm/ab"}};
    const struct record r = {.cases = cases, .case_count = 2};
    assert_ptr_equal(record_find_case(&r, "gemm/ab"), &cases[1]);
    assert_null(record_find_case(&r, "gemm/"));
}

static void statuses_have_names(void **state) {
    (void)state;
    assert_string_equal(case_status_name(CASE_MEASURED), "measured");
    assert_string_equal(case_status_name(CASE_NOT_TESTED), "not_tested");
    assert_string_equal(case_status_name(CASE_FAILED), "failed");
    assert_string_equal(case_status_name(CASE_OPEN), "open");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_is_total_work_over_total_time),
        cmocka_unit_test(samples_of_unequal_length_count_by_their_work),
        cmocka_unit_test(interval_is_that_of_the_time_turned_over),
        cmocka_unit_test(time_that_may_be_nothing_gives_no_interval),
        cmocka_unit_test(state_is_that_of_the_series),
        cmocka_unit_test(nothing_measured_has_no_rate),
        cmocka_unit_test(finds_a_case_by_its_whole_name),
        cmocka_unit_test(statuses_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
