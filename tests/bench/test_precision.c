#include "bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const struct device_info cpu = {.name = "x", .memory_bytes = 24e9, .cache_bytes = 32e6};
static const struct device_info gpu = {
    .name = "x", .is_gpu = true, .memory_bytes = 80e9, .cache_bytes = 50e6};

static void make(const char *bench, const struct plan_request *r, struct plan *p) {
    struct err e;
    if (bench_find(bench)->plan(r, p, &e) != 0)
        fail_msg("%s", e.text);
}

static bool has(const struct plan *p, const char *id) {
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->cases[i].id, id) == 0)
            return true;
    return false;
}

static void plans_one_square_in_every_format(void **state) {
    (void)state;
    struct plan on_cpu = {0}, on_gpu = {0};
    make("precision", &(struct plan_request){.device = &cpu, .seconds = 1}, &on_cpu);
    make("precision", &(struct plan_request){.device = &gpu, .seconds = 1}, &on_gpu);
    assert_int_equal(on_cpu.count, 5);
    assert_true(has(&on_cpu, "gemm.fp64.2048x2048x2048") && has(&on_cpu, "gemm.int8.2048x2048x2048"));
    assert_true(has(&on_cpu, "gemm.bf16.2048x2048x2048") && has(&on_cpu, "gemm.fp16.2048x2048x2048"));
    assert_int_equal(on_gpu.count, 5);
    assert_true(has(&on_gpu, "gemm.tf32.4096x4096x4096") && has(&on_gpu, "gemm.fp32.4096x4096x4096"));
    for (size_t i = 0; i < on_cpu.count; i++)
        assert_false(on_cpu.cases[i].mandatory);
    plan_free(&on_cpu);
    plan_free(&on_gpu);
}

static void takes_shapes_and_formats_that_are_asked_for(void **state) {
    (void)state;
    static const char *const shapes[] = {"8x16x32", "3x5x7"};
    static const enum dtype types[] = {DTYPE_FP32, DTYPE_INT8};
    struct plan p = {0};
    struct plan_request r = {
        .device = &cpu, .seconds = 1, .shapes = shapes, .shape_count = 2, .dtypes = types, .dtype_count = 2};
    make("precision", &r, &p);
    assert_int_equal(p.count, 4);
    assert_true(has(&p, "gemm.int8.8x16x32") && has(&p, "gemm.fp32.3x5x7"));
    plan_free(&p);
}

static void does_not_measure_again_what_the_gemm_benchmark_has(void **state) {
    (void)state;
    struct plan p = {0};
    struct plan_request r = {.device = &cpu, .seconds = 1};
    make("gemm", &r, &p);
    size_t before = p.count;
    make("precision", &r, &p);
    assert_int_equal(p.count, before + 3); /* bf16, fp16, int8: fp32 and fp64 of 2048 are there */
    plan_free(&p);
}

static void names_a_shape_that_is_none(void **state) {
    (void)state;
    static const char *const shapes[] = {"8x16"};
    struct err e;
    struct plan p = {0};
    struct plan_request r = {.device = &cpu, .seconds = 1, .shapes = shapes, .shape_count = 1};
    assert_int_equal(bench_find("precision")->plan(&r, &p, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "8x16"));
    plan_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_one_square_in_every_format),
        cmocka_unit_test(takes_shapes_and_formats_that_are_asked_for),
        cmocka_unit_test(does_not_measure_again_what_the_gemm_benchmark_has),
        cmocka_unit_test(names_a_shape_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
