#include "bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct plan plan_for(double memory_bytes, double cache_bytes, bool is_gpu) {
    struct err e;
    struct plan p = {0};
    struct device_info device = {
        .name = "x", .is_gpu = is_gpu, .memory_bytes = memory_bytes, .cache_bytes = cache_bytes};
    struct plan_request r = {.device = &device, .devices = 1, .seconds = 1};
    assert_int_equal(bench_find("membw")->plan(&r, &p, &e), 0);
    return p;
}

static void plans_the_four_ops_of_stream_in_fp64(void **state) {
    (void)state;
    struct plan p = plan_for(24e9, 32e6, false);
    static const enum op_kind want[] = {OP_COPY, OP_SCALE, OP_ADD, OP_TRIAD};
    assert_int_equal(p.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(p.cases[i].op.kind, want[i]);
        assert_int_equal(p.cases[i].op.dtype, DTYPE_FP64);
        assert_int_equal(p.cases[i].op.elements, p.cases[0].op.elements);
    }
    plan_free(&p);
}

/* Copy has two arrays of 8 bytes an element: together they must exceed 4 x the cache. */
static void exceeds_four_times_the_cache_even_with_two_arrays(void **state) {
    (void)state;
    static const double caches[] = {1e6, 32e6, 300.0 * 1048576, 512e6};
    for (size_t i = 0; i < 4; i++)
        for (int gpu = 0; gpu < 2; gpu++) {
            struct plan p = plan_for(64e9, caches[i], gpu);
            assert_true(2.0 * 8 * (double)p.cases[0].op.elements > 4 * caches[i]);
            plan_free(&p);
        }
}

/* Triad has three arrays: together at most a quarter of the memory. */
static void stays_within_a_quarter_of_the_memory(void **state) {
    (void)state;
    static const double memories[] = {512e6, 1e9, 4e9};
    for (size_t i = 0; i < 3; i++) {
        struct plan p = plan_for(memories[i], 300e6, false);
        double bytes = 3.0 * 8 * (double)p.cases[3].op.elements;
        assert_true(bytes <= memories[i] / 4);
        assert_true(bytes > 0.9 * memories[i] / 4 || memories[i] > 3e9);
        plan_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_the_four_ops_of_stream_in_fp64),
        cmocka_unit_test(exceeds_four_times_the_cache_even_with_two_arrays),
        cmocka_unit_test(stays_within_a_quarter_of_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
