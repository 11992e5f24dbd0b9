#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reports/stepcost.h"

#include <math.h>

#define assert_near(got, want)                                                                               \
    assert_true(fabs((got) - (double)(want)) <= 1e-9 * fmax(1, fabs((double)(want))))

/* One stream that is ready at once, in closed form: with T' = kappa_comm T_c,
 *   T_bwd + T'(1 - 1/kappa_compute)                       if T' <= kappa_compute T_bwd,
 *   T_c + kappa_compute T_bwd (1 - 1/kappa_comm)          else. */
static double closed_form_s(double bwd, double comm, double k_compute, double k_comm) {
    double slowed = k_comm * comm;
    if (slowed <= k_compute * bwd)
        return bwd + slowed * (1 - 1 / k_compute);
    return comm + k_compute * bwd * (1 - 1 / k_comm);
}

static void meets_the_closed_form_for_one_stream(void **state) {
    (void)state;
    static const double kappas[] = {1, 1.05, 1.3, 2}, comms[] = {0, 0.1, 0.9, 1, 1.1, 2, 10};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            for (size_t k = 0; k < 7; k++) {
                struct overlap_bucket one = {.ready_s = 0, .comm_s = comms[k]};
                assert_near(overlap_walk_s(1, &one, 1, kappas[i], kappas[j]),
                            closed_form_s(1, comms[k], kappas[i], kappas[j]));
            }
}

/* By hand, kappa 1. Backward 10 s; buckets ready at 2, 4, 10.
 * comm 3 each: 2-5, 5-8, 10-13 -> 13: only the last is exposed.
 * comm 5 each: 2-7, 7-12, 12-17 -> 17: the link is the bottleneck. */
static void walks_over_buckets_by_hand(void **state) {
    (void)state;
    struct overlap_bucket short_ones[] = {{2, 3}, {4, 3}, {10, 3}};
    struct overlap_bucket long_ones[] = {{2, 5}, {4, 5}, {10, 5}};
    assert_near(overlap_walk_s(10, short_ones, 3, 1, 1), 13);
    assert_near(overlap_walk_s(10, long_ones, 3, 1, 1), 17);
    assert_near(overlap_walk_s(10, NULL, 0, 1, 1), 10);
}

/* By hand: backward 4 s of work, kappa_compute 2, kappa_comm 1.5. A bucket of 2 s is ready at 1: from t = 1
 * it takes 3 s, in which compute advances 1.5 to 2.5; at t = 4, 1.5 s of work are left: 5.5. The second one
 * is ready at 4 (t = 5.5) and alone: 2 s more. */
static void slows_both_sides_while_they_overlap(void **state) {
    (void)state;
    struct overlap_bucket buckets[] = {{1, 2}, {4, 2}};
    assert_near(overlap_walk_s(4, buckets, 2, 2, 1.5), 7.5);
}

static struct step_model two_stages(struct step_stage stages[2]) {
    stages[0] = (struct step_stage){.part = {.compute_s = 3, .memory_s = 1}, .gradient_bytes = 0};
    stages[1] =
        (struct step_stage){.part = {.compute_s = 2, .memory_s = 2}, .gradient_bytes = 2 * STEP_BUCKET_BYTES};
    return (struct step_model){.forward = {.compute_s = 2, .memory_s = 1},
                               .optimizer = {.compute_s = 0, .memory_s = 0.5},
                               .stages = stages,
                               .stage_count = 2,
                               .micro_batches = 3,
                               .devices = 1,
                               .kappa_compute = 1,
                               .kappa_comm = 1};
}

static const struct step_factors at_means = {1, 1, 1};

static void check_sum(const struct step_times *t) {
    assert_near(t->compute_s + t->memory_s + t->optimizer_s + t->exposed_comm_s + t->bubble_s +
                    t->straggler_s,
                t->total_s);
}

/* compute 3 x (2 + 3 + 2) = 21; memory 3 x (1 + 1 + 2) = 12; optimizer 0.5. */
static void adds_up_one_device(void **state) {
    (void)state;
    struct step_stage stages[2];
    struct step_model m = two_stages(stages);
    struct step_times t;
    m.jitter = 0.1; /* one device waits for nobody */
    step_evaluate(&m, &at_means, &t);
    assert_near(t.compute_s, 21);
    assert_near(t.memory_s, 12);
    assert_near(t.optimizer_s, 0.5);
    assert_near(t.exposed_comm_s, 0);
    assert_near(t.straggler_s, 0);
    check_sum(&t);
}

/* Two devices: an all-reduce of S over n = 2 takes 2 (n-1)/n S / busbw = S / busbw. One bucket takes 1 s at
 * busbw = bucket per second. Gradients appear evenly within the second stage, which lasts from 4 s to 8 s of
 * the backward pass: buckets at 6 s (hidden) and 8 s (exposed: 1 s).
 * Straggler: Blom's E[max of 2] = Phi^-1(1.625/2.25) = 0.5895; x 0.01 x 33.5 s busy. */
static void exposes_the_last_bucket(void **state) {
    (void)state;
    struct step_stage stages[2];
    struct step_model m = two_stages(stages);
    struct step_times t;
    m.devices = 2;
    m.busbw_bytes_per_s = STEP_BUCKET_BYTES;
    m.jitter = 0.01;
    step_evaluate(&m, &at_means, &t);
    assert_near(t.exposed_comm_s, 1);
    assert_true(fabs(t.straggler_s - 0.5895 * 0.01 * 33.5) < 1e-4);
    check_sum(&t);
}

/* A link of a tenth: buckets take 10 s each: 6-16, 16-26, the backward pass ends at 8: exposed 18. */
static void exposes_all_that_a_slow_link_cannot_hide(void **state) {
    (void)state;
    struct step_stage stages[2];
    struct step_model m = two_stages(stages);
    struct step_times t;
    m.devices = 2;
    m.busbw_bytes_per_s = STEP_BUCKET_BYTES / 10;
    step_evaluate(&m, &at_means, &t);
    assert_near(t.exposed_comm_s, 18);
    check_sum(&t);
}

/* A bucket that is not full goes at the end: half a bucket, half a second after the backward pass. */
static void sends_a_rest_that_fills_no_bucket(void **state) {
    (void)state;
    struct step_stage stages[2];
    struct step_model m = two_stages(stages);
    struct step_times t;
    stages[1].gradient_bytes = STEP_BUCKET_BYTES / 2;
    m.devices = 2;
    m.busbw_bytes_per_s = STEP_BUCKET_BYTES;
    step_evaluate(&m, &at_means, &t);
    assert_near(t.exposed_comm_s, 0.5);
}

/* Factors act on the seconds of their class: compute 21 x 2, memory 12 x 3, optimizer 0.5 x 3. */
static void scales_each_class_by_its_factor(void **state) {
    (void)state;
    struct step_stage stages[2];
    struct step_model m = two_stages(stages);
    struct step_factors f = {.compute = 2, .memory = 3, .comm = 5};
    struct step_times t;
    step_evaluate(&m, &f, &t);
    assert_near(t.compute_s, 42);
    assert_near(t.memory_s, 36);
    assert_near(t.optimizer_s, 1.5);
    m.devices = 2;
    m.busbw_bytes_per_s = STEP_BUCKET_BYTES;
    step_evaluate(&m, &f, &t);
    /* stages now last 9 and 10 s: buckets ready at 14 and 19, 5 s each: 14-19, 19-24 */
    assert_near(t.exposed_comm_s, 5);
}

/* ---- sharding and pipelines ---- */

/* A link that all-reduces a bucket in 1 s, 3 micro-batches of 2 + 1 s forward and 8 s backward. ZeRO-2 on two
 * ranks: half a bucket's worth ready at 6 s and at 8 s of each earlier backward pass makes one bucket at 8 s:
 * 1 s exposed, twice; and in the last one two buckets, of which one is exposed. */
static void zero_2_scatters_gradients_in_every_backward_pass(void **state) {
    (void)state;
    struct step_stage stages[2];
    struct step_model m = two_stages(stages);
    struct step_times t;
    m.devices = 2;
    m.busbw_bytes_per_s = STEP_BUCKET_BYTES;
    stages[1].early_bytes = STEP_BUCKET_BYTES;
    step_evaluate(&m, &at_means, &t);
    assert_near(t.exposed_comm_s, 2 * 1 + 1);
    check_sum(&t);
}

/* 4 buckets' worth gathered in a forward pass of 3 s over 2 stages: the first stage's 2 s are waited for, and
 * the other 2 s hide. At a third of the rate 12 s: 6 s waited for, and 6 - 3 exposed. */
static void zero_3_gathers_weights_in_every_forward_pass(void **state) {
    (void)state;
    struct step_stage stages[2];
    struct step_model m = two_stages(stages);
    struct step_times t;
    m.devices = 2;
    m.busbw_bytes_per_s = STEP_BUCKET_BYTES;
    m.forward_bytes = 4 * STEP_BUCKET_BYTES;
    step_evaluate(&m, &at_means, &t);
    assert_near(t.exposed_comm_s, 1 + 3 * 2);
    m.busbw_bytes_per_s = STEP_BUCKET_BYTES / 3;
    stages[1].gradient_bytes = 0;
    step_evaluate(&m, &at_means, &t);
    assert_near(t.exposed_comm_s, 3 * (6 + 3));
    check_sum(&t);
}

/* 0.5 s a micro-batch that compute waits for: 1.5 s. Four stages: 3 more micro-batches' time of 3 + 8 + 0.5 s
 * idle, a share (p - 1) / (m + p - 1) = 3 / 6 of those 6 x 11.5 s. */
static void a_pipeline_idles_while_it_fills(void **state) {
    (void)state;
    struct step_stage stages[2];
    struct step_model m = two_stages(stages);
    struct step_times t;
    m.devices = 4;
    m.data_ranks = 1; /* no gradients to share */
    m.pipeline = 4;
    m.critical_comm_s = 0.5;
    step_evaluate(&m, &at_means, &t);
    assert_near(t.exposed_comm_s, 1.5);
    assert_near(t.bubble_s, 3 * 11.5);
    assert_near(t.bubble_s / (t.total_s - t.optimizer_s), 0.5);
    check_sum(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meets_the_closed_form_for_one_stream),
        cmocka_unit_test(walks_over_buckets_by_hand),
        cmocka_unit_test(slows_both_sides_while_they_overlap),
        cmocka_unit_test(adds_up_one_device),
        cmocka_unit_test(exposes_the_last_bucket),
        cmocka_unit_test(exposes_all_that_a_slow_link_cannot_hide),
        cmocka_unit_test(sends_a_rest_that_fills_no_bucket),
        cmocka_unit_test(scales_each_class_by_its_factor),
        cmocka_unit_test(zero_2_scatters_gradients_in_every_backward_pass),
        cmocka_unit_test(zero_3_gathers_weights_in_every_forward_pass),
        cmocka_unit_test(a_pipeline_idles_while_it_fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
