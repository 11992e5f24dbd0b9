/* Every op of every backend against the oracle, on ragged shapes: seeded N(0,1) under the bound of its
 * type, whole numbers exactly. */
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const enum dtype types[] = {DTYPE_FP64, DTYPE_FP32, DTYPE_TF32, DTYPE_BF16, DTYPE_FP16, DTYPE_INT8};
enum { TYPE_COUNT = sizeof types / sizeof types[0], ALL_ELEMENTS_BELOW = 5000 };

/* 1 if the device has the op (and then it is compared on both kinds of data), else 0. */
static size_t compare(struct rig *r, const struct op *op) {
    char reason[256], name[OP_NAME_SIZE];
    static const enum fill fills[] = {FILL_NORMAL, FILL_INTEGERS};
    if (!r->backend->supports(r->device, op, reason, sizeof reason))
        return 0;
    for (int i = 0; i < 2; i++) {
        struct rig_op o;
        rig_prepare(r, op, fills[i], &o);
        uint64_t stride = o.operands[o.count - 1].elements < ALL_ELEMENTS_BELOW ? 1 : 7;
        uint64_t wrong = rig_wrong_elements(r, &o, stride);
        if (wrong)
            fail_msg("%s: %s with fill %d: %llu elements wrong", r->backend->name, op_name(op, name), i,
                     (unsigned long long)wrong);
        rig_release(r, &o);
    }
    return 1;
}

static void gemm_agrees_with_the_oracle(void **state) {
    static const int64_t shapes[][4] = {/* m n k batch */
                                        {1, 1, 1, 1},    {3, 1, 17, 1},   {17, 63, 3, 3},
                                        {65, 17, 63, 1}, {1, 65, 65, 2},  {63, 65, 1, 1},
                                        {16, 16, 16, 3}, {3, 3, 1000, 1}, {65, 129, 33, 1}};
    struct rig r;
    size_t compared = 0;
    rig_open(&r, *state, NULL);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int turn = 0; turn < 4; turn++)
            for (size_t t = 0; t < TYPE_COUNT; t++) {
                struct op op = op_gemm(shapes[i][0], shapes[i][1], shapes[i][2], types[t]);
                op.batch = shapes[i][3];
                op.trans_a = turn & 1;
                op.trans_b = turn & 2;
                compared += compare(&r, &op);
            }
    rig_close(&r);
    if (!compared)
        skip(); /* the CPU module without a BLAS */
    print_message("%s: %zu GEMMs compared\n", (const char *)*state, compared);
}

static void chase_agrees_with_the_oracle(void **state) {
    static const int64_t lines[] = {1, 2, 3, 4, 5, 16, 17, 64, 1000, 4097, 100003};
    struct rig r;
    size_t compared = 0;
    rig_open(&r, *state, NULL);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct op op = op_chase(lines[i] * OP_CHASE_LINE);
        compared += compare(&r, &op);
    }
    rig_close(&r);
    assert_int_equal(compared, sizeof lines / sizeof lines[0]);
}

static void stream_agrees_with_the_oracle(void **state) {
    static const enum op_kind kinds[] = {OP_COPY, OP_SCALE, OP_ADD, OP_TRIAD};
    static const int64_t sizes[] = {1, 3, 17, 63, 64, 65, 129, 1000, 100003};
    struct rig r;
    size_t compared = 0;
    rig_open(&r, *state, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            for (size_t t = 0; t < TYPE_COUNT; t++) {
                struct op op = op_elementwise(kinds[k], sizes[i], types[t]);
                compared += compare(&r, &op);
            }
    rig_close(&r);
    assert_true(compared >= 2 * 4 * sizeof sizes / sizeof sizes[0]); /* fp64 and fp32 at least */
    print_message("%s: %zu elementwise ops compared\n", (const char *)*state, compared);
}

int main(void) {
    char ref[] = "ref", sim[] = "sim", cpu[] = "cpu";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(gemm_agrees_with_the_oracle, ref),
        cmocka_unit_test_prestate(stream_agrees_with_the_oracle, ref),
        cmocka_unit_test_prestate(chase_agrees_with_the_oracle, ref),
        cmocka_unit_test_prestate(gemm_agrees_with_the_oracle, sim),
        cmocka_unit_test_prestate(stream_agrees_with_the_oracle, sim),
        cmocka_unit_test_prestate(chase_agrees_with_the_oracle, sim),
        cmocka_unit_test_prestate(gemm_agrees_with_the_oracle, cpu),
        cmocka_unit_test_prestate(stream_agrees_with_the_oracle, cpu),
        cmocka_unit_test_prestate(chase_agrees_with_the_oracle, cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
