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
    {"$S run --backend sim --dtype qwerty --out x.jsonl", 2, {"--dtype", "qwerty", "bf16"}},
    {"$S run --backend simm --out x.jsonl", 2, {"simm", "sim"}},
    {"$S run --backend sim --scenario slwo --out x.jsonl", 2, {"slwo", "slow"}},
    {"$S run --backend sim --scenario=--help --out x.jsonl", 2, {"no scenario", "--help", "slow"}},
    {"$S run --backend sim --scenario=\"$(printf 'sl\\377w')\" --out x.jsonl", 2, {"sl?w", "slow"}},
    {"$S run --backend=--help --out x.jsonl", 2, {"no backend", "--help", "sim"}},
    {"$S run --backend sim --shape 0x5x5 --out x.jsonl", 2, {"0x5x5", "MxNxK"}},
    {"$S run --backend sim --workload gpt2 --out x.jsonl", 2, {"gpt2", "gpt2-124m"}},
    {"$S run --backend sim --offer aws --out x.jsonl", 2, {"--offer", "PROVIDER/SKU/REGION"}},
    {"$S run --backend sim --offer aws//eu --out x.jsonl", 2, {"--offer", "aws//eu", "PROVIDER/SKU/REGION"}},
    {"$S run --backend sim --offer \"$(printf 'aws/\\377/eu')\" --out x.jsonl", 2, {"--offer", "UTF-8"}},
    {"$S run --backend sim --out .", 2, {".: not a regular file"}},
    {"$S run --backend sim --price 0.05 --out x.jsonl", 2, {"--price", "0.05", "/h"}},
    {"$S run --backend sim --price -1/h --out x.jsonl", 2, {"--price", "-1"}},
    {"$S run --backend sim stray", 2, {"stray"}},
    {"$S run --resume nothing.jsonl", 2, {"nothing.jsonl"}},
    {"echo hello > junk; $S run --resume junk", 2, {"junk", "line 1"}},
    {"$S run --backend sim --bench fma --seconds 0.05s --out done.jsonl > /dev/null 2>&1; "
     "head -1 done.jsonl | sed 's/\"sim\",\"cpu/null,\"cpu/' > null.jsonl; "
     "$S run --resume null.jsonl",
     2,
     {"null.jsonl", "setting \"backend\": must be given"}},
    {"$S worker --backend cpu 3<&-", 2, {"stepcost run"}},
    {"$S rank --price 0.05", 2, {"--price", "0.05", "/h"}},
    {"$S rank --price 5EUR/fortnight", 2, {"--price", "fortnight"}},
    {"$S rank --price 0/h", 2, {"--price", "0/h", "no price"}},
    {"$S rank --price 1e308/s", 2, {"--price", "1e308/s", "no price"}},
    {"$S rank --workload nope", 2, {"nope", "gpt2-124m"}},
    {"$S rank --offers nothing.csv", 2, {"nothing.csv"}},
    {"mkdir -p d; $S rank --offers d", 2, {"d"}},
    {"mkdir -p d.json; $S rank --workload d.json", 2, {"d.json"}},
    {"mkdir -p data/gpus.csv; $S rank --data data", 2, {"data/gpus.csv"}},
    {"printf 'm,n,k\\n8,8,0\\n' > l.csv; $S rank --workload l.csv", 2, {"l.csv", "line 2", "column k: '0'"}},
    {"$S workload nope", 2, {"nope", "gpt2-124m", ".csv"}},
    {"$S workload llama3-8b stray", 2, {"stray", "from-hf"}},
    {"$S workload llama3-8b --dtype fp33", 2, {"--dtype", "fp33", "fp32"}},
    {"$S workload llama3-8b --memory 80", 2, {"--memory", "80"}},
    {"$S workload from-hf", 2, {"from-hf", "config.json"}},
    {"$S workload from-hf nothing.json", 2, {"nothing.json"}},
    {"echo '{\"model_type\": \"mamba\"}' > m.json; $S workload from-hf m.json --out made.json",
     2,
     {"m.json", "mamba", "known are gpt2, llama"}},
    {"echo '{\"model_type\": \"llama\"}' > l.json; $S workload from-hf l.json",
     2,
     {"l.json", "num_hidden_layers: missing"}},
    {"mkdir -p own; echo a,b > own/references.csv; $S rank --data own", 2, {"own/references.csv"}},
    {"mkdir -p own2/prices; printf 'file,observed\\nx.csv,\\n' > own2/prices/SOURCES.csv; "
     "$S rank --data own2",
     2,
     {"own2/prices/SOURCES.csv:2", "x.csv"}},
    {"mkfifo pipe.csv; timeout 20 $S offers pipe.csv", 2, {"pipe.csv", "no regular file"}},
    {"printf 'provider,sku,device,device_count,price\\rE,s,A100,1,2\\r' > cr.csv; $S offers cr.csv",
     2,
     {"cr.csv", "line 1", "CR"}},
    {"seq -s , 5000 > wide.csv; $S offers wide.csv", 2, {"wide.csv", "5000 columns"}},
    {"printf 'a,b\\n1,2\\n' > ab.csv; $S offers ab.csv", 2, {"ab.csv"}},
    {": > empty.csv; $S offers empty.csv", 2, {"empty.csv"}},
    {"head -c 4096 /dev/zero > zero.csv; $S offers zero.csv", 2, {"zero.csv"}},
    {"printf '{\"offers\": [' > cut.json; $S offers cut.json", 2, {"cut.json", "line 1"}},
    {"printf 'InstanceType,AcceleratorName\\nx,\"y\\n' > quote.csv; $S offers quote.csv", 2, {"quote.csv"}},
    {"$S show", 2, {"RECORD"}},
    {"$S show a b", 2, {"one record"}},
    {"$S show nothing.jsonl", 2, {"nothing.jsonl"}},
    {"$S show d", 2, {"d: not a regular file"}},
    {"timeout 20 $S verify /dev/zero", 2, {"/dev/zero: not a regular file"}},
    {"$S show empty.csv/x", 2, {"empty.csv/x"}},
    {"$S verify", 2, {"RECORD"}},
    {"printf '{}' > r.jsonl; $S verify r.jsonl", 2, {"r.jsonl"}},
    {"$S list --all", 2, {"--all"}},
    {"$S rank --draws 10", 2, {"--draws", "100"}},
    {"$S rank --format tabel", 2, {"--format", "tabel", "table"}},
    {"$S rank --out /nowhere/x --format csv", 3, {"/nowhere/x"}},
    {"$S rank --format json > /dev/full", 3, {"writing failed"}},
    {"$S --help > /dev/full", 3, {"writing failed"}},
    {"$S --version >&-", 3, {"writing failed"}},
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

static void an_escape_sequence_does_not_reach_the_terminal(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(shell("$S run --tier \"$(printf '\\033[31m\\177')\"", &output), 2);
    assert_null(strpbrk(text_get(&output), "\033\177"));
    text_free(&output);
}

/* With stderr closed its number is free for the record, and progress would be written into that. */
static void progress_never_lands_in_the_record(void **state) {
    struct text output = {0};
    (void)state;
    const char *const closed[] = {"2>&-", ">&-", "<&- >&- 2>&-"};
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        struct text command = {0};
        text_printf(&command,
                    "rm -f c.jsonl; $S run --backend sim --bench fma --seconds 0.05s --out c.jsonl %s; "
                    "$S verify c.jsonl",
                    closed[i]);
        assert_int_equal(shell(text_get(&command), &output), 0);
        assert_non_null(strstr(text_get(&output), "intact, 2 cases"));
        text_free(&command);
    }
    text_free(&output);
}

static void a_reader_of_progress_that_goes_away_does_not_end_the_run(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(shell("$S run --backend sim --bench gemm membw fma --seconds 0.05s --out gone.jsonl "
                           "2>&1 > /dev/null | head -1; $S verify gone.jsonl",
                           &output),
                     0);
    assert_non_null(strstr(text_get(&output), "intact, 22 cases"));
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
        cmocka_unit_test(an_escape_sequence_does_not_reach_the_terminal),
        cmocka_unit_test(progress_never_lands_in_the_record),
        cmocka_unit_test(a_reader_of_progress_that_goes_away_does_not_end_the_run),
        cmocka_unit_test(never_writes_over_a_record_that_is_there),
        cmocka_unit_test(every_command_has_help_that_fits_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
