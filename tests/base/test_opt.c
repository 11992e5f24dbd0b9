#include "tests/base/check.h"

#include "base/opt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct options {
    bool quiet;
    long long draws;
    double goal;
    const char *record;
    struct opt_list offers;
    unsigned long long buffer_bytes;
    double limit_s;
    int tier;
    int backend;
    long long port;
    struct opt_list shapes;
    double cap;
};

#define FIELD(name) offsetof(struct options, name)
static const char *const tiers[] = {"smoke", "accept", "soak", NULL};
static const char *const backends[] = {"ref", "sim", NULL};

static const struct opt rows[] = {
    {.name = "quiet",
     .letter = 'q',
     .key = "quiet",
     .type = OPT_FLAG,
     .offset = FIELD(quiet),
     .help = "say less"},
    {.name = "draws",
     .letter = 'n',
     .key = "draws",
     .type = OPT_INT,
     .offset = FIELD(draws),
     .def = "1000",
     .min = 1,
     .max = 1000000,
     .help = "random draws"},
    {.name = "goal",
     .key = "goal",
     .type = OPT_NUMBER,
     .offset = FIELD(goal),
     .def = "0.01",
     .min = 0.001,
     .max = 0.5,
     .help = "half-width of the interval | relative"},
    {.name = "record",
     .key = "record",
     .type = OPT_STRING,
     .offset = FIELD(record),
     .value_name = "FILE",
     .help = "where the raw samples go"},
    {.name = "offers",
     .key = "offers",
     .type = OPT_LIST,
     .offset = FIELD(offers),
     .value_name = "FILE",
     .help = "catalogues of offers, read in this order, each recognised by its header, as many as are wanted "
             "and from as many folders as there are"},
    {.name = "buffer",
     .key = "buffer_bytes",
     .type = OPT_SIZE,
     .offset = FIELD(buffer_bytes),
     .def = "64MiB",
     .min = 4096,
     .max = 0x1p30,
     .help = "bytes per operand"},
    {.name = "limit",
     .key = "limit_s",
     .type = OPT_DURATION,
     .offset = FIELD(limit_s),
     .min = 1,
     .max = 7200,
     .help = "time limit"},
    {.name = "tier",
     .key = "tier",
     .type = OPT_CHOICE,
     .offset = FIELD(tier),
     .def = "smoke",
     .choices = tiers,
     .help = "how long to measure"},
    {.name = "backend",
     .key = "backend",
     .type = OPT_CHOICE,
     .offset = FIELD(backend),
     .choices = backends,
     .help = "device library"},
    {.name = "port", .type = OPT_INT, .offset = FIELD(port), .help = "not recorded"},
    {.name = "shape",
     .key = "shapes",
     .type = OPT_LIST,
     .offset = FIELD(shapes),
     .def = "1024x1024x1024",
     .help = "matrix shapes"},
    {.name = "cap",
     .key = "cap",
     .type = OPT_NUMBER,
     .offset = FIELD(cap),
     .min = 0,
     .max = INFINITY,
     .help = "at most"},
};
static const struct opt_table table = {"stepcost rank [OPTION]...", "Ranks offers by real cost per step.",
                                       rows, COUNT(rows)};

enum { WORDS_MAX = 32 };

struct run {
    struct options o;
    struct opt_list rest;
    int help, result;
    struct err e;
    char words[512];
};

/* Parses a command line given as words with single spaces. The caller frees with done(). */
static void parse_into(struct run *r, const char *line) {
    char program[] = "stepcost", *argv[WORDS_MAX] = {program};
    int argc = 1;
    memset(r, 0x5A, sizeof *r); /* opt_parse must not read what was there */
    snprintf(r->words, sizeof r->words, "%s", line);
    for (char *word = strtok(r->words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    r->result = opt_parse(&table, argc, argv, &r->o, &r->rest, &r->help, &r->e);
}

static void done(struct run *r) {
    opt_free(&table, &r->o);
    opt_list_free(&r->rest);
}

static void fills_defaults_and_not_given(void **state) {
    (void)state;
    struct run r;
    parse_into(&r, "");
    assert_ok(r.result, &r.e);
    assert_false(r.help);
    assert_false(r.o.quiet);
    assert_int_equal(r.o.draws, 1000);
    assert_same(r.o.goal, 0.01);
    assert_null(r.o.record);
    assert_int_equal(r.o.offers.count, 0);
    assert_int_equal(r.o.buffer_bytes, 67108864);
    assert_same(r.o.limit_s, NAN);
    assert_int_equal(r.o.tier, 0);
    assert_int_equal(r.o.backend, -1);
    assert_true(r.o.port == OPT_INT_NONE);
    assert_int_equal(r.o.shapes.count, 1);
    assert_string_equal(r.o.shapes.items[0], "1024x1024x1024");
    assert_int_equal(r.rest.count, 0);
    done(&r);
}

static void reads_values_with_space_and_with_equals_sign(void **state) {
    (void)state;
    static const char *const lines[] = {
        "--quiet --draws 50 --goal 0.02 --record a.jsonl --buffer 1GiB --limit 15m --tier soak --port -5",
        "-q -n 50 --goal=2e-2 --record=a.jsonl --buffer=1GiB --limit=15m --tier=soak --port=-5",
        "-n 50 --tier smoke --tier soak --goal .02 --record a.jsonl --buffer=1GiB -q --limit 15m --port=-5",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct run r;
        parse_into(&r, lines[i]);
        assert_ok(r.result, &r.e);
        assert_true(r.o.quiet);
        assert_int_equal(r.o.draws, 50);
        assert_same(r.o.goal, 0.02);
        assert_string_equal(r.o.record, "a.jsonl");
        assert_int_equal(r.o.buffer_bytes, 1073741824);
        assert_same(r.o.limit_s, 900);
        assert_int_equal(r.o.tier, 2);
        assert_int_equal(r.o.port, -5);
        done(&r);
    }
}

static void assert_list(const struct opt_list *list, const char *want) {
    char got[200] = "";
    for (size_t i = 0; i < list->count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "", list->items[i]);
    assert_string_equal(got, want);
}

static void lists_take_words_up_to_the_next_option_and_repeat(void **state) {
    (void)state;
    static const struct {
        const char *in, *offers, *shapes, *rest;
    } cases[] = {
        {"--offers a.csv b.csv --quiet", "a.csv b.csv", "1024x1024x1024", ""},
        {"--offers a.csv --quiet --offers b.csv c.csv", "a.csv b.csv c.csv", "1024x1024x1024", ""},
        {"--offers=a.csv b.csv", "a.csv", "1024x1024x1024", "b.csv"},
        {"--offers a.csv -- b.csv --quiet", "a.csv", "1024x1024x1024", "b.csv --quiet"},
        {"--shape 8x8x8 4x4x4", "", "8x8x8 4x4x4", ""},
        {"--shape 8x8x8 --shape 1024x1024x1024", "", "8x8x8 1024x1024x1024", ""},
        {"--offers - -5", "- -5", "1024x1024x1024", ""},
        {"x --quiet y", "", "1024x1024x1024", "x y"},
        {"-- --help -h", "", "1024x1024x1024", "--help -h"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct run r;
        parse_into(&r, cases[i].in);
        assert_ok(r.result, &r.e);
        assert_int_equal(r.help, 0);
        assert_list(&r.o.offers, cases[i].offers);
        assert_list(&r.o.shapes, cases[i].shapes);
        assert_list(&r.rest, cases[i].rest);
        done(&r);
    }
}

static void help_is_seen_anywhere_and_leaves_the_defaults(void **state) {
    (void)state;
    static const char *const lines[] = {"--help", "-h", "--draws nonsense --help", "--unknown -h",
                                        "--record --help"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct run r;
        parse_into(&r, lines[i]);
        assert_ok(r.result, &r.e);
        assert_int_equal(r.help, 1);
        assert_int_equal(r.o.draws, 1000);
        done(&r);
    }
}

static void errors_begin_with_the_option_and_name_the_mend(void **state) {
    (void)state;
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"--tier smok", "--tier: unknown value \"smok\"; did you mean \"smoke\"? (smoke, accept, soak)"},
        {"--tier=xyzzy", "--tier: unknown value \"xyzzy\"; give one of smoke, accept, soak"},
        {"--tier=", "--tier: unknown value \"\"; give one of smoke, accept, soak"},
        {"--teir soak", "--teir: unknown option; did you mean --tier?"},
        {"--hlep", "--hlep: unknown option; did you mean --help?"},
        {"--zzzzzzz=3", "--zzzzzzz: unknown option; --help lists the options"},
        {"-z", "-z: unknown option; --help lists the options"},
        {"-quiet", "-quiet: unknown option; did you mean --quiet?"},
        {"--q", "--q: unknown option; --help lists the options"},
        {"---quiet", "---quiet: unknown option; did you mean --quiet?"},
        {"--record", "--record: a value is missing; write --record FILE"},
        {"--record --quiet", "--record: a value is missing; write --record FILE"},
        {"--offers", "--offers: a value is missing; write --offers FILE"},
        {"--draws", "--draws: a value is missing; write --draws N"},
        {"--quiet=yes", "--quiet: takes no value; found \"yes\""},
        {"--draws 0", "--draws: 0 is out of range; give 1 to 1000000"},
        {"--draws 1000001", "--draws: 1000001 is out of range; give 1 to 1000000"},
        {"--draws 1e3", "--draws: \"1e3\" is not a whole number"},
        {"--draws 0x10", "--draws: \"0x10\" is not a whole number"},
        {"--draws=", "--draws: \"\" is not a whole number"},
        {"--draws 99999999999999999999", "--draws: 99999999999999999999 is too large for a whole number"},
        {"--port -9223372036854775808", "--port: -9223372036854775808 is too large for a whole number"},
        {"--goal 0.6", "--goal: 0.6 is out of range; give 0.001 to 0.5"},
        {"--goal nan", "--goal: \"nan\" is not a number; write digits as in 1.5 or 2e9"},
        {"--cap -1", "--cap: -1 is out of range; give 0 or more"},
        {"--buffer 2GiB", "--buffer: 2GiB is out of range; give 4 KiB to 1 GiB"},
        {"--limit 3h", "--limit: 3h is out of range; give 1 s to 7200 s"},
        {"--limit 90", "--limit: \"90\" has no unit; write 90s, 90m or 90h"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct run r;
        parse_into(&r, cases[i].in);
        if (r.result != -1)
            fail_msg("\"%s\" was taken", cases[i].in);
        assert_int_equal(r.e.code, ERR_USAGE);
        assert_string_equal(r.e.text, cases[i].want);
        assert_null(r.o.offers.items);
        assert_null(r.rest.items);
    }
}

static void errors_of_units_name_the_option_and_the_nearest_unit(void **state) {
    (void)state;
    struct run r;
    parse_into(&r, "--buffer 64mib");
    assert_int_equal(r.result, -1);
    assert_error(&r.e, ERR_USAGE, "--buffer: \"64mib\": unknown unit \"mib\"; did you mean \"MiB\"?");
    parse_into(&r, "--offers a.csv --limit 5mins");
    assert_int_equal(r.result, -1);
    assert_error(&r.e, ERR_USAGE, "--limit: \"5mins\": unknown unit \"mins\"; did you mean \"min\"?");
}

static void bare_words_are_refused_where_no_rest_is_taken(void **state) {
    (void)state;
    char program[] = "stepcost", word[] = "soak", *argv[] = {program, word};
    struct options o = {0};
    struct err e;
    int help;
    assert_int_equal(opt_parse(&table, 2, argv, &o, NULL, &help, &e), -1);
    assert_error(&e, ERR_USAGE, "soak: not an option");
}

static void settings_are_in_base_units(void **state) {
    (void)state;
    struct run r;
    parse_into(&r, "--offers a.csv b.csv --limit 15m --tier accept -q");
    json_t *got = opt_to_json(&table, &r.o);
    json_t *want =
        json_loads("{\"quiet\": true, \"draws\": 1000, \"goal\": 0.01, \"record\": null,"
                   " \"offers\": [\"a.csv\", \"b.csv\"], \"buffer_bytes\": 67108864, \"limit_s\": 900.0,"
                   " \"tier\": \"accept\", \"backend\": null, \"shapes\": [\"1024x1024x1024\"],"
                   " \"cap\": null}",
                   0, NULL);
    assert_non_null(want);
    assert_true(json_equal(got, want));
    json_decref(want);
    json_decref(got);
    done(&r);
}

static void settings_come_back_from_a_record(void **state) {
    (void)state;
    struct run r, back;
    parse_into(&r, "--offers a.csv b.csv --limit 15m --tier accept -q --shape 2x2x2 --buffer 1MiB --goal 0.3 "
                   "--record r");
    parse_into(&back, "--draws 7 --backend sim --port 9");
    json_t *settings = opt_to_json(&table, &r.o);
    assert_ok(opt_from_json(&table, settings, &back.o, &back.e), &back.e);
    assert_true(back.o.quiet);
    assert_int_equal(back.o.draws, 1000);
    assert_same(back.o.goal, 0.3);
    assert_string_equal(back.o.record, "r");
    assert_list(&back.o.offers, "a.csv b.csv");
    assert_list(&back.o.shapes, "2x2x2");
    assert_int_equal(back.o.buffer_bytes, 1048576);
    assert_same(back.o.limit_s, 900);
    assert_int_equal(back.o.tier, 1);
    assert_int_equal(back.o.backend, -1);
    assert_int_equal(back.o.port, 9); /* has no key */
    json_decref(settings);
    done(&r);
    done(&back);
}

static void bad_settings_are_named_by_their_key(void **state) {
    (void)state;
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"{\"tier\": \"smok\"}", "setting \"tier\": unknown value \"smok\"; did you mean \"smoke\"?"},
        {"{\"tier\": 1}", "setting \"tier\": must be a string"},
        {"{\"draws\": 1.5}", "setting \"draws\": must be a whole number"},
        {"{\"draws\": 0}", "setting \"draws\": 0 is out of range; give 1 to 1000000"},
        {"{\"goal\": \"0.1\"}", "setting \"goal\": must be a number"},
        {"{\"goal\": 0.9}", "setting \"goal\": 0.9 is out of range"},
        {"{\"buffer_bytes\": -1}", "setting \"buffer_bytes\": must be a number of bytes"},
        {"{\"buffer_bytes\": 1}", "setting \"buffer_bytes\": 1 is out of range"},
        {"{\"limit_s\": true}", "setting \"limit_s\": must be a number"},
        {"{\"quiet\": 1}", "setting \"quiet\": must be true or false"},
        {"{\"offers\": \"a.csv\"}", "setting \"offers\": must be an array of strings"},
        {"{\"offers\": [\"a.csv\", 2]}", "setting \"offers\": must be an array of strings"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct run r;
        parse_into(&r, "");
        json_t *settings = json_loads(cases[i].in, 0, NULL);
        assert_int_equal(opt_from_json(&table, settings, &r.o, &r.e), -1);
        assert_int_equal(r.e.code, ERR_PARSE);
        assert_error(&r.e, ERR_PARSE, cases[i].want);
        json_decref(settings);
        done(&r);
    }
}

static char *printed(void (*print)(FILE *out, const struct opt_table *t)) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print(out, &table);
    fclose(out);
    return text;
}

static void help_is_aligned_under_100_columns_and_names_every_row(void **state) {
    (void)state;
    char *help = printed(opt_print_help);
    assert_memory_equal(help, "usage: stepcost rank [OPTION]...\n", 33);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_non_null(strstr(help, rows[i].name));
    /* The widest, "--offers FILE...", is 16 wide: two blanks before, two behind, so texts begin at 20. */
    assert_non_null(strstr(help, "\n  -q, --quiet       say less\n"));
    assert_non_null(
        strstr(help, "\n  --tier WORD       how long to measure (smoke, accept, soak; default smoke)\n"));
    assert_non_null(strstr(help, "\n  --buffer SIZE     bytes per operand (default 64MiB)\n"));
    assert_non_null(strstr(help, "\n  --limit TIME      time limit\n"));
    assert_non_null(strstr(help, "\n  -h, --help        print this help"));
    char *rest = help, *line;
    size_t wrapped = 0;
    while ((line = strsep(&rest, "\n")) != NULL) {
        assert_true(strlen(line) < 100);
        wrapped += strspn(line, " ") == 20;
    }
    assert_int_equal(wrapped, 1);
    free(help);
}

static void markdown_has_one_line_a_row_and_escapes_bars(void **state) {
    (void)state;
    char *markdown = printed(opt_print_markdown);
    size_t lines = 0;
    for (const char *c = markdown; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, COUNT(rows) + 2);
    assert_non_null(
        strstr(markdown, "| `--tier WORD` | how long to measure (smoke, accept, soak; default smoke) |\n"));
    assert_non_null(strstr(markdown, "| `--offers FILE...` | catalogues"));
    assert_non_null(strstr(markdown, "interval \\| relative (default 0.01) |\n"));
    free(markdown);
}

static void a_bad_default_is_an_error_too(void **state) {
    (void)state;
    static const struct opt bad[] = {{.name = "tier",
                                      .type = OPT_CHOICE,
                                      .offset = FIELD(tier),
                                      .def = "fast",
                                      .choices = tiers,
                                      .help = ""}};
    static const struct opt_table bad_table = {"x", "y", bad, 1};
    char program[] = "stepcost", *argv[] = {program};
    struct options o = {0};
    struct err e;
    int help;
    assert_int_equal(opt_parse(&bad_table, 1, argv, &o, NULL, &help, &e), -1);
    assert_error(&e, ERR_USAGE, "--tier: unknown value \"fast\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_defaults_and_not_given),
        cmocka_unit_test(reads_values_with_space_and_with_equals_sign),
        cmocka_unit_test(lists_take_words_up_to_the_next_option_and_repeat),
        cmocka_unit_test(help_is_seen_anywhere_and_leaves_the_defaults),
        cmocka_unit_test(errors_begin_with_the_option_and_name_the_mend),
        cmocka_unit_test(errors_of_units_name_the_option_and_the_nearest_unit),
        cmocka_unit_test(bare_words_are_refused_where_no_rest_is_taken),
        cmocka_unit_test(settings_are_in_base_units),
        cmocka_unit_test(settings_come_back_from_a_record),
        cmocka_unit_test(bad_settings_are_named_by_their_key),
        cmocka_unit_test(help_is_aligned_under_100_columns_and_names_every_row),
        cmocka_unit_test(markdown_has_one_line_a_row_and_escapes_bars),
        cmocka_unit_test(a_bad_default_is_an_error_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
