#include "tests/base/check.h"

static void sets_code_and_text_and_returns_minus_one(void **state) {
    (void)state;
    struct err e = {0};
    assert_int_equal(err_set(&e, ERR_PARSE, "line %d: no %s", 7, "price"), -1);
    assert_int_equal(e.code, ERR_PARSE);
    assert_string_equal(e.text, "line 7: no price");
}

static void wraps_with_context_in_front_and_keeps_the_code(void **state) {
    (void)state;
    struct err e = {0};
    err_set(&e, ERR_IO, "disk full");
    assert_int_equal(err_wrap(&e, "record %s", "a.jsonl"), -1);
    assert_int_equal(err_wrap(&e, "run"), -1);
    assert_int_equal(e.code, ERR_IO);
    assert_string_equal(e.text, "run: record a.jsonl: disk full");
}

static void stays_one_line(void **state) {
    (void)state;
    struct err e = {0};
    err_set(&e, ERR_PARSE, "found \"a\nb\r\nc\"");
    assert_string_equal(e.text, "found \"a b  c\"");
    err_wrap(&e, "x\ny");
    assert_string_equal(e.text, "x y: found \"a b  c\"");
}

/* GBK's yuan, a euro sign of three bytes cut after two, and CSI as one character. */
static void stays_utf8_without_control_characters(void **state) {
    (void)state;
    struct err e = {0};
    err_set(&e, ERR_PARSE, "%s, %.3s, caf\xC3\xA9, %s", "\xA3\xA4", "5\xE2\x82\xAC", "\xC2\x9B[2J");
    assert_string_equal(e.text, "\?\?, 5\?\?, caf\xC3\xA9, ?[2J");
    err_wrap(&e, "%s", "\xFF");
    assert_string_equal(e.text, "?: \?\?, 5\?\?, caf\xC3\xA9, ?[2J");
}

static void cuts_long_text_and_never_overruns(void **state) {
    (void)state;
    struct {
        struct err e;
        char guard[16];
    } s;
    memset(&s, 0x5A, sizeof s);
    char longer[3 * ERR_TEXT_SIZE];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    err_set(&s.e, ERR_IO, "%s", longer);
    assert_int_equal(strlen(s.e.text), ERR_TEXT_SIZE - 1);
    err_wrap(&s.e, "%s", longer);
    assert_int_equal(strlen(s.e.text), ERR_TEXT_SIZE - 1);
    err_wrap(&s.e, "front");
    assert_memory_equal(s.e.text, "front: xxx", 10);
    for (size_t i = 0; i < sizeof s.guard; i++)
        assert_int_equal(s.guard[i], 0x5A);
}

/* The exit codes as the design's section 7 lists them: 0 pass, 1 verdict failed, 2 usage or bad input,
 * 3 infrastructure, 4 inconclusive or unfinished. */
static void maps_codes_to_exit_statuses(void **state) {
    (void)state;
    static const struct {
        const char *name;
        enum err_code code;
        int status;
    } rows[] = {
        {"ERR_NONE", ERR_NONE, 0},
        {"ERR_VERDICT", ERR_VERDICT, 1},
        {"ERR_USAGE", ERR_USAGE, 2},
        {"ERR_PARSE", ERR_PARSE, 2},
        {"ERR_NOT_FOUND", ERR_NOT_FOUND, 2},
        {"ERR_IO", ERR_IO, 3},
        {"ERR_DEVICE", ERR_DEVICE, 3},
        {"ERR_DEVICE_MEMORY", ERR_DEVICE_MEMORY, 3},
        {"ERR_NO_DEVICE", ERR_NO_DEVICE, 3},
        {"ERR_PEER", ERR_PEER, 3},
        {"ERR_UNFINISHED", ERR_UNFINISHED, 4},
    };
    assert_int_equal(COUNT(rows), ERR_CODE_COUNT);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(err_exit_status(rows[i].code), rows[i].status);
        assert_string_equal(err_name(rows[i].code), rows[i].name);
    }
    assert_int_equal(err_exit_status((enum err_code)999), 3);
    assert_string_equal(err_name((enum err_code)999), "ERR_UNKNOWN");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_code_and_text_and_returns_minus_one),
        cmocka_unit_test(wraps_with_context_in_front_and_keeps_the_code),
        cmocka_unit_test(stays_one_line),
        cmocka_unit_test(stays_utf8_without_control_characters),
        cmocka_unit_test(cuts_long_text_and_never_overruns),
        cmocka_unit_test(maps_codes_to_exit_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
