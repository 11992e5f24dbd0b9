#include "tests/reports/rank_fixture.h"

#include "base/units.h"
#include "reports/goodput.h"

#include <stdlib.h>
#include <time.h>

/* ---- seconds and cost by hand ---- */

/* FLOP of a step by hand: 8 x 32 = 256 tokens; matrices of a layer 4 h^2 + 2 h f = 16384 + 32768 = 49152,
 * two layers 98304, head h V = 64 x 1024 = 65536: 163840 multiply-adds, 6 FLOP each in training = 983040;
 * attention 12 L h T = 12 x 2 x 64 x 32 = 49152. 256 x 1032192 = 264 241 152 FLOP, at 80 TFLOP/s. */
static const double step_flop = 264241152.0;

static void costs_what_arithmetic_says(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 2);
    rank(&w);
    const struct rank_row *r = row_of(&w, "acme a");
    assert_near(r->compute_s, step_flop / 80e12, 1e-9);
    assert_near(r->compute_s + r->memory_s + r->optimizer_s + r->exposed_comm_s + r->straggler_s,
                r->step_s.mid, 1e-12);
    assert_same(r->exposed_comm_s, 0);
    assert_same(r->straggler_s, 0);
    assert_near(r->cost.mid, 2.0 / 3600 * r->step_s.mid, 1e-12);
    assert_near(r->cost_per_mega, r->cost.mid / 256 * 1e6, 1e-12);
    assert_int_equal(r->evidence, EVIDENCE_C);
    assert_int_equal(r->layout.dtype, DTYPE_BF16);
    assert_int_equal(w.ranking.on_demand, 1);
    assert_true(r->step_s.low < r->step_s.mid && r->step_s.mid < r->step_s.high);
    close_world(&w);
}

/* ALPHA against BETA: 80 and 0.8 x 200 TFLOP/s, 500 and 0.5 x 2000 GB/s: BETA is exactly twice as fast. */
static void a_device_twice_as_fast_at_the_double_price_costs_the_same(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "b", "BETA-16GB", 2);
    rank(&w);
    assert_near(row_of(&w, "acme b")->step_s.mid, row_of(&w, "acme a")->step_s.mid / 2, 1e-9);
    assert_near(row_of(&w, "acme b")->cost.mid, row_of(&w, "acme a")->cost.mid, 1e-9);
    close_world(&w);
}

/* Two devices of one node: half of the batch each; gradients of 170 000 parameters in bf16 = 340 000 bytes
 * are one bucket, all of it exposed: 2 (n-1)/n S / busbw = 340000 / 50e9 = 6.8 us. */
static void exposes_a_single_bucket_in_full(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 2)->device_count = 2;
    rank(&w);
    const struct rank_row *r = row_of(&w, "acme a");
    assert_near(r->exposed_comm_s, 6.8e-6, 1e-9);
    assert_near(r->compute_s, step_flop / 2 / 80e12, 1e-9);
    assert_false(r->comm_assumed);
    assert_true(r->unverified); /* the all-reduce is that of 4 devices */
    assert_true(r->straggler_s > 0);
    close_world(&w);
}

static void marks_an_all_reduce_that_is_assumed(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "b", "BETA-16GB", 2)->device_count = 4;
    rank(&w);
    assert_true(row_of(&w, "acme b")->comm_assumed);
    assert_non_null(strstr(row_of(&w, "acme b")->dominant, "all-reduce of BETA-16GB, assumed"));
    close_world(&w);
}

/* ---- ties ---- */

static void two_offers_on_one_gpu_differ_by_price_alone(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "dear", "ALPHA-16GB", 1.01);
    add_offer(&w, "cheap", "ALPHA-16GB", 1);
    rank(&w);
    assert_string_equal(w.rows[0].label, "acme cheap");
    assert_string_equal(w.rows[1].label, "acme dear");
    assert_true(isnan(w.rows[0].p_leader));
    assert_same(w.rows[1].p_leader, 1);
    assert_int_equal(w.rows[0].tie, 1);
    assert_int_equal(w.rows[1].tie, 2);
    close_world(&w);
}

static void a_price_within_the_catalogues_rounding_is_a_tie(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "west", "ALPHA-16GB", 21.95764);
    add_offer(&w, "east", "ALPHA-16GB", 21.957642);
    rank(&w);
    assert_same(w.rows[1].p_leader, 0.5);
    assert_int_equal(w.rows[1].tie, 1);
    assert_true(next_says(&w, "one device model"));
    close_world(&w);
}

/* Different devices at equal cost: sigma 0.1 and 0.2, so P is near 1/2; at a tenth of the price it is 1. */
static void different_evidence_ties_unless_the_gap_is_wide(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    struct offer *b = add_offer(&w, "b", "BETA-16GB", 2.02);
    rank(&w);
    assert_true(row_of(&w, "acme b")->p_leader > 0.4 && row_of(&w, "acme b")->p_leader < 0.7);
    assert_int_equal(row_of(&w, "acme b")->tie, 1);
    b->price.per_hour.amount = 20;
    rank(&w);
    assert_same(row_of(&w, "acme b")->p_leader, 1);
    assert_int_equal(row_of(&w, "acme b")->tie, 2);
    close_world(&w);
}

/* The gap of 4 % is sure between two ALPHAs; BETA's doubt covers it: number 1 holds both ends. */
static void a_doubtful_row_joins_the_first_group_past_a_sure_one(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a1", "ALPHA-16GB", 1);
    add_offer(&w, "a2", "ALPHA-16GB", 1.04);
    add_offer(&w, "b", "BETA-16GB", 2.10);
    rank(&w);
    assert_string_equal(w.rows[2].label, "acme b");
    assert_int_equal(w.rows[0].tie, 1);
    assert_int_equal(w.rows[1].tie, 2);
    assert_int_equal(w.rows[2].tie, 1);
    close_world(&w);
}

static void the_same_seed_gives_the_same_digits_whatever_the_order(void **state) {
    (void)state;
    struct world one, two;
    open_world(&one);
    open_world(&two);
    add_offer(&one, "a", "ALPHA-16GB", 1);
    add_offer(&one, "b", "BETA-16GB", 2.02);
    add_offer(&two, "b", "BETA-16GB", 2.02);
    add_offer(&two, "a", "ALPHA-16GB", 1);
    rank(&one);
    rank(&two);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(one.rows[i].label, two.rows[i].label);
        assert_same(one.rows[i].cost.low, two.rows[i].cost.low);
        assert_same(one.rows[i].p_leader, two.rows[i].p_leader);
    }
    close_world(&one);
    close_world(&two);
}

/* Compute and memory with sigma 0.1 each: the interval of the step is a 90 % one, narrower than exp(+-0.1645)
 * because the two move apart, and wider than that of the larger part alone. */
static void the_interval_is_that_of_its_sources(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    w.request.draws = 20000;
    rank(&w);
    const struct rank_row *r = &w.rows[0];
    double share = r->compute_s / r->step_s.mid; /* two independent parts */
    double sigma = 0.1 * hypot(share, 1 - share);
    assert_near(log(r->step_s.high / r->step_s.low) / (2 * 1.6449), sigma, 0.03);
    close_world(&w);
}

static void names_the_dominant_uncertainty(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "e", "EPSILON-16GB", 1);
    w.workload.hidden = 4096; /* products outweigh bytes */
    w.workload.ffn = 16384;
    w.workload.sequence = 1024;
    w.workload.parameters = 5e8;
    rank(&w);
    assert_string_equal(w.rows[0].dominant, "GEMM reference of EPSILON-16GB, unverified");
    assert_true(w.rows[0].unverified);
    close_world(&w);
}

/* ---- break-even ---- */

static void at_its_break_even_price_a_row_costs_what_the_leader_costs(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    struct offer *b = add_offer(&w, "b", "BETA-16GB", 5), *s = add_offer(&w, "s", "BETA-16GB", 0.5);
    struct offer *t = add_offer(&w, "t", "ALPHA-16GB", 3);
    s->term = t->term = TERM_SPOT;
    rank(&w);
    double leader = row_of(&w, "acme a")->cost.mid, spot_leader = row_of(&w, "acme s")->cost.mid;
    b->price.per_hour.amount = row_of(&w, "acme b")->break_even_per_hour;
    t->price.per_hour.amount = row_of(&w, "acme t")->break_even_per_hour;
    assert_near(b->price.per_hour.amount, 2, 1e-9); /* BETA is twice as fast */
    rank(&w);
    assert_near(row_of(&w, "acme b")->cost.mid, leader, 1e-12);
    assert_near(row_of(&w, "acme t")->cost.mid, spot_leader, 1e-12);
    close_world(&w);
}

/* ---- spot ---- */

static void spot_rows_stand_apart_with_their_goodput(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "s", "ALPHA-16GB", 0.3)->term = TERM_SPOT;
    rank(&w);
    assert_int_equal(w.ranking.on_demand, 1);
    assert_int_equal(w.ranking.spot, 1);
    assert_string_equal(w.rows[0].label, "acme a"); /* dearer, and still first */
    const struct rank_row *s = &w.rows[1];
    /* shares of 5 % and 20 % a month: 14 232 h and 3 271 h */
    assert_near(s->goodput_low, goodput_factor(60, 600, 14232 * 3600.0), 1e-6);
    assert_near(s->goodput_high, goodput_factor(60, 600, 3271 * 3600.0), 1e-6);
    assert_true(s->goodput_low > 1 && s->goodput_low < s->goodput_high);
    assert_near(s->cost.mid, 0.3 / 3600 * s->step_s.mid * (s->goodput_low + s->goodput_high) / 2, 1e-12);
    assert_int_not_equal(s->tie, w.rows[0].tie);
    assert_same(w.rows[0].goodput_high, 1);
    close_world(&w);
}

/* ---- a job's limits ---- */

/* A run of 10^6 steps on ALPHA at $1: sigma 0.1, so its 90 % interval is within -25 and +25 % of the mean.
 * What is left out says the least that would be needed: of "dear" ten times the low end of "a". */
static void drops_what_surely_breaks_the_deadline_or_the_budget(void **state) {
    (void)state;
    struct world w;
    struct job job = {.path = "job.json", .steps = 1e6, .tokens = NAN, .samples = NAN, .deadline_s = NAN};
    job.budget = money_unknown();
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "dear", "ALPHA-16GB", 10);
    add_offer(&w, "quick", "BETA-16GB", 3); /* twice as fast */
    w.request.job = &job;
    rank(&w);
    assert_int_equal(w.ranking.count, 3);
    double run_s = 1e6 * row_of(&w, "acme a")->step_s.mid, low_s = 1e6 * row_of(&w, "acme a")->step_s.low;
    char needs[64], least[32];
    job.budget = money_make(run_s / 3600 * 4, "USD");
    rank(&w);
    assert_int_equal(w.ranking.count, 2);
    snprintf(needs, sizeof needs, "the cheapest costs %s",
             money_format(money_make(low_s / 3600 * 10, "USD"), least));
    assert_reason(&w, "over the budget", 1);
    assert_reason(&w, needs, 1);
    job.deadline_s = run_s * 0.7;
    rank(&w);
    snprintf(needs, sizeof needs, "the quickest needs %s", units_format_duration(low_s, least));
    assert_reason(&w, needs, 2);
    assert_int_equal(w.ranking.count, 1);
    assert_string_equal(w.rows[0].label, "acme quick");
    assert_reason(&w, "misses the deadline", 2); /* "dear" is late, too: the first reason counts */
    job.deadline_s = run_s * 0.95;               /* may be kept */
    rank(&w);
    assert_int_equal(w.ranking.count, 2);
    close_world(&w);
}

static void a_budget_in_another_currency_is_refused(void **state) {
    (void)state;
    struct world w;
    struct err e;
    struct job job = {.path = "job.json", .steps = 10, .tokens = NAN, .samples = NAN, .deadline_s = NAN};
    job.budget = money_make(5, "EUR");
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    w.request.job = &job;
    assert_int_equal(rank_offers(&w.request, &w.ranking, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "--currency EUR"));
    close_world(&w);
}

/* The toy table writes 1 GB/s: a checkpoint of 60 GB takes the 60 s that the request states otherwise. */
static void a_checkpoint_takes_the_time_of_its_bytes_unless_it_is_stated(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    w.workload.checkpoint_bytes = 60e9;
    add_offer(&w, "s", "ALPHA-16GB", 1)->term = TERM_SPOT;
    rank(&w);
    double stated = w.rows[0].goodput_high;
    w.request.checkpoint_s = NAN;
    rank(&w);
    assert_same(w.ranking.checkpoint_s, 60);
    assert_same(w.rows[0].goodput_high, stated);
    w.workload.checkpoint_bytes = 6e9;
    rank(&w);
    assert_true(w.rows[0].goodput_high < stated);
    close_world(&w);
}

/* ---- who is not ranked ---- */

/* 170 000 parameters in bf16 take 16 bytes each and the runtime's reserve of 1 GB: ALPHA's 16 GB hold
 * that, DELTA's 1 GB does not at 30 million parameters, however cheap it is. */
static void fits_before_it_prices(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    w.workload.parameters = 3e7;
    add_offer(&w, "tiny", "DELTA-1GB", 0.0001);
    add_offer(&w, "tiny2", "DELTA-1GB", 0.0002);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    rank(&w);
    assert_int_equal(w.ranking.count, 1);
    assert_string_equal(w.rows[0].label, "acme a");
    assert_reason(&w, "on each DELTA-1GB, has 1", 2);
    assert_reason(&w, "needs 1.", 2);
    close_world(&w);
}

static void takes_the_first_precision_that_the_device_has(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    w.workload.precisions[0] = DTYPE_BF16;
    w.workload.precisions[1] = DTYPE_FP32;
    w.workload.precision_count = 2;
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "old", "OLD-16GB", 1);
    rank(&w);
    assert_int_equal(row_of(&w, "acme a")->layout.dtype, DTYPE_BF16);
    assert_int_equal(row_of(&w, "acme old")->layout.dtype, DTYPE_FP32);
    w.workload.precision_count = 1;
    rank(&w);
    assert_reason(&w, "OLD-16GB has none of the precisions", 1);
    close_world(&w);
}

static void groups_and_counts_the_reasons(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "cpu1", "", 0.1);
    add_offer(&w, "cpu2", "", 0.1);
    add_offer(&w, "u", "QUX9000", 1);
    add_offer(&w, "half", "ALPHA-16GB", 1)->device_count = 0;
    add_offer(&w, "unpriced", "ALPHA-16GB", NAN);
    add_offer(&w, "gamma", "GAMMA-16GB", 1);
    const struct gpu_match two = {
        .candidates = {gpu_by_name(&w.gpus, "ALPHA-16GB"), gpu_by_name(&w.gpus, "BETA-16GB")}, .count = 2};
    add_offer(&w, "x", "A100", 1)->match = &two;
    rank(&w);
    assert_int_equal(w.ranking.count, 1);
    assert_reason(&w, "CPU offer without a record of that machine", 2);
    assert_reason(&w, "unknown GPU \"QUX9000\"", 1);
    assert_reason(&w, "fractional", 1);
    assert_reason(&w, "price missing", 1);
    assert_reason(&w, "no backend for amd devices", 1);
    assert_reason(&w, "ambiguous device: A100 may be ALPHA-16GB or BETA-16GB", 1);
    assert_int_equal(w.ranking.not_ranked_count, 6);
    assert_int_equal(w.ranking.not_ranked[0].offers, 2); /* the largest group first */
    close_world(&w);
}

static void never_mixes_currencies(void **state) {
    (void)state;
    struct world w;
    struct err e;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "eur", "ALPHA-16GB", 1)->price.per_hour = money_make(1, "EUR");
    rank(&w);
    assert_int_equal(w.ranking.count, 1);
    assert_reason(&w, "price in EUR in a ranking in USD", 1);
    w.request.own_price.per_hour = money_make(7, "CNY");
    ranking_free(&w.ranking);
    assert_int_equal(rank_offers(&w.request, &w.ranking, &e), -1);
    assert_error(&e, ERR_USAGE, "CNY");
    close_world(&w);
}

static void ranks_in_the_currency_of_most_offers_or_the_one_asked_for(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "eur", "ALPHA-16GB", 1)->price.per_hour = money_make(1, "EUR");
    add_offer(&w, "euro", "ALPHA-16GB", 1)->price.per_hour = money_make(2, "EUR");
    rank(&w);
    assert_int_equal(w.ranking.count, 2);
    assert_reason(&w, "price in USD in a ranking in EUR: amounts are never mixed; --currency USD ranks those",
                  1);
    ranking_free(&w.ranking);
    w.request.currency = "USD";
    rank(&w);
    assert_int_equal(w.ranking.count, 1);
    assert_reason(&w, "price in EUR in a ranking in USD", 2);
    close_world(&w);
}

static void ranks_nothing_without_offers_and_says_so(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    rank(&w);
    assert_int_equal(w.ranking.count, 0);
    assert_int_equal(w.ranking.next_count, 1);
    close_world(&w);
}

/* ---- records ---- */

/* All products by the one GEMM rate; the softmaxes of the unfused attention come on top, by bytes. */
static void this_machine_is_a_row_with_its_price(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    write_cpu(&w.records[0], 1e12, NULL, false);
    w.request.record_count = 1;
    w.request.own_price.per_hour = money_make(0.05, "USD");
    rank(&w);
    const struct rank_row *r = row_of(&w, "this machine");
    assert_null(r->offer);
    assert_ptr_equal(r->record, &w.records[0]);
    assert_int_equal(r->evidence, EVIDENCE_A);
    assert_int_equal(r->layout.dtype, DTYPE_FP32);
    assert_true(r->compute_s > step_flop / 1e12 * 0.999);
    assert_near(r->cost.mid, 0.05 / 3600 * r->step_s.mid, 1e-12);
    assert_int_equal(w.ranking.unpriced, 0);
    close_world(&w);
}

/* Only one shape was measured: it stands for all; a published figure is of no shape. */
static void marks_a_rate_of_another_shape(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    write_cpu(&w.records[0], 1e12, NULL, false);
    w.request.record_count = 1;
    rank(&w);
    assert_true(row_of(&w, "this machine")->interpolated);
    assert_false(row_of(&w, "acme a")->interpolated);
    close_world(&w);
}

/* The loop of this run reached 100 GFLOP/s: a product at 110 is no good news, and no rate. */
static void a_machine_above_its_peak_is_not_ranked(void **state) {
    (void)state;
    struct world w;
    struct fixture_case cases[] = {
        {.id = "f", .op = op_elementwise(OP_FMA, 1 << 27, DTYPE_FP32), .rate = 100e9},
        {.id = "g", .op = op_gemm(256, 256, 256, DTYPE_FP32), .rate = 101e9},
        {.id = "t", .op = op_elementwise(OP_TRIAD, 1 << 24, DTYPE_FP64), .rate = 1e11},
    };
    struct fixture_record f = {
        .device = "a CPU", .memory_bytes = 4e9, .cases = cases, .case_count = COUNT(cases)};
    open_world(&w);
    fixture_write(&f, &w.records[0]);
    w.request.record_count = 1;
    rank(&w);
    assert_int_equal(w.ranking.count, 1);
    record_free(&w.records[0]);
    cases[1].rate = 110e9;
    fixture_write(&f, &w.records[0]);
    rank(&w);
    assert_int_equal(w.ranking.count, 0);
    assert_reason(&w, "finding above_peak: case g of node.jsonl", 1);
    close_world(&w);
}

static void without_a_price_it_shows_its_break_even_price(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "s", "ALPHA-16GB", 0.1)->term = TERM_SPOT;
    write_cpu(&w.records[0], 1e12, NULL, false);
    w.request.record_count = 1;
    rank(&w);
    const struct rank_row *r = &w.rows[w.ranking.count - 1];
    assert_string_equal(r->label, "this machine");
    assert_int_equal(w.ranking.unpriced, 1);
    assert_true(isnan(r->cost.mid) && isnan(r->p_leader));
    double leader = row_of(&w, "acme a")->cost.mid; /* on demand, not the cheaper spot */
    w.request.own_price.per_hour = money_make(r->break_even_per_hour, "USD");
    rank(&w);
    assert_near(row_of(&w, "this machine")->cost.mid, leader, 1e-12);
    close_world(&w);
}

static void a_record_lets_its_cpu_offer_be_ranked_if_there_is_one(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "cpu", "", 0.1);
    write_cpu(&w.records[0], 1e12, "cpu", false);
    write_cpu(&w.records[1], 1e12, "gone", false);
    w.request.record_count = 2;
    rank(&w);
    assert_int_equal(w.ranking.count, 1);
    assert_int_equal(row_of(&w, "acme cpu")->evidence, EVIDENCE_A);
    assert_true(next_says(&w, "run `stepcost run --tier accept` on it")); /* a CPU can be measured */
    assert_reason(&w, "record of acme gone", 1);
    close_world(&w);
}

/* ---- size ---- */

/* 250 offers in 100 groups, 1000 draws: the budget is 0.5 s in a release build. */
static void ranks_hundreds_of_offers_at_once(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    for (size_t i = 0; i < 250; i++) {
        struct offer *o = add_offer(&w, "many", i % 2 ? "ALPHA-16GB" : "BETA-16GB", 1 + 0.01 * (double)i);
        o->device_count = 1 + (int64_t)(i / 2 % 8);
        o->term = i % 3 ? TERM_ON_DEMAND : TERM_SPOT;
    }
    clock_t begin = clock();
    rank(&w);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    assert_int_equal(w.ranking.count, 250);
    if (seconds > 5) /* ten times the budget: sanitizers and busy machines */
        fail_msg("%.2f s", seconds);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_what_arithmetic_says),
        cmocka_unit_test(a_device_twice_as_fast_at_the_double_price_costs_the_same),
        cmocka_unit_test(exposes_a_single_bucket_in_full),
        cmocka_unit_test(marks_an_all_reduce_that_is_assumed),
        cmocka_unit_test(two_offers_on_one_gpu_differ_by_price_alone),
        cmocka_unit_test(a_price_within_the_catalogues_rounding_is_a_tie),
        cmocka_unit_test(different_evidence_ties_unless_the_gap_is_wide),
        cmocka_unit_test(a_doubtful_row_joins_the_first_group_past_a_sure_one),
        cmocka_unit_test(the_same_seed_gives_the_same_digits_whatever_the_order),
        cmocka_unit_test(the_interval_is_that_of_its_sources),
        cmocka_unit_test(names_the_dominant_uncertainty),
        cmocka_unit_test(at_its_break_even_price_a_row_costs_what_the_leader_costs),
        cmocka_unit_test(spot_rows_stand_apart_with_their_goodput),
        cmocka_unit_test(drops_what_surely_breaks_the_deadline_or_the_budget),
        cmocka_unit_test(a_budget_in_another_currency_is_refused),
        cmocka_unit_test(a_checkpoint_takes_the_time_of_its_bytes_unless_it_is_stated),
        cmocka_unit_test(fits_before_it_prices),
        cmocka_unit_test(takes_the_first_precision_that_the_device_has),
        cmocka_unit_test(groups_and_counts_the_reasons),
        cmocka_unit_test(never_mixes_currencies),
        cmocka_unit_test(ranks_in_the_currency_of_most_offers_or_the_one_asked_for),
        cmocka_unit_test(ranks_nothing_without_offers_and_says_so),
        cmocka_unit_test(this_machine_is_a_row_with_its_price),
        cmocka_unit_test(marks_a_rate_of_another_shape),
        cmocka_unit_test(a_machine_above_its_peak_is_not_ranked),
        cmocka_unit_test(without_a_price_it_shows_its_break_even_price),
        cmocka_unit_test(a_record_lets_its_cpu_offer_be_ranked_if_there_is_one),
        cmocka_unit_test(ranks_hundreds_of_offers_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
