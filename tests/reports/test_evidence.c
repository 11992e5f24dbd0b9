#include "tests/reports/fixture.h"

#include "reports/evidence.h"
#include "reports/record_view.h"

/* Sampling noise of the fixtures: 0.1 % over 64 samples. */
static const double close_enough = 1e-3;

/* ---- a base with its tables and records ---- */

struct world {
    struct gpu_table gpus;
    struct record records[3];
    struct rank_request request;
    struct evidence_base base;
};

static void open_world(struct world *w, size_t records, bool allow_simulated) {
    struct err e;
    assert_ok(gpu_table_load(&toy_data, &w->gpus, &e), &e);
    w->request = (struct rank_request){.gpus = &w->gpus,
                                       .data = &toy_data,
                                       .records = w->records,
                                       .record_count = records,
                                       .allow_simulated = allow_simulated};
    assert_ok(evidence_open(&w->base, &w->request, &e), &e);
}

static void close_world(struct world *w) {
    evidence_close(&w->base);
    gpu_table_free(&w->gpus);
    for (size_t i = 0; i < w->request.record_count; i++)
        record_free(&w->records[i]);
}

static struct evidence_subject on_gpu(const struct world *w, const char *name) {
    return (struct evidence_subject){.gpu = gpu_by_name(&w->gpus, name)};
}

static struct offer offer_of(struct world *w, const char *sku, const char *gpu) {
    struct gpu_match *match = arena_alloc(&w->gpus.arena, sizeof *match);
    match->candidates[0] = gpu_by_name(&w->gpus, gpu);
    match->count = *gpu != '\0';
    return (struct offer){
        .provider = "acme", .region = "here", .sku = sku, .device = gpu, .match = match, .device_count = 1};
}

static struct rate rate_of(struct world *w, const struct evidence_subject *s, const struct op *op) {
    struct rate r = {0};
    assert_true(evidence_rate(&w->base, s, op, &r));
    return r;
}

/* ---- grades C and D ---- */

static void takes_a_published_reference_as_grade_c(void **state) {
    (void)state;
    struct world w;
    open_world(&w, 0, false);
    struct evidence_subject alpha = on_gpu(&w, "ALPHA-16GB");
    struct op gemm = op_gemm(1024, 1024, 1024, DTYPE_BF16);
    struct op gelu = op_elementwise(OP_GELU, 1 << 20, DTYPE_BF16);
    struct rate r = rate_of(&w, &alpha, &gemm);
    assert_same(r.per_s, 80e12);
    assert_same(r.sigma, 0.10);
    assert_int_equal(r.grade, EVIDENCE_C);
    assert_false(r.unverified);
    assert_same(rate_of(&w, &alpha, &gelu).per_s, 500e9);
    close_world(&w);
}

/* BETA has no reference. Its family holds ALPHA alone: 80/100 and 8/10 of the peak, 500/1000 of the
 * bandwidth: 0.8 x 200 TFLOP/s, 0.5 x 2000 GB/s. The simulator's 1/10 has no say. */
static void takes_the_datasheet_by_the_familys_median_as_grade_d(void **state) {
    (void)state;
    struct world w;
    open_world(&w, 0, false);
    struct evidence_subject beta = on_gpu(&w, "BETA-16GB");
    struct op gemm = op_gemm(1024, 1024, 1024, DTYPE_BF16);
    struct op triad = op_elementwise(OP_TRIAD, 1 << 20, DTYPE_FP64);
    struct rate r = rate_of(&w, &beta, &gemm);
    assert_near(r.per_s, 160e12, 1e-12);
    assert_same(r.sigma, 0.20);
    assert_int_equal(r.grade, EVIDENCE_D);
    assert_true(r.unverified);
    assert_near(rate_of(&w, &beta, &triad).per_s, 1000e9, 1e-12);
    close_world(&w);
}

/* GAMMA's family has no row at all: medians over all of the 16-bit rows {0.8, 0.3} and {0.5, 0.9}: 0.55 and
 * 0.7. ALPHA's 0.8 of fp32 has no say in 16 bit. */
static void falls_back_to_the_median_of_all_families(void **state) {
    (void)state;
    struct world w;
    open_world(&w, 0, false);
    struct evidence_subject gamma = on_gpu(&w, "GAMMA-16GB");
    struct op gemm = op_gemm(1024, 1024, 1024, DTYPE_BF16);
    struct op triad = op_elementwise(OP_TRIAD, 1 << 20, DTYPE_FP64);
    assert_near(rate_of(&w, &gamma, &gemm).per_s, 55e12, 1e-12);
    assert_near(rate_of(&w, &gamma, &triad).per_s, 700e9, 1e-12);
    close_world(&w);
}

/* OLD's family has a 16-bit row (0.3) and none of fp32: ALPHA's 8/10 of another family is nearer. */
static void asks_all_families_before_another_type(void **state) {
    (void)state;
    struct world w;
    open_world(&w, 0, false);
    struct evidence_subject old = on_gpu(&w, "OLD-16GB");
    struct op gemm = op_gemm(1024, 1024, 1024, DTYPE_FP32);
    assert_near(rate_of(&w, &old, &gemm).per_s, 0.8 * 10e12, 1e-12);
    close_world(&w);
}

/* 80 TFLOP/s of ALPHA, said of DELTA too: {0.8, 0.3} and not {0.8, 0.8, 0.3}. */
static void counts_a_figure_that_two_gpus_share_once(void **state) {
    (void)state;
    struct world w;
    open_world(&w, 0, false);
    struct evidence_subject gamma = on_gpu(&w, "GAMMA-16GB");
    struct op gemm = op_gemm(1024, 1024, 1024, DTYPE_BF16);
    struct reference *shared = &w.base.references.rows[1], *first = &w.base.references.rows[0];
    assert_string_equal(first->gpu, "ALPHA-16GB");
    assert_int_equal(shared->dtype, DTYPE_FP32);
    *shared = *first;
    shared->gpu = "DELTA-1GB";
    assert_near(rate_of(&w, &gamma, &gemm).per_s, 55e12, 1e-12);
    close_world(&w);
}

static void has_no_rate_where_nothing_is_known(void **state) {
    (void)state;
    struct world w;
    struct rate r;
    open_world(&w, 0, false);
    struct evidence_subject gamma = on_gpu(&w, "GAMMA-16GB"), nobody = {0};
    struct op gemm = op_gemm(64, 64, 64, DTYPE_FP64), bf16 = op_gemm(64, 64, 64, DTYPE_BF16);
    assert_false(evidence_rate(&w.base, &gamma, &gemm, &r));
    assert_false(evidence_rate(&w.base, &nobody, &bf16, &r));
    close_world(&w);
}

static void gives_one_source_to_all_that_rests_on_one_row(void **state) {
    (void)state;
    struct world w;
    open_world(&w, 0, false);
    struct evidence_subject alpha = on_gpu(&w, "ALPHA-16GB"), beta = on_gpu(&w, "BETA-16GB");
    struct op small = op_gemm(64, 64, 64, DTYPE_BF16), large = op_gemm(4096, 4096, 4096, DTYPE_BF16);
    struct op triad = op_elementwise(OP_TRIAD, 1 << 20, DTYPE_FP64);
    size_t gemm = rate_of(&w, &alpha, &small).source;
    assert_int_equal(rate_of(&w, &alpha, &large).source, gemm);
    assert_int_not_equal(rate_of(&w, &alpha, &triad).source, gemm);
    assert_int_not_equal(rate_of(&w, &beta, &small).source, gemm);
    assert_string_equal(w.base.sources[gemm].text, "GEMM reference of ALPHA-16GB");
    struct evidence_subject epsilon = on_gpu(&w, "EPSILON-16GB");
    assert_string_equal(w.base.sources[rate_of(&w, &epsilon, &small).source].text,
                        "GEMM reference of EPSILON-16GB, unverified");
    close_world(&w);
}

/* ---- grades A and B ---- */

static const struct op gemm_small = {
    .kind = OP_GEMM, .dtype = DTYPE_BF16, .accumulate = DTYPE_FP32, .m = 512, .n = 512, .k = 512, .batch = 1};
static const struct op gemm_large = {.kind = OP_GEMM,
                                     .dtype = DTYPE_BF16,
                                     .accumulate = DTYPE_FP32,
                                     .m = 4096,
                                     .n = 4096,
                                     .k = 4096,
                                     .batch = 1};

static void measured_alpha(const char *provider, const char *sku, const char *region, struct record *out) {
    struct fixture_case cases[] = {
        {.id = "small", .op = gemm_small, .rate = 40e12},
        {.id = "large", .op = gemm_large, .rate = 70e12},
        {.id = "triad", .op = op_elementwise(OP_TRIAD, 1 << 26, DTYPE_FP64), .rate = 600e9},
        {.id = "cached", .op = op_elementwise(OP_TRIAD, 1 << 10, DTYPE_FP64), .rate = 5000e9},
    };
    struct fixture_record f = {.device = "NVIDIA Alpha",
                               .memory_bytes = 16.0 * (1 << 30),
                               .is_gpu = true,
                               .provider = provider,
                               .sku = sku,
                               .region = region,
                               .cases = cases,
                               .case_count = COUNT(cases)};
    fixture_write(&f, out);
}

static void takes_a_record_of_this_offer_as_a_and_of_its_model_as_b(void **state) {
    (void)state;
    struct world w;
    measured_alpha("ACME", "big.gpu", "here", &w.records[0]);
    open_world(&w, 1, false);
    struct offer same = offer_of(&w, "big.gpu", "ALPHA-16GB"),
                 other = offer_of(&w, "small.gpu", "ALPHA-16GB"),
                 beta = offer_of(&w, "beta.gpu", "BETA-16GB");
    struct evidence_subject s = evidence_of_offer(&w.base, &same);
    assert_non_null(s.record);
    assert_int_equal(s.grade, EVIDENCE_A);
    same.region = "elsewhere";
    s = evidence_of_offer(&w.base, &same);
    assert_int_equal(s.grade, EVIDENCE_B);
    s = evidence_of_offer(&w.base, &other);
    assert_non_null(s.record);
    assert_int_equal(s.grade, EVIDENCE_B);
    assert_null(evidence_of_offer(&w.base, &beta).record);
    close_world(&w);
}

static void a_record_made_on_another_device_is_no_evidence_for_the_offer(void **state) {
    (void)state;
    struct world w;
    measured_alpha("ACME", "beta.gpu", "here", &w.records[0]);
    open_world(&w, 1, false);
    struct offer beta = offer_of(&w, "beta.gpu", "BETA-16GB"), alpha = offer_of(&w, "beta.gpu", "ALPHA-16GB");
    assert_true(evidence_contradicts(&w.base.records[0], &beta));
    assert_null(evidence_of_offer(&w.base, &beta).record);
    assert_false(evidence_contradicts(&w.base.records[0], &alpha));
    assert_int_equal(evidence_of_offer(&w.base, &alpha).grade, EVIDENCE_A);
    close_world(&w);
}

static void a_record_without_a_region_fits_every_region(void **state) {
    (void)state;
    struct world w;
    measured_alpha("acme", "big.gpu", NULL, &w.records[0]);
    open_world(&w, 1, false);
    struct offer same = offer_of(&w, "big.gpu", "ALPHA-16GB");
    assert_int_equal(evidence_of_offer(&w.base, &same).grade, EVIDENCE_A);
    close_world(&w);
}

static void takes_the_exact_shape_before_the_nearest(void **state) {
    (void)state;
    struct world w;
    measured_alpha("acme", "big.gpu", "here", &w.records[0]);
    open_world(&w, 1, false);
    struct offer o = offer_of(&w, "big.gpu", "ALPHA-16GB");
    struct evidence_subject s = evidence_of_offer(&w.base, &o);
    struct rate exact = rate_of(&w, &s, &gemm_small);
    assert_near(exact.per_s, 40e12, close_enough);
    assert_false(exact.interpolated);
    /* 2048 cubed lies between 512 and 4096 cubed, nearer to the large one in log FLOP */
    struct op between = op_gemm(2048, 2048, 2048, DTYPE_BF16);
    struct rate near = rate_of(&w, &s, &between);
    assert_near(near.per_s, 70e12, close_enough);
    assert_true(near.interpolated);
    assert_true(near.sigma > exact.sigma);
    close_world(&w);
}

/* A dtype that was not measured falls to the next grade: 8 TFLOP/s fp32 of the references. */
static void asks_the_next_grade_for_what_a_record_lacks(void **state) {
    (void)state;
    struct world w;
    measured_alpha("acme", "big.gpu", "here", &w.records[0]);
    open_world(&w, 1, false);
    struct offer o = offer_of(&w, "big.gpu", "ALPHA-16GB");
    struct evidence_subject s = evidence_of_offer(&w.base, &o);
    struct op fp32 = op_gemm(512, 512, 512, DTYPE_FP32);
    struct rate r = rate_of(&w, &s, &fp32);
    assert_int_equal(r.grade, EVIDENCE_C);
    assert_same(r.per_s, 8e12);
    close_world(&w);
}

static void moves_bytes_at_the_bandwidth_of_the_largest_triad(void **state) {
    (void)state;
    struct world w;
    measured_alpha("acme", "big.gpu", "here", &w.records[0]);
    open_world(&w, 1, false);
    struct offer o = offer_of(&w, "big.gpu", "ALPHA-16GB");
    struct evidence_subject s = evidence_of_offer(&w.base, &o);
    struct op gelu = op_elementwise(OP_GELU, 1 << 20, DTYPE_BF16);
    assert_near(rate_of(&w, &s, &gelu).per_s, 600e9, close_enough);
    close_world(&w);
}

/* sigma^2 = within^2 + run^2 [+ node^2 unless it is the machine itself] [+ provider^2 for B]; within is
 * under 0.1 % here. run 0.03, node 0.04, provider 0.12: own 0.03, A 0.05, B 0.13. */
static void widens_with_the_distance_from_the_measured_machine(void **state) {
    (void)state;
    struct world w;
    measured_alpha("acme", "big.gpu", "here", &w.records[0]);
    open_world(&w, 1, false);
    struct evidence_subject s = {.record = &w.base.records[0], .grade = EVIDENCE_A, .own = true};
    assert_near(rate_of(&w, &s, &gemm_small).sigma, 0.03, close_enough);
    s.own = false;
    assert_near(rate_of(&w, &s, &gemm_small).sigma, 0.05, close_enough);
    s.grade = EVIDENCE_B;
    assert_near(rate_of(&w, &s, &gemm_small).sigma, 0.13, close_enough);
    close_world(&w);
}

/* ---- above the peak ---- */

/* ALPHA's datasheet: 100 TFLOP/s and 1000 GB/s; 2 % over is still believed. */
static void alpha_with(double small, double large, double triad, struct record *out) {
    struct fixture_case cases[] = {
        {.id = "small", .op = gemm_small, .rate = small},
        {.id = "large", .op = gemm_large, .rate = large},
        {.id = "triad", .op = op_elementwise(OP_TRIAD, 1 << 26, DTYPE_FP64), .rate = triad},
    };
    struct fixture_record f = {.device = "NVIDIA Alpha",
                               .memory_bytes = 16.0 * (1 << 30),
                               .is_gpu = true,
                               .cases = cases,
                               .case_count = COUNT(cases)};
    fixture_write(&f, out);
}

static void leaves_out_a_case_above_the_peak(void **state) {
    (void)state;
    struct world w;
    alpha_with(101e12, 120e12, 600e9, &w.records[0]);
    open_world(&w, 1, false);
    struct evidence_subject s = {
        .record = &w.base.records[0], .gpu = w.base.records[0].gpu, .grade = EVIDENCE_A, .own = true};
    struct rate r = rate_of(&w, &s, &gemm_large);
    assert_near(r.per_s, 101e12, close_enough); /* the other shape's */
    assert_true(r.interpolated);
    close_world(&w);
}

/* No other case, and no table stands in: the device may not be what it says. */
static void has_no_rate_of_its_own_record_when_all_are_above_the_peak(void **state) {
    (void)state;
    struct world w;
    struct rate r;
    alpha_with(120e12, 121e12, 1100e9, &w.records[0]);
    open_world(&w, 1, false);
    struct evidence_subject s = {
        .record = &w.base.records[0], .gpu = w.base.records[0].gpu, .grade = EVIDENCE_A, .own = true};
    struct op gelu = op_elementwise(OP_GELU, 1 << 20, DTYPE_BF16), attention = gemm_small;
    struct op fp32 = op_gemm(512, 512, 512, DTYPE_FP32);
    attention.kind = OP_ATTENTION;
    assert_false(evidence_rate(&w.base, &s, &gemm_large, &r));
    assert_string_equal(evidence_above_peak(&s, &gemm_large)->id, "small");
    assert_string_equal(evidence_above_peak(&s, &attention)->id, "small");
    assert_string_equal(evidence_above_peak(&s, &gelu)->id, "triad");
    assert_false(evidence_rate(&w.base, &s, &gelu, &r));
    /* what the record never measured comes from the tables as before */
    assert_null(evidence_above_peak(&s, &fp32));
    assert_same(rate_of(&w, &s, &fp32).per_s, 8e12);
    /* and it says nothing of other machines of this model */
    s = (struct evidence_subject){.record = s.record, .gpu = s.gpu, .grade = EVIDENCE_B};
    assert_same(rate_of(&w, &s, &gemm_large).per_s, 80e12);
    close_world(&w);
}

/* Two samples have no interval: 0.4 stands in for it. own: sqrt(0.4^2 + 0.03^2) = 0.40112. */
static void does_not_take_few_samples_for_sure_ones(void **state) {
    (void)state;
    struct world w;
    struct fixture_case cases[] = {{.id = "g", .op = gemm_small, .rate = 40e12, .samples = 2}};
    struct fixture_record f = {.device = "a CPU", .memory_bytes = 4e9, .cases = cases, .case_count = 1};
    fixture_write(&f, &w.records[0]);
    open_world(&w, 1, false);
    struct evidence_subject s = {.record = &w.base.records[0], .own = true};
    struct rate r = rate_of(&w, &s, &gemm_small);
    assert_near(r.sigma, 0.40112, 1e-4);
    assert_string_equal(r.doubt, "few samples");
    close_world(&w);
}

static void lets_the_slowest_rank_decide(void **state) {
    (void)state;
    struct world w;
    struct fixture_case cases[] = {{.id = "g", .op = gemm_small, .rate = 40e12, .ranks = 4, .slowest = 0.9}};
    struct fixture_record f = {.device = "NVIDIA Alpha",
                               .memory_bytes = 16.0 * (1 << 30),
                               .is_gpu = true,
                               .devices = 4,
                               .cases = cases,
                               .case_count = 1};
    fixture_write(&f, &w.records[0]);
    open_world(&w, 1, false);
    struct evidence_subject s = {.record = &w.base.records[0], .own = true};
    assert_near(rate_of(&w, &s, &gemm_small).per_s, 36e12, close_enough);
    close_world(&w);
}

/* By hand: heads x sequence as op_unfused_attention has it, forward = two GEMMs and a softmax. Two GEMMs of
 * 2 x 8 x 256 x 256 x 64 = 67 108 864 FLOP each at 1e12 take 134.218 us; the softmax's bytes at 1e11. */
static void takes_an_attention_from_its_parts(void **state) {
    (void)state;
    struct world w;
    struct op attention = op_gemm(256, 256, 64, DTYPE_FP32), parts[OP_MAX_PARTS];
    attention.kind = OP_ATTENTION;
    attention.batch = 8;
    assert_int_equal(op_unfused_attention(&attention, parts), 3);
    struct fixture_case cases[] = {
        {.id = "qk", .op = parts[0], .rate = 1e12},
        {.id = "pv", .op = parts[2], .rate = 1e12},
        {.id = "triad", .op = op_elementwise(OP_TRIAD, 1 << 24, DTYPE_FP64), .rate = 1e11}};
    struct fixture_record f = {.device = "a CPU", .memory_bytes = 4e9, .cases = cases, .case_count = 3};
    fixture_write(&f, &w.records[0]);
    open_world(&w, 1, false);
    struct evidence_subject s = {.record = &w.base.records[0], .own = true};
    double want_s = 2 * 67108864 / 1e12 + op_bytes(&parts[1]) / 1e11;
    struct rate r = rate_of(&w, &s, &attention);
    assert_near(op_flop(&attention) / r.per_s, want_s, close_enough);
    close_world(&w);
}

static void refuses_simulated_records_unless_allowed(void **state) {
    (void)state;
    struct fixture_case cases[] = {{.id = "g", .op = gemm_small, .rate = 40e12}};
    struct fixture_record f = {.device = "NVIDIA Alpha",
                               .memory_bytes = 16.0 * (1 << 30),
                               .is_gpu = true,
                               .simulated = true,
                               .cases = cases,
                               .case_count = 1};
    for (int allow = 0; allow <= 1; allow++) {
        struct world w;
        fixture_write(&f, &w.records[0]);
        open_world(&w, 1, allow);
        struct offer o = offer_of(&w, "big.gpu", "ALPHA-16GB");
        assert_int_equal(evidence_of_offer(&w.base, &o).record != NULL, allow);
        assert_int_equal(*w.base.records[0].refused == '\0', allow);
        close_world(&w);
    }
}

static void knows_the_precisions_of_gpus_and_cpus(void **state) {
    (void)state;
    struct world w;
    struct fixture_case cases[] = {{.id = "g", .op = gemm_small, .rate = 4e12}};
    struct fixture_record f = {.device = "a CPU", .memory_bytes = 4e9, .cases = cases, .case_count = 1};
    fixture_write(&f, &w.records[0]);
    open_world(&w, 1, false);
    struct evidence_subject old = on_gpu(&w, "OLD-16GB"), alpha = on_gpu(&w, "ALPHA-16GB");
    struct evidence_subject cpu = {.record = &w.base.records[0], .own = true};
    assert_false(evidence_has_precision(&old, DTYPE_BF16));
    assert_true(evidence_has_precision(&old, DTYPE_FP16));
    assert_true(evidence_has_precision(&alpha, DTYPE_BF16));
    assert_true(evidence_has_precision(&cpu, DTYPE_BF16)); /* measured */
    assert_false(evidence_has_precision(&cpu, DTYPE_FP16));
    close_world(&w);
}

/* ---- all-reduce ---- */

static void takes_the_all_reduce_of_the_same_device_count_as_verified(void **state) {
    (void)state;
    struct world w;
    struct rate r;
    bool assumed;
    open_world(&w, 0, false);
    struct evidence_subject alpha = on_gpu(&w, "ALPHA-16GB");
    assert_true(evidence_busbw(&w.base, &alpha, 8, &r, &assumed));
    assert_same(r.per_s, 60e9);
    assert_false(r.unverified || assumed);
    assert_true(evidence_busbw(&w.base, &alpha, 2, &r, &assumed));
    assert_same(r.per_s, 50e9);
    assert_true(r.unverified && !assumed);
    close_world(&w);
}

/* BETA: PCIe of 32 GB/s, bounds 0.25 to 0.64: middle sqrt(0.16) = 0.4: 12.8 GB/s; the bounds are 5 % and
 * 95 %, 1.645 sigma to each side in the logarithm: sigma = ln(2.56) / 3.29 = 0.2857. */
static void assumes_an_all_reduce_from_the_line_rate(void **state) {
    (void)state;
    struct world w;
    struct rate r;
    bool assumed;
    open_world(&w, 0, false);
    struct evidence_subject beta = on_gpu(&w, "BETA-16GB"), gamma = on_gpu(&w, "GAMMA-16GB");
    assert_true(evidence_busbw(&w.base, &beta, 8, &r, &assumed));
    assert_true(assumed && r.unverified);
    assert_near(r.per_s, 12.8e9, 1e-9);
    assert_near(r.sigma, 0.2857, 1e-3);
    assert_near(r.per_s * exp(1.6449 * r.sigma), 0.64 * 32e9, 1e-3);
    /* no link is known of GAMMA: the stated 16 GB/s */
    assert_true(evidence_busbw(&w.base, &gamma, 8, &r, &assumed));
    assert_near(r.per_s, 0.4 * 16e9, 1e-9);
    close_world(&w);
}

static void cpu_with(const char *emulated, struct record *out) {
    const struct fixture_case cases[] = {
        {.id = "wide", .op = op_gemm(256, 256, 256, DTYPE_FP32), .rate = 1e11},
        {.id = "half", .op = op_gemm(256, 256, 256, DTYPE_BF16), .rate = 9e10},
    };
    struct fixture_record f = {.device = "a CPU",
                               .memory_bytes = 4e9,
                               .emulated = emulated,
                               .cases = cases,
                               .case_count = COUNT(cases)};
    fixture_write(&f, out);
}

static void an_emulated_format_is_no_evidence(void **state) {
    (void)state;
    static const char *const facts[] = {NULL, "fp16", "bf16 fp16", "fp16 bf16", "bf16x"};
    static const bool taken[] = {true, true, false, false, true};
    const struct op half = op_gemm(256, 256, 256, DTYPE_BF16), wide = op_gemm(256, 256, 256, DTYPE_FP32);
    for (size_t i = 0; i < COUNT(facts); i++) {
        struct world w;
        struct rate rate;
        cpu_with(facts[i], &w.records[0]);
        open_world(&w, 1, false);
        struct evidence_subject s = {.record = &w.base.records[0], .own = true};
        assert_true(evidence_rate(&w.base, &s, &wide, &rate));
        assert_int_equal(evidence_rate(&w.base, &s, &half, &rate), taken[i]);
        assert_int_equal(evidence_has_precision(&s, DTYPE_BF16), taken[i]);
        close_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_a_published_reference_as_grade_c),
        cmocka_unit_test(takes_the_datasheet_by_the_familys_median_as_grade_d),
        cmocka_unit_test(falls_back_to_the_median_of_all_families),
        cmocka_unit_test(asks_all_families_before_another_type),
        cmocka_unit_test(counts_a_figure_that_two_gpus_share_once),
        cmocka_unit_test(has_no_rate_where_nothing_is_known),
        cmocka_unit_test(gives_one_source_to_all_that_rests_on_one_row),
        cmocka_unit_test(takes_a_record_of_this_offer_as_a_and_of_its_model_as_b),
        cmocka_unit_test(a_record_made_on_another_device_is_no_evidence_for_the_offer),
        cmocka_unit_test(a_record_without_a_region_fits_every_region),
        cmocka_unit_test(takes_the_exact_shape_before_the_nearest),
        cmocka_unit_test(asks_the_next_grade_for_what_a_record_lacks),
        cmocka_unit_test(moves_bytes_at_the_bandwidth_of_the_largest_triad),
        cmocka_unit_test(widens_with_the_distance_from_the_measured_machine),
        cmocka_unit_test(leaves_out_a_case_above_the_peak),
        cmocka_unit_test(has_no_rate_of_its_own_record_when_all_are_above_the_peak),
        cmocka_unit_test(does_not_take_few_samples_for_sure_ones),
        cmocka_unit_test(lets_the_slowest_rank_decide),
        cmocka_unit_test(takes_an_attention_from_its_parts),
        cmocka_unit_test(refuses_simulated_records_unless_allowed),
        cmocka_unit_test(knows_the_precisions_of_gpus_and_cpus),
        cmocka_unit_test(takes_the_all_reduce_of_the_same_device_count_as_verified),
        cmocka_unit_test(an_emulated_format_is_no_evidence),
        cmocka_unit_test(assumes_an_all_reduce_from_the_line_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
