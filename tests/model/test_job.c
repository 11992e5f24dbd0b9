#include "tests/model/folder.h"

#include "model/job.h"

#include <math.h>
#include <string.h>

struct fixture {
    struct folder folder;
    char path[128];
};

static int make(void **state) {
    static struct fixture f;
    folder_make(&f.folder);
    snprintf(f.path, sizeof f.path, "%s/job.json", f.folder.path);
    *state = &f;
    return 0;
}

static int clean(void **state) {
    folder_remove(&((struct fixture *)*state)->folder);
    return 0;
}

static void load(struct fixture *f, const char *text, struct job *out) {
    struct err e;
    folder_write(&f->folder, "job.json", text);
    assert_ok(job_load(f->path, out, &e), &e);
}

static void everything_it_says_is_read_in_base_units(void **state) {
    struct job j;
    load(*state,
         "{\"workload\": \"gpt2-124m\", \"tokens\": 10e9, \"global_batch\": 480, \"dataset_GB\": 40, "
         "\"dataset_at\": \"aws us-east-1\", \"checkpoint_GB\": 1.5, \"deadline\": \"1d12h\", "
         "\"budget\": \"5000 EUR\", \"currency\": \"EUR\"}",
         &j);
    assert_string_equal(j.workload, "gpt2-124m");
    assert_same(j.tokens, 10e9);
    assert_true(isnan(j.steps));
    assert_same(j.global_batch, 480);
    assert_same(j.dataset_bytes, 40e9);
    assert_string_equal(j.dataset_at, "aws us-east-1");
    assert_same(j.checkpoint_bytes, 1.5e9);
    assert_same(j.deadline_s, 36 * 3600);
    assert_same(j.budget.amount, 5000);
    assert_string_equal(j.currency, "EUR");
    job_free(&j);
}

static void what_it_leaves_out_is_unknown_and_the_workload_keeps_its_own(void **state) {
    struct job j;
    struct workload w;
    struct err e;
    load(*state, "{\"workload\": \"gpt2-124m\"}", &j);
    assert_true(isnan(j.steps) && isnan(j.tokens) && isnan(j.samples) && isnan(j.deadline_s));
    assert_true(isnan(j.budget.amount));
    assert_string_equal(j.currency, "");
    assert_string_equal(j.dataset_at, "");
    assert_ok(job_load_workload(&j, NULL, NULL, &w, &e), &e);
    assert_int_equal(w.global_batch, 512);
    assert_same(w.checkpoint_bytes, 1742157312);
    assert_true(isnan(job_steps(&j, &w)));
    workload_free(&w);
    job_free(&j);
}

/* 480 sequences of 1024 tokens are 491,520 a step: 10^9 tokens are 2034.5 steps; 10^6 samples 2083.3. */
static void the_length_of_the_run_is_counted_in_whole_steps(void **state) {
    static const struct {
        const char *length;
        double steps;
    } rows[] = {{"\"steps\": 7", 7}, {"\"tokens\": 1e9", 2035}, {"\"samples\": 1000000", 2084}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct job j;
        struct workload w;
        struct err e;
        char text[160];
        snprintf(text, sizeof text, "{\"workload\": \"gpt2-124m\", \"global_batch\": 480, %s}",
                 rows[i].length);
        load(*state, text, &j);
        assert_ok(job_load_workload(&j, NULL, NULL, &w, &e), &e);
        assert_int_equal(w.global_batch, 480);
        assert_same(job_steps(&j, &w), rows[i].steps);
        workload_free(&w);
        job_free(&j);
    }
}

static void a_budget_says_its_currency(void **state) {
    struct job j;
    load(*state, "{\"workload\": \"gpt2-124m\", \"budget\": \"EUR 12\"}", &j);
    assert_string_equal(j.currency, "EUR");
    job_free(&j);
}

static void a_workload_file_is_looked_for_beside_the_job(void **state) {
    struct fixture *f = *state;
    struct job j;
    char want[256];
    load(f, "{\"workload\": \"mine.json\"}", &j);
    snprintf(want, sizeof want, "%s/mine.json", f->folder.path);
    assert_string_equal(j.workload, want);
    job_free(&j);
    load(f, "{\"workload\": \"/srv/mine.csv\"}", &j);
    assert_string_equal(j.workload, "/srv/mine.csv");
    job_free(&j);
}

static void a_workload_named_beside_the_job_counts(void **state) {
    struct job j;
    struct workload w;
    struct err e;
    load(*state, "{\"workload\": \"no-such-one\", \"global_batch\": 8}", &j);
    assert_ok(job_load_workload(&j, "gpt2-124m", NULL, &w, &e), &e);
    assert_int_equal(w.global_batch, 8);
    workload_free(&w);
    assert_int_equal(job_load_workload(&j, NULL, NULL, &w, &e), -1);
    assert_non_null(strstr(e.text, "job.json"));
    assert_non_null(strstr(e.text, "no-such-one"));
    job_free(&j);
}

static void what_cannot_be_is_refused_with_its_place_and_the_mend(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *text, *words[2];
    } rows[] = {
        {"[1]", {"not an object", "workload"}},
        {"{\"workload\": \"gpt2-124m\"", {"line 1", "job.json"}},
        {"{\"steps\": 5}", {"workload", "missing"}},
        {"{\"workload\": \"\"}", {"workload: empty", "stepcost list"}},
        {"{\"workload\": \"gpt2-124m\", \"step\": 5}", {"step", "steps"}},
        {"{\"workload\": \"gpt2-124m\", \"steps\": 5, \"tokens\": 5}",
         {"steps, tokens, samples", "give one"}},
        {"{\"workload\": \"gpt2-124m\", \"steps\": -5}", {"steps: -5", "between 1"}},
        {"{\"workload\": \"gpt2-124m\", \"steps\": 1.5}", {"steps: 1.5", "whole"}},
        {"{\"workload\": \"gpt2-124m\", \"steps\": \"many\"}", {"steps", "number"}},
        {"{\"workload\": \"gpt2-124m\", \"global_batch\": 0}", {"global_batch: 0", "between 1"}},
        {"{\"workload\": \"gpt2-124m\", \"dataset_GB\": -1}", {"dataset_GB: -1", "between 0"}},
        {"{\"workload\": \"gpt2-124m\", \"deadline\": \"72\"}", {"deadline", "72h"}},
        {"{\"workload\": \"gpt2-124m\", \"deadline\": \"0s\"}", {"deadline", "over before"}},
        {"{\"workload\": \"gpt2-124m\", \"budget\": \"0 USD\"}", {"budget", "above zero"}},
        {"{\"workload\": \"gpt2-124m\", \"budget\": \"much\"}", {"budget", "much"}},
        {"{\"workload\": \"gpt2-124m\", \"currency\": \"dollars\"}", {"currency", "ISO 4217"}},
        {"{\"workload\": \"gpt2-124m\", \"budget\": \"5 EUR\", \"currency\": \"USD\"}", {"EUR", "USD"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct job j;
        struct err e;
        folder_write(&f->folder, "job.json", rows[i].text);
        assert_int_equal(job_load(f->path, &j, &e), -1);
        assert_int_equal(e.code, ERR_PARSE);
        for (size_t k = 0; k < 2; k++)
            if (!strstr(e.text, rows[i].words[k]))
                fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].text, e.text, rows[i].words[k]);
    }
}

static void a_job_that_is_not_there_is_not_found(void **state) {
    struct job j;
    struct err e;
    (void)state;
    assert_int_equal(job_load("/nonexistent/job.json", &j, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_it_says_is_read_in_base_units),
        cmocka_unit_test(what_it_leaves_out_is_unknown_and_the_workload_keeps_its_own),
        cmocka_unit_test(the_length_of_the_run_is_counted_in_whole_steps),
        cmocka_unit_test(a_budget_says_its_currency),
        cmocka_unit_test(a_workload_file_is_looked_for_beside_the_job),
        cmocka_unit_test(a_workload_named_beside_the_job_counts),
        cmocka_unit_test(what_cannot_be_is_refused_with_its_place_and_the_mend),
        cmocka_unit_test(a_job_that_is_not_there_is_not_found),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
