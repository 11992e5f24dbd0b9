#include "bench/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static void carries_a_device_over_and_keeps_what_is_not_known_unknown(void **state) {
    (void)state;
    struct device_info in = {.name = "A \"quoted\" device",
                             .is_gpu = true,
                             .memory_bytes = 80e9 + 1,
                             .free_bytes = 79e9,
                             .cache_bytes = NAN,
                             .clock_hz = NAN,
                             .units = 132,
                             .facts = {{"driver", "550.54"}, {"OMP_NUM_THREADS", ""}},
                             .fact_count = 2};
    struct device_info out;
    struct err e;
    int count;
    json_t *m = message_ready(&in, 8);
    assert_int_equal(message_read_ready(m, &out, &count, &e), 0);
    assert_int_equal(count, 8);
    assert_string_equal(out.name, in.name);
    assert_true(out.is_gpu && !out.simulated);
    assert_true(out.memory_bytes == in.memory_bytes && out.free_bytes == in.free_bytes);
    assert_true(isnan(out.cache_bytes) && isnan(out.clock_hz));
    assert_int_equal(out.units, 132);
    assert_int_equal(out.fact_count, 2);
    assert_string_equal(out.facts[0].key, "driver");
    assert_string_equal(out.facts[0].value, "550.54");
    assert_string_equal(out.facts[1].value, "");
    json_decref(m);
}

static void survives_a_device_name_that_is_no_utf8(void **state) {
    (void)state;
    struct device_info in = {.name = "\xff\xfe"}, out;
    struct err e;
    int count;
    json_t *m = message_ready(&in, 1);
    assert_non_null(m);
    assert_int_equal(message_read_ready(m, &out, &count, &e), 0);
    json_decref(m);
}

static void carries_a_case_over(void **state) {
    (void)state;
    struct message_case in = {
        .c = {.id = "gemm/x", .bench = "gemm", .seconds = 2.5, .heat_s = 0.75, .rotate = true},
        .attempt = 3,
        .rank = 1,
        .size = 4,
        .seed = UINT64_C(0xfedcba9876543210),
        .goal = 0.01};
    in.c.op = op_gemm(3, 5, 7, DTYPE_FP64);
    struct message_case out;
    struct err e;
    json_t *m = message_case(&in);
    assert_int_equal(message_read_case(m, &out, &e), 0);
    assert_string_equal(out.c.id, "gemm/x");
    assert_string_equal(out.c.bench, "gemm");
    assert_true(op_equal(&in.c.op, &out.c.op));
    assert_true(out.c.seconds == 2.5 && out.c.heat_s == 0.75 && out.c.rotate && !out.c.mandatory);
    assert_int_equal(out.attempt, 3);
    assert_int_equal(out.rank, 1);
    assert_int_equal(out.size, 4);
    assert_true(out.seed == in.seed && out.goal == 0.01);
    json_decref(m);
}

static void carries_a_result_over(void **state) {
    (void)state;
    struct runner_result in = {.status = CASE_FAILED,
                               .reason = "wrong result",
                               .warnings = {"first", "second"},
                               .warning_count = 2,
                               .warmed_up = true,
                               .deviation = {0.25, 0.125, 64}};
    struct runner_result out;
    struct err e;
    json_t *m = message_done(&in);
    assert_int_equal(message_read_done(m, &out, &e), 0);
    assert_int_equal(out.status, CASE_FAILED);
    assert_string_equal(out.reason, "wrong result");
    assert_int_equal(out.warning_count, 2);
    assert_string_equal(out.warnings[1], "second");
    assert_true(out.warmed_up);
    assert_true(out.deviation.max_rel == 0.25 && out.deviation.rms_rel == 0.125 &&
                out.deviation.elements == 64);
    json_decref(m);
}

static void carries_an_error_over_with_its_code(void **state) {
    (void)state;
    struct err in, out;
    (void)err_set(&in, ERR_USAGE, "no scenario \"x\"");
    json_t *m = message_error("error", &in);
    assert_int_equal(message_read_error(m, &out), -1);
    assert_int_equal(out.code, ERR_USAGE);
    assert_string_equal(out.text, in.text);
    json_decref(m);
}

static void refuses_a_line_that_is_no_message(void **state) {
    (void)state;
    static const char *const bad[] = {"", "{", "[]", "1", "{}", "{\"type\":1}", "{\"type\":\"\"}", "garbage"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e;
        assert_null(message_parse(bad[i], &e));
    }
}

static void refuses_a_result_with_a_status_that_does_not_exist(void **state) {
    (void)state;
    static const int bad[] = {-1, CASE_OPEN, 99};
    for (size_t i = 0; i < 3; i++) {
        struct runner_result out;
        struct err e;
        json_t *m = json_pack("{s:i, s:s, s:b}", "status", bad[i], "reason", "", "warmed_up", 1);
        assert_int_equal(message_read_done(m, &out, &e), -1);
        json_decref(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_a_device_over_and_keeps_what_is_not_known_unknown),
        cmocka_unit_test(survives_a_device_name_that_is_no_utf8),
        cmocka_unit_test(carries_a_case_over),
        cmocka_unit_test(carries_a_result_over),
        cmocka_unit_test(carries_an_error_over_with_its_code),
        cmocka_unit_test(refuses_a_line_that_is_no_message),
        cmocka_unit_test(refuses_a_result_with_a_status_that_does_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
