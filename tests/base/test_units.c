#include "tests/base/check.h"

#include "base/units.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void reads_decimal_numbers(void **state) {
    (void)state;
    static const struct {
        const char *in;
        double want;
    } rows[] = {
        {"0", 0},       {"1.5", 1.5}, {"-2", -2}, {"+3", 3},     {".5", 0.5},   {"5.", 5},    {"2e9", 2e9},
        {"1E-3", 1e-3}, {" 7 ", 7},   {"\t8", 8}, {"1e-400", 0}, {"00012", 12}, {"0.1", 0.1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        double got;
        assert_ok(units_parse_number(rows[i].in, &got, &e), &e);
        assert_same(got, rows[i].want);
    }
}

static void refuses_what_is_no_finite_decimal_number(void **state) {
    (void)state;
    static const char *const rows[] = {
        "",    " ",     "abc", "nan", "NaN", "inf", "-inf", "infinity", "0x10",   "0x1p3", "1,5",
        "1 2", "1.2.3", "--1", "+-1", "1e",  "e5",  ".",    "1e999",    "-1e999", "1_000", "12abc",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        double got = 42;
        assert_int_equal(units_parse_number(rows[i], &got, &e), -1);
        assert_error(&e, ERR_PARSE, rows[i]);
        assert_same(got, 42);
    }
}

/* Powers by hand: 2^20 = 1048576, 2^26 = 67108864, 2^63 = 9223372036854775808; 2^53 + 1 has no double. */
static void reads_sizes_with_and_without_space(void **state) {
    (void)state;
    static const struct {
        const char *in;
        uint64_t want;
    } rows[] = {
        {"0", 0},
        {"4096", 4096},
        {"4096 B", 4096},
        {"64MiB", 67108864},
        {"64 MiB", 67108864},
        {" 64\tMiB ", 67108864},
        {"2 GB", 2000000000},
        {"1.5GiB", 1610612736},
        {"1.5kB", 1500},
        {"0.5 KiB", 512},
        {"1.1MB", 1100000},
        {"80TB", 80000000000000},
        {"9007199254740993", 9007199254740993u},
        {"9223372036854775807", 9223372036854775807u},
        {"9223372036854775808", 9223372036854775808u},
        {"8192 PiB", 9223372036854775808u},
        {"1e3", 1000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        uint64_t got;
        assert_ok(units_parse_size(rows[i].in, &got, &e), &e);
        assert_int_equal(got, rows[i].want);
    }
}

static void refuses_bad_sizes_and_says_why(void **state) {
    (void)state;
    static const struct {
        const char *in, *piece;
    } rows[] = {
        {"", "not a size"},
        {"MiB", "not a size"},
        {"nan", "not a size"},
        {"inf GB", "not a size"},
        {"0x10", "unknown unit"},
        {"-1", "negative"},
        {"-2GiB", "negative"},
        {"1.5", "fraction"},
        {"9223372036854775809", "2^63"},
        {"8193 PiB", "2^63"},
        {"1e999 GB", "2^63"},
        {"64mib", "did you mean \"MiB\""},
        {"64 Mib", "did you mean \"MiB\""},
        {"64M", "unknown unit \"M\""},
        {"64 MiB x", "unknown unit"},
        {"64 MiB 3", "unknown unit"},
        {"64 MiB/s", "unknown unit"},
        {"1 parsec", "use one of B, kB"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        uint64_t got = 7;
        if (units_parse_size(rows[i].in, &got, &e) != -1)
            fail_msg("\"%s\" was taken as %llu", rows[i].in, (unsigned long long)got);
        assert_error(&e, ERR_PARSE, rows[i].piece);
        assert_int_equal(got, 7);
    }
}

static void reads_durations_and_sums_of_them(void **state) {
    (void)state;
    static const struct {
        const char *in;
        double want_s;
    } rows[] = {
        {"90s", 90},     {"15m", 900},  {"2h", 7200},    {"1d", 86400},   {"250ms", 0.25},
        {"10us", 10e-6}, {"0s", 0},     {"1.5 h", 5400}, {"1h30m", 5400}, {"3 m 20 s", 200},
        {"90 s", 90},    {"5ns", 5e-9}, {"2min", 120},   {"1e2s", 100},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        double got_s;
        assert_ok(units_parse_duration(rows[i].in, &got_s, &e), &e);
        assert_same(got_s, rows[i].want_s);
    }
}

static void refuses_bad_durations_and_says_why(void **state) {
    (void)state;
    static const struct {
        const char *in, *piece;
    } rows[] = {
        {"90", "no unit; write 90s, 90m or 90h"},
        {"1h30", "no unit; write 30s"},
        {"", "not a duration"},
        {"s", "not a duration"},
        {"-5s", "negative"},
        {"1h-5m", "negative"},
        {"5 minutes", "unknown unit"},
        {"5 mins", "did you mean \"min\""},
        {"10 S", "did you mean \"s\""},
        {"nan s", "not a duration"},
        {"1e999s", "too long"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        double got_s = 7;
        if (units_parse_duration(rows[i].in, &got_s, &e) != -1)
            fail_msg("\"%s\" was taken as %g", rows[i].in, got_s);
        assert_error(&e, ERR_PARSE, rows[i].piece);
        assert_same(got_s, 7);
    }
}

typedef char *format_number(double value, char *out);

static void formats_with_three_digits_and_the_right_prefix(void **state) {
    (void)state;
    static const struct {
        format_number *format;
        double in;
        const char *want;
    } rows[] = {
        {units_format_bytes, 0, "0 B"},
        {units_format_bytes, 1023, "1023 B"},
        {units_format_bytes, 1024, "1 KiB"},
        {units_format_bytes, 65536, "64 KiB"},
        {units_format_bytes, 1024000, "1000 KiB"},
        {units_format_bytes, 1610612736, "1.50 GiB"},
        {units_format_bytes, 1048575, "1.00 MiB"}, /* 1023.999 KiB rounds up into the next prefix */
        {units_format_bytes, -65536, "-64 KiB"},
        {units_format_bytes, 5e-324, "4.94e-324 B"}, /* the least double: 2^-1074 */
        {units_format_bytes_per_s, 23.4e9, "23.4 GB/s"},
        {units_format_bytes_per_s, 64e9, "64.0 GB/s"},
        {units_format_bytes_per_s, 9.994e9, "9.99 GB/s"},
        {units_format_bytes_per_s, 9.996e9, "10.0 GB/s"},
        {units_format_bytes_per_s, 99.96e9, "100 GB/s"},
        {units_format_bytes_per_s, 999.6e9, "1.00 TB/s"},
        {units_format_bytes_per_s, 512, "512 B/s"},
        {units_format_bytes_per_s, 0.5, "0.500 B/s"},
        {units_format_flop_per_s, 131.4e9, "131 GFLOP/s"},
        {units_format_flop_per_s, 989.4e12, "989 TFLOP/s"},
        {units_format_flop, 409.2e12, "409 TFLOP"},
        {units_format_flop, 3.14e23, "314 ZFLOP"},
        {units_format_count, 124439808, "124.4 M"},
        {units_format_count, 999, "999"},
        {units_format_count, 1558, "1.558 k"},
        {units_format_count, 175e9, "175.0 G"},
        {units_format_duration, 0, "0 s"},
        {units_format_duration, 0.00124, "1.24 ms"},
        {units_format_duration, 250e-9, "250 ns"},
        {units_format_duration, 45.23, "45.2 s"},
        {units_format_duration, 59.96, "1 m 0 s"},
        {units_format_duration, 200, "3 m 20 s"},
        {units_format_duration, 3599.6, "1.0 h"},
        {units_format_duration, 7560, "2.1 h"},
        {units_format_duration, 259200, "3.0 d"},
        {units_format_duration, -200, "-3 m 20 s"},
        {units_format_percent, 0.1234, "12.3 %"},
        {units_format_percent, 1, "100 %"},
        {units_format_percent, 0.001, "0.100 %"},
        {units_format_percent, 0, "0 %"},
        {units_format_percent, 12.34, "1234 %"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[UNITS_TEXT_SIZE];
        assert_ptr_equal(rows[i].format(rows[i].in, out), out);
        assert_string_equal(out, rows[i].want);
    }
}

static format_number *const all_formats[] = {
    units_format_bytes,    units_format_bytes_per_s, units_format_flop_per_s, units_format_flop,
    units_format_duration, units_format_percent,     units_format_count,      units_format_exact,
};

static void formats_unknown_as_a_dash(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(all_formats); i++) {
        char out[UNITS_TEXT_SIZE];
        assert_string_equal(all_formats[i](NAN, out), "-");
    }
}

static void never_writes_beyond_its_buffer(void **state) {
    (void)state;
    static const double values[] = {1.7976931348623157e308,
                                    -1.7976931348623157e308,
                                    5e-324,
                                    -4.9e-300,
                                    INFINITY,
                                    -INFINITY,
                                    1.2345678901234567e-5,
                                    0.1 + 0.2,
                                    1e15,
                                    123456.789};
    for (size_t i = 0; i < COUNT(all_formats); i++) {
        for (size_t k = 0; k < COUNT(values); k++) {
            char out[UNITS_TEXT_SIZE + 8];
            memset(out, 'z', sizeof out);
            all_formats[i](values[k], out);
            assert_true(strlen(out) < UNITS_TEXT_SIZE);
            assert_memory_equal(out + UNITS_TEXT_SIZE, "zzzzzzzz", 8);
        }
    }
}

/* Wants from the shortest round-trip digits that Python's repr() gives for the same doubles. */
static void formats_exactly_with_the_fewest_digits(void **state) {
    (void)state;
    static const struct {
        double in;
        const char *want;
    } rows[] = {
        {0, "0"},
        {0.1, "0.1"},
        {100, "100"},
        {1e22, "1e+22"},
        {-2.5, "-2.5"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "5e-324"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {1000000, "1000000"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[UNITS_TEXT_SIZE];
        assert_string_equal(units_format_exact(rows[i].in, out), rows[i].want);
        assert_same(strtod(out, NULL), rows[i].in);
    }
}

/* A locale with a decimal comma is rarely installed where tests run, so one is made. */
static bool set_comma_locale(const char *folder) {
    char command[300];
    snprintf(command, sizeof command, "localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             folder, folder);
    setenv("LOCPATH", folder, 1);
    int status = system(command);
    (void)status; /* localedef also fails for warnings: what counts is the locale */
    return setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
}

static void does_not_follow_the_locale(void **state) {
    (void)state;
    char folder[] = "/tmp/stepcost-locale-XXXXXX", command[100], out[UNITS_TEXT_SIZE];
    assert_non_null(mkdtemp(folder));
    bool comma = set_comma_locale(folder);
    struct err e;
    double number = 0, duration_s = 0;
    uint64_t bytes = 0;
    int bad = units_parse_number("1.5", &number, &e) | units_parse_duration("2.5s", &duration_s, &e) |
              units_parse_size("1.5kB", &bytes, &e);
    units_format_exact(2.5, out);
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    if (!comma) {
        print_message("localedef cannot make a locale with a decimal comma here\n");
        skip();
    }
    assert_int_equal(bad, 0);
    assert_same(number, 1.5);
    assert_same(duration_s, 2.5);
    assert_int_equal(bytes, 1500);
    assert_string_equal(out, "2.5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_decimal_numbers),
        cmocka_unit_test(refuses_what_is_no_finite_decimal_number),
        cmocka_unit_test(reads_sizes_with_and_without_space),
        cmocka_unit_test(refuses_bad_sizes_and_says_why),
        cmocka_unit_test(reads_durations_and_sums_of_them),
        cmocka_unit_test(refuses_bad_durations_and_says_why),
        cmocka_unit_test(formats_with_three_digits_and_the_right_prefix),
        cmocka_unit_test(formats_unknown_as_a_dash),
        cmocka_unit_test(never_writes_beyond_its_buffer),
        cmocka_unit_test(formats_exactly_with_the_fewest_digits),
        cmocka_unit_test(does_not_follow_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
