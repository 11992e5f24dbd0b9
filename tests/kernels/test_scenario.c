#include "kernels/sim/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* The figures are those of the scenarios' descriptions in scenario.h and docs. */
static void reads_rows_and_parameters(void **state) {
    (void)state;
    static const struct {
        const char *text;
        struct scenario want; /* devices gemm memory after clock share times wrong dead hung */
    } rows[] = {
        {NULL, {1, 1, 1, 0, 1, 0, 1, 0, 0, 0}},
        {"healthy", {1, 1, 1, 0, 1, 0, 1, 0, 0, 0}},
        {"healthy:devices=8", {8, 1, 1, 0, 1, 0, 1, 0, 0, 0}},
        {"slow", {1, 0.6, 0.6, 0, 1, 0, 1, 0, 0, 0}},
        {"slow:memory=0.9,devices=2", {2, 0.6, 0.9, 0, 1, 0, 1, 0, 0, 0}},
        {"throttle", {1, 1, 1, 20, 0.7, 0, 1, 0, 0, 0}},
        {"throttle:after=3.5,clock=0.5", {1, 1, 1, 3.5, 0.5, 0, 1, 0, 0, 0}},
        {"outliers", {1, 1, 1, 0, 1, 0.03, 5, 0, 0, 0}},
        {"wrong", {1, 1, 1, 5, 1, 0, 1, 0.125, 0, 0}},
        {"dead", {1, 1, 1, 0, 1, 0, 1, 0, 1024, 0}},
        {"hung:hung=64", {1, 1, 1, 0, 1, 0, 1, 0, 0, 64}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e = {0};
        struct scenario got;
        if (scenario_parse(rows[i].text, &got, &e))
            fail_msg("%s: %s", rows[i].text, e.text);
        assert_memory_equal(&got, &rows[i].want, sizeof got);
    }
}

static void refuses_what_it_does_not_know(void **state) {
    (void)state;
    static const struct {
        const char *text, *mention[3];
    } rows[] = {
        {"broken", {"\"broken\"", "healthy, slow, throttle, outliers, wrong, dead, hung", ""}},
        {"", {"\"\"", "healthy", ""}},
        {"slo", {"\"slo\"", "slow", ""}},
        {"slow:clock=0.5", {"clock=0.5", "it takes devices=1,gemm=0.6,memory=0.6", ""}},
        {"healthy:after=1", {"after=1", "it takes devices=1", ""}},
        {"throttle:after", {"\"after\"", "after=20,clock=0.7", ""}},
        {"throttle:after=", {"throttle", "after", ""}},
        {"throttle:clock=fast", {"clock", "fast", ""}},
        {"throttle:clock=1.5", {"clock", "0.001 to 1", "1.5"}},
        {"healthy:devices=0", {"devices", "whole number from 1 to 1024", "not 0"}},
        {"healthy:devices=1.5", {"devices", "whole number", "not 1.5"}},
        {"slow:gemm=0.6,,memory=0.5", {"\"\"", "gemm=0.6", ""}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e = {0};
        struct scenario got;
        assert_int_equal(scenario_parse(rows[i].text, &got, &e), -1);
        assert_int_equal(err_exit_status(e.code), 2);
        for (int k = 0; k < 3; k++)
            if (!strstr(e.text, rows[i].mention[k]))
                fail_msg("%s: \"%s\" does not mention %s", rows[i].text, e.text, rows[i].mention[k]);
    }
}

static void lists_rows_that_parse(void **state) {
    (void)state;
    size_t count = 0;
    for (const struct scenario_row *row; (row = scenario_at(count)); count++) {
        struct err e = {0};
        struct scenario got;
        assert_int_equal(scenario_parse(row->name, &got, &e), 0);
        assert_true(strlen(row->summary) > 0);
    }
    assert_int_equal(count, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rows_and_parameters),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(lists_rows_that_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
