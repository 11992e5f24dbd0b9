#include "bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static struct plan plan_for(const char *const *disks, size_t count, double disk_bytes) {
    struct err e;
    struct plan p = {0};
    struct device_info d = {.name = "x"};
    struct plan_request r = {
        .device = &d, .seconds = 4, .disks = disks, .disk_count = count, .disk_bytes = disk_bytes};
    assert_int_equal(bench_find("disk")->plan(&r, &p, &e), 0);
    return p;
}

/* What lies on the disk at once: all blocks or files of a reading op, what one pass writes of the others. */
static double space_bytes(const struct op *op) {
    bool writes = op->kind == OP_FILE_WRITE || op->kind == OP_FILE_SYNC;
    return (double)(writes ? op->m : op->k) * (double)op->n;
}

static void a_large_disk_gets_a_gibibyte_and_ten_thousand_files(void **state) {
    static const char *const disks[] = {"/data"};
    (void)state;
    struct plan p = plan_for(disks, 1, 4e9);
    double most = 0;
    int64_t files = 0;
    assert_int_equal(p.count, 7);
    for (size_t i = 0; i < p.count; i++) {
        const struct op *op = &p.cases[i].op;
        assert_string_equal(p.cases[i].backend, "disk");
        assert_string_equal(p.cases[i].folder, "/data");
        most = space_bytes(op) > most ? space_bytes(op) : most;
        files = op->kind == OP_FILE_SMALL ? op->k : files;
    }
    assert_int_equal(files, 10000);
    assert_true(most < 1.2e9);
    plan_free(&p);
}

static void a_small_disk_gets_less_than_it_allows(void **state) {
    static const char *const disks[] = {"/data"};
    static const double allowed[] = {22e6, 50e6, 100e6, 1e9};
    (void)state;
    for (size_t k = 0; k < sizeof allowed / sizeof allowed[0]; k++) {
        struct plan p = plan_for(disks, 1, allowed[k]);
        for (size_t i = 0; i < p.count; i++) {
            const struct op *op = &p.cases[i].op;
            assert_true(space_bytes(op) < allowed[k]);
            assert_true(op->kind == OP_FILE_WRITE || op->kind == OP_FILE_SYNC || op->k >= op->m);
            if (op->kind == OP_FILE_TAR || op->kind == OP_FILE_READ) /* most of it is used */
                assert_true(allowed[k] >= 1.5e9 || space_bytes(op) > 0.65 * allowed[k]);
        }
        plan_free(&p);
    }
}

static void each_folder_has_cases_of_its_own(void **state) {
    static const char *const disks[] = {"/a", "/b", "/c"};
    (void)state;
    struct plan p = plan_for(disks, 3, 4e9);
    assert_int_equal(p.count, 21);
    for (size_t i = 0; i < p.count; i++) {
        assert_string_equal(p.cases[i].folder, disks[i / 7]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(p.cases[i].id, p.cases[j].id);
    }
    plan_free(&p);
}

/* Nothing is written where nobody asked for it. */
static void no_folder_means_no_case(void **state) {
    (void)state;
    struct plan p = plan_for(NULL, 0, 4e9);
    assert_int_equal(p.count, 0);
    plan_free(&p);
}

static void accept_measures_the_disk_within_its_promise_and_smoke_does_not(void **state) {
    static const char *const disks[] = {"/a"};
    struct device_info cpu = {.name = "x", .memory_bytes = 24e9, .free_bytes = 20e9, .cache_bytes = 32e6};
    struct plan_request r = {
        .device = &cpu, .devices = 1, .disks = disks, .disk_count = 1, .disk_bytes = 256e6};
    (void)state;
    for (int t = TIER_SMOKE; t <= TIER_ACCEPT; t++) {
        struct plan p = {0};
        struct err e;
        size_t count = 0;
        assert_int_equal(tier_plan((enum tier)t, &r, &p, &e), 0);
        for (size_t i = 0; i < p.count; i++)
            count += strcmp(p.cases[i].bench, "disk") == 0;
        assert_int_equal(count, t == TIER_ACCEPT ? 7 : 0);
        assert_true(plan_seconds(&p) < tier_seconds((enum tier)t));
        plan_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_disk_gets_a_gibibyte_and_ten_thousand_files),
        cmocka_unit_test(a_small_disk_gets_less_than_it_allows),
        cmocka_unit_test(each_folder_has_cases_of_its_own),
        cmocka_unit_test(no_folder_means_no_case),
        cmocka_unit_test(accept_measures_the_disk_within_its_promise_and_smoke_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
