#include "bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct plan plan_for(double memory_bytes, double cache_bytes) {
    struct err e;
    struct plan p = {0};
    struct device_info d = {.name = "x", .memory_bytes = memory_bytes, .cache_bytes = cache_bytes};
    struct plan_request r = {.device = &d, .seconds = 0.3};
    assert_int_equal(bench_find("cache")->plan(&r, &p, &e), 0);
    return p;
}

/* 4 KiB to 4 x 32 MiB are 15 octaves: 31 footprints, two an octave. */
static void sweeps_from_4_kib_to_four_times_the_last_cache(void **state) {
    (void)state;
    struct plan p = plan_for(24e9, 32.0 * 1048576);
    assert_int_equal(p.count, 31);
    assert_true(op_bytes(&p.cases[0].op) == 4096);
    assert_true(op_bytes(&p.cases[30].op) == 128.0 * 1048576);
    for (size_t i = 1; i < p.count; i++) {
        double ratio = op_bytes(&p.cases[i].op) / op_bytes(&p.cases[i - 1].op);
        assert_int_equal(p.cases[i].op.kind, OP_CHASE);
        assert_true(ratio > 1.38 && ratio < 1.44); /* sqrt 2, in whole lines */
    }
    plan_free(&p);
}

static void stays_within_a_quarter_of_the_memory(void **state) {
    (void)state;
    struct plan p = plan_for(64.0 * 1048576, 32.0 * 1048576);
    assert_true(op_bytes(&p.cases[p.count - 1].op) == 16.0 * 1048576);
    plan_free(&p);
}

static void stops_at_512_mib(void **state) {
    (void)state;
    struct plan p = plan_for(800e9, 1024.0 * 1048576);
    assert_true(op_bytes(&p.cases[p.count - 1].op) == 512.0 * 1048576);
    plan_free(&p);
}

static void sweeps_all_the_same_when_the_cache_is_not_known(void **state) {
    (void)state;
    struct plan p = plan_for(24e9, 0);
    assert_true(p.count > 10);
    plan_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_from_4_kib_to_four_times_the_last_cache),
        cmocka_unit_test(stays_within_a_quarter_of_the_memory),
        cmocka_unit_test(stops_at_512_mib),
        cmocka_unit_test(sweeps_all_the_same_when_the_cache_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
