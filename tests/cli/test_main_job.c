/* The main job in small: offers that come with the program are ranked, on a machine with and without a
 * record. */
#include "tests/cli/shell.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int number_from(const char *command) {
    struct text output = {0};
    assert_int_equal(shell(command, &output), 0);
    int number = atoi(text_get(&output));
    text_free(&output);
    return number;
}

static void ranks_at_least_150_merged_example_offers(void **state) {
    (void)state;
    assert_true(number_from("$S rank --format csv | grep -c ',on-demand,'") >= 150);
}

static void the_rows_come_out_cheapest_first(void **state) {
    struct text output = {0};
    double last = 0;
    size_t priced = 0, index;
    json_t *row;
    (void)state;
    assert_int_equal(shell("$S rank --format json", &output), 0);
    json_t *rows = json_loads(text_get(&output), 0, NULL);
    assert_true(json_is_array(rows));
    json_array_foreach(rows, index, row) {
        const json_t *cost = json_object_get(row, "cost_per_step");
        if (strcmp(json_string_value(json_object_get(row, "term")), "on-demand") != 0 ||
            !json_is_number(cost))
            continue;
        assert_true(json_number_value(cost) >= last);
        last = json_number_value(cost);
        priced++;
    }
    assert_true(priced >= 150);
    json_decref(rows);
    text_free(&output);
}

/* Other work on a shared machine can slow the calibration so much that the rates lie above the peak, and rank
 * then rightly leaves them out: three tries. */
static void measures_this_cpu_and_gives_it_a_break_even_price(void **state) {
    struct text output = {0};
    (void)state;
    for (int tries = 0; tries < 3 && !strstr(text_get(&output), "and this machine"); tries++) {
        assert_int_equal(shell("rm -f me.jsonl; $S run -q --cpu --bench fma gemm membw --shape 256x256x256 "
                               "--seconds 0.5s --out me.jsonl",
                               &output),
                         0);
        assert_int_equal(shell("$S rank --record me.jsonl", &output), 0);
    }
    assert_non_null(strstr(text_get(&output), "and this machine"));
    assert_non_null(strstr(text_get(&output), "has no price"));
    assert_int_equal(shell("$S rank --record me.jsonl --price 0.05/h", &output), 0);
    assert_null(strstr(text_get(&output), "has no price"));
    text_free(&output);
}

/* A mount namespace of our own, in which /dev has an NVIDIA device file: a GPU node without a driver. */
static void never_ranks_a_gpu_node_by_its_cpu_unasked(void **state) {
    static const char node[] =
        "unshare -m sh -c 'mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && "
        "touch /dev/nvidia0 && $S run -q %s --bench fma --seconds 0.1s --out %s.jsonl'";
    struct text output = {0}, command = {0};
    (void)state;
    if (shell("unshare -m sh -c 'mount -t tmpfs none /dev'", &output) != 0) {
        print_message("skipped: no mount namespace can be made here: %s", text_get(&output));
        skip();
    }
    text_printf(&command, node, "", "asked");
    assert_int_equal(shell(text_get(&command), &output), 3);
    assert_non_null(strstr(text_get(&output), "NVIDIA"));
    assert_non_null(strstr(text_get(&output), "--cpu"));
    assert_int_equal(shell("test -e asked.jsonl", &output), 1);
    text_clear(&command);
    text_printf(&command, node, "--cpu", "cpu");
    assert_int_equal(shell(text_get(&command), &output), 0);
    text_free(&command);
    text_free(&output);
}

static void the_readme_shows_the_options_as_they_are(void **state) {
    struct text output = {0};
    (void)state;
    assert_int_equal(shell("$S list --options > options.md && awk '/<!-- options -->/ {on = 1; next} "
                           "/<!-- end of options -->/ {on = 0} on' \"$README\" | diff - options.md",
                           &output),
                     0);
    assert_true(number_from("wc -l < options.md") > 30);
    text_free(&output);
}

int main(void) {
    setenv("README", STEPCOST_SOURCE "/README.md", 1);
    enter_scratch_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_at_least_150_merged_example_offers),
        cmocka_unit_test(the_rows_come_out_cheapest_first),
        cmocka_unit_test(measures_this_cpu_and_gives_it_a_break_even_price),
        cmocka_unit_test(never_ranks_a_gpu_node_by_its_cpu_unasked),
        cmocka_unit_test(the_readme_shows_the_options_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
