#include "bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const struct device_info cpu = {.name = "Some CPU", .memory_bytes = 24e9, .cache_bytes = 32e6};
static const struct device_info gpu = {
    .name = "Unheard-of GPU", .is_gpu = true, .memory_bytes = 80e9, .cache_bytes = 50e6};

static int plan_gemm(const struct plan_request *r, struct plan *out, struct err *e) {
    *out = (struct plan){0};
    return bench_find("gemm")->plan(r, out, e);
}

static bool has(const struct plan *p, const struct op *op) {
    for (size_t i = 0; i < p->count; i++)
        if (op_equal(&p->cases[i].op, op))
            return true;
    return false;
}

static void sweeps_squares_by_default(void **state) {
    (void)state;
    struct err e;
    struct plan p;
    struct plan_request r = {.device = &cpu, .devices = 1, .seconds = 2};
    assert_int_equal(plan_gemm(&r, &p, &e), 0);
    static const int64_t sizes[] = {512, 1024, 2048};
    for (size_t i = 0; i < 3; i++) {
        struct op single = op_gemm(sizes[i], sizes[i], sizes[i], DTYPE_FP32);
        struct op twice = op_gemm(sizes[i], sizes[i], sizes[i], DTYPE_FP64);
        assert_true(has(&p, &single) && has(&p, &twice));
    }
    assert_int_equal(p.count, 6);
    assert_true(p.cases[0].seconds == 2);
    assert_string_equal(p.cases[0].id, "gemm.fp32.512x512x512");
    plan_free(&p);
}

static void takes_the_shapes_and_types_that_are_asked_for(void **state) {
    (void)state;
    struct err e;
    struct plan p;
    static const char *const shapes[] = {"100x200x300", "1x1x1", "100x200x300"};
    static const enum dtype types[] = {DTYPE_FP16, DTYPE_FP64};
    struct plan_request r = {.device = &gpu,
                             .devices = 1,
                             .seconds = 1,
                             .shapes = shapes,
                             .shape_count = 3,
                             .dtypes = types,
                             .dtype_count = 2};
    assert_int_equal(plan_gemm(&r, &p, &e), 0);
    assert_int_equal(p.count, 4); /* the shape given twice is measured once */
    struct op want = op_gemm(100, 200, 300, DTYPE_FP64);
    assert_true(has(&p, &want));
    plan_free(&p);
}

static void refuses_a_malformed_shape_and_says_which(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "10",
                                      "10x20",
                                      "10x20x",
                                      "10x20x30x40",
                                      "axbxc",
                                      "10x0x3",
                                      "-1x2x3",
                                      "10 x 20 x 30",
                                      "10X20X30",
                                      "1x2x9999999999",
                                      "1x2x3 ",
                                      "1.5x2x3",
                                      "0x10x2x3",
                                      "99999999999999999999x1x1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e;
        struct plan p;
        struct plan_request r = {.device = &cpu, .devices = 1, .shapes = &bad[i], .shape_count = 1};
        assert_int_equal(plan_gemm(&r, &p, &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, bad[i]));
        assert_non_null(strstr(e.text, "MxNxK"));
        plan_free(&p);
    }
}

/* GPT-2 124M, micro-batch 1 on a CPU, T = 1024: the forward products of a layer (model card: hidden 768,
 * ffn 3072, 12 heads of 64, vocabulary padded to 50304) are
 *   qkv 1024x2304x768, projection 1024x768x768, ffn up 1024x3072x768, ffn down 1024x768x3072,
 *   logits 1024x50304x768, and unfused attention 12 heads of 1024x1024x64 and 1024x64x1024. */
static void plans_a_workloads_own_shapes_once_each_and_one_large_square(void **state) {
    (void)state;
    struct err e;
    struct plan p;
    const struct data embedded = {0};
    struct workload gpt2;
    assert_int_equal(workload_load(&embedded, "gpt2-124m", &gpt2, &e), 0);
    struct plan_request r = {.device = &cpu, .devices = 1, .workload = &gpt2, .seconds = 1};
    assert_int_equal(plan_gemm(&r, &p, &e), 0);
    static const int64_t want[][4] = {
        {1024, 2304, 768, 1},  {1024, 768, 768, 1},  {1024, 3072, 768, 1}, {1024, 768, 3072, 1},
        {1024, 50304, 768, 1}, {1024, 1024, 64, 12}, {1024, 64, 1024, 12}, {2048, 2048, 2048, 1},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        bool found = false;
        for (size_t c = 0; c < p.count; c++) {
            const struct op *op = &p.cases[c].op;
            found = found || (op->m == want[i][0] && op->n == want[i][1] && op->k == want[i][2] &&
                              op->batch == want[i][3] && op->dtype == DTYPE_FP32);
        }
        assert_true(found);
    }
    for (size_t i = 0; i < p.count; i++)
        assert_int_equal(p.cases[i].op.kind, OP_GEMM);
    plan_free(&p);
    workload_free(&gpt2);
}

static void leaves_attention_to_the_fused_kernel_on_a_gpu(void **state) {
    (void)state;
    struct err e;
    struct plan p;
    const struct data embedded = {0};
    struct workload gpt2;
    assert_int_equal(workload_load(&embedded, "gpt2-124m", &gpt2, &e), 0);
    struct plan_request r = {.device = &gpu, .devices = 8, .workload = &gpt2, .seconds = 1};
    assert_int_equal(plan_gemm(&r, &p, &e), 0);
    assert_true(p.count > 5);
    for (size_t i = 0; i < p.count; i++) {
        assert_int_equal(p.cases[i].op.batch, 1);
        assert_int_equal(p.cases[i].op.dtype, gpt2.precisions[0]);
        assert_true(p.cases[i].rotate);
    }
    plan_free(&p);
    workload_free(&gpt2);
}

/* 1e11 FLOP is about the largest product of GPT-2 (1024x50304x768 x 2 = 79 GFLOP), which stays whole; a block
 * of Llama 3 8B has 8192x28672x4096 (1.9 TFLOP). A GPU measures it as it is. */
static void cuts_products_that_a_cpu_cannot_repeat_in_a_cases_time(void **state) {
    (void)state;
    struct err e;
    struct plan p;
    const struct data embedded = {0};
    struct workload llama;
    assert_int_equal(workload_load(&embedded, "llama3-8b", &llama, &e), 0);
    struct plan_request r = {.device = &cpu, .devices = 1, .workload = &llama, .seconds = 1};
    assert_int_equal(plan_gemm(&r, &p, &e), 0);
    assert_true(p.count > 5 && p.count < 40);
    for (size_t i = 0; i < p.count; i++) {
        assert_true(op_flop(&p.cases[i].op) <= 1e11);
        assert_true(op_flop(&p.cases[i].op) > 1e10);
        assert_true(op_bytes(&p.cases[i].op) < 2e9);
    }
    plan_free(&p);
    r.device = &gpu;
    r.devices = 8;
    assert_int_equal(plan_gemm(&r, &p, &e), 0);
    struct op whole = op_gemm(8192, 28672, 4096, llama.precisions[0]);
    assert_true(has(&p, &whole));
    plan_free(&p);
    workload_free(&llama);
}

/* The first convolution of 256 images has 3,211,264 rows, and its weight gradient as many terms: four
 * halvings leave 200,704. */
static void cuts_edges_that_the_check_cannot_sum(void **state) {
    (void)state;
    struct err e;
    struct plan p;
    const struct data embedded = {0};
    struct workload resnet;
    assert_int_equal(workload_load(&embedded, "resnet50", &resnet, &e), 0);
    struct plan_request r = {.device = &gpu, .devices = 1, .workload = &resnet, .seconds = 1};
    assert_int_equal(plan_gemm(&r, &p, &e), 0);
    for (size_t i = 0; i < p.count; i++)
        assert_true(p.cases[i].op.m <= 1 << 18 && p.cases[i].op.n <= 1 << 18 && p.cases[i].op.k <= 1 << 18);
    struct op first = op_gemm(200704, 64, 147, resnet.precisions[0]);
    assert_true(has(&p, &first));
    plan_free(&p);
    workload_free(&resnet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_squares_by_default),
        cmocka_unit_test(takes_the_shapes_and_types_that_are_asked_for),
        cmocka_unit_test(refuses_a_malformed_shape_and_says_which),
        cmocka_unit_test(plans_a_workloads_own_shapes_once_each_and_one_large_square),
        cmocka_unit_test(leaves_attention_to_the_fused_kernel_on_a_gpu),
        cmocka_unit_test(cuts_edges_that_the_check_cannot_sum),
        cmocka_unit_test(cuts_products_that_a_cpu_cannot_repeat_in_a_cases_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
