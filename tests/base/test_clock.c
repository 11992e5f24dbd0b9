#include "tests/base/check.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static void monotonic_time_never_goes_back(void **state) {
    (void)state;
    uint64_t before = clock_monotonic_ns();
    for (int i = 0; i < 10000; i++) {
        uint64_t now = clock_monotonic_ns();
        assert_true(now >= before);
        before = now;
    }
}

static void monotonic_time_is_the_kernels(void **state) {
    (void)state;
    struct timespec t;
    uint64_t before = clock_monotonic_ns();
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t after = clock_monotonic_ns();
    uint64_t kernel = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    assert_true(before <= kernel && kernel <= after);
}

static void resolution_is_a_step_of_the_clock(void **state) {
    (void)state;
    uint64_t resolution_ns = clock_resolution_ns();
    assert_true(resolution_ns > 0);
    assert_true(resolution_ns < 20000000); /* 50 Hz: the coarsest clock that was ever shipped */
}

static void sleeps_at_least_as_long_as_asked(void **state) {
    (void)state;
    uint64_t before = clock_monotonic_ns();
    clock_sleep_ns(20000000);
    uint64_t slept_ns = clock_monotonic_ns() - before;
    assert_true(slept_ns >= 20000000);
    assert_true(slept_ns < 5000000000u);
}

static void wall_text_is_utc_now(void **state) {
    (void)state;
    char text[CLOCK_TEXT_SIZE];
    time_t before = time(NULL);
    assert_ptr_equal(clock_wall_text(text), text);
    time_t after = time(NULL);
    struct tm tm = {0};
    char z, extra;
    assert_int_equal(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%c%c", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                            &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &z, &extra),
                     7);
    assert_int_equal(z, 'Z');
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    time_t read = timegm(&tm);
    assert_true(before <= read && read <= after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_time_never_goes_back),
        cmocka_unit_test(monotonic_time_is_the_kernels),
        cmocka_unit_test(resolution_is_a_step_of_the_clock),
        cmocka_unit_test(sleeps_at_least_as_long_as_asked),
        cmocka_unit_test(wall_text_is_utc_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
