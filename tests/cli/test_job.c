/* One job.json for every command. */
#include "tests/cli/shell.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void write_job(const char *text) {
    FILE *out = fopen("job.json", "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

/* 1,048,576 tokens are 2 steps of 512 sequences of 1024 tokens, and 16 of 64. */
static void rank_shows_what_the_whole_run_takes_and_costs(void **state) {
    struct text output = {0};
    (void)state;
    write_job(
        "{\"workload\": \"gpt2-124m\", \"tokens\": 1048576, \"deadline\": \"10d\", \"budget\": \"9 USD\"}");
    assert_int_equal(shell("$S rank --job job.json", &output), 0);
    assert_non_null(strstr(text_get(&output), "2 steps, deadline 10"));
    assert_non_null(strstr(text_get(&output), "run cost"));
    assert_int_equal(shell("$S rank --job job.json --global-batch 64", &output), 0);
    assert_non_null(strstr(text_get(&output), "16 steps"));
    assert_int_equal(shell("$S rank", &output), 0);
    assert_null(strstr(text_get(&output), "run cost"));
    text_free(&output);
}

static void every_row_costs_the_job_as_many_steps(void **state) {
    struct text output = {0};
    size_t index;
    json_t *row;
    (void)state;
    write_job("{\"workload\": \"gpt2-124m\", \"steps\": 7}");
    assert_int_equal(shell("$S rank --job job.json --format json", &output), 0);
    json_t *rows = json_loads(text_get(&output), 0, NULL);
    assert_true(json_array_size(rows) > 100);
    json_array_foreach(rows, index, row) {
        double cost = json_number_value(json_object_get(row, "cost_per_step"));
        double run = json_number_value(json_object_get(row, "run_cost"));
        assert_true(cost > 0 && run > 0.999999 * 7 * cost && run < 1.000001 * 7 * cost);
        assert_string_equal(json_string_value(json_object_get(row, "within_limits")), "yes");
    }
    json_decref(rows);
    text_free(&output);
}

static void run_takes_workload_and_global_batch_and_a_word_given_overrules_them(void **state) {
    struct text output = {0};
    (void)state;
    write_job("{\"workload\": \"gpt2-124m\", \"global_batch\": 4, \"steps\": 7}");
    assert_int_equal(shell("$S run -q --backend sim --seconds 0.1s --job job.json --out j.jsonl", &output),
                     0);
    assert_int_equal(
        shell("head -1 j.jsonl | grep -c '\"workload\":\"gpt2-124m\",\"global_batch\":4'", &output), 0);
    assert_int_equal(
        shell("$S run -q --backend sim --seconds 0.1s --job job.json --global-batch 8 --out k.jsonl",
              &output),
        0);
    assert_int_equal(shell("head -1 k.jsonl | grep -c '\"global_batch\":8'", &output), 0);
    text_free(&output);
}

static void a_bad_job_ends_before_anything_is_measured(void **state) {
    struct text output = {0};
    (void)state;
    write_job("{\"workload\": \"gpt2-124m\", \"steps\": -1}");
    assert_int_equal(shell("$S run -q --backend sim --job job.json --out bad.jsonl", &output), 2);
    assert_non_null(strstr(text_get(&output), "job.json: steps: -1"));
    assert_int_equal(shell("test -e bad.jsonl", &output), 1);
    assert_int_equal(shell("$S rank --job job.json", &output), 2);
    text_free(&output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_shows_what_the_whole_run_takes_and_costs),
        cmocka_unit_test(every_row_costs_the_job_as_many_steps),
        cmocka_unit_test(run_takes_workload_and_global_batch_and_a_word_given_overrules_them),
        cmocka_unit_test(a_bad_job_ends_before_anything_is_measured),
    };
    enter_scratch_folder();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
