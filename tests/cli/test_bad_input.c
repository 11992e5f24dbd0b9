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

/* A price file in our layout whose one row is `row`; prints why it was refused. */
#define HEADER         "provider,sku,region,device,device_count,price,currency\\n"
#define PRICE_ROW(row) "printf '" HEADER row "\\n' > p.csv; $S offers p.csv"
/* The same, with H100s at `price` in `currency`. */
#define PRICE(price, currency) PRICE_ROW("E,s,eu,H100-SXM-80GB,8," price "," currency)
#define PRICE_JSON(text)       "printf '" text "' > p.json; $S offers p.json"
#define JOB(text)              "printf '" text "' > job.json; $S rank --job job.json"
/* A good record, and what `edit` makes of it. */
#define RECORD(edit)                                                                                         \
    "rm -f good.jsonl; $S run --backend sim --bench fma --seconds 0.05s --out good.jsonl "                   \
    "> /dev/null 2>&1; " edit

/* Of a file where one row is bad, the others are read: that is no error of the command. */
static const struct bad data_table[] = {
    {PRICE("NaN", "USD"), 0, {"line 2: price: \"NaN\"", "12.50 USD"}},
    {PRICE("inf", "USD"), 0, {"line 2: price: \"inf\"", "12.50 USD"}},
    {PRICE("-3", "USD"), 0, {"line 2: price: \"-3\" is no price", "leave out"}},
    {PRICE("-0", "USD"), 0, {"line 2: price: \"-0\" is no price", "leave out"}},
    {PRICE("0", "USD"), 0, {"line 2: price: \"0\" is no price", "leave out"}},
    {PRICE("1e400", "USD"), 0, {"line 2: price: \"1e400\""}},
    {PRICE("", "USD"), 0, {"line 2: price: empty", "leave the row out"}},
    {PRICE("\"1,234.5\"", "USD"), 0, {"line 2: price: \"1,234.5\"", "without thousands separators"}},
    {PRICE("5 USD/fortnight", ""), 0, {"line 2: price:", "fortnight", "month"}},
    {PRICE("5 EUR", "USD"), 0, {"line 2: price: \"5 EUR\"", "USD", "drop one"}},
    {PRICE("2.5", "XYZ"), 0, {"line 2: currency: \"XYZ\"", "ISO 4217"}},
    {PRICE("¥20", ""), 0, {"line 2: price: \"¥20\"", "CNY or 1800 JPY"}},
    {PRICE("￥20", ""), 0, {"line 2: price: \"￥20\"", "CNY or 1800 JPY"}},
    {PRICE("20元", ""), 0, {"line 2: price: \"20元\"", "as CNY"}},
    {PRICE("2万元/月", ""), 0, {"line 2: price: \"2万元/月\"", "in digits"}},
    {PRICE("20 rmb", ""), 0, {"line 2: price: \"20 rmb\"", "as CNY"}},
    {PRICE_ROW("E,s,eu,H100-SXM-80GB,0,2.5,USD"), 0, {"line 2: device_count: none", "H100-SXM-80GB"}},
    {PRICE_ROW("E,s,eu,H100-SXM-80GB,0.5,2.5,USD"), 0, {"line 2: device_count: \"0.5\"", "slice"}},
    {PRICE_ROW("E,s,eu,H100-SXM-80GB,8卡,2.5,USD"), 0, {"line 2: device_count: \"8卡\"", "digits"}},
    {PRICE_ROW("E,s,eu,,8,2.5,USD"), 0, {"line 2: device: empty", "which GPU"}},
    {PRICE_ROW(",s,eu,H100-SXM-80GB,8,2.5,USD"), 0, {"line 2: provider: empty"}},
    {PRICE_ROW("E,s,eu,H100-SXM-80GB,8,2"), 0, {"line 2: 6 fields where the header has 7", "quote"}},
    {"printf 'provider,sku,device,device_count\nE,s,A100,1\n' > p.csv; $S offers p.csv",
     2,
     {"p.csv: the column \"price\" of the stepcost layout is missing"}},
    {"printf 'provider;sku;device;device_count;price\nE;s;A100;1;2,5\n' > p.csv; $S offers p.csv",
     2,
     {"p.csv: no commas in the header"}},
    {"printf '" HEADER "阿里云,s,华东,H100-SXM-80GB,8,20,CNY\n' | iconv -t GBK > p.csv; $S offers p.csv",
     0,
     {"line 2: provider: not UTF-8", "iconv -f GB18030"}},
    {"printf '提供商,型号,价格\n阿里云,s,20\n' | iconv -t GBK > p.csv; $S offers p.csv",
     2,
     {"p.csv: the header is not UTF-8", "iconv -f GB18030"}},
    {"printf '" HEADER "' | iconv -t UTF-16 > p.csv; $S offers p.csv",
     2,
     {"p.csv: UTF-16", "iconv -f UTF-16"}},
    {"printf '" HEADER "' | gzip > p.csv; $S offers p.csv", 2, {"p.csv: compressed by gzip", "unpack"}},
    {"printf 'PK\\003\\004xl/workbook.xml' > p.csv; $S offers p.csv",
     2,
     {"p.csv:", "workbook", "save it as CSV"}},
    {"printf '<html>404</html>' > p.csv; $S offers p.csv", 2, {"p.csv: no price catalogue", "<html>"}},
    /* 1 GB without a line end (a hole in the file): given up after the longest row there may be */
    {"printf '" HEADER "' > p.csv; yes | tr -d '\\n' | head -c 9999 >> p.csv; truncate -s 1G p.csv; timeout "
     "20 $S offers p.csv; s=$?; rm p.csv; exit $s",
     2,
     {"p.csv: line 2: a row of more than 1048576 bytes", "quote"}},
    {"printf '[%9999s' > p.json; truncate -s 1G p.json; timeout 20 $S offers p.json; s=$?; rm p.json; exit "
     "$s",
     2,
     {"p.json", "256 MiB"}},
    {"printf '[{\"provider\": \"E\", \"sku\": \"s' > p.json; $S offers p.json",
     2,
     {"p.json: line 1", "cut off"}},
    {PRICE_JSON("{\"offers\": 7}"), 2, {"p.json: no list of offers", "{\"offers\": [...]}"}},
    {PRICE_JSON("[{\"provider\": \"E\", \"price\": NaN}]"), 2, {"p.json: line 1", "NaN", "JSON has no"}},
    {PRICE_JSON("[{\"provider\": \"E\", \"provider\": \"F\"}]"), 2, {"p.json: line 1", "keep one"}},
    {PRICE_JSON("[{\"price\": 1e999}]"), 2, {"p.json: line 1", "overflow", "correct it"}},
    {PRICE_JSON("[{\"provider\": \"\\260\\242\"}]"), 2, {"p.json: line 1", "not UTF-8"}},
    {PRICE_JSON("[{\"provider\": \"E\", \"sku\": \"s\", \"device\": \"T4\", \"device_count\": 1, "
                "\"price\": {\"usd\": 3}}]"),
     0,
     {"offer 1: price: neither text nor a number"}},
    {"head -c 100000 /dev/zero | tr '\\0' '[' > p.json; $S offers p.json", 2, {"p.json: line 1", "depth"}},
    {JOB("{\"workload\": \"gpt2-124m\", \"steps\":"), 2, {"job.json: line 1", "cut off"}},
    {JOB("[]"), 2, {"job.json: not an object", "workload"}},
    {JOB("{\"steps\": 5}"), 2, {"job.json", "\"workload\" is missing"}},
    {JOB("{\"workload\": \"gpt2-124m\", \"stepz\": 5}"), 2, {"job.json", "stepz", "\"steps\""}},
    {JOB("{\"workload\": \"gpt2-124m\", \"steps\": -5}"), 2, {"job.json: steps: -5"}},
    {JOB("{\"workload\": \"gpt2-124m\", \"steps\": 1, \"tokens\": 1}"),
     2,
     {"job.json: steps, tokens", "one of"}},
    {JOB("{\"workload\": \"gpt2-124m\", \"deadline\": \"5 parsecs\"}"),
     2,
     {"job.json: deadline", "parsecs", "h"}},
    {JOB("{\"workload\": \"gpt2-124m\", \"budget\": \"5 dollars\"}"), 2, {"job.json: budget", "12.50 USD"}},
    {"echo '{\"model_type\": \"llama\", \"num_hidden_layers\": 1e300}' > h.json; $S workload from-hf h.json",
     2,
     {"h.json: num_hidden_layers", "whole number"}},
    {"printf 'm,n,k\n9223372036854775808,8,8\n' > w.csv; $S workload w.csv", 2, {"w.csv: line 2: column m"}},
    {"printf 'm,n\n8,8\n' > w.csv; $S workload w.csv", 2, {"w.csv: line 1: no column k"}},
    {"printf 'm,n,k,dtype\n8,8,8,fp33\n' > w.csv; $S workload w.csv", 2, {"w.csv: line 2", "fp33", "fp32"}},
    {RECORD("sed '3s/fma/fmb/' good.jsonl > bad.jsonl; $S verify bad.jsonl"),
     1,
     {"bad.jsonl: broken at line 3"}},
    {RECORD("head -c 200 good.jsonl > bad.jsonl; $S run --resume bad.jsonl"),
     4,
     {"bad.jsonl", "nothing was measured"}},
    {RECORD("gzip < good.jsonl > bad.jsonl; $S rank --record bad.jsonl"),
     2,
     {"bad.jsonl: line 1: no record"}},
    {RECORD("cat good.jsonl good.jsonl > bad.jsonl; $S verify bad.jsonl"), 1, {"bad.jsonl: broken at line"}},
    {RECORD("sed '1s/\"schema\":1/\"schema\":9/' good.jsonl > bad.jsonl; $S verify bad.jsonl"),
     2,
     {"bad.jsonl: line 1"}},
    {RECORD("$S run --resume good.jsonl"), 2, {"good.jsonl: is finished", "start a new record"}},
};

static void check_rows(const struct bad *rows, size_t count) {
    struct text output = {0};
    for (size_t i = 0; i < count; i++) {
        const struct bad *row = &rows[i];
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

static void refuses_bad_commands_with_one_line_that_names_the_place(void **state) {
    (void)state;
    check_rows(table, sizeof table / sizeof table[0]);
}

static void refuses_bad_data_with_its_place_and_the_mend(void **state) {
    (void)state;
    check_rows(data_table, sizeof data_table / sizeof data_table[0]);
}

/* What spreadsheets on Windows write: no reason to refuse. */
static void accepts_a_byte_order_mark_and_crlf(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(shell("printf '\\357\\273\\277" HEADER "E,s,eu,H100-SXM-80GB,8,20,USD\\r\\n' | "
                           "sed '1s/$/\\r/' > b.csv; $S offers b.csv --list --format csv",
                           &output),
                     0);
    assert_non_null(strstr(text_get(&output), "eu,H100-SXM-80GB,8,on-demand,20,USD"));
    text_free(&output);
}

/* Not as root, who may read all. */
static void names_a_file_it_may_not_read(void **state) {
    struct text output = {0};
    (void)state;
    if (getuid() == 0) {
        /* a copy: others may not reach the program where it was built */
        assert_int_equal(shell("mkdir shut; touch shut/p.csv; chmod 700 shut; chmod 711 .; cp $S stepcost; "
                               "setpriv --reuid 65534 --clear-groups ./stepcost offers shut/p.csv",
                               &output),
                         2);
    } else {
        assert_int_equal(shell("mkdir shut; touch shut/p.csv; chmod 0 shut; $S offers shut/p.csv", &output),
                         2);
    }
    assert_non_null(strstr(text_get(&output), "shut/p.csv: Permission denied"));
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
        cmocka_unit_test(refuses_bad_commands_with_one_line_that_names_the_place),
        cmocka_unit_test(refuses_bad_data_with_its_place_and_the_mend),
        cmocka_unit_test(accepts_a_byte_order_mark_and_crlf),
        cmocka_unit_test(names_a_file_it_may_not_read),
        cmocka_unit_test(prints_an_error_as_one_line_on_stderr),
        cmocka_unit_test(an_escape_sequence_does_not_reach_the_terminal),
        cmocka_unit_test(progress_never_lands_in_the_record),
        cmocka_unit_test(a_reader_of_progress_that_goes_away_does_not_end_the_run),
        cmocka_unit_test(never_writes_over_a_record_that_is_there),
        cmocka_unit_test(every_command_has_help_that_fits_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
