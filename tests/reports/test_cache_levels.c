#include "reports/cache_levels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

enum { POINTS = 31 };
static const double kib = 1024;

/* The sweep of the benchmark: 4 KiB to 128 MiB, two an octave. Latencies of a curve that a test makes by
 * hand. */
static void sweep(struct cache_point *p, double (*latency_ns)(double bytes)) {
    for (int i = 0; i < POINTS; i++) {
        double bytes = 4096 * exp2(i / 2.0);
        p[i] = (struct cache_point){bytes, 1e-9 * latency_ns(bytes)};
    }
}

static double three_caches(double bytes) {
    return bytes <= 32 * kib ? 1 : bytes <= 1024 * kib ? 4 : bytes <= 32768 * kib ? 15 : 100;
}
/* The step is taken over several points, as where a cache is shared or replaces at random. */
static double slow_steps(double bytes) {
    double octaves = log2(bytes / (1024 * kib));
    return octaves <= 0 ? 4 : octaves >= 2 ? 20 : 4 * pow(5, octaves / 2);
}
static double no_step(double bytes) {
    (void)bytes;
    return 3;
}
/* 8 % an octave: translation misses, no cache */
static double slope(double bytes) {
    return 3 * pow(1.08, log2(bytes / 4096));
}

static void assert_level(const struct cache_level *l, double size_bytes, double latency_ns) {
    assert_true(fabs(l->size_bytes / size_bytes - 1) < 0.01);
    assert_true(fabs(l->latency_s / (1e-9 * latency_ns) - 1) < 0.05);
}

static void assert_three_caches(const struct cache_point *p) {
    struct cache_level levels[CACHE_LEVELS_MAX];
    assert_int_equal(cache_levels(p, POINTS, levels), 4);
    assert_level(&levels[0], 32 * kib, 1);
    assert_level(&levels[1], 1024 * kib, 4);
    assert_level(&levels[2], 32768 * kib, 15);
    assert_true(isnan(levels[3].size_bytes));
    assert_true(fabs(levels[3].latency_s - 100e-9) < 5e-9);
}

static void finds_the_steps_of_three_caches(void **state) {
    (void)state;
    struct cache_point p[POINTS];
    sweep(p, three_caches);
    assert_three_caches(p);
}

static void finds_them_in_noise(void **state) {
    (void)state;
    struct cache_point p[POINTS];
    sweep(p, three_caches);
    for (int i = 0; i < POINTS; i++) /* +-4 %, in a pattern of its own */
        p[i].latency_s *= 1 + 0.04 * sin(7.0 * i);
    assert_three_caches(p);
}

static void passes_over_single_points_that_are_off(void **state) {
    (void)state;
    struct cache_point p[POINTS];
    sweep(p, three_caches);
    p[2].latency_s *= 4;
    p[11].latency_s *= 3;
    p[20].latency_s *= 5;
    assert_three_caches(p);
}

static void takes_a_step_over_several_points_as_one(void **state) {
    (void)state;
    struct cache_point p[POINTS];
    struct cache_level levels[CACHE_LEVELS_MAX];
    sweep(p, slow_steps);
    assert_int_equal(cache_levels(p, POINTS, levels), 2);
    assert_level(&levels[0], 1024 * kib, 4);
    assert_true(fabs(levels[1].latency_s - 20e-9) < 1e-9);
}

static void finds_no_step_where_there_is_none(void **state) {
    (void)state;
    struct cache_point p[POINTS];
    struct cache_level levels[CACHE_LEVELS_MAX];
    sweep(p, no_step);
    assert_int_equal(cache_levels(p, POINTS, levels), 1);
    assert_true(isnan(levels[0].size_bytes));
    assert_true(fabs(levels[0].latency_s - 3e-9) < 1e-12);
    sweep(p, slope);
    assert_int_equal(cache_levels(p, POINTS, levels), 1);
}

static void says_nothing_of_too_few_points(void **state) {
    (void)state;
    struct cache_point p[POINTS];
    struct cache_level levels[CACHE_LEVELS_MAX];
    sweep(p, three_caches);
    for (size_t n = 0; n < 3; n++)
        assert_int_equal(cache_levels(p, n, levels), 0);
    assert_int_equal(cache_levels(p, 3, levels), 1);
}

static void never_writes_more_levels_than_there_is_room_for(void **state) {
    (void)state;
    struct cache_point p[POINTS];
    struct cache_level levels[CACHE_LEVELS_MAX];
    for (int i = 0; i < POINTS; i++) /* a stair of two points each, twice as high every time */
        p[i] = (struct cache_point){4096 * exp2(i / 2.0), exp2((double)(i / 2))};
    assert_int_equal(cache_levels(p, POINTS, levels), CACHE_LEVELS_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_steps_of_three_caches),
        cmocka_unit_test(finds_them_in_noise),
        cmocka_unit_test(passes_over_single_points_that_are_off),
        cmocka_unit_test(takes_a_step_over_several_points_as_one),
        cmocka_unit_test(finds_no_step_where_there_is_none),
        cmocka_unit_test(says_nothing_of_too_few_points),
        cmocka_unit_test(never_writes_more_levels_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
