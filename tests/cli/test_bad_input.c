/* Bad options and files: the promised exit status and one line that names the place and the mend. */
#include "tests/cli/shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct bad {
    const char *command;
    int status;
    const char *says[3];
};

static const struct bad table[] = {
    {"$S", 2, {"usage:"}},
    {"$S rnu", 2, {"unknown command \"rnu\"", "\"run\""}},
    {"$S run --teir smoke", 2, {"--teir", "--tier"}},
    {"$S run --tier smok", 2, {"--tier", "smok", "smoke"}},
    {"$S run --tier", 2, {"--tier", "TIER"}},
    {"$S run --threads -1", 2, {"--threads", "-1", "4096"}},
    {"$S run --threads 1.5", 2, {"--threads", "1.5"}},
    {"$S run --seconds 5", 2, {"--seconds", "5", "s"}},
    {"$S run --seconds 5parsecs", 2, {"--seconds", "parsecs"}},
    {"$S run --seconds nan", 2, {"--seconds", "nan"}},
    {"$S run --bench gmm", 2, {"--bench", "gmm", "gemm"}},
    {"$S run --backend sim --dtype fp33 --out x.jsonl", 2, {"--dtype", "fp33", "fp32"}},
    {"$S run --backend simm --out x.jsonl", 2, {"simm", "sim"}},
    {"$S run --backend sim --scenario slwo --out x.jsonl", 2, {"slwo", "slow"}},
    {"$S run --backend sim --shape 0x5x5 --out x.jsonl", 2, {"0x5x5", "MxNxK"}},
    {"$S run --backend sim --workload gpt2 --out x.jsonl", 2, {"gpt2", "gpt2-124m"}},
    {"$S run --backend sim --offer aws --out x.jsonl", 2, {"--offer", "PROVIDER/SKU/REGION"}},
    {"$S run --backend sim --price 0.05 --out x.jsonl", 2, {"--price", "0.05", "/h"}},
    {"$S run --backend sim --price -1/h --out x.jsonl", 2, {"--price", "-1"}},
    {"$S run --backend sim stray", 2, {"stray"}},
    {"$S run --resume nothing.jsonl", 2, {"nothing.jsonl"}},
    {"echo hello > junk; $S run --resume junk", 2, {"junk", "line 1"}},
    {"$S worker --backend cpu 3<&-", 2, {"stepcost run"}},
    {"$S rank --price 0.05", 2, {"--price", "0.05", "/h"}},
    {"$S rank --price 5EUR/fortnight", 2, {"--price", "fortnight"}},
    {"$S rank --workload nope", 2, {"nope", "gpt2-124m"}},
    {"$S rank --offers nothing.csv", 2, {"nothing.csv"}},
    {"mkdir -p d; $S rank --offers d", 2, {"d"}},
    {"printf 'a,b\\n1,2\\n' > ab.csv; $S offers ab.csv", 2, {"ab.csv"}},
    {": > empty.csv; $S offers empty.csv", 2, {"empty.csv"}},
    {"head -c 4096 /dev/zero > zero.csv; $S offers zero.csv", 2, {"zero.csv"}},
    {"printf '{\"offers\": [' > cut.json; $S offers cut.json", 2, {"cut.json", "line 1"}},
    {"printf 'InstanceType,AcceleratorName\\nx,\"y\\n' > quote.csv; $S offers quote.csv", 2, {"quote.csv"}},
    {"$S show", 2, {"RECORD"}},
    {"$S show a b", 2, {"one record"}},
    {"$S show nothing.jsonl", 2, {"nothing.jsonl"}},
    {"$S verify", 2, {"RECORD"}},
    {"printf '{}' > r.jsonl; $S verify r.jsonl", 2, {"r.jsonl"}},
    {"$S list --all", 2, {"--all"}},
    {"$S rank --draws 10", 2, {"--draws", "100"}},
    {"$S rank --format tabel", 2, {"--format", "tabel", "table"}},
    {"$S rank --out /nowhere/x --format csv", 3, {"/nowhere/x"}},
    {"$S rank --format json > /dev/full", 3, {"writing failed"}},
};

static void refuses_bad_input_with_one_line_that_names_the_place(void **state) {
    struct text output = {0};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct bad *row = &table[i];
        int status = shell(row->command, &output);
        if (status != row->status)
            fail_msg("%s\nexit status %d, wanted %d; it printed:\n%s", row->command, status, row->status,
                     text_get(&output));
        for (size_t k = 0; k < 3 && row->says[k]; k++)
            if (!strstr(text_get(&output), row->says[k]))
                fail_msg("%s\nshould name \"%s\"; it printed:\n%s", row->command, row->says[k],
                         text_get(&output));
        if (strstr(text_get(&output), "Sanitizer"))
            fail_msg("%s\n%s", row->command, text_get(&output));
    }
    text_free(&output);
}

static void prints_an_error_as_one_line_on_stderr(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(shell("$S run --tier smok 2>/dev/null", &output), 2);
    assert_string_equal(text_get(&output), "");
    assert_int_equal(shell("$S run --tier smok 2>&1 >/dev/null | wc -l", &output), 0);
    assert_int_equal(atoi(text_get(&output)), 1);
    text_free(&output);
}

static void never_writes_over_a_record_that_is_there(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(
        shell("echo precious > kept.jsonl; $S run --backend sim --bench fma --out kept.jsonl", &output), 2);
    assert_non_null(strstr(text_get(&output), "kept.jsonl"));
    assert_int_equal(shell("cat kept.jsonl", &output), 0);
    assert_string_equal(text_get(&output), "precious\n");
    text_free(&output);
}

static void every_command_has_help_that_fits_a_page(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(
        shell("for c in run rank offers show verify list; do $S $c --help || exit 1; done", &output), 0);
    assert_int_equal(
        shell("for c in run rank offers show verify list; do $S $c --help; done | awk 'length > 100'",
              &output),
        0);
    assert_string_equal(text_get(&output), "");
    text_free(&output);
}

int main(void) {
    enter_scratch_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_input_with_one_line_that_names_the_place),
        cmocka_unit_test(prints_an_error_as_one_line_on_stderr),
        cmocka_unit_test(never_writes_over_a_record_that_is_there),
        cmocka_unit_test(every_command_has_help_that_fits_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
