#include "tests/base/check.h"

#include "base/json.h"
#include "model/record.h"

/* Samples 0-1, 1-2, 2-3, 3-4 s; rows at 0.5, 1.5, 2.5, 3.5 s; the counter grows from 1.5 to 2.5 only: that
 * touches the samples that begin at 1 and 2 s. */
static void marks_the_samples_that_overlap_a_growing_counter(void **state) {
    (void)state;
    double start_s[] = {0, 1, 2, 3}, elapsed_s[] = {1, 1, 1, 1};
    double t_s[] = {0.5, 1.5, 2.5, 3.5}, throttled_s[] = {7, 7, 7.25, 7.25};
    bool mark[4];
    const struct record_rank r = {.count = 4,
                                  .start_s = start_s,
                                  .elapsed_s = elapsed_s,
                                  .telemetry = {.count = 4, .t_s = t_s, .throttled_s = throttled_s}};
    assert_int_equal(record_throttled_samples(&r, mark), 2);
    static const bool want[] = {false, true, true, false};
    assert_memory_equal(mark, want, sizeof want);
    assert_same(record_throttled_s(&r), 0.25);
}

static void a_counter_that_is_not_known_marks_nothing(void **state) {
    (void)state;
    double start_s[] = {0, 1}, elapsed_s[] = {1, 1}, t_s[] = {0, 2}, throttled_s[] = {NAN, NAN};
    struct record_rank r = {.count = 2,
                            .start_s = start_s,
                            .elapsed_s = elapsed_s,
                            .telemetry = {.count = 2, .t_s = t_s, .throttled_s = throttled_s}};
    assert_int_equal(record_throttled_samples(&r, NULL), 0);
    assert_same(record_throttled_s(&r), NAN);
    r.telemetry.count = 0;
    assert_int_equal(record_throttled_samples(&r, NULL), 0);
    assert_same(record_throttled_s(&r), NAN);
}

static void the_body_reads_back_the_same_and_unknown_stays_unknown(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct record_host h = {1.5, 4, 0.25, 0.0625, NAN, 15, 3, 0.125, NAN, "cc1 0.25 s"};
    json_t *body = record_host_body(&h);
    assert_true(json_is_null(json_object_get(body, "steal_s")));
    struct record_host back = record_host_read(&arena, body);
    json_decref(body);
    assert_same(back.window_s, 1.5);
    assert_same(back.cpus, 4);
    assert_same(back.others_cpu_s, 0.25);
    assert_same(back.kernel_cpu_s, 0.0625);
    assert_same(back.steal_s, NAN);
    assert_same(back.quota_periods, 15);
    assert_same(back.quota_throttled_periods, 3);
    assert_same(back.quota_throttled_s, 0.125);
    assert_same(back.thermal_throttled_s, NAN);
    assert_string_equal(back.busiest, "cc1 0.25 s");
    back = record_host_read(&arena, NULL);
    assert_same(back.others_cpu_s, NAN);
    assert_same(back.window_s, NAN);
    assert_string_equal(back.busiest, "");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_the_samples_that_overlap_a_growing_counter),
        cmocka_unit_test(a_counter_that_is_not_known_marks_nothing),
        cmocka_unit_test(the_body_reads_back_the_same_and_unknown_stays_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
