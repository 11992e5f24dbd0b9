#include "tests/reports/fixture.h"

#include "model/gpu.h"
#include "reports/references.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void finds_a_figure_by_gpu_quantity_and_dtype(void **state) {
    (void)state;
    struct references r;
    struct err e;
    assert_ok(references_load(&toy_data, &r, &e), &e);
    assert_same(references_find(&r, "ALPHA-16GB", QUANTITY_GEMM, DTYPE_BF16, 1)->value, 80e12);
    assert_same(references_find(&r, "ALPHA-16GB", QUANTITY_GEMM, DTYPE_FP32, 1)->value, 8e12);
    assert_same(references_find(&r, "ALPHA-16GB", QUANTITY_MEMBW, DTYPE_BF16, 1)->value, 500e9);
    assert_null(references_find(&r, "ALPHA-16GB", QUANTITY_GEMM, DTYPE_FP64, 1));
    assert_null(references_find(&r, "BETA-16GB", QUANTITY_GEMM, DTYPE_BF16, 1));
    assert_true(references_find(&r, "ALPHA-16GB", QUANTITY_GEMM, DTYPE_BF16, 1)->verified);
    assert_false(references_find(&r, "EPSILON-16GB", QUANTITY_GEMM, DTYPE_BF16, 1)->verified);
    references_free(&r);
}

static void takes_bf16_for_fp16_but_never_for_fp32(void **state) {
    (void)state;
    struct references r;
    struct err e;
    assert_ok(references_load(&toy_data, &r, &e), &e);
    assert_same(references_find(&r, "ALPHA-16GB", QUANTITY_GEMM, DTYPE_FP16, 1)->value, 80e12);
    assert_null(references_find(&r, "EPSILON-16GB", QUANTITY_GEMM, DTYPE_FP32, 1));
    references_free(&r);
}

static void takes_the_nearest_device_count_for_an_all_reduce(void **state) {
    (void)state;
    struct references r;
    struct err e;
    assert_ok(references_load(&toy_data, &r, &e), &e);
    static const struct { int64_t devices, want; } rows[] = {{8, 8}, {16, 8}, {4, 4}, {2, 4}, {5, 4}, {7, 8}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(
            references_find(&r, "ALPHA-16GB", QUANTITY_ALLREDUCE_BUSBW, DTYPE_COUNT, rows[i].devices)
                ->devices,
            rows[i].want);
    references_free(&r);
}

/* Properties of the shipped table, each of which a typing error would break. */
static void ships_figures_of_known_gpus_below_their_datasheet(void **state) {
    (void)state;
    struct references r;
    struct gpu_table gpus;
    struct err e;
    assert_ok(references_load(&own_data, &r, &e), &e);
    assert_ok(gpu_table_load(&own_data, &gpus, &e), &e);
    assert_true(r.count >= 30);
    for (size_t i = 0; i < r.count; i++) {
        const struct reference *row = &r.rows[i];
        const struct gpu *gpu = gpu_by_name(&gpus, row->gpu);
        if (!gpu)
            fail_msg("references.csv names %s, which gpus.csv does not have", row->gpu);
        double top = row->quantity == QUANTITY_GEMM    ? gpu_peak(gpu, row->dtype)
                     : row->quantity == QUANTITY_MEMBW ? gpu->figures[GPU_BANDWIDTH].value
                                                       : INFINITY;
        if (!(row->value < top && row->value > 0.4 * (isinf(top) ? 0 : top)))
            fail_msg("%s: %g is not within 40 to 100 %% of %g", row->gpu, row->value, top);
        assert_true(*row->source != '\0' && row->tolerance < 0.5);
    }
    references_free(&r);
    gpu_table_free(&gpus);
}

/* An acceptance floor is what a node must reach, not what it does; 0x233b is not the SXM card's id. */
static void ships_weak_figures_marked_as_such(void **state) {
    (void)state;
    struct references r;
    struct err e;
    size_t floors = 0;
    assert_ok(references_load(&own_data, &r, &e), &e);
    for (size_t i = 0; i < r.count; i++) {
        if (!strstr(r.rows[i].source, "azurehpc-health-checks") && !strstr(r.rows[i].note, "floor"))
            continue;
        floors++;
        assert_non_null(strstr(r.rows[i].note, "floor"));
        assert_non_null(strstr(r.rows[i].note, "achieved is at least this"));
    }
    assert_int_equal(floors, 5); /* V100 twice, A100 PCIe, H100 NVL, MI300X */
    const struct reference *h200 = references_find(&r, "H200-SXM-141GB", QUANTITY_MEMBW, DTYPE_COUNT, 1);
    assert_false(h200->verified);
    assert_non_null(strstr(h200->note, "NVL"));
    references_free(&r);
}

/* 80 % of 900, 60 and 30 TFLOP/s; 90 % of 3000 GB/s: what the simulator plays. */
static void ships_what_the_simulator_plays(void **state) {
    (void)state;
    struct references r;
    struct err e;
    assert_ok(references_load(&own_data, &r, &e), &e);
    assert_same(references_find(&r, "SIM-100", QUANTITY_GEMM, DTYPE_BF16, 1)->value, 720e12);
    assert_same(references_find(&r, "SIM-100", QUANTITY_GEMM, DTYPE_FP32, 1)->value, 48e12);
    assert_same(references_find(&r, "SIM-100", QUANTITY_GEMM, DTYPE_FP64, 1)->value, 24e12);
    assert_same(references_find(&r, "SIM-100", QUANTITY_MEMBW, DTYPE_COUNT, 1)->value, 2700e9);
    references_free(&r);
}

static void ships_every_component_in_a_sane_range(void **state) {
    (void)state;
    struct uncertainty u;
    struct err e;
    assert_ok(uncertainty_load(&own_data, &u, &e), &e);
    assert_true(u.between_run < u.between_provider && u.reference_c < u.datasheet_d && u.datasheet_d < 0.5);
    assert_true(u.comm_nvlink_low < u.comm_nvlink_high && u.comm_nvlink_high < 1);
    assert_true(u.comm_pcie_low < u.comm_pcie_high && u.comm_pcie_high < 1);
    assert_same(u.spot_share_low, 0.05);
    assert_same(u.spot_share_high, 0.20);
    assert_same(u.kappa_compute, 1);
    assert_same(u.kappa_comm, 1);
}

/* ---- bad files ---- */

static void write_file(const char *folder, const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void remove_folder(const char *folder, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
    rmdir(folder);
}

#define HEADER "gpu,quantity,dtype,devices,value,unit,tolerance,source,verified,note\n"

static void names_the_place_and_the_fault_of_a_bad_reference(void **state) {
    (void)state;
    static const struct {
        const char *text, *piece;
    } rows[] = {
        {"gpu,quantity,dtype,devices,value,unit,tolerance,source,note\n", "\"verified\""},
        {HEADER "G,gem,bf16,1,80,TFLOP/s,0.1,s,yes,\n", "\"gem\""},
        {HEADER "G,gemm,bf61,1,80,TFLOP/s,0.1,s,yes,\n", "bf61"},
        {HEADER "G,gemm,bf16,1,80,GFLOP/s,0.1,s,yes,\n", "GFLOP/s"},
        {HEADER "G,gemm,bf16,1,zero,TFLOP/s,0.1,s,yes,\n", "zero"},
        {HEADER "G,gemm,bf16,1,0,TFLOP/s,0.1,s,yes,\n", "above zero"},
        {HEADER "G,gemm,bf16,0,80,TFLOP/s,0.1,s,yes,\n", "\"devices\""},
        {HEADER "G,gemm,bf16,1,80,TFLOP/s,0.1,,yes,\n", "source"},
        {HEADER "G,gemm,bf16,1,80,TFLOP/s,0.1,s,maybe,\n", "maybe"},
        {HEADER "G,gemm,bf16,1,80\n", ":2"},
        {HEADER "\nG,gemm,bf16,1,80,TFLOP/s,0.1,s,yes,\nG,gemm,bf16,1,-1,TFLOP/s,0.1,s,yes,\n", ":4"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char folder[] = "/tmp/stepcost-test-XXXXXX";
        assert_non_null(mkdtemp(folder));
        write_file(folder, "references.csv", rows[i].text);
        struct data data = {.folder = folder};
        struct references r;
        struct err e;
        assert_int_equal(references_load(&data, &r, &e), -1);
        assert_error(&e, ERR_PARSE, rows[i].piece);
        assert_error(&e, ERR_PARSE, "references.csv");
        remove_folder(folder, "references.csv");
    }
}

static void refuses_unknown_and_missing_components(void **state) {
    (void)state;
    static const struct {
        const char *text, *piece;
    } rows[] = {
        {"component,value,source\nbetween_run,0.02,s\n", "missing"},
        {"component,value,source\nbetween_moons,0.02,s\n", "between_moons"},
        {"component,value,source\nbetween_run,none,s\n", "none"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char folder[] = "/tmp/stepcost-test-XXXXXX";
        assert_non_null(mkdtemp(folder));
        write_file(folder, "uncertainty.csv", rows[i].text);
        struct data data = {.folder = folder};
        struct uncertainty u;
        struct err e;
        assert_int_equal(uncertainty_load(&data, &u, &e), -1);
        assert_error(&e, ERR_PARSE, rows[i].piece);
        remove_folder(folder, "uncertainty.csv");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_figure_by_gpu_quantity_and_dtype),
        cmocka_unit_test(takes_bf16_for_fp16_but_never_for_fp32),
        cmocka_unit_test(takes_the_nearest_device_count_for_an_all_reduce),
        cmocka_unit_test(ships_figures_of_known_gpus_below_their_datasheet),
        cmocka_unit_test(ships_weak_figures_marked_as_such),
        cmocka_unit_test(ships_what_the_simulator_plays),
        cmocka_unit_test(ships_every_component_in_a_sane_range),
        cmocka_unit_test(names_the_place_and_the_fault_of_a_bad_reference),
        cmocka_unit_test(refuses_unknown_and_missing_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
