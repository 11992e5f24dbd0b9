#include "kernels/cpu/cpu_half.h"
#include "kernels/ref/ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

static void expands_every_pattern_exactly(void **state) {
    (void)state;
    for (uint32_t i = 0; i <= 0xffff; i++) {
        uint16_t h = (uint16_t)i;
        double want16 = ref_load(&h, DTYPE_FP16, 0), want_b = ref_load(&h, DTYPE_BF16, 0);
        double got16 = half_from_fp16(h), got_b = half_from_bf16(h);
        assert_true(got16 == want16 || (isnan(got16) && isnan(want16)));
        assert_true(got_b == want_b || (isnan(got_b) && isnan(want_b)));
        assert_int_equal(!signbit(got16), !(h >> 15));
    }
}

static void gives_every_pattern_back(void **state) {
    (void)state;
    for (uint32_t i = 0; i <= 0xffff; i++) {
        uint16_t h = (uint16_t)i;
        if (isnan(half_from_fp16(h)))
            assert_true(isnan(half_from_fp16(half_to_fp16(half_from_fp16(h)))));
        else
            assert_int_equal(half_to_fp16(half_from_fp16(h)), h);
        if (isnan(half_from_bf16(h)))
            assert_true(isnan(half_from_bf16(half_to_bf16(half_from_bf16(h)))));
        else
            assert_int_equal(half_to_bf16(half_from_bf16(h)), h);
    }
}

/* By hand from the formats. fp16: steps of 2^-10 at 1, of 2^-24 below 2^-14; the largest is 65504 = 0x7bff,
 * and half a step above it, 65520, is a tie between it (odd) and what would be 65536: infinite. bf16: steps
 * of 2^-7 at 1; the largest is 0x7f7f, half a step above it 0x7f7f8000 as fp32. */
static void rounds_to_the_nearest_with_ties_to_even(void **state) {
    (void)state;
    static const struct {
        float x;
        uint16_t fp16, bf16;
    } rows[] = {
        {1, 0x3c00, 0x3f80},
        {-1, 0xbc00, 0xbf80},
        {0, 0, 0},
        {-0.0F, 0x8000, 0x8000},
        {1 + 0x1p-11F, 0x3c00, 0x3f80},            /* fp16: a tie, down to even */
        {1 + 3 * 0x1p-11F, 0x3c02, 0x3f80},        /* fp16: a tie, up to even   */
        {1 + 0x1p-11F + 0x1p-23F, 0x3c01, 0x3f80}, /* just above the tie        */
        {1 + 0x1p-8F, 0x3c04, 0x3f80},             /* bf16: a tie, down to even */
        {1 + 3 * 0x1p-8F, 0x3c0c, 0x3f82},         /* bf16: a tie, up to even   */
        {1 + 0x1p-8F + 0x1p-23F, 0x3c04, 0x3f81},  /* just above the tie        */
        {65504, 0x7bff, 0x4780},                   /* bf16: 2^16 is nearer      */
        {65519, 0x7bff, 0x4780},                   /* under half a step         */
        {65520, 0x7c00, 0x4780},                   /* half a step: infinite     */
        {-65520, 0xfc00, 0xc780},
        {0x1p-24F, 0x0001, 0x3380},     /* fp16: the smallest        */
        {0x1p-25F, 0x0000, 0x3300},     /* a tie with 0, which is even */
        {3 * 0x1p-25F, 0x0002, 0x33c0}, /* a tie of 1 and 2          */
        {0x1p-25F + 0x1p-40F, 0x0001, 0x3300},
        {0x1p-14F - 0x1p-25F, 0x0400, 0x3880}, /* a tie, up to the smallest normal */
        {0x1p-133F, 0x0000, 0x0001},           /* bf16: the smallest        */
        {0x1p-134F, 0x0000, 0x0000},           /* a tie with 0              */
        {3 * 0x1p-134F, 0x0000, 0x0002},
        {0x1.fep127F, 0x7c00, 0x7f7f},            /* bf16: the largest         */
        {0x1.fep127F + 0x1p119F, 0x7c00, 0x7f80}, /* half a step: infinite     */
        {INFINITY, 0x7c00, 0x7f80},
        {-INFINITY, 0xfc00, 0xff80},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (half_to_fp16(rows[i].x) != rows[i].fp16 || half_to_bf16(rows[i].x) != rows[i].bf16)
            fail_msg("row %zu: fp16 %04x, bf16 %04x", i, half_to_fp16(rows[i].x), half_to_bf16(rows[i].x));
    }
    assert_true(isnan(half_from_fp16(half_to_fp16(NAN))));
    assert_true(isnan(half_from_bf16(half_to_bf16(NAN))));
    /* a NaN whose payload lies in the bits that are cut off */
    assert_true(isnan(half_from_fp16(half_to_fp16(half_bits_as_float(0x7f800001)))));
    assert_true(isnan(half_from_bf16(half_to_bf16(half_bits_as_float(0x7f800001)))));
}

/* Every 4099th of all fp32 patterns, and the neighbours of every tie of fp16. */
static void agrees_with_the_oracle(void **state) {
    (void)state;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 4099) {
        float x = half_bits_as_float((uint32_t)bits);
        uint16_t want16, want_b;
        if (isnan(x))
            continue;
        ref_store(&want16, DTYPE_FP16, 0, x);
        ref_store(&want_b, DTYPE_BF16, 0, x);
        if (half_to_fp16(x) != want16 || half_to_bf16(x) != want_b)
            fail_msg("%a: fp16 %04x for %04x, bf16 %04x for %04x", (double)x, half_to_fp16(x), want16,
                     half_to_bf16(x), want_b);
    }
    for (uint32_t h = 0; h < 0x7bff; h++) {
        float tie = (half_from_fp16((uint16_t)h) + half_from_fp16((uint16_t)(h + 1))) / 2;
        const float near[] = {nextafterf(tie, 0), tie, nextafterf(tie, INFINITY)};
        for (int i = 0; i < 3; i++) {
            uint16_t want;
            ref_store(&want, DTYPE_FP16, 0, near[i]);
            assert_int_equal(half_to_fp16(near[i]), want);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expands_every_pattern_exactly),
        cmocka_unit_test(gives_every_pattern_back),
        cmocka_unit_test(rounds_to_the_nearest_with_ties_to_even),
        cmocka_unit_test(agrees_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
