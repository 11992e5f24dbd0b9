#include "tests/base/check.h"

#include "reports/run_cost.h"

#include <math.h>

static const struct workload toy = {.global_batch = 8, .sequence = 32};
static const struct job job = {.steps = 1000, .tokens = NAN, .samples = NAN};
static const struct job endless = {.steps = NAN, .tokens = NAN, .samples = NAN};

/* 1000 steps of 2 s (1.9 to 2.2) at a cent (0.9 to 1.2) each. */
static const struct rank_row on_demand = {
    .step_s = {1.9, 2, 2.2}, .cost = {0.009, 0.01, 0.012}, .goodput_low = 1, .goodput_high = 1};
/* The same node interrupted: its cost holds the factor of 1.1 to 1.5 already, its step time does not. */
static const struct rank_row spot = {
    .step_s = {1.9, 2, 2.2}, .cost = {0.0099, 0.013, 0.018}, .goodput_low = 1.1, .goodput_high = 1.5};

static void a_run_is_its_steps(void **state) {
    struct run_cost run;
    (void)state;
    run_cost(&job, &toy, &on_demand, &run);
    assert_same(run.steps, 1000);
    assert_near(run.time_s.low, 1900, 1e-12);
    assert_near(run.time_s.mid, 2000, 1e-12);
    assert_near(run.time_s.high, 2200, 1e-12);
    assert_near(run.cost.low, 9, 1e-12);
    assert_near(run.cost.mid, 10, 1e-12);
    assert_near(run.cost.high, 12, 1e-12);
}

static void interruptions_lengthen_the_run_and_are_paid_once(void **state) {
    struct run_cost run;
    (void)state;
    run_cost(&job, &toy, &spot, &run);
    assert_near(run.time_s.low, 1900 * 1.1, 1e-12);
    assert_near(run.time_s.mid, 2000 * 1.3, 1e-12);
    assert_near(run.time_s.high, 2200 * 1.5, 1e-12);
    assert_near(run.cost.mid, 13, 1e-12);
}

static void a_job_without_a_length_costs_nothing_that_is_known(void **state) {
    struct run_cost run;
    (void)state;
    run_cost(&endless, &toy, &on_demand, &run);
    assert_true(isnan(run.steps) && isnan(run.time_s.mid) && isnan(run.cost.mid));
    run_cost(NULL, &toy, &on_demand, &run);
    assert_true(isnan(run.cost.mid));
}

static void a_limit_is_kept_doubtful_or_broken_by_the_whole_interval(void **state) {
    static const struct {
        double low, high, limit;
        enum run_limit want;
    } rows[] = {
        {1, 2, 3, RUN_WITHIN},   {1, 2, 2, RUN_WITHIN},   {1, 2, 1.5, RUN_DOUBTFUL}, {1, 2, 1, RUN_DOUBTFUL},
        {1, 2, 0.9, RUN_BEYOND}, {1, 2, NAN, RUN_WITHIN}, {NAN, NAN, 1, RUN_WITHIN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rank_interval figure = {.low = rows[i].low, .mid = rows[i].low, .high = rows[i].high};
        assert_int_equal(run_against(&figure, rows[i].limit), rows[i].want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_its_steps),
        cmocka_unit_test(interruptions_lengthen_the_run_and_are_paid_once),
        cmocka_unit_test(a_job_without_a_length_costs_nothing_that_is_known),
        cmocka_unit_test(a_limit_is_kept_doubtful_or_broken_by_the_whole_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
