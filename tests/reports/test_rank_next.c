#include "tests/reports/rank_fixture.h"

static void suggests_to_measure_what_the_top_tie_rests_on(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "b", "BETA-16GB", 2.64);
    add_offer(&w, "b-half", "BETA-16GB", 2.02);
    rank(&w);
    /* the cheapest hour of that model: 15 min = $0.505 */
    assert_true(next_says(&w, "measurement of BETA-16GB (acme b-half, 15 min, $0.50"));
    assert_true(next_says(&w, "datasheet estimate (2 of the 3 tied rows)"));
    assert_true(next_says(&w, "published reference (1 of the 3 tied rows)"));
    close_world(&w);
}

static void promises_no_measurement_that_this_version_cannot_make(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    rank(&w);
    assert_true(
        next_says(&w, "this version cannot measure GPUs: put a figure you trust into references.csv"));
    assert_false(next_says(&w, "stepcost run") || next_says(&w, "rent"));
    w.matches[0].candidates[0] = gpu_by_name(&w.gpus, "TOYSIM-16GB");
    rank(&w);
    assert_true(next_says(&w, "TOYSIM-16GB (acme a"));
    assert_true(next_says(&w, "stepcost run --tier accept"));
    assert_false(next_says(&w, "cannot measure"));
    close_world(&w);
}

/* Products outweigh bytes here, as in names_the_dominant_uncertainty; two BETAs' all-reduce is assumed. */
static void names_the_measurement_that_the_step_wants_most(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    w.workload.hidden = 4096;
    w.workload.ffn = 16384;
    w.workload.sequence = 1024;
    w.workload.parameters = 5e8;
    struct offer *o = add_offer(&w, "e", "EPSILON-16GB", 1);
    rank(&w);
    assert_true(next_says(&w, "a GEMM measurement of EPSILON-16GB"));
    w.workload = toy_workload;
    w.matches[0].candidates[0] = gpu_by_name(&w.gpus, "BETA-16GB");
    o->device_count = 4;
    rank(&w);
    assert_true(next_says(&w, "an all-reduce measurement of BETA-16GB"));
    assert_true(next_says(&w, "line-rate assumption"));
    close_world(&w);
}

static void suggests_to_confirm_a_leader_that_stands_alone(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    add_offer(&w, "b", "BETA-16GB", 20);
    rank(&w);
    assert_int_equal(w.ranking.next_count, 1);
    assert_true(next_says(&w, "(acme a, 15 min, $0.25"));
    assert_true(next_says(&w, "leads by itself"));
    close_world(&w);
}

static void says_when_this_machine_was_unsteady(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 1);
    write_cpu(&w.records[0], 1e12, NULL, true);
    w.request.record_count = 1;
    rank(&w);
    assert_true(next_says(&w, "this machine are in doubt (unsteady"));
    close_world(&w);
}

/* Others had 1 of 4 CPUs: of this machine, and of one that was rented. */
static void says_when_a_measured_machine_was_contaminated(void **state) {
    (void)state;
    struct record_host host = record_host_unknown();
    host.window_s = 2, host.cpus = 4, host.others_cpu_s = 2;
    for (int rented = 0; rented < 2; rented++) {
        struct world w;
        open_world(&w);
        add_offer(&w, "a", "ALPHA-16GB", 1);
        if (rented)
            add_offer(&w, "cpu", "", 0.1);
        write_cpu_on(&w.records[0], 1e12, rented ? "cpu" : NULL, false, &host);
        w.request.record_count = 1;
        rank(&w);
        assert_true(next_says(&w, rented ? "acme cpu are in doubt (contaminated"
                                         : "this machine are in doubt (contaminated"));
        close_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggests_to_measure_what_the_top_tie_rests_on),
        cmocka_unit_test(promises_no_measurement_that_this_version_cannot_make),
        cmocka_unit_test(names_the_measurement_that_the_step_wants_most),
        cmocka_unit_test(suggests_to_confirm_a_leader_that_stands_alone),
        cmocka_unit_test(says_when_this_machine_was_unsteady),
        cmocka_unit_test(says_when_a_measured_machine_was_contaminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
