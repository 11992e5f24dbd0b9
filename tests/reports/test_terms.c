#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reports/terms.h"

#include <string.h>

static void every_term_has_a_full_row_and_reads_back_by_its_name(void **state) {
    (void)state;
    for (int t = 0; t < TERM_COUNT; t++) {
        enum term back = TERM_COUNT;
        struct err e;

        assert_non_null(term_row((enum term)t)->note);
        assert_non_null(term_row((enum term)t)->node_hour);
        assert_int_equal(term_parse(term_row((enum term)t)->name, &back, &e), 0);
        assert_int_equal(back, t);
    }
}

static void names_are_read_without_case(void **state) {
    enum term t = TERM_ON_DEMAND;
    struct err e;

    (void)state;
    assert_int_equal(term_parse("SPOT", &t, &e), 0);
    assert_int_equal(t, TERM_SPOT);
}

static void an_unknown_term_is_an_error_that_lists_the_known(void **state) {
    enum term t;
    struct err e;

    (void)state;
    assert_int_equal(term_parse("reserved", &t, &e), -1);
    assert_int_equal(e.code, ERR_PARSE);
    assert_non_null(strstr(e.text, "reserved"));
    assert_non_null(strstr(e.text, "on-demand"));
    assert_non_null(strstr(e.text, "spot"));
}

static void only_spot_can_be_interrupted(void **state) {
    (void)state;
    assert_false(term_row(TERM_ON_DEMAND)->interruptible);
    assert_true(term_row(TERM_SPOT)->interruptible);
}

/* Both terms are billed as quoted; goodput is no part of a term. */
static void a_node_hour_costs_what_is_quoted(void **state) {
    struct offer o = {.term = TERM_SPOT, .price = {money_make(12.25, "EUR")}};

    (void)state;
    assert_float_equal(term_node_hour(&o).per_hour.amount, 12.25, 0);
    assert_string_equal(term_node_hour(&o).per_hour.currency, "EUR");
    o.term = TERM_ON_DEMAND;
    assert_float_equal(term_node_hour(&o).per_hour.amount, 12.25, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_term_has_a_full_row_and_reads_back_by_its_name),
        cmocka_unit_test(names_are_read_without_case),
        cmocka_unit_test(an_unknown_term_is_an_error_that_lists_the_known),
        cmocka_unit_test(only_spot_can_be_interrupted),
        cmocka_unit_test(a_node_hour_costs_what_is_quoted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
