#include "tests/reports/fixture.h"

/* ---- records with one fault each ---- */

static const struct op *toy_gemm(void) {
    /* 2 x 4096^3 = 137 GFLOP: 1.7 ms at ALPHA's 80 TFLOP/s, above the 100 us that a verdict wants */
    static const struct op op = {.kind = OP_GEMM,
                                 .dtype = DTYPE_BF16,
                                 .accumulate = DTYPE_FP32,
                                 .m = 4096,
                                 .n = 4096,
                                 .k = 4096,
                                 .batch = 1};
    return &op;
}

static struct fixture_record alpha(const struct fixture_case *cases, size_t count) {
    return (struct fixture_record){.device = "NVIDIA Alpha",
                                   .memory_bytes = 16.0 * (1 << 30),
                                   .is_gpu = true,
                                   .cases = cases,
                                   .case_count = count};
}

static struct fixture_record cpu(const struct fixture_case *cases, size_t count) {
    return (struct fixture_record){
        .device = "a CPU", .memory_bytes = 4e9, .cases = cases, .case_count = count};
}

/* Reads the findings of this record with these tables; ids are compared in order. */
static void assert_findings_by(const struct data *data, const struct fixture_record *f,
                               const char *const *ids, size_t count) {
    struct gpu_table gpus;
    struct record record;
    struct findings found;
    struct err e;
    assert_ok(gpu_table_load(data, &gpus, &e), &e);
    fixture_write(f, &record);
    assert_ok(findings_read(&record, &gpus, data, &found, &e), &e);
    for (size_t i = 0; i < found.count || i < count; i++) {
        if (i >= found.count)
            fail_msg("missing: %s", ids[i]);
        if (i >= count)
            fail_msg("too many: %s %s: %s", found.items[i].id, found.items[i].case_id, found.items[i].text);
        assert_string_equal(found.items[i].id, ids[i]);
        assert_true(*found.items[i].text != '\0');
    }
    findings_free(&found);
    record_free(&record);
    gpu_table_free(&gpus);
}

static void assert_findings(const struct fixture_record *f, const char *const *ids, size_t count) {
    assert_findings_by(&toy_data, f, ids, count);
}

#define NONE(f)    assert_findings(f, NULL, 0)
#define ONE(f, id) assert_findings(f, (const char *const[]){id}, 1)

static struct fixture_case healthy_gemm(void) {
    return (struct fixture_case){.id = "gemm", .op = *toy_gemm(), .rate = 78e12};
}

static struct fixture_case healthy_triad(void) {
    return (struct fixture_case){
        .id = "triad", .op = op_elementwise(OP_TRIAD, 1 << 28, DTYPE_FP64), .rate = 900e9};
}

static void a_healthy_record_raises_nothing(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    NONE(&f);
    f = cpu(cases, COUNT(cases));
    NONE(&f);
    f.case_count = 0;
    NONE(&f);
}

/* ---- how a case ended ---- */

static void names_how_a_case_failed(void **state) {
    (void)state;
    static const struct {
        const char *reason, *id;
    } rows[] = {
        {"rank 0: wrong result: 8 of 68 sampled elements; C[17] is 3 where 2 +- 1e-6 is right",
         "wrong_result"},
        {"rank 0: no answer for 5.00 s; killed", "worker_hung"},
        {"rank 3: worker killed by signal 9 (Killed)", "worker_died"},
        {"rank 3: worker exited with status 1", "worker_died"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture_case cases[] = {
            {.id = "gemm", .op = *toy_gemm(), .status = CASE_FAILED, .reason = rows[i].reason},
            healthy_triad()};
        struct fixture_record f = alpha(cases, COUNT(cases));
        ONE(&f, rows[i].id);
    }
}

static void a_case_that_cannot_run_here_is_no_finding(void **state) {
    (void)state;
    struct fixture_case cases[] = {{.id = "gemm",
                                    .op = *toy_gemm(),
                                    .status = CASE_NOT_TESTED,
                                    .reason = "no answer for this type on this device"}};
    struct fixture_record f = alpha(cases, COUNT(cases));
    NONE(&f);
}

/* ---- throttled, unsteady ---- */

static double slower_in_the_second_half(size_t i, size_t n) {
    return i < n / 2 ? 1 : 1 / 0.7;
}

static double clock_falls_in_the_second_half(size_t i, size_t n) {
    return i < n / 2 ? 1.5e9 : 0.7 * 1.5e9;
}

static double steady_clock(size_t i, size_t n) {
    (void)i, (void)n;
    return 1.5e9;
}

/* Seconds: grows by half of a case that lasts n samples of 1.76 ms (137 GFLOP at 78 TFLOP/s). */
static double counter_grows(size_t i, size_t n) {
    return i < n / 2 ? 3 : 3 + 1.76e-3 * (double)(i - n / 2);
}

static double counter_stands(size_t i, size_t n) {
    (void)i, (void)n;
    return 3;
}

static void calls_a_case_throttled_and_not_also_unsteady(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    cases[0].slowdown = slower_in_the_second_half;
    cases[0].clock_hz = clock_falls_in_the_second_half;
    ONE(&f, "throttled");
    cases[0].clock_hz = steady_clock;
    cases[0].throttled_s = counter_grows;
    ONE(&f, "throttled");
}

/* Throttled from its first sample: the rate is steady and low, and only the counter tells. The low rate is
 * not held against the device. */
static void knows_a_throttled_case_by_its_counter_alone(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    cases[0].rate = 0.7 * 78e12;
    cases[0].throttled_s = counter_grows;
    ONE(&f, "throttled");
}

static void a_counter_that_stands_is_history(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    cases[0].throttled_s = counter_stands;
    NONE(&f);
}

static void a_clock_that_falls_without_loss_is_no_finding(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    cases[1].clock_hz = clock_falls_in_the_second_half; /* memory does not follow the clock */
    NONE(&f);
}

static void calls_a_shift_without_a_cause_unsteady(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    cases[0].slowdown = slower_in_the_second_half;
    ONE(&f, "unsteady");
    cases[0].clock_hz = steady_clock;
    cases[0].throttled_s = counter_stands;
    ONE(&f, "unsteady");
}

/* ---- quota, heat, contaminated ---- */

/* Reads the text of the first finding. */
static void assert_first_text(const struct fixture_record *f, const char *words) {
    struct gpu_table gpus;
    struct record record;
    struct findings found;
    struct err e;
    assert_ok(gpu_table_load(&toy_data, &gpus, &e), &e);
    fixture_write(f, &record);
    assert_ok(findings_read(&record, &gpus, &toy_data, &found, &e), &e);
    assert_true(found.count > 0);
    if (!strstr(found.items[0].text, words))
        fail_msg("\"%s\" does not say \"%s\"", found.items[0].text, words);
    findings_free(&found);
    record_free(&record);
    gpu_table_free(&gpus);
}

/* The counter grows from row 32 on, with the rows at the samples' own beginnings: samples 32 to 62 of 0
 * to 63. */
static void tells_a_quota_from_heat(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    cases[0].throttled_s = counter_grows;
    struct fixture_record f = cpu(cases, COUNT(cases));
    ONE(&f, "throttled");
    assert_first_text(&f, "CPU quota");
    assert_first_text(&f, "within 31 of 64 samples");
    f = alpha(cases, COUNT(cases));
    assert_first_text(&f, "cooling and power limit");
    struct record_host hot = record_host_unknown();
    hot.window_s = 2, hot.thermal_throttled_s = 0.5;
    cases[0] = healthy_gemm();
    cases[0].host = &hot;
    f = cpu(cases, COUNT(cases));
    ONE(&f, "throttled");
    assert_first_text(&f, "too hot for 0.50 of 2.00 s");
    hot.thermal_throttled_s = 0.01;
    NONE(&f);
}

/* Of 64 CPUs 5 % are 3.2; a CPU device is disturbed by more than half of one, because its slowest thread
 * decides. Of 2 CPUs 5 % are 0.1. Under 0.05 s the kernel's ticks say nothing. */
static void knows_a_contaminated_case_by_the_time_of_others(void **state) {
    (void)state;
    static const struct {
        double window_s, cpus, others_s, steal_s;
        bool gpu, finding;
    } rows[] = {
        {2, 2, 0.21, 0, false, true},  {2, 2, 0.19, 0, false, false},   {2, 64, 1.1, 0, false, true},
        {2, 64, 0.9, 0, false, false}, {2, 64, 6.3, 0, true, false},    {2, 64, 6.5, 0, true, true},
        {2, 2, 0, 0.21, false, true},  {0.1, 2, 0.04, 0, false, false}, {2, 2, NAN, NAN, false, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct record_host host = record_host_unknown();
        host.window_s = rows[i].window_s, host.cpus = rows[i].cpus;
        host.others_cpu_s = rows[i].others_s, host.steal_s = rows[i].steal_s;
        host.busiest = "cc1 0.20 s";
        struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
        cases[0].host = &host;
        struct fixture_record f = rows[i].gpu ? alpha(cases, COUNT(cases)) : cpu(cases, COUNT(cases));
        static const char *const ids[] = {"contaminated"};
        assert_findings(&f, ids, rows[i].finding);
        if (rows[i].finding)
            assert_first_text(&f, rows[i].steal_s > 0 ? "steal" : "cc1 0.20 s");
    }
}

/* The kernel's threads write a folder's files; on a GEMM they are as much others as any. */
static void of_a_folder_the_kernels_threads_are_no_others(void **state) {
    (void)state;
    static const struct {
        bool file;
        double kernel_s;
        bool finding;
    } rows[] = {{true, 0.4, false}, {true, 0.1, true}, {true, NAN, true}, {false, 0.4, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct record_host host = record_host_unknown();
        host.window_s = 2, host.cpus = 2, host.others_cpu_s = 0.45, host.kernel_cpu_s = rows[i].kernel_s;
        struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
        cases[0].host = &host;
        if (rows[i].file)
            cases[0].op = op_file(OP_FILE_WRITE, 64, 1 << 20, 1, 1);
        struct fixture_record f = cpu(cases, COUNT(cases));
        static const char *const ids[] = {"contaminated"};
        assert_findings(&f, ids, rows[i].finding);
    }
}

/* 73 of 80 TFLOP/s would do, 40 would not: but others were at work. */
static void what_others_took_is_not_held_against_the_device(void **state) {
    (void)state;
    struct record_host host = record_host_unknown();
    host.window_s = 2, host.cpus = 4, host.others_cpu_s = 1;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    cases[0].rate = 40e12;
    ONE(&f, "slow_device");
    cases[0].host = &host;
    cases[0].slowdown = slower_in_the_second_half;
    ONE(&f, "contaminated");
}

/* ---- outliers ---- */

static double every_20th_takes_5_times_as_long(size_t i, size_t n) {
    (void)n;
    return i % 20 == 7 ? 5 : 1;
}

static double two_take_5_times_as_long(size_t i, size_t n) {
    (void)n;
    return i == 20 || i == 41 ? 5 : 1;
}

static double every_20th_takes_a_third_longer(size_t i, size_t n) {
    (void)n;
    return i % 20 == 7 ? 1.33 : 1;
}

/* 256 samples: 13 outliers are 5 %. The rate of 78 TFLOP/s falls to 78 / 1.2 = 65, 81 % of the reference: the
 * outliers are the cause. */
static void counts_outliers(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = cpu(cases, COUNT(cases));
    cases[0].samples = 256;
    cases[0].slowdown = every_20th_takes_5_times_as_long;
    ONE(&f, "outliers");
    cases[0].slowdown = two_take_5_times_as_long;
    NONE(&f);
    cases[0].slowdown = every_20th_takes_a_third_longer;
    NONE(&f);
}

/* 4 cases of 64 samples with 2 outliers each: too few in any case, 8 of 256 in all. */
static void adds_up_outliers_that_are_few_in_every_case(void **state) {
    (void)state;
    struct fixture_case cases[4];
    for (size_t i = 0; i < COUNT(cases); i++)
        cases[i] = healthy_triad();
    cases[0].id = "a", cases[1].id = "b", cases[2].id = "c", cases[3].id = "d";
    struct fixture_record f = cpu(cases, COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++)
        cases[i].slowdown = two_take_5_times_as_long;
    ONE(&f, "outliers");
    f.case_count = 1;
    NONE(&f);
}

static void outliers_are_not_held_against_the_device(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    cases[0].samples = 256;
    cases[0].slowdown = every_20th_takes_5_times_as_long;
    ONE(&f, "outliers");
}

/* ---- slow_device ---- */

/* References of ALPHA: 80 TFLOP/s with a tolerance of 10 %: 72; datasheet 1000 GB/s, of which 85 %. */
static void holds_a_gpu_against_its_references(void **state) {
    (void)state;
    static const struct {
        double gemm, triad;
        size_t findings;
    } rows[] = {{73e12, 860e9, 0}, {71e12, 860e9, 1}, {73e12, 840e9, 1}, {40e12, 500e9, 2}};
    static const char *const ids[] = {"slow_device", "slow_device"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
        struct fixture_record f = alpha(cases, COUNT(cases));
        cases[0].rate = rows[i].gemm;
        cases[1].rate = rows[i].triad;
        assert_findings(&f, ids, rows[i].findings);
    }
}

/* 2 x 1024^3 = 2.1 GFLOP take 27 us at the reference rate: too short to judge a device by. */
static void judges_a_device_by_long_products_only(void **state) {
    (void)state;
    struct fixture_case cases[] = {
        {.id = "small", .op = op_gemm(1024, 1024, 1024, DTYPE_BF16), .rate = 20e12}};
    struct fixture_record f = alpha(cases, COUNT(cases));
    NONE(&f);
}

static void an_unknown_device_gets_no_verdict(void **state) {
    (void)state;
    struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
    struct fixture_record f = alpha(cases, COUNT(cases));
    cases[0].rate = 1e12;
    cases[1].rate = 1e9;
    f.device = "NVIDIA Unheard Of";
    NONE(&f);
}

/* ---- above_peak ---- */

/* Datasheet of ALPHA: 100 TFLOP/s, 1000 GB/s; 2 % over is still believed. */
static void refuses_rates_above_the_datasheet(void **state) {
    (void)state;
    static const struct {
        double gemm, triad;
        size_t findings;
    } rows[] = {{101e12, 1010e9, 0}, {103e12, 1010e9, 1}, {101e12, 1030e9, 1}};
    static const char *const ids[] = {"above_peak"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture_case cases[] = {healthy_gemm(), healthy_triad()};
        struct fixture_record f = alpha(cases, COUNT(cases));
        cases[0].rate = rows[i].gemm;
        cases[1].rate = rows[i].triad;
        assert_findings(&f, ids, rows[i].findings);
    }
}

/* A CPU is held against its own register-only loop, of the same type. */
static void refuses_a_cpus_product_above_the_calibrated_peak(void **state) {
    (void)state;
    struct fixture_case cases[] = {
        {.id = "fma32", .op = op_elementwise(OP_FMA, 1 << 27, DTYPE_FP32), .rate = 100e9},
        {.id = "fma64", .op = op_elementwise(OP_FMA, 1 << 27, DTYPE_FP64), .rate = 50e9},
        {.id = "g32", .op = op_gemm(1024, 1024, 1024, DTYPE_FP32), .rate = 95e9},
        {.id = "g64", .op = op_gemm(1024, 1024, 1024, DTYPE_FP64), .rate = 47e9},
    };
    struct fixture_record f = cpu(cases, COUNT(cases));
    NONE(&f);
    cases[3].rate = 60e9;
    ONE(&f, "above_peak");
}

/* ---- a capped device ---- */

/* H20: 148 TFLOP/s dense by its own cap; by SMs and clock it would be about 600. No published rate: below 60
 * % of the cap (89) it is slow, above 102 % (151) it is no H20. 95.6 GiB as a driver reports its 96 GB. */
static struct fixture_record h20(const struct fixture_case *cases) {
    return (struct fixture_record){.device = "NVIDIA H20",
                                   .memory_bytes = 97871.0 * 1048576,
                                   .is_gpu = true,
                                   .cases = cases,
                                   .case_count = 1};
}

static void an_h20_is_held_against_its_own_peak(void **state) {
    (void)state;
    static const struct {
        double rate;
        const char *id; /* NULL = healthy */
    } rows[] = {
        {140e12, NULL}, {150e12, NULL}, {91e12, NULL}, {87e12, "slow_device"}, {155e12, "above_peak"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture_case gemm = {
            .id = "gemm", .op = op_gemm(8192, 8192, 8192, DTYPE_BF16), .rate = rows[i].rate};
        struct fixture_record f = h20(&gemm);
        assert_findings_by(&own_data, &f, &rows[i].id, rows[i].id != NULL);
    }
}

/* p5.48xlarge is 8 x H100 SXM, and an Azure ND96isr_H100_v5 too; "node-8" says nothing. */
static void an_h20_that_was_sold_as_an_h100_is_the_wrong_device(void **state) {
    (void)state;
    static const struct {
        const char *sku;
        bool wrong;
    } rows[] = {
        {"p5.48xlarge", true}, {"Standard_ND96isr_H100_v5", true}, {"8x-H20-128", false}, {"node-8", false}};
    static const char *const ids[] = {"wrong_device"};
    struct fixture_case gemm = {.id = "gemm", .op = op_gemm(8192, 8192, 8192, DTYPE_BF16), .rate = 140e12};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture_record f = h20(&gemm);
        f.provider = "x";
        f.sku = rows[i].sku;
        assert_findings_by(&own_data, &f, ids, rows[i].wrong);
    }
}

/* ---- blas_core ---- */

static void knows_a_blas_core_that_does_not_fit_the_cpu(void **state) {
    (void)state;
    static const char avx2[] = "avx avx2 fma", avx512[] = "avx avx2 fma avx512f avx512bw", avx[] = "avx";
    static const struct {
        const char *core, *features, *forced;
        bool finding;
    } rows[] = {
        {"Haswell", avx2, NULL, false},       {"Zen", avx2, NULL, false},
        {"SkylakeX", avx512, NULL, false},    {"Sandybridge", avx, NULL, false},
        {"Haswell", avx512, NULL, false},     {"Zen", avx512, NULL, false},
        {"Haswell", avx512, "Haswell", true}, {"Haswell", avx2, "Haswell", false},
        {"Prescott", avx2, "Prescott", true}, {"Prescott", avx2, NULL, true},
        {"Sandybridge", avx2, NULL, true},    {"Nehalem", avx512, NULL, true},
        {"Core2", avx512, NULL, true},        {"SkylakeX", avx2, "SkylakeX", true},
        {"Haswell", avx, NULL, true},         {"NeoverseN1", "asimd", NULL, false},
        {"Prescott", NULL, NULL, false},      {NULL, avx2, NULL, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture_record f = cpu(NULL, 0);
        f.core = rows[i].core;
        f.features = rows[i].features;
        f.forced_core = rows[i].forced;
        static const char *const ids[] = {"blas_core"};
        assert_findings(&f, ids, rows[i].finding);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_record_raises_nothing),
        cmocka_unit_test(names_how_a_case_failed),
        cmocka_unit_test(a_case_that_cannot_run_here_is_no_finding),
        cmocka_unit_test(calls_a_case_throttled_and_not_also_unsteady),
        cmocka_unit_test(knows_a_throttled_case_by_its_counter_alone),
        cmocka_unit_test(a_counter_that_stands_is_history),
        cmocka_unit_test(a_clock_that_falls_without_loss_is_no_finding),
        cmocka_unit_test(calls_a_shift_without_a_cause_unsteady),
        cmocka_unit_test(tells_a_quota_from_heat),
        cmocka_unit_test(knows_a_contaminated_case_by_the_time_of_others),
        cmocka_unit_test(of_a_folder_the_kernels_threads_are_no_others),
        cmocka_unit_test(what_others_took_is_not_held_against_the_device),
        cmocka_unit_test(counts_outliers),
        cmocka_unit_test(adds_up_outliers_that_are_few_in_every_case),
        cmocka_unit_test(outliers_are_not_held_against_the_device),
        cmocka_unit_test(holds_a_gpu_against_its_references),
        cmocka_unit_test(judges_a_device_by_long_products_only),
        cmocka_unit_test(an_unknown_device_gets_no_verdict),
        cmocka_unit_test(refuses_rates_above_the_datasheet),
        cmocka_unit_test(refuses_a_cpus_product_above_the_calibrated_peak),
        cmocka_unit_test(an_h20_is_held_against_its_own_peak),
        cmocka_unit_test(an_h20_that_was_sold_as_an_h100_is_the_wrong_device),
        cmocka_unit_test(knows_a_blas_core_that_does_not_fit_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
