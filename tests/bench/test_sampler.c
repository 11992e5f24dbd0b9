#include "bench/sampler.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

/* What the fake device saw of its callers; written by the sampler's thread, read after it has ended. */
static struct {
    pthread_t by;
    int cpus;
    double calls;
} seen;

static void look(struct device *d, struct telemetry *out) {
    (void)d;
    cpu_set_t now;
    seen.by = pthread_self();
    seen.cpus = sched_getaffinity(0, sizeof now, &now) == 0 ? CPU_COUNT(&now) : -1;
    out->power_w = ++seen.calls;
}

static uint64_t stands_at_zero(struct device *d) {
    (void)d;
    return 0;
}

static const struct backend on_host_clock = {.telemetry = look};
static const struct backend on_virtual_clock = {.telemetry = look, .now_ns = stands_at_zero};

/* Runs a sampler for a while in which nobody calls it; what it took, without the last row, is seen by look.
 */
static void watch(const struct runner *r, uint64_t time_ns) {
    struct sampler s;
    seen.calls = 0;
    sampler_open(&s, r);
    sampler_start(&s, clock_monotonic_ns());
    clock_sleep_ns(time_ns);
    sampler_close(&s);
}

static void a_thread_takes_rows_where_the_host_clock_runs(void **state) {
    (void)state;
    const struct runner r = {.backend = &on_host_clock};
    watch(&r, 1000000000);
    assert_true(seen.calls >= 5);
    assert_false(pthread_equal(seen.by, pthread_self()));
}

static void no_thread_looks_at_a_device_with_a_virtual_clock(void **state) {
    (void)state;
    const struct runner r = {.backend = &on_virtual_clock};
    watch(&r, 400000000);
    assert_true(seen.calls == 1);
}

/* As the CPU backend does: whoever opened the device stays on one CPU. */
static void the_thread_runs_on_the_cpus_that_the_process_had(void **state) {
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const struct runner pinned = {.backend = &on_host_clock}, freed = {&on_host_clock, .cpus = &before};
    watch(&pinned, 200000000);
    assert_int_equal(seen.cpus, 1);
    watch(&freed, 200000000);
    assert_int_equal(seen.cpus, CPU_COUNT(&before));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void rows_are_taken_between_samples_when_one_is_due(void **state) {
    (void)state;
    static const double ticks_s[] = {0.05, 0.10, 0.15, 0.20, 0.29, 0.31};
    static const double want_s[] = {0, 0.15, 0.31, 0.35}; /* first, 0.15 s after each other, last */
    const struct runner r = {.backend = &on_virtual_clock};
    const struct telemetry_row *rows;
    struct sampler s;
    sampler_open(&s, &r);
    sampler_start(&s, 0);
    for (size_t i = 0; i < sizeof ticks_s / sizeof ticks_s[0]; i++)
        sampler_tick(&s, ticks_s[i]);
    sampler_stop(&s, 0.35);
    assert_int_equal(sampler_take(&s, &rows), 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(rows[i].t_s == want_s[i]);
    assert_int_equal(sampler_take(&s, &rows), 0);
    sampler_close(&s);
}

static void every_row_is_given_out_once_and_in_order(void **state) {
    (void)state;
    const struct runner r = {.backend = &on_host_clock};
    const struct telemetry_row *rows;
    struct sampler s;
    double taken = 0, last_s = -1;
    seen.calls = 0;
    sampler_open(&s, &r);
    sampler_start(&s, clock_monotonic_ns());
    for (int round = 0; round < 30; round++) {
        clock_sleep_ns(20000000);
        if (round == 29)
            sampler_stop(&s, 10);
        size_t count = sampler_take(&s, &rows);
        for (size_t i = 0; i < count; i++) {
            assert_true(rows[i].values.power_w == ++taken); /* the number of the call */
            assert_true(rows[i].t_s > last_s);
            last_s = rows[i].t_s;
        }
    }
    assert_true(taken >= 4 && taken == seen.calls);
    sampler_close(&s);
}

static void a_full_sampler_keeps_what_it_has(void **state) {
    (void)state;
    const struct runner r = {.backend = &on_virtual_clock};
    const struct telemetry_row *rows;
    struct sampler s;
    sampler_open(&s, &r);
    sampler_start(&s, 0);
    for (int i = 1; i < SAMPLER_ROWS + 100; i++)
        sampler_tick(&s, i);
    assert_int_equal(sampler_take(&s, &rows), SAMPLER_ROWS);
    assert_true(rows[SAMPLER_ROWS - 1].t_s == SAMPLER_ROWS - 1);
    sampler_stop(&s, SAMPLER_ROWS + 200);
    assert_int_equal(sampler_take(&s, &rows), 1);
    sampler_close(&s);
}

static void a_sampler_that_was_never_opened_can_be_closed(void **state) {
    (void)state;
    struct sampler s = {0};
    sampler_close(&s);
    assert_null(s.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_takes_rows_where_the_host_clock_runs),
        cmocka_unit_test(no_thread_looks_at_a_device_with_a_virtual_clock),
        cmocka_unit_test(the_thread_runs_on_the_cpus_that_the_process_had),
        cmocka_unit_test(rows_are_taken_between_samples_when_one_is_due),
        cmocka_unit_test(every_row_is_given_out_once_and_in_order),
        cmocka_unit_test(a_full_sampler_keeps_what_it_has),
        cmocka_unit_test(a_sampler_that_was_never_opened_can_be_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
