#include "base/utf8.h"

#include "tests/base/check.h"

#include <string.h>

/* Shortest and longest of each length, and what is ill-formed: the Unicode Standard, table 3-7. */
static const struct {
    const char *text;
    const char *clean;
    bool well_formed;
} rows[] = {
    {"", "", true},
    {"plain ~", "plain ~", true},
    {"\xC2\xA5", "\xC2\xA5", true},
    {"\xE5\x85\x83", "\xE5\x85\x83", true},
    {"\xF0\x90\x80\x80", "\xF0\x90\x80\x80", true}, /* U+10000, the first of four bytes */
    {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF", true}, /* U+10FFFF, the last */
    {"\xF4\x90\x80\x80", "\?\?\?\?", false},
    {"\xC0\xAF", "\?\?", false},       /* "/" in two bytes */
    {"\xED\xA0\x80", "\?\?\?", false}, /* a surrogate */
    {"a\xE5\x85", "a\?\?", false},     /* cut */
    {"\x80", "?", false},
    {"\xB0\xA2", "\?\?", false}, /* GBK */
    {"\x1B[2J\x7F", "?[2J?", true},
    {"\xC2\x9B", "?", true}, /* CSI as one character */
    {"a\tb\r\n", "a b  ", true},
};

static void tells_what_is_well_formed(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (utf8_well_formed(rows[i].text) != rows[i].well_formed)
            fail_msg("row %zu", i);
}

static void cleans_what_a_terminal_must_not_see(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[32];
        assert_string_equal(utf8_clean(strcpy(text, rows[i].text)), rows[i].clean);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_is_well_formed),
        cmocka_unit_test(cleans_what_a_terminal_must_not_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
