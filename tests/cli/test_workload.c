/* stepcost workload, end to end. */
#include "tests/base/check.h"
#include "tests/cli/shell.h"

static void succeeds(const char *command) {
    struct text output = {0};
    int status = shell(command, &output);
    if (status)
        fail_msg("exit %d: %s: %s", status, command, text_get(&output));
    text_free(&output);
}

/* A file of from-hf is a workload like the shipped ones: its ranking is theirs. */
static void a_converted_model_ranks_as_the_shipped_one(void **state) {
    (void)state;
    succeeds("$S workload from-hf " STEPCOST_SOURCE "/tests/data/hf/llama3-8b.json --name llama3-8b "
             "--sequence 8192 --batch 128 --out mine.json && "
             "$S rank --workload mine.json --format csv > a.csv && "
             "$S rank --workload llama3-8b --format csv > b.csv && cmp a.csv b.csv && "
             "grep -q B200-SXM-180GB a.csv");
}

static void every_format_has_every_workload(void **state) {
    (void)state;
    succeeds("for f in table json csv markdown; do for w in gpt2-1.5b llama3-8b llama3-70b "
             "qwen2.5-7b llama3-8b-lora mixtral-8x7b bert-large resnet50 gpt3-175b gpt2-124m; do "
             "$S workload --format $f | grep -q -e $w || exit 1; done; done");
}

/* 8 cards of 80 GiB: what test_layout_fit.c works out by hand. */
static void shows_the_layout_and_its_bytes(void **state) {
    (void)state;
    succeeds("$S workload llama3-8b --devices 8 --memory 80GiB --format csv > c.csv && "
             "grep -q 'layout,first that fits,,,\"DP 8, ZeRO-2, 1 x 16 in bf16\"' c.csv && "
             "grep -q 'device,optimizer,12045391872,B' c.csv && "
             "grep -q 'device,in all,73924740608,B,fits' c.csv");
    succeeds("$S workload llama3-70b --devices 8 --memory 80GiB --format csv > d.csv && "
             "grep -q 'device,in all,144518613504,B,does not fit' d.csv");
}

/* The figure and its flag as model/data/workloads/qwen2.5-7b.json has them. */
static void every_figure_says_where_it_comes_from(void **state) {
    (void)state;
    succeeds("$S workload qwen2.5-7b --format csv > q.csv && "
             "grep -q '^source,layers,,,unverified: huggingface.co/' q.csv && "
             "grep -q '^source,vocab_padded,,,divides by 64: not padded' q.csv && "
             "test $(grep -c '^source,' q.csv) = "
             "$(grep -c '\"value\":' " STEPCOST_SOURCE "/model/data/workloads/qwen2.5-7b.json)");
}

static void an_image_workload_is_priced_by_the_image(void **state) {
    (void)state;
    succeeds("$S rank --workload resnet50 --format csv | head -1 | grep -q cost_per_million_images && "
             "$S rank --workload resnet50 | head -1 | grep -q 'one step = 256 images'");
}

int main(void) {
    enter_scratch_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_converted_model_ranks_as_the_shipped_one),
        cmocka_unit_test(every_format_has_every_workload),
        cmocka_unit_test(shows_the_layout_and_its_bytes),
        cmocka_unit_test(every_figure_says_where_it_comes_from),
        cmocka_unit_test(an_image_workload_is_priced_by_the_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
