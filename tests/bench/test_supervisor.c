#include "tests/bench/sim_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

/* The simulator's scripts dead and hung strike at the GEMM with m = 1024. */
static const char *const three[] = {"512x512x512", "1024x512x512", "2048x512x512"};

static void run(const struct run_request *r, struct run_summary *summary, struct record *record) {
    struct err e;
    if (supervisor_run(r, summary, &e) != 0)
        fail_msg("%s", e.text);
    if (record_read(r->record_path, record, &e) != 0)
        fail_msg("%s", e.text);
}

static void finish(struct run_request *r, struct record *record) {
    record_free(record);
    unlink(r->record_path);
    sim_run_free(r);
}

static void measures_every_case_on_a_healthy_device(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct run_request r = sim_run_request("healthy", sim_run_path("healthy"), three, 3);
    run(&r, &summary, &record);
    assert_true(summary.finished);
    assert_int_equal(summary.planned, PEAKS + 3);
    assert_int_equal(summary.measured, PEAKS + 3);
    assert_int_equal(record.state, RECORD_INTACT);
    assert_true(record.simulated);
    assert_string_equal(record.backend, "sim");
    assert_string_equal(record.host_name, "testhost");
    assert_int_equal(record.case_count, PEAKS + 3);
    for (size_t i = 0; i < PEAKS + 3; i++) {
        const struct record_case *c = &record.cases[i];
        assert_int_equal(c->status, CASE_MEASURED);
        assert_string_equal(c->reason, "");
        assert_int_equal(c->warning_count, 0);
        assert_true(c->warmed_up);
        assert_int_equal(c->attempt, 1);
        assert_int_equal(c->rank_count, 1);
        assert_true(c->ranks[0].count >= 1);
        assert_true(c->ranks[0].work_per_iteration == op_flop(&c->op));
    }
    finish(&r, &record);
}

static void measures_all_devices_at_once(void **state) {
    (void)state;
    static const struct {
        const char *scenario;
        int64_t asked;
        size_t want;
    } rows[] = {{"healthy:devices=2", 0, 2}, {"healthy:devices=4", 4, 4}, {"healthy:devices=4", 3, 3}};
    for (size_t i = 0; i < 3; i++) {
        struct run_summary summary;
        struct record record;
        struct run_request r = sim_run_request(rows[i].scenario, sim_run_path("devices"), three, 3);
        r.plan.devices = rows[i].asked;
        run(&r, &summary, &record);
        assert_int_equal(summary.measured, PEAKS + 3);
        assert_int_equal(record.device_count, rows[i].want);
        for (size_t c = 0; c < record.case_count; c++) {
            assert_int_equal(record.cases[c].rank_count, rows[i].want);
            for (size_t k = 0; k < rows[i].want; k++)
                assert_true(record.cases[c].ranks[k].count >= 1);
        }
        finish(&r, &record);
    }
}

static void loses_only_the_case_whose_worker_died(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct run_request r = sim_run_request("dead", sim_run_path("dead"), three, 3);
    run(&r, &summary, &record);
    assert_true(summary.finished);
    assert_int_equal(summary.measured, PEAKS + 2);
    assert_int_equal(summary.failed, 1);
    assert_int_equal(record.cases[PEAKS + 1].status, CASE_FAILED);
    assert_string_equal(record.cases[PEAKS + 1].reason, "rank 0: worker killed by signal 9 (Killed)");
    assert_int_equal(record.cases[PEAKS + 2].status, CASE_MEASURED);
    finish(&r, &record);
}

static void loses_only_the_case_whose_worker_hung(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct run_request r = sim_run_request("hung", sim_run_path("hung"), three, 3);
    run(&r, &summary, &record);
    assert_int_equal(summary.measured, PEAKS + 2);
    assert_int_equal(record.cases[PEAKS + 1].status, CASE_FAILED);
    assert_non_null(strstr(record.cases[PEAKS + 1].reason, "rank 0: no answer for 700 ms; killed"));
    assert_int_equal(record.cases[PEAKS + 2].status, CASE_MEASURED);
    finish(&r, &record);
}

static void records_a_wrong_result_as_failed(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct run_request r = sim_run_request("wrong:after=0", sim_run_path("wrong"), three, 1);
    run(&r, &summary, &record);
    assert_int_equal(record.cases[PEAKS].status, CASE_FAILED);
    assert_non_null(strstr(record.cases[PEAKS].reason, "wrong result"));
    finish(&r, &record);
}

static void gives_up_after_three_lost_workers_in_a_row(void **state) {
    (void)state;
    static const char *const shapes[] = {"1024x1x1", "1024x2x1", "1024x3x1", "1024x4x1", "512x1x1"};
    struct run_summary summary;
    struct record record;
    struct run_request r = sim_run_request("dead", sim_run_path("given-up"), shapes, 5);
    run(&r, &summary, &record);
    assert_true(summary.finished);
    assert_int_equal(summary.failed, 3);
    assert_int_equal(summary.not_tested, 2);
    assert_int_equal(record.cases[PEAKS + 3].status, CASE_NOT_TESTED);
    assert_non_null(strstr(record.cases[PEAKS + 3].reason, "in a row"));
    assert_non_null(strstr(record.end_reason, "in a row"));
    finish(&r, &record);
}

static void does_not_test_what_no_longer_fits_the_deadline(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct run_request r = sim_run_request("healthy", sim_run_path("deadline"), three, 3);
    r.plan.seconds = 60;
    r.deadline_s = 30;
    run(&r, &summary, &record);
    assert_true(summary.finished);
    assert_int_equal(summary.not_tested, PEAKS + 3);
    for (size_t i = 0; i < PEAKS + 3; i++)
        assert_non_null(strstr(record.cases[i].reason, "deadline"));
    finish(&r, &record);
}

static void keeps_to_a_hard_deadline_in_the_middle_of_a_case(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct run_request r = sim_run_request("hung", sim_run_path("hard"), three, 3);
    r.grace_s = 1000;
    r.deadline_s = 3;
    run(&r, &summary, &record);
    assert_int_equal(summary.measured, PEAKS + 1);
    assert_int_equal(summary.not_tested, 2);
    assert_non_null(strstr(record.cases[PEAKS + 1].reason, "deadline"));
    finish(&r, &record);
}

struct interruption {
    size_t at;
    int stop;
};

static void stop_at(void *context, const struct run_progress *p) {
    struct interruption *i = context;
    if (p->done == i->at && !p->notice)
        i->stop = 1;
}

static void stays_open_when_interrupted_and_is_done_when_resumed(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct interruption interruption = {.at = 1};
    struct run_request r = sim_run_request("healthy", sim_run_path("interrupted"), three, 3);
    r.say = stop_at;
    r.say_context = &interruption;
    r.stop = &interruption.stop;
    run(&r, &summary, &record);
    assert_false(summary.finished);
    assert_int_equal(summary.measured, 1);
    assert_int_equal(record.state, RECORD_UNFINISHED);
    record_free(&record);
    interruption = (struct interruption){.at = 99};
    r.resume = true;
    run(&r, &summary, &record);
    assert_true(summary.finished);
    assert_int_equal(summary.resumed, 1);
    assert_int_equal(summary.measured, PEAKS + 3);
    assert_int_equal(record.state, RECORD_INTACT);
    assert_int_equal(record.case_count, PEAKS + 3);
    assert_int_equal(record.cases[0].attempt, 1);
    assert_int_equal(record.cases[1].attempt, 2);
    assert_int_equal(record.cases[2].attempt, 1);
    finish(&r, &record);
}

/* Leaves a record after the first case of the request. */
static void interrupt(struct run_request *r, struct interruption *interruption) {
    struct run_summary summary;
    struct err e;
    *interruption = (struct interruption){.at = PEAKS + 1};
    r->say = stop_at;
    r->say_context = interruption;
    r->stop = &interruption->stop;
    assert_int_equal(supervisor_run(r, &summary, &e), 0);
    r->stop = NULL;
    r->resume = true;
}

static void refuses_to_go_on_with_another_plan_or_machine(void **state) {
    (void)state;
    struct run_summary summary;
    struct interruption interruption;
    struct err e;
    struct run_request r = sim_run_request("healthy:devices=2", sim_run_path("other"), three, 3);
    interrupt(&r, &interruption);
    r.plan.devices = 1;
    assert_int_equal(supervisor_run(&r, &summary, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "2 x Simulated"));
    r.plan.devices = 2;
    r.plan.shapes = &three[1];
    r.plan.shape_count = 2;
    assert_int_equal(supervisor_run(&r, &summary, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_non_null(strstr(e.text, "512x512x512"));
    unlink(r.record_path);
    sim_run_free(&r);
}

static void refuses_a_record_that_is_done_and_a_file_that_is_there(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct err e;
    struct run_request r = sim_run_request("healthy", sim_run_path("done"), three, 1);
    run(&r, &summary, &record);
    assert_int_equal(supervisor_run(&r, &summary, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    r.resume = true;
    assert_int_equal(supervisor_run(&r, &summary, &e), -1);
    assert_int_equal(e.code, ERR_PARSE);
    finish(&r, &record);
}

static void says_why_when_no_device_can_be_opened(void **state) {
    (void)state;
    static const struct {
        const char *scenario;
        int64_t devices;
        enum err_code code;
        const char *says;
    } rows[] = {
        {"healthy:devices=2", 9, ERR_NO_DEVICE, "9 devices wanted, there are 2"},
        {"no-such-scenario", 1, ERR_USAGE, "no-such-scenario"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct run_summary summary;
        struct err e;
        struct run_request r = sim_run_request(rows[i].scenario, sim_run_path("none"), three, 1);
        r.plan.devices = rows[i].devices;
        assert_int_equal(supervisor_run(&r, &summary, &e), -1);
        assert_int_equal(e.code, rows[i].code);
        assert_non_null(strstr(e.text, rows[i].says));
        assert_int_equal(access(r.record_path, F_OK), -1); /* and leaves no record behind */
        sim_run_free(&r);
    }
}

static void calibrates_the_peak_before_the_named_benchmarks(void **state) {
    (void)state;
    static const char *const named[][2] = {{"gemm"}, {"gemm", "fma"}};
    for (size_t i = 0; i < 2; i++) {
        struct run_summary summary;
        struct record record;
        struct run_request r = sim_run_request("healthy", sim_run_path("peak"), three, 1);
        r.benches = named[i];
        r.bench_count = i + 1;
        run(&r, &summary, &record);
        assert_int_equal(record.case_count, PEAKS + 1);
        assert_string_equal(record.cases[0].bench, "fma");
        assert_string_equal(record.cases[1].bench, "fma");
        assert_string_equal(record.cases[2].bench, "gemm");
        finish(&r, &record);
    }
}

/* The clock falls after 20 s of work; 30 s of load come before the first sample (design), and again when the
 * run is resumed, since the device has rested. */
static void heats_the_device_before_the_first_sample_of_a_run(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct interruption interruption = {.at = 2};
    struct run_request r = sim_run_request("throttle:after=20,clock=0.5", sim_run_path("heated"), three, 3);
    r.tier = TIER_ACCEPT;
    r.say = stop_at;
    r.say_context = &interruption;
    r.stop = &interruption.stop;
    run(&r, &summary, &record);
    record_free(&record);
    interruption = (struct interruption){.at = 99};
    r.resume = true;
    run(&r, &summary, &record);
    assert_int_equal(summary.resumed, 2);
    for (size_t i = 0; i < PEAKS + 3; i++)
        assert_true(record.cases[i].ranks[0].telemetry.clock_hz[0] == 0.75e9);
    finish(&r, &record);
}

static void runs_the_tiers_own_cases_when_none_are_named(void **state) {
    (void)state;
    struct run_summary summary;
    struct record record;
    struct run_request r = sim_run_request("healthy", sim_run_path("tier"), NULL, 0);
    r.bench_count = 0;
    r.plan.dtype_count = 0;
    r.plan.seconds = NAN;
    run(&r, &summary, &record);
    assert_true(summary.finished);
    assert_int_equal(summary.measured, summary.planned);
    assert_string_equal(record.cases[0].bench, "fma");
    for (size_t i = 0; i < record.case_count; i++)
        assert_int_equal(record.cases[i].warning_count, 0);
    finish(&r, &record);
}

int main(int argc, char **argv) {
    if (sim_run_is_worker(argc, argv))
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_every_case_on_a_healthy_device),
        cmocka_unit_test(measures_all_devices_at_once),
        cmocka_unit_test(loses_only_the_case_whose_worker_died),
        cmocka_unit_test(loses_only_the_case_whose_worker_hung),
        cmocka_unit_test(records_a_wrong_result_as_failed),
        cmocka_unit_test(gives_up_after_three_lost_workers_in_a_row),
        cmocka_unit_test(does_not_test_what_no_longer_fits_the_deadline),
        cmocka_unit_test(keeps_to_a_hard_deadline_in_the_middle_of_a_case),
        cmocka_unit_test(stays_open_when_interrupted_and_is_done_when_resumed),
        cmocka_unit_test(refuses_to_go_on_with_another_plan_or_machine),
        cmocka_unit_test(refuses_a_record_that_is_done_and_a_file_that_is_there),
        cmocka_unit_test(says_why_when_no_device_can_be_opened),
        cmocka_unit_test(calibrates_the_peak_before_the_named_benchmarks),
        cmocka_unit_test(heats_the_device_before_the_first_sample_of_a_run),
        cmocka_unit_test(runs_the_tiers_own_cases_when_none_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
