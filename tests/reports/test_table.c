#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "reports/report.h"
#include "reports/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
    {"name", "name", COLUMN_TEXT},
    {"cost_usd_per_step", "$/step", COLUMN_NUMBER},
    {"note", "note", COLUMN_TEXT},
};
enum { TABLE, JSON, CSV, MARKDOWN };

static void add_row(struct table *t, const char *name, double number, const char *text, const char *note) {
    table_text(t, name);
    table_number(t, number, text);
    table_text(t, note);
}

/* The table as written; the caller frees. */
static char *written(const struct table *t, int format) {
    char *bytes = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&bytes, &length);

    assert_non_null(out);
    table_write(t, format, out);
    fclose(out);
    return bytes;
}

static void assert_written(const struct table *t, int format, const char *want) {
    char *got = written(t, format);

    assert_string_equal(got, want);
    free(got);
}

static void formats_have_their_names_in_the_order_of_the_options(void **state) {
    static const char *const want[] = {"table", "json", "csv", "markdown"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(writer_names[i], want[i]);
    }
    assert_null(writer_names[4]);
}

static void tables_and_markdown_are_for_people(void **state) {
    (void)state;
    assert_true(writer_is_for_people(TABLE) && writer_is_for_people(MARKDOWN));
    assert_false(writer_is_for_people(JSON) || writer_is_for_people(CSV));
}

/* 0.1 + 0.2 in binary is 0.30000000000000004 with all its digits. */
static void an_exact_number_shows_all_its_digits(void **state) {
    static const struct column one[] = {{"x", "x", COLUMN_NUMBER}};
    struct table t;

    (void)state;
    table_init(&t, one, 1);
    table_number_exact(&t, 0.1 + 0.2);
    table_number_exact(&t, 25);
    table_number_exact(&t, NAN);
    assert_string_equal(t.cells[0].text, "0.30000000000000004");
    assert_string_equal(t.cells[1].text, "25");
    assert_string_equal(t.cells[2].text, "-");
    assert_true(isnan(t.cells[2].number));
    table_free(&t);
}

static struct table two_rows(void) {
    struct table t;

    table_init(&t, columns, 3);
    add_row(&t, "p4d", 0.00012, "$0.00012", "");
    add_row(&t, "gpu_8x", NAN, NULL, "a|b, \"c\"");
    return t;
}

/* Widths by hand: 6 (gpu_8x), 8 ($0.00012), 8 (a|b, "c"), two spaces between. */
static void a_table_aligns_text_left_and_numbers_right_without_trailing_space(void **state) {
    struct table t = two_rows();

    (void)state;
    assert_written(&t, TABLE,
                   "name      $/step  note\n"
                   "p4d     $0.00012\n"
                   "gpu_8x         -  a|b, \"c\"\n");
    table_free(&t);
}

static void json_has_numbers_in_base_units_and_null_for_unknown(void **state) {
    struct table t = two_rows();
    char *text = written(&t, JSON);
    struct err e;
    json_t *rows = json_parse("table", text, strlen(text), &e);

    (void)state;
    assert_non_null(rows);
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "name")), "p4d");
    assert_float_equal(json_number_value(json_object_get(json_array_get(rows, 0), "cost_usd_per_step")),
                       0.00012, 0);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "cost_usd_per_step")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 1), "note")), "a|b, \"c\"");
    json_decref(rows);
    free(text);
    table_free(&t);
}

static void csv_has_keys_all_digits_and_quotes_where_needed(void **state) {
    struct table t = two_rows();

    (void)state;
    t.cells[1].number = 1.0 / 3.0;
    assert_written(&t, CSV,
                   "name,cost_usd_per_step,note\n"
                   "p4d,0.3333333333333333,\n"
                   "gpu_8x,,\"a|b, \"\"c\"\"\"\n");
    table_free(&t);
}

static void markdown_escapes_bars(void **state) {
    struct table t = two_rows();

    (void)state;
    assert_written(&t, MARKDOWN,
                   "| name | $/step | note |\n"
                   "| --- | ---: | --- |\n"
                   "| p4d | $0.00012 |  |\n"
                   "| gpu_8x | - | a\\|b, \"c\" |\n");
    table_free(&t);
}

static void a_table_without_rows_is_whole_in_every_format(void **state) {
    static const char *const want[] = {"name  $/step  note\n", "[]\n", "name,cost_usd_per_step,note\n",
                                       "| name | $/step | note |\n| --- | ---: | --- |\n"};
    struct table t;

    (void)state;
    table_init(&t, columns, 3);
    for (int format = 0; format < 4; format++) {
        assert_written(&t, format, want[format]);
    }
    table_free(&t);
}

/* 8 + 2 + 6 + 2 + 30 = 48 columns; at 38 the widest text gives 10: 19 characters and the ellipsis. */
static void the_widest_text_is_cut_to_the_terminal_and_numbers_never(void **state) {
    struct table t;

    (void)state;
    table_init(&t, columns, 3);
    add_row(&t, "12345678", 1, "123456", "123456789012345678901234567890");
    setenv("COLUMNS", "38", 1);
    assert_written(&t, TABLE,
                   "name      $/step  note\n"
                   "12345678  123456  1234567890123456789…\n");
    unsetenv("COLUMNS");
    assert_written(&t, TABLE,
                   "name      $/step  note\n"
                   "12345678  123456  123456789012345678901234567890\n");
    table_free(&t);
}

/* Each text column keeps 8 characters, the number its 6: 8 + 2 + 6 + 2 + 8. */
static void a_terminal_that_is_too_narrow_drops_no_column(void **state) {
    struct table t;

    (void)state;
    table_init(&t, columns, 3);
    add_row(&t, "a name of 20 letters", 1, "123456", "a note that is longer");
    setenv("COLUMNS", "1", 1);
    assert_written(&t, TABLE,
                   "name      $/step  note\n"
                   "a name …  123456  a note …\n");
    unsetenv("COLUMNS");
    table_free(&t);
}

static void nonsense_in_columns_is_as_if_it_were_not_set(void **state) {
    static const char *const nonsense[] = {"", "wide", "-3", "0", "80x"};
    struct table t;
    char *got;

    (void)state;
    table_init(&t, columns, 3);
    add_row(&t, "", 1, "123456", "");
    table_text(&t, "");
    table_number(&t, 1, "1");
    table_text(&t,
               "123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 "
               "123456789 123456789 123456789 123456789");
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        setenv("COLUMNS", nonsense[i], 1);
        got = written(&t, TABLE);
        /* no terminal, no limit: the 129 characters stand there whole */
        assert_non_null(strstr(got, " 123456789 123456789\n"));
        free(got);
    }
    unsetenv("COLUMNS");
    table_free(&t);
}

/* At 60 columns: 30 + 2 + 8 + 2 + 30 = 72 are too many; the spare text is cut to 14: 30 + 2 + 8 + 2 + 14 = 56
 * fit. At 50 they do not (the other text would keep 24: 24 + 2 + 8 + 2 + 14 = 50 fit, so it is cut to 24). At
 * 40 the spare text goes, and 30 + 2 + 8 = 40 is whole again. */
static void spare_columns_give_way_first(void **state) {
    static const struct column spare[] = {
        {"name", "name", COLUMN_TEXT}, {"n", "n", COLUMN_NUMBER}, {"note", "note", COLUMN_TEXT, 1}};
    static const struct {
        const char *columns, *line;
    } rows[] = {
        {"60", "abcdefghijklmnopqrstuvwxyz0123  12345678  ABCDEFGHIJKLMNOPQ…\n"},
        {"50", "abcdefghijklmnopqrstuvw…  12345678  ABCDEFGHIJKLM…\n"},
        {"40", "abcdefghijklmnopqrstuvwxyz0123  12345678\n"},
    };
    struct table t;
    (void)state;
    table_init(&t, spare, 3);
    table_text(&t, "abcdefghijklmnopqrstuvwxyz0123");
    table_number(&t, 12345678, "12345678");
    table_text(&t, "ABCDEFGHIJKLMNOPQRSTUVWXYZ4567");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("COLUMNS", rows[i].columns, 1);
        char *got = written(&t, TABLE);
        assert_non_null(strstr(got, rows[i].line));
        free(got);
    }
    unsetenv("COLUMNS");
    table_free(&t);
}

static void characters_count_by_code_point_and_are_never_halved(void **state) {
    struct table t;

    (void)state;
    table_init(&t, columns, 3);
    add_row(&t, "Zürich", 1, "€1", "ä");
    add_row(&t, "Basel", 1, "€22", "äöüäöüäöüäöü");
    setenv("COLUMNS", "26", 1); /* 6 + 2 + 6 + 2 = 16 leave 10 of the last column's 12 */
    assert_written(&t, TABLE,
                   "name    $/step  note\n"
                   "Zürich      €1  ä\n"
                   "Basel      €22  äöüäöüäöü…\n");
    unsetenv("COLUMNS");
    table_free(&t);
}

/* 0xC3 alone, an overlong slash, a surrogate half: none is UTF-8 (RFC 3629, section 3). */
static void what_is_no_text_becomes_a_question_mark(void **state) {
    struct table t;

    (void)state;
    table_init(&t, columns, 3);
    add_row(&t, "a\xC3z", 1, "1", "\xC0\xAF");
    add_row(&t, "\x1b[31m", 1, "1", "\xED\xA0\x80");
    add_row(&t, "a\tb\nc", 1, "1", "\xC2\x9Bx");
    assert_string_equal(t.cells[0].text, "a?z");
    assert_string_equal(t.cells[2].text, "??");
    assert_string_equal(t.cells[3].text, "?[31m");
    assert_string_equal(t.cells[5].text, "???");
    assert_string_equal(t.cells[6].text, "a b c");
    assert_string_equal(t.cells[8].text, "?x");
    table_free(&t);
}

static void only_whole_rows_count(void **state) {
    struct table t;

    (void)state;
    table_init(&t, columns, 3);
    add_row(&t, "a", 1, "1", "b");
    table_text(&t, "half");
    assert_int_equal(t.row_count, 1);
    assert_written(&t, CSV, "name,cost_usd_per_step,note\na,1,b\n");
    table_free(&t);
    table_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_have_their_names_in_the_order_of_the_options),
        cmocka_unit_test(tables_and_markdown_are_for_people),
        cmocka_unit_test(an_exact_number_shows_all_its_digits),
        cmocka_unit_test(a_table_aligns_text_left_and_numbers_right_without_trailing_space),
        cmocka_unit_test(json_has_numbers_in_base_units_and_null_for_unknown),
        cmocka_unit_test(csv_has_keys_all_digits_and_quotes_where_needed),
        cmocka_unit_test(markdown_escapes_bars),
        cmocka_unit_test(a_table_without_rows_is_whole_in_every_format),
        cmocka_unit_test(the_widest_text_is_cut_to_the_terminal_and_numbers_never),
        cmocka_unit_test(a_terminal_that_is_too_narrow_drops_no_column),
        cmocka_unit_test(nonsense_in_columns_is_as_if_it_were_not_set),
        cmocka_unit_test(spare_columns_give_way_first),
        cmocka_unit_test(characters_count_by_code_point_and_are_never_halved),
        cmocka_unit_test(what_is_no_text_becomes_a_question_mark),
        cmocka_unit_test(only_whole_rows_count),
    };

    unsetenv("COLUMNS");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
