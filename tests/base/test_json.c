#include "tests/base/check.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static json_t *parse(const char *text, struct err *e) {
    return json_parse("a.json", text, strlen(text), e);
}

static void parses_objects_arrays_and_a_byte_order_mark(void **state) {
    (void)state;
    static const char *const rows[] = {"{}", "[]", " {\"a\": [1, 2.5, null, true]}\n",
                                       "\xEF\xBB\xBF{\"a\": 1}"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        json_t *v = parse(rows[i], &e);
        if (!v)
            fail_msg("%s", e.text);
        json_decref(v);
    }
}

static void refuses_bad_text_and_names_the_place(void **state) {
    (void)state;
    static const struct {
        const char *in, *piece;
    } rows[] = {
        {"", "a.json: line 1, column 0"},
        {"{\n  \"a\": 1,\n  \"a\": 2\n}", "a.json: line 3"},
        {"{\"a\": 1} x", "a.json: line 1, column 10"},
        {"{\"a\": NaN}", "line 1, column 9"},
        /* where the bad word ends */
        {"{\"a\": Infinity}", "line 1, column 14"},
        {"{\"a\": 0x10}", "line 1"},
        {"{\"a\": 1e999}", "line 1"},
        {"{\"a\": 99999999999999999999}", "line 1"},
        {"{\"a\": \"\xFF\"}", "line 1"},
        {"{\"a\": \"x", "line 1"},
        {"{'a': 1}", "line 1"},
        {"{\"a\": 1,}", "line 1"},
        {"12", "line 1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        if (parse(rows[i].in, &e))
            fail_msg("taken: %s", rows[i].in);
        assert_error(&e, ERR_PARSE, rows[i].piece);
    }
}

static void refuses_nul_bytes(void **state) {
    (void)state;
    struct err e;
    static const char inside[] = "{\"a\": \"b\0c\"}", behind[] = "{}\0{}", escaped[] = "{\"a\": \"\\u0000\"}";
    assert_null(json_parse("a.json", inside, sizeof inside - 1, &e));
    assert_error(&e, ERR_PARSE, "a.json: line 1");
    assert_null(json_parse("a.json", behind, sizeof behind - 1, &e));
    assert_error(&e, ERR_PARSE, "a.json: line 1");
    assert_null(json_parse("a.json", escaped, sizeof escaped - 1, &e));
    assert_error(&e, ERR_PARSE, "a.json: line 1");
}

static void refuses_endless_nesting(void **state) {
    (void)state;
    enum { DEPTH = 1 << 20 };
    char *deep = malloc(DEPTH);
    memset(deep, '[', DEPTH);
    struct err e;
    assert_null(json_parse("deep.json", deep, DEPTH, &e));
    assert_error(&e, ERR_PARSE, "deep.json: line 1");
    free(deep);
}

static void write_file(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void reads_files_and_names_them_in_errors(void **state) {
    (void)state;
    char path[] = "/tmp/stepcost-json-XXXXXX";
    close(mkstemp(path));
    struct err e;
    int64_t a;
    write_file(path, "{\"a\": 3}");
    json_t *v = json_read_file(path, &e);
    assert_non_null(v);
    assert_ok(json_get_int(v, "a", &a, &e), &e);
    assert_int_equal(a, 3);
    json_decref(v);
    write_file(path, "{\n\"a\" 3}");
    assert_null(json_read_file(path, &e));
    assert_error(&e, ERR_PARSE, path);
    assert_error(&e, ERR_PARSE, "line 2");
    write_file(path, "");
    assert_null(json_read_file(path, &e));
    assert_error(&e, ERR_PARSE, path);
    unlink(path);
    assert_null(json_read_file(path, &e));
    assert_error(&e, ERR_NOT_FOUND, "No such file");
    assert_null(json_read_file("/tmp", &e));
    assert_error(&e, ERR_NOT_FOUND, "/tmp");
}

static void refuses_a_huge_file_before_parsing_it(void **state) {
    (void)state;
    char path[] = "/tmp/stepcost-json-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(ftruncate(fd, 1ll << 40), 0); /* sparse: costs no disk */
    close(fd);
    struct err e;
    assert_null(json_read_file(path, &e));
    assert_error(&e, ERR_PARSE, "larger than");
    unlink(path);
}

static void typed_fields_come_out_or_the_error_names_them(void **state) {
    (void)state;
    struct err e;
    json_t *v = parse("{\"s\": \"x\", \"n\": 2.5, \"i\": 7, \"r\": 1e3, \"b\": true, \"z\": null}", &e);
    const char *s;
    double n;
    int64_t i;
    bool b;
    assert_ok(json_get_string(v, "s", &s, &e), &e);
    assert_string_equal(s, "x");
    assert_ok(json_get_number(v, "n", &n, &e), &e);
    assert_same(n, 2.5);
    assert_ok(json_get_number(v, "i", &n, &e), &e);
    assert_same(n, 7);
    assert_ok(json_get_int(v, "i", &i, &e), &e);
    assert_int_equal(i, 7);
    assert_ok(json_get_int(v, "r", &i, &e), &e);
    assert_int_equal(i, 1000);
    assert_ok(json_get_bool(v, "b", &b, &e), &e);
    assert_true(b);
    assert_int_equal(json_get_string(v, "n", &s, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"n\" must be a string, found a number");
    assert_int_equal(json_get_number(v, "s", &n, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"s\" must be a number, found \"x\"");
    assert_int_equal(json_get_number(v, "z", &n, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"z\" must be a number, found null");
    assert_int_equal(json_get_int(v, "n", &i, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"n\" must be a whole number");
    assert_int_equal(json_get_bool(v, "i", &b, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"i\" must be true or false");
    assert_int_equal(json_get_int(v, "absent", &i, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"absent\" is missing");
    assert_int_equal(json_get_int(json_array_get(v, 0), "a", &i, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"a\" is missing");
    json_decref(v);
}

static void whole_numbers_beyond_a_doubles_reach_are_refused(void **state) {
    (void)state;
    struct err e;
    int64_t i;
    json_t *v = parse("{\"big\": 1e300, \"edge\": 9007199254740992.0, \"max\": 9223372036854775807}", &e);
    assert_int_equal(json_get_int(v, "big", &i, &e), -1);
    assert_ok(json_get_int(v, "edge", &i, &e), &e);
    assert_int_equal(i, 9007199254740992);
    assert_ok(json_get_int(v, "max", &i, &e), &e);
    assert_true(i == INT64_MAX);
    json_decref(v);
}

static void optional_fields_take_the_default_when_absent_or_null(void **state) {
    (void)state;
    struct err e;
    json_t *v = parse("{\"s\": \"x\", \"n\": 2.5, \"z\": null}", &e);
    const char *s;
    double n;
    assert_ok(json_opt_string(v, "s", "d", &s, &e), &e);
    assert_string_equal(s, "x");
    assert_ok(json_opt_string(v, "z", "d", &s, &e), &e);
    assert_string_equal(s, "d");
    assert_ok(json_opt_string(v, "absent", NULL, &s, &e), &e);
    assert_null(s);
    assert_ok(json_opt_number(v, "n", 1, &n, &e), &e);
    assert_same(n, 2.5);
    assert_ok(json_opt_number(v, "z", NAN, &n, &e), &e);
    assert_same(n, NAN);
    assert_int_equal(json_opt_number(v, "s", 1, &n, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"s\"");
    assert_int_equal(json_opt_string(v, "n", "d", &s, &e), -1);
    assert_error(&e, ERR_PARSE, "field \"n\"");
    json_decref(v);
}

static void unknown_keys_are_named_with_the_nearest(void **state) {
    (void)state;
    static const char *const keys[] = {"provider", "region", NULL};
    struct err e;
    json_t *good = parse("{\"region\": 1, \"provider\": 2}", &e);
    json_t *typo = parse("{\"region\": 1, \"provder\": 2}", &e);
    json_t *other = parse("{\"zzzzzzzz\": 2}", &e);
    assert_ok(json_check_keys(good, keys, &e), &e);
    assert_int_equal(json_check_keys(typo, keys, &e), -1);
    assert_error(&e, ERR_PARSE, "unknown field \"provder\"; did you mean \"provider\"?");
    assert_int_equal(json_check_keys(other, keys, &e), -1);
    assert_error(&e, ERR_PARSE, "unknown field \"zzzzzzzz\"");
    json_decref(good);
    json_decref(typo);
    json_decref(other);
}

static void unknown_numbers_are_null(void **state) {
    (void)state;
    static const double values[] = {1.5, NAN, INFINITY, -INFINITY, 0};
    json_t *array = json_numbers(values, COUNT(values));
    char *line = json_line(array);
    assert_string_equal(line, "[1.5,null,null,null,0.0]");
    size_t count;
    double *back = json_as_numbers(array, &count);
    assert_int_equal(count, 5);
    assert_same(back[0], 1.5);
    assert_same(back[1], NAN);
    assert_same(back[4], 0);
    free(back);
    free(line);
    json_decref(array);
}

static void arrays_with_other_things_are_no_numbers(void **state) {
    (void)state;
    struct err e;
    json_t *v = parse("{\"mixed\": [1, \"2\"], \"empty\": [], \"object\": {}}", &e);
    size_t count = 9;
    assert_null(json_as_numbers(json_object_get(v, "mixed"), &count));
    assert_int_equal(count, 0);
    assert_null(json_as_numbers(json_object_get(v, "object"), &count));
    assert_null(json_as_numbers(NULL, &count));
    double *empty = json_as_numbers(json_object_get(v, "empty"), &count);
    assert_non_null(empty);
    assert_int_equal(count, 0);
    free(empty);
    json_decref(v);
}

static void lines_keep_key_order_and_every_bit(void **state) {
    (void)state;
    static const double values[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789};
    struct err e;
    for (size_t i = 0; i < COUNT(values); i++) {
        json_t *v = json_pack("{s:f,s:s}", "z", values[i], "a", "two\nlines");
        char *line = json_line(v);
        assert_null(strchr(line, '\n'));
        assert_memory_equal(line, "{\"z\":", 5);
        json_t *back = parse(line, &e);
        assert_same(json_as_number(json_object_get(back, "z")), values[i]);
        free(line);
        json_decref(back);
        json_decref(v);
    }
}

static void texts_that_are_not_utf8_still_become_strings(void **state) {
    (void)state;
    static const struct {
        const char *in, *want;
    } rows[] = {{"plain", "plain"},
                {"\xC3\xA9", "\xC3\xA9"},
                {"a\xFF"
                 "b",
                 "a?b"},
                {"", ""}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *v = json_text(rows[i].in);
        assert_string_equal(json_string_value(v), rows[i].want);
        json_decref(v);
    }
    assert_true(json_is_null(json_text(NULL)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_objects_arrays_and_a_byte_order_mark),
        cmocka_unit_test(refuses_bad_text_and_names_the_place),
        cmocka_unit_test(refuses_nul_bytes),
        cmocka_unit_test(refuses_endless_nesting),
        cmocka_unit_test(reads_files_and_names_them_in_errors),
        cmocka_unit_test(refuses_a_huge_file_before_parsing_it),
        cmocka_unit_test(typed_fields_come_out_or_the_error_names_them),
        cmocka_unit_test(whole_numbers_beyond_a_doubles_reach_are_refused),
        cmocka_unit_test(optional_fields_take_the_default_when_absent_or_null),
        cmocka_unit_test(unknown_keys_are_named_with_the_nearest),
        cmocka_unit_test(unknown_numbers_are_null),
        cmocka_unit_test(arrays_with_other_things_are_no_numbers),
        cmocka_unit_test(lines_keep_key_order_and_every_bit),
        cmocka_unit_test(texts_that_are_not_utf8_still_become_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
