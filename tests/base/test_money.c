#include "tests/base/check.h"

#include "base/money.h"

static void reads_amounts_in_the_catalogues_spellings(void **state) {
    (void)state;
    static const struct {
        const char *in;
        double amount;
        const char *currency;
    } rows[] = {
        {"12.50 USD", 12.5, "USD"},
        {"USD 12.50", 12.5, "USD"},
        {"$12.50", 12.5, "USD"},
        {"12.50", 12.5, "USD"},
        {"$ 12.50", 12.5, "USD"},
        {"0", 0, "USD"},
        {"eur 1.1", 1.1, "EUR"},
        {"1.1EUR", 1.1, "EUR"},
        {"EUR1.1", 1.1, "EUR"},
        {" 3 CHF ", 3, "CHF"},
        {"1e3 JPY", 1000, "JPY"},
        {"\xE2\x82\xAC"
         "5",
         5, "EUR"},
        {"5 \xC2\xA3", 5, "GBP"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        struct money m;
        assert_ok(money_parse(rows[i].in, &m, &e), &e);
        assert_same(m.amount, rows[i].amount);
        assert_string_equal(m.currency, rows[i].currency);
    }
}

static void refuses_what_is_no_amount(void **state) {
    (void)state;
    static const struct {
        const char *in, *piece;
    } rows[] = {
        {"", "not an amount"},
        {"USD", "not an amount"},
        {"$", "not an amount"},
        {"-1 USD", "negative"},
        {"$-1", "negative"},
        {"nan USD", "ISO 4217"},
        {"inf", "not an amount"},
        {"1,234.50", "thousands"},
        {"12.50 XYZ", "\"XYZ\" is no ISO 4217"},
        {"GPU 5", "ISO 4217"},
        {"12 USD 13", "not an amount"},
        {"0x10", "not an amount"},
        {"$5 EUR", "not an amount"},
        {"1e999", "not an amount"},
        {"12.500000000000000000000000000000000000000000000000000000000001", "not an amount"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        struct money m;
        if (money_parse(rows[i].in, &m, &e) != -1)
            fail_msg("\"%s\" was taken as %g %s", rows[i].in, m.amount, m.currency);
        assert_error(&e, ERR_PARSE, rows[i].piece);
    }
}

/* 5000 / 730 = 6.8493..., 1.1 / 24 = 0.0458333..., 0.001 x 3600 = 3.6; 8760 / (12 x 730) = 1. */
static void reads_prices_per_hour(void **state) {
    (void)state;
    static const struct {
        const char *in;
        double per_hour;
        const char *currency;
    } rows[] = {
        {"$3.06/h", 3.06, "USD"},       {"0.05/h", 0.05, "USD"},    {"5000 USD/month", 5000.0 / 730, "USD"},
        {"EUR 1.1/d", 1.1 / 24, "EUR"}, {"0.05 / hr", 0.05, "USD"}, {"0.05 USD/HOUR", 0.05, "USD"},
        {"8760/year", 1, "USD"},        {"168/week", 1, "USD"},     {"0.001/s", 3.6, "USD"},
        {"730/mo", 1, "USD"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        struct price p;
        assert_ok(money_parse_price(rows[i].in, 730, &p, &e), &e);
        assert_near(p.per_hour.amount, rows[i].per_hour, 1e-15);
        assert_string_equal(p.per_hour.currency, rows[i].currency);
    }
}

static void takes_the_length_of_a_month_from_the_caller(void **state) {
    (void)state;
    struct err e;
    struct price p;
    assert_ok(money_parse_price("672 USD/month", 672, &p, &e), &e);
    assert_same(p.per_hour.amount, 1);
}

static void refuses_prices_without_a_known_unit_of_time(void **state) {
    (void)state;
    static const struct {
        const char *in, *piece;
    } rows[] = {
        {"0.05", "has no unit of time; write it as in 3.06/h"},
        {"0.05/", "unknown unit of time \"\""},
        {"0.05/hous", "did you mean \"hour\""},
        {"0.05/fortnight", "unknown unit of time"},
        {"/h", "not an amount"},
        {"-0.05/h", "negative"},
        {"", "has no unit of time"},
        {"5/5/h", "not an amount"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        struct price p;
        assert_int_equal(money_parse_price(rows[i].in, 730, &p, &e), -1);
        assert_error(&e, ERR_PARSE, rows[i].piece);
    }
}

static void adds_one_currency_only(void **state) {
    (void)state;
    struct err e;
    struct money sum;
    assert_ok(money_add(money_make(1.25, "EUR"), money_make(2.5, "EUR"), &sum, &e), &e);
    assert_same(sum.amount, 3.75);
    assert_string_equal(sum.currency, "EUR");
    assert_int_equal(money_add(money_make(1, "USD"), money_make(1, "EUR"), &sum, &e), -1);
    assert_error(&e, ERR_PARSE, "USD and EUR");
    assert_ok(money_add(money_make(1, "USD"), money_unknown(), &sum, &e), &e);
    assert_same(sum.amount, NAN);
    assert_same(money_scale(money_make(2, "USD"), 1.5).amount, 3);
}

static void formats_small_and_large_amounts(void **state) {
    (void)state;
    static const struct {
        double amount;
        const char *currency, *want;
    } rows[] = {
        {0.0123, "USD", "$0.0123"},
        {0.01234567, "USD", "$0.01235"},
        {12.5, "EUR", "EUR 12.50"},
        {1, "USD", "$1.00"},
        {0.5, "USD", "$0.50"},
        {0, "USD", "$0.00"},
        {0.99999, "USD", "$1.00"},
        {1234.567, "USD", "$1234.57"},
        {0.0000123456, "USD", "$0.00001235"},
        {1e-15, "EUR", "EUR 1.000e-15"},
        {3.5e20, "EUR", "EUR 3.500e+20"},
        {-2.5, "USD", "-$2.50"},
        {NAN, "USD", "-"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[32 + 4];
        memset(out, 'z', sizeof out);
        money_format(money_make(rows[i].amount, rows[i].currency), out);
        assert_string_equal(out, rows[i].want);
        assert_memory_equal(out + 32, "zzzz", 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_amounts_in_the_catalogues_spellings),
        cmocka_unit_test(refuses_what_is_no_amount),
        cmocka_unit_test(reads_prices_per_hour),
        cmocka_unit_test(takes_the_length_of_a_month_from_the_caller),
        cmocka_unit_test(refuses_prices_without_a_known_unit_of_time),
        cmocka_unit_test(adds_one_currency_only),
        cmocka_unit_test(formats_small_and_large_amounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
