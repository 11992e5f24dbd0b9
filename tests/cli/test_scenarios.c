/* The simulator's scenarios through the whole program: the healthy one raises nothing, each other exactly its
 * finding, and a sick worker costs its case only. */
#include "tests/cli/shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct scenario_row {
    const char *scenario;
    int status;          /* of `stepcost run`                  */
    const char *finding; /* the only id that may be found, or "" */
};

static const struct scenario_row rows[] = {
    {"healthy", 0, ""},          {"slow", 0, "slow_device"},   {"throttle", 0, "throttled"},
    {"outliers", 0, "outliers"}, {"wrong", 1, "wrong_result"}, {"dead", 1, "worker_died"},
    {"hung", 1, "worker_hung"},
};

static int count_lines(const char *text, const char *start) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, start)); at += strlen(start))
        count += at == text || at[-1] == '\n';
    return count;
}

static void each_scenario_raises_exactly_its_finding(void **state) {
    struct text output = {0}, command = {0}, wanted = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct scenario_row *row = &rows[i];
        text_clear(&command);
        text_printf(&command, "$S run -q --backend sim --scenario %s --grace 1s --out %s.jsonl",
                    row->scenario, row->scenario);
        int status = shell(text_get(&command), &output);
        text_clear(&wanted);
        text_printf(&wanted, "finding %s", row->finding);
        int mine = row->finding[0] ? count_lines(text_get(&output), text_get(&wanted)) : 0;
        int all = count_lines(text_get(&output), "finding ");
        if (status != row->status || all != mine || (row->finding[0] && mine == 0))
            fail_msg("scenario %s: status %d (wanted %d), %d findings, %d of them %s:\n%s", row->scenario,
                     status, row->status, all, mine, row->finding, text_get(&output));
    }
    text_free(&output);
    text_free(&command);
    text_free(&wanted);
}

static void a_sick_worker_costs_its_case_and_the_plan_goes_on(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(
        shell("$S run -q --backend sim --scenario dead --dtype bf16 --out sick.jsonl; $S verify sick.jsonl",
              &output),
        0);
    assert_int_equal(shell("$S show sick.jsonl --format csv | grep -c ',failed,'", &output), 0);
    assert_int_equal(atoi(text_get(&output)), 1);
    assert_int_equal(shell("$S show sick.jsonl --format csv | grep -c ',measured,'", &output), 0);
    assert_true(atoi(text_get(&output)) >= 5);
    text_free(&output);
}

static void simulated_records_are_refused_by_rank_unless_asked(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(shell("$S run -q --backend sim --bench fma --out sim.jsonl", &output), 0);
    assert_non_null(strstr(text_get(&output), "SIMULATED"));
    shell("$S rank --record sim.jsonl", &output);
    assert_non_null(strstr(text_get(&output), "simulated"));
    assert_null(strstr(text_get(&output), "and this machine"));
    text_free(&output);
}

/* kernels/sim/sim.h: int8 runs at twice the rate of bf16; 20, 150 and 400 ns within 256 KiB, 50 MB and beyond
 * (the sweep's last footprint below 50 MB is 4 KiB x 2^13.5 = 45.25 MiB). */
static void diagnostics_follow_the_cases(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(
        shell("$S run -q --backend sim --bench precision --bench cache --seconds 1s --out d.jsonl", &output),
        0);
    assert_non_null(strstr(text_get(&output), "number formats: "));
    assert_non_null(strstr(text_get(&output), " TOP/s"));
    const char *caches = strstr(text_get(&output), "caches seen");
    double ns[3];
    assert_non_null(caches);
    assert_int_equal(
        sscanf(caches, "caches seen by dependent loads: up to 256 KiB %lf ns, up to 45.3 MiB %lf ns, %lf ns",
               &ns[0], &ns[1], &ns[2]),
        3);
    assert_true(ns[0] > 19 && ns[0] < 21 && ns[1] > 145 && ns[1] < 155 && ns[2] > 390 && ns[2] < 410);
    assert_null(strstr(text_get(&output), "emulated"));
    assert_int_equal(shell("$S show d.jsonl --format csv", &output), 0);
    assert_non_null(strstr(text_get(&output), ",rms_rel_error,"));
    assert_int_equal(shell("$S run -q --backend sim --bench membw --seconds 1s --out m.jsonl", &output), 0);
    assert_null(strstr(text_get(&output), "number formats"));
    assert_null(strstr(text_get(&output), "caches"));
    text_free(&output);
}

int main(void) {
    enter_scratch_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_scenario_raises_exactly_its_finding),
        cmocka_unit_test(a_sick_worker_costs_its_case_and_the_plan_goes_on),
        cmocka_unit_test(diagnostics_follow_the_cases),
        cmocka_unit_test(simulated_records_are_refused_by_rank_unless_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
