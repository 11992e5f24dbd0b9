#include "base/rng.h"
#include "kernels/ref/ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

/* By hand from the formats' definitions: the spacing of bf16 at 1 is 2^-7, of tf32 and fp16 2^-10, of fp32
 * at 2^24 it is 2, of fp16 at 2^11 it is 2 and its largest value 65504 (IEEE 754-2019, table 3.5); a tie goes
 * to the neighbour whose last bit is 0. */
static void rounds_to_nearest_even(void **state) {
    (void)state;
    static const struct {
        double in;
        enum dtype t;
        double want;
    } rows[] = {
        {1 + 0x1p-8, DTYPE_BF16, 1},
        {1 + 3 * 0x1p-8, DTYPE_BF16, 1 + 0x1p-6},
        {-(1 + 0x1.8p-8), DTYPE_BF16, -(1 + 0x1p-7)},
        {1 + 0x1p-11, DTYPE_TF32, 1},
        {1 + 3 * 0x1p-11, DTYPE_TF32, 1 + 0x1p-9},
        {2049, DTYPE_FP16, 2048},
        {2051, DTYPE_FP16, 2052},
        {65519, DTYPE_FP16, 65504},
        {65520, DTYPE_FP16, INFINITY},
        {-65520, DTYPE_FP16, -INFINITY},
        {0x1p-25, DTYPE_FP16, 0},
        {0x1.8p-24, DTYPE_FP16, 0x1p-23},
        {16777217, DTYPE_FP32, 16777216},
        {16777219, DTYPE_FP32, 16777220},
        {0x1.0000000000001p0, DTYPE_FP64, 0x1.0000000000001p0},
        {2.5, DTYPE_INT8, 2},
        {200, DTYPE_INT8, 127},
        {-200, DTYPE_INT8, -128},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (ref_round(rows[i].in, rows[i].t) != rows[i].want)
            fail_msg("row %zu: %a in %s gave %a, not %a", i, rows[i].in, dtype_name(rows[i].t),
                     ref_round(rows[i].in, rows[i].t), rows[i].want);
    assert_true(isnan(ref_round(NAN, DTYPE_BF16)));
}

/* Encodings by hand: sign, biased exponent, fraction. 1 in fp16 has exponent 15, hence 0x3c00; in bf16
 * exponent 127, hence 0x3f80; pi rounds to 201/64 in bf16: 2^1 x (1 + 73/128), hence 0x4049. */
static void stores_the_bits_of_the_format(void **state) {
    (void)state;
    static const struct {
        double in;
        enum dtype t;
        uint32_t want;
    } rows[] = {
        {1, DTYPE_FP16, 0x3c00},          {-2, DTYPE_FP16, 0xc000},       {65504, DTYPE_FP16, 0x7bff},
        {0x1p-24, DTYPE_FP16, 1},         {INFINITY, DTYPE_FP16, 0x7c00}, {1, DTYPE_BF16, 0x3f80},
        {3.14159265, DTYPE_BF16, 0x4049}, {1, DTYPE_FP32, 0x3f800000},    {-3, DTYPE_INT8, 0xfd},
        {-3, DTYPE_INT32, 0xfffffffd},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t bits = 0;
        ref_store(&bits, rows[i].t, 0, rows[i].in);
        if (bits != rows[i].want)
            fail_msg("row %zu: %g in %s gave %#x, not %#x", i, rows[i].in, dtype_name(rows[i].t), bits,
                     rows[i].want);
    }
}

static void loads_and_stores_every_16_bit_pattern_unchanged(void **state) {
    (void)state;
    static const enum dtype types[] = {DTYPE_FP16, DTYPE_BF16};
    for (int i = 0; i < 2; i++)
        for (uint32_t bits = 0; bits < 65536; bits++) {
            uint16_t in[2] = {0, (uint16_t)bits}, out[2] = {0, 0};
            double value = ref_load(in, types[i], 1);
            ref_store(out, types[i], 1, value);
            if (!isnan(value))
                assert_int_equal(out[1], bits);
            else
                assert_true(isnan(ref_load(out, types[i], 1)));
        }
}

static struct ref_source source_of(struct ref_array *array, enum dtype t, const void *elements) {
    *array = (struct ref_array){t, elements};
    return (struct ref_source){ref_array_at, array};
}

/* [1 2 3; 4 5 6] [7 8; 9 10; 11 12] = [58 64; 139 154], worked by hand; the second product of the batch is
 * the same with A negated. */
static void multiplies_in_every_orientation(void **state) {
    (void)state;
    static const double plain_a[] = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6};
    static const double turned_a[] = {1, 4, 2, 5, 3, 6, -1, -4, -2, -5, -3, -6};
    static const double plain_b[] = {7, 8, 9, 10, 11, 12, 7, 8, 9, 10, 11, 12};
    static const double turned_b[] = {7, 9, 11, 8, 10, 12, 7, 9, 11, 8, 10, 12};
    static const double want[] = {58, 64, 139, 154, -58, -64, -139, -154};
    for (int turn = 0; turn < 4; turn++) {
        struct op op = op_gemm(2, 2, 3, DTYPE_FP64);
        op.batch = 2;
        op.trans_a = turn & 1;
        op.trans_b = turn & 2;
        struct ref_array a, b;
        struct ref_source in[] = {source_of(&a, DTYPE_FP64, op.trans_a ? turned_a : plain_a),
                                  source_of(&b, DTYPE_FP64, op.trans_b ? turned_b : plain_b)};
        for (uint64_t i = 0; i < 8; i++) {
            assert_true(ref_element(&op, in, i).want == want[i]);
            assert_true(ref_element(&op, in, i).bound == 0);
        }
    }
}

/* k = 2, a = (0.5, 0.5), b = (1, 1): sum 1, S = 1, u = 2^-24. g = 2u/(1-2u) = 2^-23/(1-2^-23),
 * E = 2g, bound = E + u (1 + E) = 2.9802326651e-7 (exact fractions). */
static void bounds_a_sum_as_the_formula_says(void **state) {
    (void)state;
    static const float halves[] = {0.5F, 0.5F}, ones[] = {1, 1};
    struct op op = op_gemm(1, 1, 2, DTYPE_FP32);
    struct ref_array a, b;
    struct ref_source in[] = {source_of(&a, DTYPE_FP32, halves), source_of(&b, DTYPE_FP32, ones)};
    struct ref_value v = ref_element(&op, in, 0);
    assert_true(v.want == 1);
    assert_true(fabs(v.bound / 2.9802326651e-7 - 1) < 1e-9);
    assert_true(ref_accepts(v, 1 + 2.9e-7));
    assert_false(ref_accepts(v, 1 + 3.1e-7));
    assert_false(ref_accepts(v, NAN));
}

/* 257 = 16 x 16 + 1 lies between 256 and 258 in bf16, whose last bit is 0 at 256. */
static void wants_whole_numbers_exactly(void **state) {
    (void)state;
    double left[] = {16, 1}, right[] = {16, 1};
    struct op op = op_gemm(1, 1, 2, DTYPE_BF16);
    struct ref_array a, b;
    struct ref_source in[] = {source_of(&a, DTYPE_FP64, left), source_of(&b, DTYPE_FP64, right)};
    struct ref_value v = ref_element(&op, in, 0);
    assert_true(v.want == 256 && v.bound == 0);
    assert_false(ref_accepts(v, 258));
    left[0] = 0x1p23; /* 2^23 x 16 is above 2^24: fp32 sums are no longer exact */
    assert_true(ref_element(&op, in, 0).bound > 0);
}

/* STREAM's definitions with s = 3, b and c as the comments in model/op.h order them. */
static void computes_the_stream_ops(void **state) {
    (void)state;
    static const double x[] = {1, 2.5}, y[] = {10, 0.5};
    static const struct {
        enum op_kind kind;
        double want[2];
    } rows[] = {{OP_COPY, {1, 2.5}}, {OP_SCALE, {3, 7.5}}, {OP_ADD, {11, 3}}, {OP_TRIAD, {31, 4}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct op op = op_elementwise(rows[i].kind, 2, DTYPE_FP64);
        struct ref_array a, b;
        struct ref_source in[] = {source_of(&a, DTYPE_FP64, x), source_of(&b, DTYPE_FP64, y)};
        for (uint64_t k = 0; k < 2; k++)
            assert_true(ref_element(&op, in, k).want == rows[i].want[k]);
    }
}

static void knows_the_elements_of_a_filled_buffer(void **state) {
    (void)state;
    struct ref_filled normal = {DTYPE_FP32, FILL_NORMAL, 7}, whole = {DTYPE_FP16, FILL_INTEGERS, 7};
    struct ref_filled zero = {DTYPE_FP64, FILL_ZERO, 7};
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(ref_filled_at(&normal, i) == (float)rng_normal_at(7, i));
        assert_true(ref_filled_at(&whole, i) == rng_integer_at(7, i, 4));
        assert_true(ref_filled_at(&zero, i) == 0);
    }
}

static void says_what_it_cannot_compute(void **state) {
    (void)state;
    char reason[120] = "";
    struct op op = op_gemm(8, 8, 8, DTYPE_FP8_E4M3);
    assert_false(ref_supports(&op, reason, sizeof reason));
    assert_non_null(strstr(reason, "fp8e4m3"));
    op = (struct op){.kind = OP_ATTENTION, .dtype = DTYPE_FP32, .accumulate = DTYPE_FP32};
    assert_false(ref_supports(&op, reason, sizeof reason));
    assert_non_null(strstr(reason, "attention"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_to_nearest_even),
        cmocka_unit_test(stores_the_bits_of_the_format),
        cmocka_unit_test(loads_and_stores_every_16_bit_pattern_unchanged),
        cmocka_unit_test(multiplies_in_every_orientation),
        cmocka_unit_test(bounds_a_sum_as_the_formula_says),
        cmocka_unit_test(wants_whole_numbers_exactly),
        cmocka_unit_test(computes_the_stream_ops),
        cmocka_unit_test(knows_the_elements_of_a_filled_buffer),
        cmocka_unit_test(says_what_it_cannot_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
