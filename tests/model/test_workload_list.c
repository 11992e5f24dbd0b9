/* Lists of products: --workload FILE.csv. */
#include "tests/model/folder.h"

#include "model/workload.h"

static int load_text(const char *text, struct workload *w, struct err *e) {
    struct folder folder;
    char path[160];
    folder_make(&folder);
    folder_write(&folder, "mine.csv", text);
    snprintf(path, sizeof path, "%s/mine.csv", folder.path);
    int status = workload_load(NULL, path, w, e);
    folder_remove(&folder);
    return status;
}

/* 2 x 1024 x 2048 x 512 x 12 + 2 x 4 x 64 x 128 x 256 x 2 FLOP. */
static void reads_products_with_their_counts(void **state) {
    (void)state;
    struct workload w;
    struct err e;
    assert_ok(
        load_text("M,n,k,batch,dtype,count,phase\n1024,2048,512,,fp16,12,\n64,128,256,4,fp16,2,backward\n",
                  &w, &e),
        &e);
    assert_string_equal(w.name, "mine");
    assert_int_equal(w.gemms.count, 2);
    assert_int_equal(w.precisions[0], DTYPE_FP16);
    assert_int_equal(w.gemms.items[1].op.batch, 4);
    assert_int_equal(w.gemms.items[1].phase, STEP_BACKWARD);
    assert_string_equal(workload_unit(&w), "list");
    double flop = 2.0 * 1024 * 2048 * 512 * 12 + 2.0 * 4 * 64 * 128 * 256 * 2;
    assert_same(workload_model_flop(&w), flop);
    struct layout l = {1, 1, 1, false, DTYPE_FP16, 1, 1, 1, 0};
    struct step_ops ops;
    workload_expand(&w, &l, &ops);
    assert_same(step_ops_flop(&ops, &l), flop);
    step_ops_free(&ops);
    /* operands of the largest product: (1024 x 512 + 512 x 2048 + 1024 x 2048) x 2 bytes, and the reserve */
    struct layout_memory m;
    layout_memory(&w, &l, true, &m);
    assert_same(m.total, 7340032 + 1e9);
    workload_free(&w);
    assert_ok(load_text("m,n,k\n8,8,8\n", &w, &e), &e);
    assert_int_equal(w.precisions[0], DTYPE_BF16);
    assert_int_equal(w.precision_count, 3);
    l.dtype = DTYPE_FP32; /* a device that has no 16 bit */
    workload_expand(&w, &l, &ops);
    assert_int_equal(ops.items[0].op.dtype, DTYPE_FP32);
    step_ops_free(&ops);
    workload_free(&w);
}

static void a_bad_list_is_refused_naming_line_and_column(void **state) {
    (void)state;
    static const struct {
        const char *text, *piece;
    } rows[] = {
        {"", "mine.csv"},
        {"m,n\n1,2\n", "line 1: no column k"},
        {"m,n,k,transposed\n1,2,3,1\n", "line 1: unknown column 'transposed'"},
        {"m,n,k\n", "no products"},
        {"m,n,k\n1,2,3\n1,x,3\n", "line 3: column n: 'x' is not a whole number from 1"},
        {"m,n,k\n1,2,\n", "line 2: column k: ''"},
        {"m,n,k\n1,2,0\n", "line 2: column k: '0'"},
        {"m,n,k\n1,2,-3\n", "line 2: column k: '-3'"},
        {"m,n,k\n1,2,3.5\n", "line 2: column k: '3.5'"},
        {"m,n,k\n1,2,99999999999999999999\n", "line 2: column k"},
        {"m,n,k\n1,2\n", "line 2: 2 fields, but the header has 3"},
        {"m,n,k,dtype\n1,2,3,fp23\n", "line 2: column dtype"},
        {"m,n,k,dtype\n1,2,3,bf16\n1,2,3,fp16\n", "line 3: column dtype: fp16 after bf16"},
        {"m,n,k,dtype\n1,2,3,\n", "line 2: column dtype"},
        {"m,n,k,phase\n1,2,3,sideways\n", "line 2: column phase: value: unknown word 'sideways'"},
        {"m,n,k,batch\n16777216,16777216,1,1\n", "line 2: its operands"},
        {"m,n,k,count\n1,2,3,0\n", "line 2: column count: '0'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct workload w;
        struct err e;
        assert_int_equal(load_text(rows[i].text, &w, &e), -1);
        assert_error(&e, ERR_PARSE, rows[i].piece);
        assert_error(&e, ERR_PARSE, "mine.csv");
    }
    struct workload w;
    struct err e;
    assert_int_equal(workload_load(NULL, "/nowhere/x.csv", &w, &e), -1);
    assert_non_null(strstr(e.text, "/nowhere/x.csv"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_products_with_their_counts),
        cmocka_unit_test(a_bad_list_is_refused_naming_line_and_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
