#include "tests/base/check.h"

#include "model/dtype.h"

/* Widths and significands: IEEE 754 binary16/32/64; bfloat16 and TF32 as NVIDIA's A100 whitepaper draws
 * them (8 and 10 stored mantissa bits less one: 7 and 10, plus the hidden bit); FP8 of Micikevicius et al.
 * 2022 (3 and 2 stored); FP4 E2M1 of the OCP MX specification (1 stored). */
static const struct {
    enum dtype t;
    const char *name;
    double bytes, roundoff;
} formats[] = {
    {DTYPE_FP64, "fp64", 8, 1.0 / 9007199254740992.0}, /* 2^53 */
    {DTYPE_FP32, "fp32", 4, 1.0 / 16777216.0},         /* 2^24 */
    {DTYPE_TF32, "tf32", 4, 1.0 / 2048.0},
    {DTYPE_BF16, "bf16", 2, 1.0 / 256.0},
    {DTYPE_FP16, "fp16", 2, 1.0 / 2048.0},
    {DTYPE_FP8_E4M3, "fp8e4m3", 1, 1.0 / 16.0},
    {DTYPE_FP8_E5M2, "fp8e5m2", 1, 1.0 / 8.0},
    {DTYPE_FP4, "fp4", 0.5, 1.0 / 4.0},
    {DTYPE_INT8, "int8", 1, 0},
    {DTYPE_INT32, "int32", 4, 0},
};

static void knows_width_and_roundoff_of_every_format(void **state) {
    (void)state;
    assert_int_equal(COUNT(formats), DTYPE_COUNT);
    for (size_t i = 0; i < COUNT(formats); i++) {
        assert_string_equal(dtype_name(formats[i].t), formats[i].name);
        assert_same(dtype_bytes(formats[i].t), formats[i].bytes);
        assert_same(dtype_roundoff(formats[i].t), formats[i].roundoff);
    }
}

static void reads_every_name_that_it_writes(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct err e;
        enum dtype got = DTYPE_COUNT;
        assert_ok(dtype_parse(formats[i].name, &got, &e), &e);
        assert_int_equal(got, formats[i].t);
    }
}

static void names_the_nearest_format_for_an_unknown_one(void **state) {
    (void)state;
    struct err e;
    enum dtype got;
    assert_int_equal(dtype_parse("bf61", &got, &e), -1);
    assert_error(&e, ERR_USAGE, "'bf16'");
    assert_int_equal(dtype_parse("", &got, &e), -1);
    assert_int_equal(dtype_parse("FP32", &got, &e), -1); /* the field writes them in lower case */
    assert_int_equal(dtype_parse("quadruple", &got, &e), -1);
    assert_error(&e, ERR_USAGE, "quadruple");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_width_and_roundoff_of_every_format),
        cmocka_unit_test(reads_every_name_that_it_writes),
        cmocka_unit_test(names_the_nearest_format_for_an_unknown_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
