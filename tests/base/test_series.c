#include "tests/base/check.h"

#include "base/rng.h"
#include "base/series.h"

#include <stdbool.h>
#include <stdio.h>

enum { TRIALS = 10000, CAP = 1920 };

/* ---- series to judge: the truth is known, because they are made here ---- */

struct maker {
    const char *name;
    double (*draw)(const struct maker *m, struct rng *r, size_t i, double *last);
    double sd, parameter; /* of the kind */
    double goal;
    double truth; /* the mean */
};

static double normal(const struct maker *m, struct rng *r, size_t i, double *last) {
    (void)i;
    (void)last;
    return 1 + m->sd * rng_normal(r);
}

/* mean exp(sd^2 / 2) */
static double lognormal(const struct maker *m, struct rng *r, size_t i, double *last) {
    (void)i;
    (void)last;
    return exp(m->sd * rng_normal(r));
}

/* 5 % of the samples take `parameter` times as long: mean 1 + 0.05 (parameter - 1) */
static double outliers(const struct maker *m, struct rng *r, size_t i, double *last) {
    double x = normal(m, r, i, last);
    return rng_uniform(r) < 0.05 ? m->parameter * x : x;
}

/* first-order autoregressive: each deviation is `parameter` of the last and something new */
static double autoregressive(const struct maker *m, struct rng *r, size_t i, double *last) {
    double fresh = rng_normal(r);
    *last = i == 0 ? fresh : m->parameter * *last + sqrt(1 - m->parameter * m->parameter) * fresh;
    return 1 + m->sd * *last;
}

struct tally {
    int stopped, covered, covered_of_stopped, called_unsteady, by_look[8];
};

/* One run of the stopping rule: looks at 30, 60, 120 ... CAP samples. */
static void run_rule(const struct maker *m, struct rng *r, struct tally *t) {
    static double x[CAP];
    struct series_summary s = {0};
    double last = 0;
    bool stopped = false, unsteady = false;
    int looks = 0;
    for (size_t n = 0; n < CAP && !stopped;) {
        x[n] = m->draw(m, r, n, &last);
        if (!series_is_look(++n))
            continue;
        s = series_judge(x, n, m->goal);
        unsteady = unsteady || s.state == SERIES_UNSTEADY;
        stopped = s.state == SERIES_STEADY && s.half_width <= m->goal * s.mean;
        looks++;
    }
    bool covered = fabs(s.mean - m->truth) <= s.half_width;
    t->stopped += stopped;
    t->covered += covered;
    t->covered_of_stopped += covered && stopped;
    t->called_unsteady += unsteady;
    t->by_look[looks] += stopped;
}

static struct tally run_trials(const struct maker *m) {
    struct tally t = {0};
    struct rng r = rng_make(rng_seed_from(20260101, m->name));
    for (int i = 0; i < TRIALS; i++)
        run_rule(m, &r, &t);
    print_message("%-28s stops by itself %5.1f %%, covered %.2f %%, of the stopped %.2f %%, called unsteady "
                  "%.2f %%; stops at 120 .. 1920: %d %d %d %d %d\n",
                  m->name, 100.0 * t.stopped / TRIALS, 100.0 * t.covered / TRIALS,
                  100.0 * t.covered_of_stopped / (t.stopped ? t.stopped : 1),
                  100.0 * t.called_unsteady / TRIALS, t.by_look[3], t.by_look[4], t.by_look[5], t.by_look[6],
                  t.by_look[7]);
    return t;
}

static const struct maker independent[] = {
    {"normal 1 %, goal 1 %", normal, 0.01, 0, 0.01, 1},
    {"normal 3 %, goal 1 %", normal, 0.03, 0, 0.01, 1},
    {"lognormal 0.1, goal 3 %", lognormal, 0.1, 0, 0.03, 1.0050125208594010},
    {"lognormal 0.2, goal 3 %", lognormal, 0.2, 0, 0.03, 1.0202013400267558},
    {"lognormal 0.3, goal 5 %", lognormal, 0.3, 0, 0.05, 1.0460278599087169},
    {"outliers x3, goal 1 %", outliers, 0.01, 3, 0.01, 1.1},
    {"outliers x3, goal 10 %", outliers, 0.02, 3, 0.1, 1.1},
    {"outliers x3 on 10 %, goal 6 %", outliers, 0.1, 3, 0.06, 1.1},
    {"outliers x1.2, goal 1 %", outliers, 0.01, 1.2, 0.01, 1.01},
};

static const struct maker correlated[] = {
    {"AR 0.2, 1 %, goal 1 %", autoregressive, 0.01, 0.2, 0.01, 1},
    {"AR 0.4, 1 %, goal 1 %", autoregressive, 0.01, 0.4, 0.01, 1},
    {"AR 0.6, 3 %, goal 3 %", autoregressive, 0.03, 0.6, 0.03, 1},
    {"AR 0.6, 3 %, goal 1 %", autoregressive, 0.03, 0.6, 0.01, 1},
};

static void interval_covers_the_mean_of_independent_samples(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(independent); i++) {
        struct tally t = run_trials(&independent[i]);
        assert_true(t.covered >= 0.93 * TRIALS);
        assert_true(t.called_unsteady < 0.01 * TRIALS);
    }
}

static void interval_covers_the_mean_of_correlated_samples_where_the_rule_stops(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(correlated); i++) {
        struct tally t = run_trials(&correlated[i]);
        assert_true(t.stopped > 0.5 * TRIALS);
        assert_true(t.covered_of_stopped >= 0.93 * t.stopped);
        assert_true(t.called_unsteady < 0.01 * TRIALS);
    }
}

/* ---- changes ---- */

static double step_share(size_t i, size_t n, double at) {
    return (double)i >= at * (double)n;
}

static double line_share(size_t i, size_t n, double at) {
    (void)at;
    return (double)i / (double)(n - 1);
}

/* A change of 3 % in n samples with noise sd: how many of the trials end steady, how many unsteady. */
struct change_tally {
    int steady, unsteady;
};

struct change_case {
    double (*share)(size_t i, size_t n, double at);
    double at, correlation, sd;
    size_t n;
};

static struct change_tally judge_changes(const struct change_case *c) {
    static double x[CAP];
    struct change_tally t = {0};
    const struct maker noise = {.sd = c->sd, .parameter = c->correlation};
    struct rng r = rng_make(rng_seed_from(20260102 + c->n, "changes"));
    for (int trial = 0; trial < TRIALS; trial++) {
        double last = 0;
        for (size_t i = 0; i < c->n; i++)
            x[i] = autoregressive(&noise, &r, i, &last) + 0.03 * c->share(i, c->n, c->at);
        enum series_state s = series_judge(x, c->n, 0.01).state;
        t.steady += s == SERIES_STEADY;
        t.unsteady += s == SERIES_UNSTEADY;
    }
    print_message("%s of 3 %% at %.1f, noise %.1f %% (AR %.1f), n = %zu: steady %.2f %%, unsteady %.2f %%\n",
                  c->share == line_share ? "line" : "step", c->at, 100 * c->sd, c->correlation, c->n,
                  100.0 * t.steady / TRIALS, 100.0 * t.unsteady / TRIALS);
    return t;
}

/* Whatever the noise: where it hides the change, the series is wide. The bound is 0.5 % of the trials. */
static void change_of_three_percent_is_never_steady_within_one(void **state) {
    (void)state;
    static const struct change_case rows[] = {
        {step_share, 0.1, 0, 0.01, 120},   {step_share, 0.1, 0, 0.02, 120}, {step_share, 0.1, 0, 0.03, 480},
        {step_share, 0.5, 0, 0.03, 480},   {step_share, 0.9, 0, 0.05, 480}, {step_share, 0.1, 0.6, 0.01, 240},
        {step_share, 0.5, 0.6, 0.02, 480}, {line_share, 0, 0, 0.02, 120},   {line_share, 0, 0, 0.03, 480},
        {line_share, 0, 0.6, 0.01, 240},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(judge_changes(&rows[i]).steady < 0.005 * TRIALS);
}

static void change_well_above_the_noise_is_called_unsteady(void **state) {
    (void)state;
    static const struct change_case rows[] = {
        {step_share, 0.1, 0, 0.005, 120}, {step_share, 0.5, 0, 0.01, 120},    {step_share, 0.9, 0, 0.01, 240},
        {line_share, 0, 0, 0.005, 120},   {step_share, 0.5, 0.6, 0.005, 240},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(judge_changes(&rows[i]).unsteady > 0.99 * TRIALS);
}

/* ---- single series ---- */

/* 1 2 3 4 5: sd sqrt(2.5), t(0.975, 4) = 2.776445105 from any table. */
static void five_samples_give_an_unchecked_interval(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, 5};
    struct series_summary s = series_judge(x, 5, 0.01);
    assert_int_equal(s.state, SERIES_FEW);
    assert_same(s.mean, 3);
    assert_near(s.half_width, 2.776445105 * sqrt(2.5) / sqrt(5), 1e-9);
    s = series_judge(x, 4, 0.01);
    assert_int_equal(s.state, SERIES_FEW);
    assert_same(s.half_width, NAN);
    assert_same(series_judge(x, 0, 0.01).mean, NAN);
}

static void equal_samples_are_steady_with_no_width(void **state) {
    (void)state;
    double x[120];
    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = 0.1 + (double)(i % 7) * 1e-17; /* not even one unit in the last place */
    struct series_summary s = series_judge(x, 120, 0.01);
    assert_int_equal(s.state, SERIES_STEADY);
    assert_same(s.half_width, 0);
    assert_near(s.mean, 0.1, 1e-15);
}

static void steady_needs_enough_samples_to_have_seen_the_slow_ones(void **state) {
    (void)state;
    double x[120];
    rng_fill_normal(11, 0, x, 120);
    for (size_t i = 0; i < 120; i++)
        x[i] = 1 + 0.002 * x[i];
    for (size_t n = 30; n < 120; n++) {
        struct series_summary s = series_judge(x, n, 0.01);
        assert_int_equal(s.state, SERIES_FEW);
        assert_true(s.half_width < 0.003);
    }
    assert_int_equal(series_judge(x, 120, 0.01).state, SERIES_STEADY);
}

/* 1.0 for 40 % and 1.1 for 60 %: mean 1.06, step 0.1. */
static void step_without_noise_is_unsteady_and_measured(void **state) {
    (void)state;
    double x[50];
    for (size_t i = 0; i < 50; i++)
        x[i] = i < 20 ? 1.0 : 1.1;
    struct series_summary s = series_judge(x, 50, 0.01);
    assert_int_equal(s.state, SERIES_UNSTEADY);
    assert_near(s.shift, 0.1 / 1.06, 1e-12);
}

static void change_below_the_goal_is_no_reason_to_complain(void **state) {
    (void)state;
    double x[120];
    for (size_t i = 0; i < 120; i++)
        x[i] = i < 60 ? 1.0 : 1.004;
    assert_int_equal(series_judge(x, 120, 0.01).state, SERIES_WIDE); /* two levels are correlated */
    assert_int_equal(series_judge(x, 120, 0.001).state, SERIES_UNSTEADY);
}

static void correlated_samples_are_merged_into_batches(void **state) {
    (void)state;
    static double x[CAP];
    const struct maker m = {.sd = 0.01, .parameter = 0.6};
    struct rng r = rng_make(4);
    double last = 0;
    for (size_t i = 0; i < CAP; i++)
        x[i] = autoregressive(&m, &r, i, &last);
    struct series_summary s = series_judge(x, CAP, 0.01);
    assert_true(s.batch >= 4 && s.batch <= CAP / SERIES_MIN_BATCHES);
    /* the mean of n varies by sd sqrt((1 + 0.6) / (1 - 0.6) / n); an interval is 1.96 of these and more */
    double least = 1.96 * 0.01 * sqrt(1.6 / 0.4 / CAP);
    assert_true(s.half_width > 0.8 * least && s.half_width < 2 * least);
}

static void random_walk_is_never_steady(void **state) {
    (void)state;
    static double x[480];
    struct rng r = rng_make(5);
    for (int trial = 0; trial < 200; trial++) {
        double level = 1;
        for (size_t i = 0; i < 480; i++)
            x[i] = level += 0.002 * rng_normal(&r);
        assert_int_not_equal(series_judge(x, 480, 0.01).state, SERIES_STEADY);
    }
}

static void verdict_does_not_depend_on_the_unit(void **state) {
    (void)state;
    double x[240], y[240];
    rng_fill_normal(12, 0, x, 240);
    for (size_t i = 0; i < 240; i++) {
        x[i] = 1 + 0.01 * x[i];
        y[i] = 1e-12 * x[i];
    }
    struct series_summary a = series_judge(x, 240, 0.01), b = series_judge(y, 240, 0.01);
    assert_int_equal(a.state, b.state);
    assert_near(b.half_width, 1e-12 * a.half_width, 1e-9);
    assert_near(b.shift, a.shift, 1e-9);
}

static void unknown_sample_is_never_steady(void **state) {
    (void)state;
    double x[120];
    for (size_t i = 0; i < 120; i++)
        x[i] = i == 77 ? NAN : 1;
    struct series_summary s = series_judge(x, 120, 0.01);
    assert_int_equal(s.state, SERIES_WIDE);
    assert_same(s.mean, NAN);
    assert_same(s.half_width, NAN);
}

static void rule_looks_when_the_number_has_doubled(void **state) {
    (void)state;
    static const struct {
        size_t n;
        bool want;
    } rows[] = {{0, false},  {1, false},  {29, false},  {30, true},    {31, false},
                {60, true},  {90, false}, {120, true},  {150, false},  {240, true},
                {480, true}, {960, true}, {1920, true}, {1921, false}, {3840, true}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(series_is_look(rows[i].n), rows[i].want);
}

static void states_have_names(void **state) {
    (void)state;
    assert_string_equal(series_state_name(SERIES_FEW), "few");
    assert_string_equal(series_state_name(SERIES_STEADY), "steady");
    assert_string_equal(series_state_name(SERIES_WIDE), "wide");
    assert_string_equal(series_state_name(SERIES_UNSTEADY), "unsteady");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_samples_give_an_unchecked_interval),
        cmocka_unit_test(equal_samples_are_steady_with_no_width),
        cmocka_unit_test(steady_needs_enough_samples_to_have_seen_the_slow_ones),
        cmocka_unit_test(step_without_noise_is_unsteady_and_measured),
        cmocka_unit_test(change_below_the_goal_is_no_reason_to_complain),
        cmocka_unit_test(correlated_samples_are_merged_into_batches),
        cmocka_unit_test(random_walk_is_never_steady),
        cmocka_unit_test(verdict_does_not_depend_on_the_unit),
        cmocka_unit_test(unknown_sample_is_never_steady),
        cmocka_unit_test(rule_looks_when_the_number_has_doubled),
        cmocka_unit_test(states_have_names),
        cmocka_unit_test(interval_covers_the_mean_of_independent_samples),
        cmocka_unit_test(interval_covers_the_mean_of_correlated_samples_where_the_rule_stops),
        cmocka_unit_test(change_of_three_percent_is_never_steady_within_one),
        cmocka_unit_test(change_well_above_the_noise_is_called_unsteady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
