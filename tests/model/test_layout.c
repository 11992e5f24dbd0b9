#include "tests/base/check.h"

#include "model/layout.h"
#include "model/workload.h"

static struct workload gpt2;

static int load(void **state) {
    (void)state;
    struct err e;
    return workload_load(NULL, "gpt2-124m", &gpt2, &e);
}

static int unload(void **state) {
    (void)state;
    workload_free(&gpt2);
    return 0;
}

/* GPT-2 by hand: P = 124,439,808, s = 1024, h = 768, L = 12, V = 50304.
 * bf16, b = 4: sbh = 3,145,728; 34 x 12 x sbh; 6 s b V; recomputed (2 x 12 + 34) sbh.
 * fp32, b = 1: 2 x 34 x 12 x 786,432; 8 s b V. */
static void bytes_on_a_device_are_those_worked_by_hand(void **state) {
    (void)state;
    static const struct {
        struct layout l;
        bool is_gpu;
        struct layout_memory want;
    } rows[] = {
        {{8, 4, 16, false, DTYPE_BF16, 1, 1, 1, 0},
         true,
         {248879616, 248879616, 1493277696, 1283457024, 1236271104, 1e9, 5510765056.0}},
        {{8, 4, 16, true, DTYPE_BF16, 1, 1, 1, 0},
         true,
         {248879616, 248879616, 1493277696, 182452224, 1236271104, 1e9, 4409760256.0}},
        {{1, 1, 512, false, DTYPE_FP32, 1, 1, 1, 0},
         false,
         {497759232, 497759232, 995518464, 641728512, 412090368, 0.25e9, 3294855808.0}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct layout_memory got;
        layout_memory(&gpt2, &rows[i].l, rows[i].is_gpu, &got);
        assert_same(got.weights, rows[i].want.weights);
        assert_same(got.gradients, rows[i].want.gradients);
        assert_same(got.optimizer, rows[i].want.optimizer);
        assert_same(got.activations, rows[i].want.activations);
        assert_same(got.logits, rows[i].want.logits);
        assert_same(got.reserve, rows[i].want.reserve);
        assert_same(got.total, rows[i].want.total);
    }
}

/* ZeRO (Rajbhandari et al. 2020, section 3.1): 16 bytes a parameter in mixed precision, and in fp32 too. */
static void the_state_takes_16_bytes_a_parameter(void **state) {
    (void)state;
    static const enum dtype rows[] = {DTYPE_BF16, DTYPE_FP16, DTYPE_FP32, DTYPE_TF32, DTYPE_FP8_E4M3};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct layout l = {1, 1, 512, false, rows[i], 1, 1, 1, 0};
        struct layout_memory got;
        layout_memory(&gpt2, &l, true, &got);
        assert_same(got.weights + got.gradients + got.optimizer, 16 * gpt2.parameters);
    }
}

/* bf16: 2.991 GB of state and reserve, and per sequence 0.321 GB of activations and 0.309 GB of logits:
 * 64 sequences need 43.31 GB, 32 need 23.15, 16 need 13.07, 1 needs 3.62; recomputed, 1 needs 3.35. */
static void the_largest_micro_batch_that_fits_is_taken(void **state) {
    (void)state;
    const double GIB = 1073741824.0;
    static const enum dtype t = DTYPE_BF16;
    const struct {
        double memory_bytes;
        int64_t devices;
        bool is_gpu, fits;
        struct layout want;
    } rows[] = {
        {80 * GIB, 8, true, true, {8, 64, 1, false, t, 1, 1, 1, 0}},
        {40 * GIB, 8, true, true, {8, 32, 2, false, t, 1, 1, 1, 0}}, /* 42.95 GB */
        {24 * GIB, 8, true, true, {8, 32, 2, false, t, 1, 1, 1, 0}},
        {16 * GIB, 1, true, true, {1, 16, 32, false, t, 1, 1, 1, 0}},
        {80 * GIB,
         16,
         true,
         true,
         {16, 32, 1, false, t, 1, 1, 1, 0}}, /* a share of 32 sequences is the bound */
        {80 * GIB, 5, true, true, {5, 64, 2, false, t, 1, 1, 1, 0}}, /* 102.4 sequences */
        {80 * GIB, 600, true, true, {600, 1, 1, false, t, 1, 1, 1, 0}},
        {3.7e9, 8, true, true, {8, 1, 64, false, t, 1, 1, 1, 0}},
        {3.4e9, 1, true, true, {1, 1, 512, true, t, 1, 1, 1, 0}},
        {3.3e9, 1, true, false, {1, 1, 512, true, t, 1, 1, 1, 0}},
        /* 8 ranks shard 12 of 16 bytes: 1.684 GB and 0.630 GB a sequence */
        {3.4e9, 8, true, true, {8, 2, 32, false, t, 1, 1, 1, 1}},
        {80 * GIB, 1, false, true, {1, 1, 512, false, t, 1, 1, 1, 0}}, /* a CPU takes one at a time */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct layout got;
        struct layout_memory memory;
        bool fits =
            layout_choose(&gpt2, rows[i].devices, t, rows[i].memory_bytes, rows[i].is_gpu, &got, &memory);
        assert_int_equal(fits, rows[i].fits);
        assert_int_equal(got.devices, rows[i].want.devices);
        assert_int_equal(got.micro_batch, rows[i].want.micro_batch);
        assert_int_equal(got.accumulation, rows[i].want.accumulation);
        assert_int_equal(got.recompute, rows[i].want.recompute);
        assert_int_equal(got.zero, rows[i].want.zero);
        assert_int_equal(memory.total <= rows[i].memory_bytes, fits);
    }
}

static void what_fits_nowhere_says_what_it_needs(void **state) {
    (void)state;
    struct layout got;
    struct layout_memory memory;
    assert_false(layout_choose(&gpt2, 1, DTYPE_BF16, 1e9, true, &got, &memory));
    /* 16 P + 58 x 786,432 + 6 x 1024 x 50304 + 1 GB */
    assert_same(memory.total, 1991036928.0 + 45613056.0 + 309067776.0 + 1e9);
    assert_false(
        layout_choose(&gpt2, 1, DTYPE_BF16, NAN, true, &got, &memory)); /* unknown memory fits nothing */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_on_a_device_are_those_worked_by_hand),
        cmocka_unit_test(the_state_takes_16_bytes_a_parameter),
        cmocka_unit_test(the_largest_micro_batch_that_fits_is_taken),
        cmocka_unit_test(what_fits_nowhere_says_what_it_needs),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
