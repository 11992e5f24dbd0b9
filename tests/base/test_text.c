#include "tests/base/check.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void grows_by_pieces_bytes_and_formats(void **state) {
    (void)state;
    struct text t = {0};
    assert_string_equal(text_get(&t), "");
    text_add(&t, "a");
    text_add_bytes(&t, "bcd", 2);
    text_printf(&t, "-%d", 42);
    text_add(&t, "");
    assert_string_equal(text_get(&t), "abc-42");
    assert_int_equal(t.length, 6);
    text_clear(&t);
    assert_string_equal(text_get(&t), "");
    assert_int_equal(t.length, 0);
    text_free(&t);
    text_free(&t);
    text_free(NULL);
}

static void holds_a_long_text(void **state) {
    (void)state;
    struct text t = {0};
    for (int i = 0; i < 10000; i++)
        text_printf(&t, "%05d ", i);
    assert_int_equal(t.length, 60000);
    assert_int_equal(strlen(text_get(&t)), 60000);
    assert_memory_equal(&text_get(&t)[7404], "01234 ", 6); /* 6 x 1234 */
    text_free(&t);
}

static void keeps_nul_bytes_in_added_bytes(void **state) {
    (void)state;
    struct text t = {0};
    text_add_bytes(&t, "a\0b", 3);
    assert_int_equal(t.length, 3);
    assert_memory_equal(text_get(&t), "a\0b", 4);
    text_free(&t);
}

/* Distances by hand: smok->smoke 1 (insert), acept->accept 1, soac->soak 1, "gtp2-124m" ->
 * "gpt2-124m" 2, "xyz" shares nothing, "accelerate" -> "accept" 6 of 10 letters. */
static void suggests_the_nearest_name_only_when_it_is_near(void **state) {
    (void)state;
    static const char *const names[] = {"smoke", "accept", "soak", "gpt2-124m", "ms"};
    static const struct {
        const char *in, *want;
    } rows[] = {
        {"smok", "smoke"},
        {"SMOKE", "smoke"},
        {"acept", "accept"},
        {"soac", "soak"},
        {"gtp2-124m", "gpt2-124m"},
        {"xyz", NULL},
        {"accelerate", NULL},
        {"", NULL},
        {"xy", NULL},
        {"m", "ms"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *got = text_nearest(rows[i].in, names, COUNT(names));
        assert_string_equal(got ? got : "(none)", rows[i].want ? rows[i].want : "(none)");
    }
    assert_null(text_nearest("smoke", names, 0));
}

static void prefers_the_nearer_of_two_names(void **state) {
    (void)state;
    static const char *const names[] = {"format", "formats"};
    assert_string_equal(text_nearest("formatss", names, 2), "formats");
    assert_string_equal(text_nearest("forma", names, 2), "format");
}

static void refuses_to_compare_endless_words(void **state) {
    (void)state;
    char word[5000];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    const char *const names[] = {"a", word};
    assert_null(text_nearest(word, names, 2));
    assert_string_equal(text_nearest("aa", names, 2), "a");
}

static void counts_columns_not_bytes(void **state) {
    (void)state;
    static const struct {
        const char *in;
        size_t want;
    } rows[] = {{"", 0}, {"abc", 3}, {"\xE2\x82\xAC 5", 3}, {"\xC3\xA9\xC3\xA9", 2}, {"\xF0\x9F\x98\x80", 1}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(text_width(rows[i].in), rows[i].want);
}

static void compares_without_case(void **state) {
    (void)state;
    assert_true(text_equal_nocase("Region", "rEGION"));
    assert_true(text_equal_nocase("", ""));
    assert_false(text_equal_nocase("Region", "Regio"));
    assert_false(text_equal_nocase("Regio", "Region"));
    /* '@' and '`', '[' and '{' differ by the case bit but are no letters. */
    assert_false(text_equal_nocase("@[", "`{"));
}

static void reads_the_first_line_of_a_file_under_a_root(void **state) {
    char folder[] = "/tmp/stepcost-text-XXXXXX", path[64], line[8];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("powersave\nsecond\n", file);
    fclose(file);
    assert_true(text_read_line(folder, "/file", line, sizeof line));
    assert_string_equal(line, "powersa"); /* cut to the buffer */
    assert_false(text_read_line(folder, "/none", line, sizeof line));
    assert_int_equal(truncate(path, 0), 0);
    assert_false(text_read_line("", path, line, sizeof line));
    unlink(path);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_first_line_of_a_file_under_a_root),
        cmocka_unit_test(grows_by_pieces_bytes_and_formats),
        cmocka_unit_test(holds_a_long_text),
        cmocka_unit_test(keeps_nul_bytes_in_added_bytes),
        cmocka_unit_test(suggests_the_nearest_name_only_when_it_is_near),
        cmocka_unit_test(prefers_the_nearer_of_two_names),
        cmocka_unit_test(refuses_to_compare_endless_words),
        cmocka_unit_test(counts_columns_not_bytes),
        cmocka_unit_test(compares_without_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
