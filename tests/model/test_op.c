#include "tests/base/check.h"

#include "base/json.h"
#include "model/op.h"

#include <stdlib.h>

static struct op attention(enum op_pass pass) {
    struct op op = op_gemm(1024, 1024, 64, DTYPE_BF16);
    op.kind = OP_ATTENTION;
    op.pass = pass;
    op.batch = 12;
    op.causal = true;
    return op;
}

static struct op row_op(enum op_kind kind, enum op_pass pass) {
    struct op op = op_elementwise(kind, 0, DTYPE_FP32);
    op.pass = pass;
    op.m = 10;
    op.n = 100;
    return op;
}

static struct op with_pass(struct op op, enum op_pass pass) {
    op.pass = pass;
    return op;
}

static struct op gemm_layout(bool trans_a, bool trans_b, int64_t batch) {
    struct op op = op_gemm(2, 3, 5, DTYPE_FP32);
    op.trans_a = trans_a;
    op.trans_b = trans_b;
    op.batch = batch;
    return op;
}

/* By hand. GEMM 2 m n k and (m k + k n + m n) s. STREAM (McCalpin, table of kernels): copy 16 bytes and 0
 * FLOP an iteration, scale 16 and 1, add 24 and 1, triad 24 and 2, at 8 bytes a word. Attention: scores and
 * mix are 2 x 1024 x 1024 x 64 x 12 FLOP each, four such products backward; a tensor is 12 x 1024 x 64 x 2
 * = 1,572,864 bytes: four of them forward (Q K V O), eight backward (Q K V O dO dQ dK dV). AdamW: 7 fp32
 * values a parameter (read p g m v, write p m v), or in 16 bit 2 + 2 + 6 x 4 bytes. */
static void counts_flop_and_bytes_as_one_does_by_hand(void **state) {
    (void)state;
    const struct {
        struct op op;
        double flop, bytes;
    } rows[] = {
        {op_gemm(1024, 2304, 768, DTYPE_FP32), 3623878656.0, 19660800.0},
        {op_gemm(1024, 2304, 768, DTYPE_BF16), 3623878656.0, 9830400.0},
        {op_gemm(2, 3, 5, DTYPE_INT8), 60, 10 + 15 + 6 * 4}, /* int8 products are summed in int32 */
        {gemm_layout(false, false, 7), 420, 7 * (10 + 15 + 6) * 4},
        {gemm_layout(true, true, 7), 420, 7 * (10 + 15 + 6) * 4},
        {op_elementwise(OP_COPY, 1000, DTYPE_FP64), 0, 16000},
        {op_elementwise(OP_SCALE, 1000, DTYPE_FP64), 1000, 16000},
        {op_elementwise(OP_ADD, 1000, DTYPE_FP64), 1000, 24000},
        {op_elementwise(OP_TRIAD, 1000, DTYPE_FP64), 2000, 24000},
        {op_elementwise(OP_FMA, 1000, DTYPE_FP32), 2000, 0},
        {attention(OP_FORWARD), 3221225472.0, 4 * 1572864.0},
        {attention(OP_BACKWARD), 6442450944.0, 8 * 1572864.0},
        {op_elementwise(OP_ADAMW, 1000, DTYPE_FP32), 16000, 28000},
        {op_elementwise(OP_ADAMW, 1000, DTYPE_BF16), 16000, 28000},
        {op_elementwise(OP_ADAMW, 1000, DTYPE_FP64), 16000, 56000},
        {op_elementwise(OP_RESIDUAL, 1000, DTYPE_BF16), 1000, 6000},
        {op_elementwise(OP_GELU, 1000, DTYPE_BF16), 9000, 4000},
        {with_pass(op_elementwise(OP_GELU, 1000, DTYPE_BF16), OP_BACKWARD), 18000, 6000},
        /* RMSNorm as layer norm without mean and shift; batch norm reads its input twice; SwiGLU reads gate
         * and up, backward also dy, and writes both gradients; pooling writes a quarter of what it reads */
        {row_op(OP_RMSNORM, OP_FORWARD), 4000, 8000},
        {row_op(OP_RMSNORM, OP_BACKWARD), 9000, 12000},
        {op_elementwise(OP_BATCHNORM, 1000, DTYPE_BF16), 7000, 6000},
        {with_pass(op_elementwise(OP_BATCHNORM, 1000, DTYPE_BF16), OP_BACKWARD), 13000, 10000},
        {op_elementwise(OP_SWIGLU, 1000, DTYPE_BF16), 5000, 6000},
        {with_pass(op_elementwise(OP_SWIGLU, 1000, DTYPE_BF16), OP_BACKWARD), 10000, 10000},
        {op_elementwise(OP_RELU, 1000, DTYPE_BF16), 1000, 4000},
        {with_pass(op_elementwise(OP_RELU, 1000, DTYPE_BF16), OP_BACKWARD), 1000, 6000},
        {op_elementwise(OP_POOL, 1000, DTYPE_BF16), 2250, 2500},
        {with_pass(op_elementwise(OP_POOL, 1000, DTYPE_BF16), OP_BACKWARD), 1000, 2500},
        {row_op(OP_SOFTMAX, OP_FORWARD), 5000, 8000},
        {row_op(OP_SOFTMAX, OP_BACKWARD), 4000, 12000},
        {row_op(OP_LAYERNORM, OP_FORWARD), 7000, 8000},
        {row_op(OP_LAYERNORM, OP_BACKWARD), 13000, 12000},
        {row_op(OP_EMBEDDING, OP_FORWARD), 1000, 12000},
        {row_op(OP_EMBEDDING, OP_BACKWARD), 1000, 12000},
        {row_op(OP_CROSS_ENTROPY, OP_FORWARD), 6000, 8000},
        {op_elementwise(OP_ALLREDUCE, 1000, DTYPE_BF16), 0, 2000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_same(op_flop(&rows[i].op), rows[i].flop);
        assert_same(op_bytes(&rows[i].op), rows[i].bytes);
    }
}

static void counts_work_in_the_unit_that_bounds_it(void **state) {
    (void)state;
    const char *unit;
    struct op gemm = op_gemm(2, 3, 5, DTYPE_FP32), triad = op_elementwise(OP_TRIAD, 10, DTYPE_FP64);
    struct op fma = op_elementwise(OP_FMA, 10, DTYPE_FP32), heads = attention(OP_FORWARD);
    assert_same(op_work(&gemm, &unit), 60);
    assert_string_equal(unit, "FLOP");
    assert_same(op_work(&triad, &unit), 240);
    assert_string_equal(unit, "B");
    struct op int8 = op_gemm(2, 3, 5, DTYPE_INT8), chase = op_chase(4096), large = op_chase(INT64_C(1) << 27);
    assert_same(op_work(&int8, &unit), 60);
    assert_string_equal(unit, "OP");
    /* 64 lines: 1024 rounds make 2^16; 2^21 lines: one round; each less one step */
    assert_same(op_work(&chase, &unit), 65535);
    assert_string_equal(unit, "access");
    assert_same(op_work(&large, &unit), 2097151);
    assert_same(op_bytes(&chase), 4096);
    assert_same(op_bytes(&large), 0x1p27);
    assert_true(op_is_compute_bound(&fma) && op_is_compute_bound(&heads));
    struct op norm = row_op(OP_LAYERNORM, OP_FORWARD);
    assert_false(op_is_compute_bound(&norm));
    static const struct {
        enum op_kind kind;
        double work;
        const char *unit;
    } files[] = {{OP_FILE_WRITE, 28, "B"},  {OP_FILE_READ, 28, "B"},    {OP_FILE_RANDOM_READ, 7, "access"},
                 {OP_FILE_SYNC, 7, "sync"}, {OP_FILE_SMALL, 7, "file"}, {OP_FILE_TAR, 7, "file"}};
    for (size_t i = 0; i < COUNT(files); i++) {
        struct op file = op_file(files[i].kind, 7, 4, 9, 1);
        assert_same(op_work(&file, &unit), files[i].work);
        assert_string_equal(unit, files[i].unit);
        assert_same(op_bytes(&file), 28);
        assert_true(op_is_file(&file) && !op_is_compute_bound(&file));
    }
}

static void names_are_stable_and_say_the_shape(void **state) {
    (void)state;
    struct op summed = op_gemm(8, 8, 8, DTYPE_FP32), heads = op_gemm(1024, 1024, 64, DTYPE_FP32);
    summed.accumulate = DTYPE_FP64;
    heads.batch = 12;
    heads.trans_b = true;
    const struct {
        struct op op;
        const char *want;
    } rows[] = {
        {op_gemm(1024, 2304, 768, DTYPE_FP32), "gemm.fp32.1024x2304x768"},
        {heads, "gemm.fp32.12x1024x1024x64.nt"},
        {gemm_layout(true, false, 1), "gemm.fp32.2x3x5.tn"},
        {gemm_layout(true, true, 1), "gemm.fp32.2x3x5.tt"},
        {summed, "gemm.fp32.8x8x8.sum-fp64"},
        {op_elementwise(OP_TRIAD, 52428800, DTYPE_FP64), "triad.fp64.52428800"},
        {attention(OP_FORWARD), "attention.bf16.12x1024x1024x64.causal"},
        {attention(OP_BACKWARD), "attention.bf16.12x1024x1024x64.causal.backward"},
        {row_op(OP_CROSS_ENTROPY, OP_FORWARD), "cross_entropy.fp32.10x100"},
        {op_file(OP_FILE_WRITE, 64, 1048576, 1, 1), "file_write.64x1048576"},
        {op_file(OP_FILE_RANDOM_READ, 256, 4096, 65536, 16), "file_random_read.256x4096.of-65536.depth-16"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[OP_NAME_SIZE];
        assert_string_equal(op_name(&rows[i].op, name), rows[i].want);
    }
}

static void the_longest_name_fits(void **state) {
    (void)state;
    struct op op = attention(OP_BACKWARD);
    op.dtype = DTYPE_FP8_E4M3;
    op.accumulate = DTYPE_FP8_E5M2;
    op.batch = op.m = op.n = op.k = INT64_MAX;
    char name[OP_NAME_SIZE];
    op_name(&op, name);
    assert_string_equal(name + strlen(name) - strlen(".sum-fp8e5m2"), ".sum-fp8e5m2");
}

static void ops_are_equal_when_every_field_in_use_is(void **state) {
    (void)state;
    struct op a = op_gemm(8, 9, 10, DTYPE_FP32), b = a;
    assert_true(op_equal(&a, &b));
    b.elements = 77; /* a GEMM has no such field */
    assert_true(op_equal(&a, &b));
    struct op changed[] = {a, a, a, a, a, a, a, a};
    changed[0].m = 11;
    changed[1].n = 11;
    changed[2].k = 11;
    changed[3].batch = 2;
    changed[4].trans_a = true;
    changed[5].trans_b = true;
    changed[6].dtype = DTYPE_BF16;
    changed[7].accumulate = DTYPE_FP64;
    for (size_t i = 0; i < COUNT(changed); i++)
        assert_false(op_equal(&a, &changed[i]));
}

static void lists_operands_inputs_first_and_the_output_last(void **state) {
    (void)state;
    const struct {
        struct op op;
        size_t count;
        const char *names;
        int64_t elements[3];
    } rows[] = {
        {gemm_layout(true, false, 7), 3, "ABC", {70, 105, 42}},
        {op_elementwise(OP_COPY, 9, DTYPE_FP64), 2, "ac", {9, 9, 0}},
        {op_elementwise(OP_SCALE, 9, DTYPE_FP64), 2, "cb", {9, 9, 0}},
        {op_elementwise(OP_ADD, 9, DTYPE_FP64), 3, "abc", {9, 9, 9}},
        {op_elementwise(OP_TRIAD, 9, DTYPE_FP64), 3, "bca", {9, 9, 9}},
        {op_elementwise(OP_FMA, 9, DTYPE_FP64), 0, "", {0}},
        {op_elementwise(OP_ADAMW, 9, DTYPE_FP32), 0, "", {0}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct op_operand got[OP_MAX_OPERANDS];
        assert_int_equal(op_operands(&rows[i].op, got), rows[i].count);
        for (size_t k = 0; k < rows[i].count; k++) {
            assert_int_equal(got[k].name[0], rows[i].names[k]);
            assert_int_equal(got[k].elements, rows[i].elements[k]);
            assert_int_equal(got[k].output, k + 1 == rows[i].count);
        }
    }
    struct op int8 = op_gemm(2, 3, 5, DTYPE_INT8);
    struct op_operand got[OP_MAX_OPERANDS];
    op_operands(&int8, got);
    assert_int_equal(got[0].dtype, DTYPE_INT8);
    assert_int_equal(got[2].dtype, DTYPE_INT32);
}

/* elements x bits / 8, rounded up */
static void an_operand_takes_whole_bytes(void **state) {
    (void)state;
    static const struct {
        enum dtype dtype;
        int64_t elements;
        uint64_t want;
    } rows[] = {
        {DTYPE_FP64, INT64_C(1) << 40, UINT64_C(1) << 43},
        {DTYPE_FP32, 3, 12},
        {DTYPE_BF16, 3, 6},
        {DTYPE_INT8, 5, 5},
        {DTYPE_FP4, 4, 2},
        {DTYPE_FP4, 5, 3},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct op_operand operand = {"A", rows[i].dtype, rows[i].elements, false};
        assert_true(op_operand_bytes(&operand) == rows[i].want);
    }
}

static void an_op_survives_the_record(void **state) {
    (void)state;
    const struct op rows[] = {
        op_gemm(1024, 2304, 768, DTYPE_BF16),
        gemm_layout(true, false, 7),
        attention(OP_BACKWARD),
        row_op(OP_LAYERNORM, OP_BACKWARD),
        row_op(OP_CROSS_ENTROPY, OP_FORWARD),
        with_pass(op_elementwise(OP_GELU, 5, DTYPE_FP16), OP_BACKWARD),
        op_elementwise(OP_TRIAD, INT64_C(1) << 40, DTYPE_FP64),
        op_file(OP_FILE_RANDOM_READ, 256, 4096, 65536, 16),
        op_file(OP_FILE_TAR, 200, 110000, 10000, 1),
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct op got;
        struct err e;
        json_t *json = op_to_json(&rows[i]);
        assert_ok(op_from_json(json, &got, &e), &e);
        assert_true(op_equal(&got, &rows[i]));
        json_decref(json);
    }
}

static void rejects_ops_out_of_range_naming_the_field(void **state) {
    (void)state;
#define HEAD "{\"kind\":\"gemm\",\"dtype\":\"fp32\",\"accumulate\":\"fp32\","
#define TAIL ",\"batch\":1,\"trans_a\":false,\"trans_b\":false}"
    static const struct {
        const char *json, *piece;
    } rows[] = {
        {"[]", "op"},
        {"{}", "kind"},
        {"{\"kind\":\"gem\"}", "gemm"},
        {"{\"kind\":\"gemm\",\"dtype\":\"fp31\"}", "fp32"},
        {"{\"kind\":\"gemm\",\"dtype\":\"fp32\",\"accumulate\":\"int\"}", "int"},
        {"{\"kind\":\"gelu\",\"dtype\":\"fp32\",\"accumulate\":\"fp32\",\"elements\":4}", "pass"},
        {"{\"kind\":\"gelu\",\"dtype\":\"fp32\",\"accumulate\":\"fp32\",\"elements\":4,\"pass\":\"back\"}",
         "pass"},
        {HEAD "\"m\":0,\"n\":1,\"k\":1" TAIL, "m: 0"},
        {HEAD "\"m\":1,\"n\":-5,\"k\":1" TAIL, "n: -5"},
        {HEAD "\"m\":1,\"n\":1,\"k\":1099511627777" TAIL, "k: 1099511627777"}, /* 2^40 + 1 */
        {HEAD "\"m\":1,\"n\":1,\"k\":1.5" TAIL, "k"},
        {HEAD "\"m\":1,\"n\":1" TAIL, "k"},
        {HEAD "\"m\":1,\"n\":1,\"k\":1,\"batch\":1,\"trans_a\":0,\"trans_b\":false}", "trans_a"},
        /* 2^24 x 2^24 x 4 bytes = 2^50 */
        {HEAD "\"m\":16777216,\"n\":16777216,\"k\":1" TAIL, "2^46"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct op got;
        struct err e;
        json_t *json = json_loads(rows[i].json, 0, NULL);
        assert_non_null(json);
        assert_int_equal(op_from_json(json, &got, &e), -1);
        assert_error(&e, ERR_PARSE, rows[i].piece);
        json_decref(json);
    }
}

/* Dao et al. 2022 and PaLM appendix B count the same products: two forward, four backward. */
static void the_unfused_pieces_of_attention_do_its_flop(void **state) {
    (void)state;
    static const size_t want[] = {[OP_FORWARD] = 3, [OP_BACKWARD] = 5};
    for (int pass = OP_FORWARD; pass <= OP_BACKWARD; pass++) {
        struct op whole = attention((enum op_pass)pass), parts[OP_MAX_PARTS] = {{0}};
        double flop = 0;
        size_t count = op_unfused_attention(&whole, parts);
        assert_int_equal(count, want[pass]);
        for (size_t i = 0; i < count; i++) {
            if (parts[i].kind == OP_GEMM) {
                flop += op_flop(&parts[i]);
                assert_int_equal(parts[i].batch, 12);
            } else {
                assert_int_equal(parts[i].kind, OP_SOFTMAX);
                assert_int_equal(parts[i].pass, pass);
                assert_int_equal(parts[i].m, 12 * 1024);
                assert_int_equal(parts[i].n, 1024);
            }
        }
        assert_same(flop, op_flop(&whole));
    }
}

/* For m = 3 queries, n = 4 keys, k = 2 and 12 heads: S = Q K^T and dP = dO V^T [3,4], O = P V and
 * dQ = dS K [3,2], dV = P^T dO and dK = dS^T Q [4,2]. */
static void the_unfused_pieces_have_the_shapes_of_their_matrices(void **state) {
    (void)state;
    static const char *const want[2][OP_MAX_PARTS] = {
        {"gemm.bf16.12x3x4x2.nt", "softmax.bf16.36x4", "gemm.bf16.12x3x2x4"},
        {"gemm.bf16.12x4x2x3.tn", "gemm.bf16.12x3x4x2.nt", "softmax.bf16.36x4.backward", "gemm.bf16.12x3x2x4",
         "gemm.bf16.12x4x2x3.tn"},
    };
    for (int pass = OP_FORWARD; pass <= OP_BACKWARD; pass++) {
        struct op whole = attention((enum op_pass)pass), parts[OP_MAX_PARTS];
        whole.m = 3;
        whole.n = 4;
        whole.k = 2;
        size_t count = op_unfused_attention(&whole, parts);
        for (size_t i = 0; i < count; i++) {
            char name[OP_NAME_SIZE];
            assert_string_equal(op_name(&parts[i], name), want[pass][i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_flop_and_bytes_as_one_does_by_hand),
        cmocka_unit_test(counts_work_in_the_unit_that_bounds_it),
        cmocka_unit_test(names_are_stable_and_say_the_shape),
        cmocka_unit_test(the_longest_name_fits),
        cmocka_unit_test(ops_are_equal_when_every_field_in_use_is),
        cmocka_unit_test(lists_operands_inputs_first_and_the_output_last),
        cmocka_unit_test(an_operand_takes_whole_bytes),
        cmocka_unit_test(an_op_survives_the_record),
        cmocka_unit_test(rejects_ops_out_of_range_naming_the_field),
        cmocka_unit_test(the_unfused_pieces_of_attention_do_its_flop),
        cmocka_unit_test(the_unfused_pieces_have_the_shapes_of_their_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
