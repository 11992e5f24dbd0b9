#include "bench/bench.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The simulator's clock is virtual: minutes of measuring take milliseconds. */
struct rig {
    struct backend backend; /* a copy of sim's table, so that a test can replace a slot */
    struct device *device;
    struct runner runner;
    struct bench_case c;
    struct sample *samples;
    struct telemetry_row *rows;
    size_t count, capacity, row_count, row_capacity, chunks;
    double longest_chunk_s;
    struct runner_result result;
};

static int take_chunk(void *context, const struct sample *samples, size_t count,
                      const struct telemetry_row *rows, size_t row_count, struct err *e) {
    (void)e;
    struct rig *rig = context;
    for (size_t i = 0; i < count; i++) {
        rig->samples = xgrow(rig->samples, sizeof *rig->samples, rig->count, &rig->capacity);
        rig->samples[rig->count++] = samples[i];
    }
    for (size_t i = 0; i < row_count; i++) {
        rig->rows = xgrow(rig->rows, sizeof *rig->rows, rig->row_count, &rig->row_capacity);
        rig->rows[rig->row_count++] = rows[i];
    }
    rig->chunks++;
    double span_s = samples[count - 1].start_s + samples[count - 1].elapsed_s - samples[0].start_s;
    rig->longest_chunk_s = fmax(rig->longest_chunk_s, span_s);
    return 0;
}

static void open_rig(struct rig *rig, const char *scenario, const struct op *op, double seconds) {
    struct err e;
    const struct backend_config config = {.scenario = scenario};
    *rig = (struct rig){0};
    rig->backend = *backend_find("sim", &e);
    assert_int_equal(rig->backend.open(&config, 0, &rig->device, &e), 0);
    rig->runner = (struct runner){.backend = &rig->backend, .device = rig->device, .seed = 42, .goal = 0.01};
    assert_int_equal(rig->backend.describe(rig->device, &rig->runner.info, &e), 0);
    rig->c = (struct bench_case){.id = "x", .bench = "gemm", .op = *op, .seconds = seconds, .rotate = true};
}

static void run(struct rig *rig) {
    struct err e;
    const struct runner_sink sink = {rig, take_chunk};
    assert_int_equal(runner_run(&rig->runner, &rig->c, &sink, &rig->result, &e), 0);
}

static void close_rig(struct rig *rig) {
    rig->backend.close(rig->device);
    free(rig->samples);
    free(rig->rows);
}

static double total_elapsed_s(const struct rig *rig) {
    double sum = 0;
    for (size_t i = 0; i < rig->count; i++)
        sum += rig->samples[i].elapsed_s;
    return sum;
}

static double total_iterations(const struct rig *rig) {
    double sum = 0;
    for (size_t i = 0; i < rig->count; i++)
        sum += rig->samples[i].iterations;
    return sum;
}

/* kernels/sim/sim.h: 80 % of 900 TFLOP/s for bf16, 2 us of start and 5 us of launch an execution. */
static void measures_a_healthy_device_without_a_warning(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_gemm(4096, 4096, 4096, DTYPE_BF16);
    open_rig(&rig, "healthy", &op, 5);
    run(&rig);
    assert_int_equal(rig.result.status, CASE_MEASURED);
    assert_string_equal(rig.result.reason, "");
    assert_int_equal(rig.result.warning_count, 0);
    assert_true(rig.result.warmed_up);
    double want_s = 2.0 * 4096 * 4096 * 4096 / (0.8 * 900e12) + 7e-6;
    assert_true(fabs(total_elapsed_s(&rig) / total_iterations(&rig) / want_s - 1) < 0.002);
    close_rig(&rig);
}

static void makes_every_sample_at_least_50_ms_long(void **state) {
    (void)state;
    static const int64_t sizes[] = {16, 512, 4096};
    for (size_t s = 0; s < 3; s++) {
        struct rig rig;
        const struct op op = op_gemm(sizes[s], sizes[s], sizes[s], DTYPE_BF16);
        open_rig(&rig, "healthy", &op, 5);
        rig.c.rotate = sizes[s] > 16;
        run(&rig);
        for (size_t i = 0; i < rig.count; i++)
            assert_true(rig.samples[i].elapsed_s >= 0.05 && rig.samples[i].elapsed_s < 0.1);
        close_rig(&rig);
    }
}

static void stops_at_the_first_look_that_is_steady(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_elementwise(OP_FMA, INT64_C(1) << 34, DTYPE_FP32);
    open_rig(&rig, "healthy", &op, 1000);
    run(&rig);
    double times_s[SERIES_MIN_SAMPLES * 64UL];
    assert_true(series_is_look(rig.count) && rig.count <= SERIES_MIN_SAMPLES * 64UL);
    for (size_t i = 0; i < rig.count; i++)
        times_s[i] = rig.samples[i].elapsed_s / rig.samples[i].iterations;
    assert_int_equal(series_judge(times_s, rig.count, 0.01).state, SERIES_STEADY);
    for (size_t n = SERIES_MIN_SAMPLES; n < rig.count; n *= 2)
        assert_int_not_equal(series_judge(times_s, n, 0.01).state, SERIES_STEADY);
    close_rig(&rig);
}

/* Nine in ten batches take thrice as long at random: the relative sd of a sample is 0.32, so 1 % needs
 * (1.96 x 32)^2 = 3900 samples of 0.14 s, far more than 20 s hold. */
static void spends_the_seconds_when_the_samples_scatter(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_elementwise(OP_FMA, INT64_C(1) << 34, DTYPE_FP32);
    open_rig(&rig, "outliers:share=0.5,times=3", &op, 20);
    run(&rig);
    assert_int_equal(rig.result.status, CASE_MEASURED);
    const struct sample *last = &rig.samples[rig.count - 1];
    assert_true(last->start_s + last->elapsed_s <= 20);
    assert_true(last->start_s + last->elapsed_s > 20 - 2 - 0.5);
    close_rig(&rig);
}

static void keeps_one_sample_when_one_execution_takes_longer_than_the_case_has(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_elementwise(OP_FMA, INT64_C(1) << 46, DTYPE_FP32); /* 2.3 s at 60 TFLOP/s */
    open_rig(&rig, "healthy", &op, 1);
    run(&rig);
    assert_int_equal(rig.result.status, CASE_MEASURED);
    assert_int_equal(rig.count, 1);
    assert_true(rig.samples[0].iterations == 1);
    close_rig(&rig);
}

static void fails_a_wrong_result_before_anything_is_sampled(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_gemm(512, 512, 512, DTYPE_BF16);
    open_rig(&rig, "wrong:after=0", &op, 5);
    run(&rig);
    assert_int_equal(rig.result.status, CASE_FAILED);
    assert_non_null(strstr(rig.result.reason, "wrong result"));
    assert_int_equal(rig.count, 0);
    close_rig(&rig);
}

static void fails_a_result_that_goes_wrong_while_sampling(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_gemm(512, 512, 512, DTYPE_BF16);
    open_rig(&rig, "wrong:after=0.5", &op, 5);
    run(&rig);
    assert_int_equal(rig.result.status, CASE_FAILED);
    assert_non_null(strstr(rig.result.reason, "wrong result"));
    assert_true(rig.count >= SERIES_MIN_SAMPLES);
    close_rig(&rig);
}

static void does_not_test_what_the_device_cannot_do(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_gemm(512, 512, 512, DTYPE_FP4);
    open_rig(&rig, "healthy", &op, 5);
    run(&rig);
    assert_int_equal(rig.result.status, CASE_NOT_TESTED);
    assert_non_null(strstr(rig.result.reason, "fp4"));
    assert_int_equal(rig.count, 0);
    close_rig(&rig);
}

/* 3 x 8 x 2^34 bytes = 412 GB, and the simulated device has 80. */
static void does_not_test_what_does_not_fit_the_memory(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_elementwise(OP_TRIAD, INT64_C(1) << 34, DTYPE_FP64);
    open_rig(&rig, "healthy", &op, 5);
    run(&rig);
    assert_int_equal(rig.result.status, CASE_NOT_TESTED);
    assert_non_null(strstr(rig.result.reason, "free"));
    close_rig(&rig);
}

/* At 5 Hz or more, from the first sample on. */
static void takes_telemetry_five_times_a_second(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_elementwise(OP_FMA, INT64_C(1) << 34, DTYPE_FP32);
    open_rig(&rig, "throttle:after=3,clock=0.7", &op, 8);
    rig.runner.goal = 1e-9; /* never reached */
    run(&rig);
    assert_true(rig.rows[0].t_s == 0);
    for (size_t i = 1; i < rig.row_count; i++)
        assert_true(rig.rows[i].t_s - rig.rows[i - 1].t_s <= 0.2);
    const struct sample *last = &rig.samples[rig.count - 1];
    assert_true(rig.rows[rig.row_count - 1].t_s >= last->start_s + last->elapsed_s - 1e-6);
    assert_true(rig.rows[0].values.clock_hz == 1.5e9);
    assert_true(fabs(rig.rows[rig.row_count - 1].values.clock_hz - 0.7 * 1.5e9) < 1);
    close_rig(&rig);
}

static void hands_samples_over_in_chunks_of_ten_seconds_at_most(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_elementwise(OP_FMA, INT64_C(1) << 34, DTYPE_FP32);
    open_rig(&rig, "healthy", &op, 35);
    rig.runner.goal = 1e-9;
    run(&rig);
    assert_true(rig.chunks >= 4);
    assert_true(rig.longest_chunk_s <= 10);
    assert_true(rig.samples[0].start_s == 0);
    for (size_t i = 1; i < rig.count; i++)
        assert_true(rig.samples[i].start_s >=
                    rig.samples[i - 1].start_s + rig.samples[i - 1].elapsed_s - 1e-6);
    close_rig(&rig);
}

static void warns_when_the_operands_stay_in_the_cache(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_gemm(1024, 1024, 1024, DTYPE_BF16);
    open_rig(&rig, "healthy", &op, 5);
    rig.runner.info.free_bytes = 4 * 3 * 2.0 * 1024 * 1024; /* a quarter of it is one set */
    run(&rig);
    assert_int_equal(rig.result.status, CASE_MEASURED);
    assert_int_equal(rig.result.warning_count, 1);
    assert_non_null(strstr(rig.result.warnings[0], "cache"));
    close_rig(&rig);
}

/* Every measured time is 5 % above the one before. */
static int slower_and_slower(struct event *from, struct event *to, double *out_s, struct err *e) {
    static double factor = 1;
    struct err ignored;
    factor *= 1.05;
    int result = backend_find("sim", &ignored)->elapsed(from, to, out_s, e);
    *out_s *= factor;
    return result;
}

static void warns_when_the_warm_up_does_not_settle(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_elementwise(OP_FMA, INT64_C(1) << 40, DTYPE_FP32);
    open_rig(&rig, "healthy", &op, 5);
    rig.backend.elapsed = slower_and_slower;
    run(&rig);
    assert_int_equal(rig.result.status, CASE_MEASURED);
    assert_false(rig.result.warmed_up);
    assert_int_equal(rig.result.warning_count, 1);
    assert_non_null(strstr(rig.result.warnings[0], "warm-up not steady"));
    close_rig(&rig);
}

/* The clock falls 3 s after the device was opened. Whoever is steady earlier samples the fast clock. */
static void samples_only_after_the_device_was_heated(void **state) {
    (void)state;
    static const double heats_s[] = {0, 5};
    for (size_t i = 0; i < 2; i++) {
        struct rig rig;
        const struct op op = op_elementwise(OP_FMA, INT64_C(1) << 34, DTYPE_FP32);
        open_rig(&rig, "throttle:after=3,clock=0.5", &op, 2 + heats_s[i]);
        rig.c.heat_s = heats_s[i];
        run(&rig);
        assert_int_equal(rig.result.status, CASE_MEASURED);
        assert_true(rig.result.warmed_up);
        double want_hz = i == 0 ? 1.5e9 : 0.5 * 1.5e9;
        assert_true(rig.rows[0].values.clock_hz == want_hz);
        double spent_s = (double)rig.backend.now_ns(rig.device) * 1e-9;
        assert_true(spent_s >= heats_s[i] + 1 && spent_s < heats_s[i] + 2.5);
        close_rig(&rig);
    }
}

static uint64_t telemetry_calls;

static void counts_calls(struct device *d, struct telemetry *out) {
    (void)d;
    __atomic_fetch_add(&telemetry_calls, 1, __ATOMIC_RELAXED);
    out->power_w = 100;
}

static uint64_t calls_so_far(void) {
    return __atomic_load_n(&telemetry_calls, __ATOMIC_RELAXED);
}

static int takes_450_ms(struct queue *q, struct err *e) {
    (void)q, (void)e;
    clock_sleep_ns(450000000);
    return 0;
}

static int says_450_ms(struct event *from, struct event *to, double *out_s, struct err *e) {
    (void)from, (void)to, (void)e;
    *out_s = 0.45;
    return 0;
}

/* A device that runs on the host's clock, and whose executions are long ones. */
static void open_slow_rig(struct rig *rig, double seconds) {
    const struct op op = op_elementwise(OP_FMA, 1 << 10, DTYPE_FP32);
    open_rig(rig, "healthy", &op, seconds);
    rig->backend.now_ns = NULL;
    rig->backend.telemetry = counts_calls;
    rig->backend.sync = takes_450_ms;
    rig->backend.elapsed = says_450_ms;
}

static void takes_telemetry_while_a_long_sample_lasts(void **state) {
    (void)state;
    struct rig rig;
    open_slow_rig(&rig, 2);
    run(&rig);
    assert_int_equal(rig.result.status, CASE_MEASURED);
    assert_in_range(rig.count, 2, 4);
    const struct sample *last = &rig.samples[rig.count - 1];
    double end_s = rig.rows[rig.row_count - 1].t_s;
    assert_true(rig.samples[0].start_s == 0 && rig.rows[0].t_s == 0);
    assert_true(end_s >= last->start_s + last->elapsed_s - 1e-3);
    assert_true((double)rig.row_count >= 5 * end_s);
    for (size_t i = 1; i < rig.row_count; i++) {
        assert_true(rig.rows[i].t_s > rig.rows[i - 1].t_s);
        assert_true(rig.rows[i].values.power_w == 100);
    }
    close_rig(&rig);
}

static int breaks_down_after_a_while(struct queue *q, struct err *e) {
    takes_450_ms(q, e);
    return calls_so_far() >= 3 ? err_set(e, ERR_DEVICE, "lost in space") : 0;
}

static void takes_no_telemetry_once_the_device_has_failed(void **state) {
    (void)state;
    struct rig rig;
    struct err e;
    const struct runner_sink sink = {&rig, take_chunk};
    open_slow_rig(&rig, 10);
    __atomic_store_n(&telemetry_calls, 0, __ATOMIC_RELAXED);
    rig.backend.sync = breaks_down_after_a_while;
    assert_int_equal(runner_run(&rig.runner, &rig.c, &sink, &rig.result, &e), -1);
    assert_string_equal(e.text, "lost in space");
    uint64_t calls = calls_so_far();
    clock_sleep_ns(400000000);
    assert_int_equal(calls_so_far(), calls);
    close_rig(&rig);
}

static int stands_still(struct event *from, struct event *to, double *out_s, struct err *e) {
    (void)from, (void)to, (void)e;
    *out_s = 0;
    return 0;
}

static void fails_a_device_whose_clock_stands_still(void **state) {
    (void)state;
    struct rig rig;
    const struct op op = op_elementwise(OP_FMA, 1 << 10, DTYPE_FP32);
    open_rig(&rig, "healthy", &op, 5);
    rig.backend.elapsed = stands_still;
    run(&rig);
    assert_int_equal(rig.result.status, CASE_FAILED);
    assert_non_null(strstr(rig.result.reason, "clock"));
    close_rig(&rig);
}

static int breaks_down(struct queue *q, struct err *e) {
    (void)q;
    return err_set(e, ERR_DEVICE, "lost in space");
}

static void reports_a_device_that_fails_so_that_the_worker_ends(void **state) {
    (void)state;
    struct rig rig;
    struct err e;
    const struct op op = op_gemm(512, 512, 512, DTYPE_BF16);
    const struct runner_sink sink = {&rig, take_chunk};
    open_rig(&rig, "healthy", &op, 5);
    rig.backend.sync = breaks_down;
    assert_int_equal(runner_run(&rig.runner, &rig.c, &sink, &rig.result, &e), -1);
    assert_string_equal(e.text, "lost in space");
    close_rig(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_a_healthy_device_without_a_warning),
        cmocka_unit_test(makes_every_sample_at_least_50_ms_long),
        cmocka_unit_test(stops_at_the_first_look_that_is_steady),
        cmocka_unit_test(spends_the_seconds_when_the_samples_scatter),
        cmocka_unit_test(keeps_one_sample_when_one_execution_takes_longer_than_the_case_has),
        cmocka_unit_test(fails_a_wrong_result_before_anything_is_sampled),
        cmocka_unit_test(fails_a_result_that_goes_wrong_while_sampling),
        cmocka_unit_test(does_not_test_what_the_device_cannot_do),
        cmocka_unit_test(does_not_test_what_does_not_fit_the_memory),
        cmocka_unit_test(takes_telemetry_five_times_a_second),
        cmocka_unit_test(hands_samples_over_in_chunks_of_ten_seconds_at_most),
        cmocka_unit_test(warns_when_the_operands_stay_in_the_cache),
        cmocka_unit_test(warns_when_the_warm_up_does_not_settle),
        cmocka_unit_test(samples_only_after_the_device_was_heated),
        cmocka_unit_test(takes_telemetry_while_a_long_sample_lasts),
        cmocka_unit_test(takes_no_telemetry_once_the_device_has_failed),
        cmocka_unit_test(fails_a_device_whose_clock_stands_still),
        cmocka_unit_test(reports_a_device_that_fails_so_that_the_worker_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
