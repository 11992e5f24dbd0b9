#include "bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct device_info cpu = {
    .name = "Some CPU", .memory_bytes = 24e9, .free_bytes = 20e9, .cache_bytes = 32e6, .units = 2};
static const struct device_info gpu = {.name = "Unheard-of GPU",
                                       .is_gpu = true,
                                       .memory_bytes = 80e9,
                                       .free_bytes = 79e9,
                                       .cache_bytes = 50e6,
                                       .units = 100};

static void make(enum tier t, const struct device_info *device, const struct workload *w, double seconds,
                 struct plan *out) {
    struct err e;
    struct plan_request r = {.device = device, .devices = 1, .workload = w, .seconds = seconds};
    *out = (struct plan){0};
    assert_int_equal(tier_plan(t, &r, out, &e), 0);
}

/* The budgets are the promises of the program: 2 min, 15 min, 2 h, of which 20 s, 100 s and 5 min are kept
 * for set-up and verification. */
static const struct {
    enum tier tier;
    double total_s, cases_s;
} want[] = {{TIER_SMOKE, 120, 100}, {TIER_ACCEPT, 900, 800}, {TIER_SOAK, 7200, 6900}};

static void plans_no_more_seconds_than_the_tier_has(void **state) {
    (void)state;
    static const struct device_info *const devices[] = {&cpu, &gpu};
    const struct data embedded = {0};
    struct workload gpt2;
    struct err e;
    assert_int_equal(workload_load(&embedded, "gpt2-124m", &gpt2, &e), 0);
    for (size_t i = 0; i < TIER_COUNT; i++) {
        assert_true(tier_seconds(want[i].tier) == want[i].total_s);
        for (size_t d = 0; d < 4; d++) {
            struct plan p;
            make(want[i].tier, devices[d / 2], d % 2 ? &gpt2 : NULL, 0, &p);
            assert_true(plan_seconds(&p) <= want[i].cases_s + 1e-6);
            assert_true(plan_seconds(&p) > 0);
            plan_free(&p);
        }
    }
    workload_free(&gpt2);
}

static void scales_down_what_does_not_fit(void **state) {
    (void)state;
    for (size_t i = 0; i < TIER_COUNT; i++) {
        struct plan p;
        make(want[i].tier, &cpu, NULL, 1000, &p);
        assert_true(plan_seconds(&p) > 0.9 * want[i].cases_s);
        assert_true(plan_seconds(&p) <= want[i].cases_s + 1e-6);
        plan_free(&p);
    }
}

static void begins_with_the_calibration_and_puts_mandatory_cases_first(void **state) {
    (void)state;
    for (int t = 0; t < TIER_COUNT; t++) {
        struct plan p;
        make((enum tier)t, &cpu, NULL, 0, &p);
        assert_int_equal(p.cases[0].op.kind, OP_FMA);
        assert_int_equal(p.cases[1].op.kind, OP_FMA);
        assert_true(p.cases[0].op.dtype != p.cases[1].op.dtype);
        bool optional = false;
        for (size_t i = 0; i < p.count; i++) {
            bool next_round = strchr(p.cases[i].id, '@') != NULL;
            assert_false(optional && p.cases[i].mandatory && !next_round);
            optional = !p.cases[i].mandatory;
        }
        plan_free(&p);
    }
}

static void ends_with_the_calibration_once_more(void **state) {
    struct plan p;
    (void)state;
    make(TIER_SMOKE, &cpu, NULL, 0, &p);
    for (size_t i = 1; i <= 2; i++) {
        assert_int_equal(p.cases[p.count - i].op.kind, OP_FMA);
        assert_non_null(strstr(p.cases[p.count - i].id, "@end"));
        assert_false(p.cases[p.count - i].mandatory);
    }
    assert_int_not_equal(p.cases[p.count - 3].op.kind, OP_FMA);
    plan_free(&p);
}

static void gives_every_case_an_id_of_its_own(void **state) {
    (void)state;
    for (int t = 0; t < TIER_COUNT; t++) {
        struct plan p;
        make((enum tier)t, &cpu, NULL, 0, &p);
        for (size_t i = 0; i < p.count; i++)
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(p.cases[i].id, p.cases[j].id);
        plan_free(&p);
    }
}

static void repeats_whole_accept_rounds_in_a_soak(void **state) {
    (void)state;
    struct plan accept, soak;
    make(TIER_ACCEPT, &cpu, NULL, 0, &accept);
    make(TIER_SOAK, &cpu, NULL, 0, &soak);
    assert_true(soak.count > accept.count);
    assert_int_equal(soak.count % accept.count, 0);
    for (size_t i = 0; i < soak.count; i++)
        assert_true(op_equal(&soak.cases[i].op, &accept.cases[i % accept.count].op));
    assert_true(plan_seconds(&soak) > 0.9 * 7200);
    plan_free(&accept);
    plan_free(&soak);
}

/* Design: 30 s of load once, before the first sample; not in smoke. */
static void heats_the_device_once_before_the_first_sample(void **state) {
    (void)state;
    static const double want_s[] = {[TIER_SMOKE] = 0, [TIER_ACCEPT] = 30, [TIER_SOAK] = 30};
    for (int t = 0; t < TIER_COUNT; t++) {
        struct plan p;
        make((enum tier)t, &cpu, NULL, 0, &p);
        assert_true(p.cases[0].heat_s == want_s[t]);
        /* The second case is the same measurement in another type. */
        assert_true(fabs(p.cases[0].seconds - want_s[t] - p.cases[1].seconds) < 1e-9);
        for (size_t i = 1; i < p.count; i++)
            assert_true(p.cases[i].heat_s == 0);
        plan_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_no_more_seconds_than_the_tier_has),
        cmocka_unit_test(scales_down_what_does_not_fit),
        cmocka_unit_test(begins_with_the_calibration_and_puts_mandatory_cases_first),
        cmocka_unit_test(ends_with_the_calibration_once_more),
        cmocka_unit_test(gives_every_case_an_id_of_its_own),
        cmocka_unit_test(repeats_whole_accept_rounds_in_a_soak),
        cmocka_unit_test(heats_the_device_once_before_the_first_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
