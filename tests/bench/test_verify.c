#include "bench/operands.h"
#include "kernels/ref/ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

/* The reference backend computes in host memory: its output can be spoilt at will. */
struct rig {
    struct device *device;
    struct queue *queue;
    struct operands operands;
};

static void open_rig(struct rig *rig, const struct op *op) {
    struct err e;
    const struct backend *b = &ref_backend;
    struct backend_config config = {0};
    struct bench_case c = {.op = *op};
    assert_int_equal(b->open(&config, 0, &rig->device, &e), 0);
    struct runner r = {.backend = b, .device = rig->device, .seed = 7};
    assert_int_equal(operands_open(&rig->operands, &r, &c, &e), 0);
    assert_int_equal(b->queue_open(rig->device, &rig->queue, &e), 0);
    assert_int_equal(b->enqueue(rig->queue, rig->operands.sets[0].prepared, 1, &e), 0);
    assert_int_equal(b->sync(rig->queue, &e), 0);
}

static void close_rig(struct rig *rig) {
    ref_backend.queue_close(rig->queue);
    operands_close(&rig->operands);
    ref_backend.close(rig->device);
}

static int verdict(const struct rig *rig, uint64_t salt, char *reason, size_t size) {
    struct err e;
    return operands_verify(&rig->operands, 0, salt, reason, size, &e);
}

static void spoil(const struct rig *rig, uint64_t first, uint64_t count, float value) {
    struct err e;
    size_t last = rig->operands.shape_count - 1;
    for (uint64_t i = first; i < first + count; i++)
        assert_int_equal(ref_backend.write(rig->operands.sets[0].buffers[last], i * sizeof value, &value,
                                           sizeof value, &e),
                         0);
}

static void accepts_what_the_oracle_gives(void **state) {
    (void)state;
    const struct op ops[] = {op_gemm(33, 65, 17, DTYPE_FP32), op_gemm(1, 1, 1, DTYPE_FP64),
                             op_elementwise(OP_TRIAD, 1000, DTYPE_FP64),
                             op_elementwise(OP_COPY, 3, DTYPE_FP32)};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct rig rig = {0};
        char reason[240] = "";
        open_rig(&rig, &ops[i]);
        assert_int_equal(verdict(&rig, 1, reason, sizeof reason), 0);
        assert_int_equal(verdict(&rig, 2, reason, sizeof reason), 0);
        assert_string_equal(reason, "");
        close_rig(&rig);
    }
}

static void finds_a_wrong_corner(void **state) {
    (void)state;
    const struct op op = op_gemm(40, 50, 8, DTYPE_FP32);
    /* of 40 rows of 50 */
    static const uint64_t corners[] = {0, 49, 1950, 1999};
    for (size_t i = 0; i < 4; i++) {
        struct rig rig = {0};
        char reason[240] = "";
        open_rig(&rig, &op);
        spoil(&rig, corners[i], 1, 1e6f);
        assert_int_equal(verdict(&rig, 1, reason, sizeof reason), 1);
        assert_non_null(strstr(reason, "wrong result"));
        close_rig(&rig);
    }
}

/* The output is looked at in 64 equal stretches: one that is wrong throughout cannot be missed, wherever
 * it lies and whatever the salt. */
static void finds_a_wrong_sixtyfourth_anywhere(void **state) {
    (void)state;
    const struct op op = op_gemm(64, 128, 4, DTYPE_FP32);
    for (uint64_t stretch = 1; stretch < 63; stretch += 7) {
        struct rig rig = {0};
        char reason[240] = "";
        open_rig(&rig, &op);
        spoil(&rig, stretch * 128, 128, NAN);
        for (uint64_t salt = 0; salt < 5; salt++)
            assert_int_equal(verdict(&rig, salt, reason, sizeof reason), 1);
        close_rig(&rig);
    }
}

static void looks_at_other_elements_with_another_salt(void **state) {
    (void)state;
    const struct op op = op_gemm(64, 128, 4, DTYPE_FP32);
    struct rig rig = {0};
    char reason[240];
    int found = 0;
    open_rig(&rig, &op);
    spoil(&rig, 30 * 128 + 5, 4, 1e6f); /* 4 of the 128 elements of one stretch */
    for (uint64_t salt = 0; salt < 200; salt++)
        found += verdict(&rig, salt, reason, sizeof reason);
    /* A hit has probability 4/128: 200 draws give 6.25 on average, and none with 0.2 %. */
    assert_in_range(found, 1, 30);
    close_rig(&rig);
}

static void has_nothing_to_say_of_an_op_without_operands(void **state) {
    (void)state;
    const struct op op = op_elementwise(OP_FMA, 1 << 20, DTYPE_FP32);
    struct operands o = {.op = op};
    struct err e;
    char reason[10];
    assert_int_equal(operands_verify(&o, 0, 1, reason, sizeof reason, &e), 0);
}

static struct record_deviation deviation(const struct rig *rig) {
    struct err e;
    struct record_deviation d;
    assert_int_equal(operands_deviation(&rig->operands, 0, 1, &d, &e), 0);
    return d;
}

/* The oracle rounds the inputs and, once, each result: what is left is the formats' own error. A float of p
 * bits has an error of 2^-p / sqrt(3) of its power of two, in rms, that is 0.5 to 1 times as much of the
 * number; two inputs and an output make sqrt(3) of it: 0.5 to 1 times 2^-p. int8 has steps of 1/16 in both
 * inputs and an exact output: sqrt(2) / 16 / sqrt(12) = 2.6 %. 64 samples tell an rms within some 9 %. */
static void measures_what_a_number_format_costs(void **state) {
    (void)state;
    static const struct {
        enum dtype t;
        double least, most;
    } rows[] = {
        {DTYPE_FP64, 0, 1e-15},
        {DTYPE_FP32, 0.4 * 0x1p-24, 1.3 * 0x1p-24},
        {DTYPE_FP16, 0.4 * 0x1p-11, 1.3 * 0x1p-11},
        {DTYPE_BF16, 0.4 * 0x1p-8, 1.3 * 0x1p-8},
        {DTYPE_INT8, 0.018, 0.034},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int turn = 0; turn < 4; turn++) {
            struct rig rig = {0};
            struct op op = op_gemm(33, 65, 64, rows[i].t);
            op.batch = 2;
            op.trans_a = turn & 1;
            op.trans_b = turn & 2;
            open_rig(&rig, &op);
            struct record_deviation d = deviation(&rig);
            if (!(d.rms_rel >= rows[i].least && d.rms_rel <= rows[i].most))
                fail_msg("%s: %g", dtype_name(rows[i].t), d.rms_rel);
            assert_true(d.max_rel >= d.rms_rel && d.max_rel < 6 * d.rms_rel + 1e-300);
            assert_true(d.elements == 64);
            close_rig(&rig);
        }
}

/* Every element one rms (8 = sqrt 64) too large. */
static void measures_a_result_that_is_off(void **state) {
    (void)state;
    const struct op op = op_gemm(64, 64, 64, DTYPE_FP32);
    struct rig rig = {0};
    open_rig(&rig, &op);
    for (uint64_t i = 0; i < 64 * 64; i++) {
        struct err e;
        float value;
        struct buffer *c = rig.operands.sets[0].buffers[2];
        assert_int_equal(ref_backend.read(c, i * sizeof value, &value, sizeof value, &e), 0);
        spoil(&rig, i, 1, value + 8);
    }
    struct record_deviation d = deviation(&rig);
    assert_true(d.rms_rel > 0.75 && d.rms_rel < 1.35); /* the rms of 64 samples is 8 within 9 % */
    close_rig(&rig);
}

static void knows_no_deviation_of_an_op_that_is_no_product(void **state) {
    (void)state;
    const struct op op = op_elementwise(OP_TRIAD, 1000, DTYPE_FP64);
    struct rig rig = {0};
    open_rig(&rig, &op);
    struct record_deviation d = deviation(&rig);
    assert_true(isnan(d.rms_rel) && isnan(d.max_rel) && isnan(d.elements));
    close_rig(&rig);
}

static void finds_a_walk_that_ended_elsewhere(void **state) {
    (void)state;
    const struct op op = op_chase(1000 * OP_CHASE_LINE);
    struct rig rig = {0};
    struct err e;
    char reason[240] = "";
    int32_t zero = 0;
    open_rig(&rig, &op);
    assert_int_equal(verdict(&rig, 1, reason, sizeof reason), 0);
    assert_int_equal(ref_backend.write(rig.operands.sets[0].buffers[1], 0, &zero, sizeof zero, &e), 0);
    assert_int_equal(verdict(&rig, 1, reason, sizeof reason), 1);
    close_rig(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_the_oracle_gives),
        cmocka_unit_test(finds_a_wrong_corner),
        cmocka_unit_test(finds_a_wrong_sixtyfourth_anywhere),
        cmocka_unit_test(looks_at_other_elements_with_another_salt),
        cmocka_unit_test(measures_what_a_number_format_costs),
        cmocka_unit_test(measures_a_result_that_is_off),
        cmocka_unit_test(knows_no_deviation_of_an_op_that_is_no_product),
        cmocka_unit_test(finds_a_walk_that_ended_elsewhere),
        cmocka_unit_test(has_nothing_to_say_of_an_op_without_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
