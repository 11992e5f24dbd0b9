#include "rig.h"

#include "base/cgroup.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const char *fact(const struct device_info *info, const char *key) {
    for (size_t i = 0; i < info->fact_count; i++)
        if (!strcmp(info->facts[i].key, key))
            return info->facts[i].value;
    return NULL;
}

static bool has_gemm(struct rig *r) {
    char reason[256];
    struct op op = op_gemm(8, 8, 8, DTYPE_FP32);
    return r->backend->supports(r->device, &op, reason, sizeof reason);
}

static void describes_what_decides_its_speed(void **state) {
    (void)state;
    struct err e = {0};
    struct device_info info;
    struct rig r;
    struct cgroup_limits limits = cgroup_read("");
    setenv("OPENBLAS_STEPCOST_TEST", "seen", 1);
    rig_open(&r, "cpu", NULL);
    assert_int_equal(r.backend->describe(r.device, &info, &e), 0);
    assert_false(info.is_gpu || info.simulated);
    assert_true(strlen(info.name) > 3);
    assert_true(info.units >= 1 && info.units <= limits.usable_cpus);
    assert_true(info.memory_bytes == (double)limits.memory_bytes);
    assert_string_equal(fact(&info, "env.OPENBLAS_STEPCOST_TEST"), "seen");
    assert_non_null(fact(&info, "fma_isa"));
    assert_non_null(fact(&info, "thread_binding"));
    assert_non_null(fact(&info, "cpu_features"));
    if (fact(&info, "openblas_parallel")) {
        assert_non_null(fact(&info, "openblas_corename"));
        assert_non_null(strstr(fact(&info, "openblas_config"), "OpenBLAS"));
        assert_int_equal(atoi(fact(&info, "openblas_threads")), info.units);
        if (strstr(fact(&info, "blas_library"), "openmp"))
            assert_string_equal(fact(&info, "openblas_parallel"), "2 (OpenMP)");
    }
    for (size_t i = 0; i < info.fact_count; i++)
        print_message("%s: %s\n", info.facts[i].key, info.facts[i].value);
    print_message("%s, %d threads, last cache %.0f MiB\n", info.name, info.units, info.cache_bytes / 0x1p20);
    rig_close(&r);
    unsetenv("OPENBLAS_STEPCOST_TEST");
}

static void fills_with_the_elements_that_the_oracle_expects(void **state) {
    (void)state;
    enum { COUNT = 100003 };
    static const enum dtype types[] = {DTYPE_FP64, DTYPE_FP32, DTYPE_BF16, DTYPE_FP16, DTYPE_INT8};
    struct err e = {0};
    struct rig r;
    rig_open(&r, "cpu", NULL);
    for (int t = 0; t < 5; t++)
        for (int how = FILL_NORMAL; how <= FILL_ZERO; how++) {
            struct ref_filled want = {types[t], (enum fill)how, 12345};
            uint64_t size = COUNT * (uint64_t)dtype_bytes(types[t]);
            unsigned char *bytes = malloc(size);
            struct buffer *b;
            assert_int_equal(r.backend->alloc(r.device, size, &b, &e), 0);
            assert_int_equal(r.backend->fill(b, types[t], (enum fill)how, 12345, &e), 0);
            assert_int_equal(r.backend->read(b, 0, bytes, size, &e), 0);
            for (uint64_t i = 0; i < COUNT; i++)
                if (ref_load(bytes, types[t], i) != ref_filled_at(&want, i))
                    fail_msg("%s, fill %d, element %llu", dtype_name(types[t]), how, (unsigned long long)i);
            r.backend->free(b);
            free(bytes);
        }
    rig_close(&r);
}

static void writes_and_reads_within_the_buffer_only(void **state) {
    (void)state;
    struct err e = {0};
    struct rig r;
    struct buffer *b;
    char in[4] = "abc", out[4];
    rig_open(&r, "cpu", NULL);
    assert_int_equal(r.backend->alloc(r.device, 8, &b, &e), 0);
    assert_int_equal(r.backend->write(b, 4, in, 4, &e), 0);
    assert_int_equal(r.backend->read(b, 4, out, 4, &e), 0);
    assert_string_equal(out, "abc");
    assert_int_equal(r.backend->write(b, 5, in, 4, &e), -1);
    assert_int_equal(r.backend->read(b, UINT64_MAX, out, 4, &e), -1);
    r.backend->free(b);
    rig_close(&r);
}

static void refuses_memory_that_is_not_there(void **state) {
    (void)state;
    struct err e = {0};
    struct rig r;
    struct buffer *first = NULL, *second = NULL;
    rig_open(&r, "cpu", NULL);
    uint64_t free_bytes = cgroup_read("").memory_available_bytes;
    assert_int_equal(r.backend->alloc(r.device, free_bytes * 2, &first, &e), -1);
    assert_int_equal(e.code, ERR_DEVICE_MEMORY);
    /* untouched memory counts too, though the system still shows it as free */
    assert_int_equal(r.backend->alloc(r.device, free_bytes / 2, &first, &e), 0);
    assert_int_equal(r.backend->alloc(r.device, free_bytes * 3 / 4, &second, &e), -1);
    for (int i = 0; i < 4; i++) { /* what is freed does not count */
        r.backend->free(first);
        assert_int_equal(r.backend->alloc(r.device, free_bytes / 2, &first, &e), 0);
    }
    r.backend->free(first);
    rig_close(&r);
}

static void pins_its_threads_and_lets_them_go(void **state) {
    (void)state;
    struct err e = {0};
    cpu_set_t before, during, after;
    struct device_info info;
    struct rig r;
    memset(&before, 0xff, sizeof before); /* all that the kernel allows, whatever ran here before */
    sched_setaffinity(0, sizeof before, &before);
    sched_getaffinity(0, sizeof before, &before);
    rig_open(&r, "cpu", NULL);
    sched_getaffinity(0, sizeof during, &during);
    assert_int_equal(r.backend->describe(r.device, &info, &e), 0);
    if (strcmp(fact(&info, "thread_binding"), "none"))
        assert_int_equal(CPU_COUNT(&during), 1);
    rig_close(&r);
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&before, &after));
}

static void takes_the_number_of_threads_that_it_is_given(void **state) {
    (void)state;
    struct err e = {0};
    const struct backend *cpu = backend_find("cpu", &e);
    struct backend_config one = {.threads = 1}, many = {.threads = 100000}, negative = {.threads = -1};
    struct device_info info;
    struct device *d;
    assert_non_null(cpu);
    assert_int_equal(cpu->open(&one, 0, &d, &e), 0);
    assert_int_equal(cpu->describe(d, &info, &e), 0);
    assert_int_equal(info.units, 1);
    cpu->close(d);
    assert_int_equal(cpu->open(&many, 0, &d, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_int_equal(cpu->open(&negative, 0, &d, &e), -1);
    assert_int_equal(cpu->open(&one, 1, &d, &e), -1);
    assert_int_equal(e.code, ERR_NO_DEVICE);
}

static void says_why_it_lacks_an_op(void **state) {
    (void)state;
    char reason[256] = "";
    struct op tf32 = op_gemm(8, 8, 8, DTYPE_TF32), huge = op_gemm(8, 8, INT64_C(1) << 31, DTYPE_FP32);
    struct op copy = op_elementwise(OP_COPY, 8, DTYPE_INT8);
    struct rig r;
    rig_open(&r, "cpu", NULL);
    assert_false(r.backend->supports(r.device, &tf32, reason, sizeof reason));
    assert_non_null(strstr(reason, has_gemm(&r) ? "tf32" : "libopenblas-openmp-dev"));
    assert_false(r.backend->supports(r.device, &huge, reason, sizeof reason));
    assert_false(r.backend->supports(r.device, &copy, reason, sizeof reason));
    assert_non_null(strstr(reason, "int8"));
    rig_close(&r);
}

/* Every node once, and back at the first: one cycle, as long as there are nodes. */
static void lays_one_cycle_through_all_lines(void **state) {
    (void)state;
    static const int64_t lines[] = {1, 2, 7, 64, 1000, 65537};
    struct rig r;
    rig_open(&r, "cpu", NULL);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct err e = {0};
        struct op op = op_chase(lines[i] * OP_CHASE_LINE);
        struct rig_op o;
        uint64_t size = (uint64_t)lines[i] * OP_CHASE_LINE;
        unsigned char *bytes = malloc(size), *seen = calloc((size_t)lines[i], 1);
        uintptr_t first = 0, at, lowest = UINTPTR_MAX;
        rig_prepare(&r, &op, FILL_NORMAL, &o);
        assert_int_equal(r.backend->read(o.buffers[0], 0, bytes, size, &e), 0);
        for (int64_t k = 0; k < lines[i]; k++) {
            memcpy(&at, bytes + k * OP_CHASE_LINE, sizeof at);
            lowest = at < lowest ? at : lowest; /* some line points at line 0 */
        }
        for (int64_t step = 0; step < lines[i]; step++) {
            assert_false(seen[first]);
            seen[first] = 1;
            memcpy(&at, bytes + first * OP_CHASE_LINE, sizeof at);
            first = (at - lowest) / OP_CHASE_LINE;
            assert_true(first < (uintptr_t)lines[i]);
        }
        assert_int_equal(first, 0);
        rig_release(&r, &o);
        free(bytes);
        free(seen);
    }
    rig_close(&r);
}

/* No bound on speed here: machines differ, and tests share theirs. */
static void shows_its_rates(void **state) {
    (void)state;
    static const enum dtype types[] = {DTYPE_FP32, DTYPE_FP64};
    struct rig r;
    rig_open(&r, "cpu", NULL);
    for (int t = 0; t < 2; t++) {
        const struct op ops[] = {op_elementwise(OP_FMA, INT64_C(1) << 28, types[t]),
                                 op_gemm(512, 512, 512, types[t]),
                                 op_elementwise(OP_TRIAD, 1 << 22, types[t])};
        for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
            if (ops[i].kind == OP_GEMM && !has_gemm(&r))
                continue;
            struct rig_op o;
            const char *unit;
            char name[OP_NAME_SIZE];
            double best_s = INFINITY, work = op_work(&ops[i], &unit);
            rig_prepare(&r, &ops[i], FILL_NORMAL, &o);
            for (int k = 0; k < 5; k++)
                best_s = fmin(best_s, rig_elapsed_s(&r, o.prepared, 1));
            assert_true(best_s > 0);
            print_message("%s: %.1f G%s/s\n", op_name(&ops[i], name), work / best_s * 1e-9, unit);
            rig_release(&r, &o);
        }
    }
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_what_decides_its_speed),
        cmocka_unit_test(fills_with_the_elements_that_the_oracle_expects),
        cmocka_unit_test(writes_and_reads_within_the_buffer_only),
        cmocka_unit_test(refuses_memory_that_is_not_there),
        cmocka_unit_test(pins_its_threads_and_lets_them_go),
        cmocka_unit_test(takes_the_number_of_threads_that_it_is_given),
        cmocka_unit_test(says_why_it_lacks_an_op),
        cmocka_unit_test(lays_one_cycle_through_all_lines),
        cmocka_unit_test(shows_its_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
