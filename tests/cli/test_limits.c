/* A run in half a core and 2 GiB works within them and says so; a run beside other work is marked. */
#include "tests/base/check.h"
#include "tests/cli/shell.h"

#include "model/record_line.h"

#include <signal.h>

enum { NO_CGROUP = 77 };
static const char in_cgroup[] = "sh " STEPCOST_SOURCE "/tests/cli/in_cgroup.sh ";

static struct record read_record(const char *path) {
    struct record r;
    struct err e;
    assert_ok(record_read(path, &r, &e), &e);
    return r;
}

static double limit(const struct record *r, const char *key) {
    return json_number_value(
        json_object_get(json_object_get(json_object_get(r->head, "host"), "limits"), key));
}

static void assert_says(const struct text *output, const char *words) {
    if (!strstr(text_get(output), words))
        fail_msg("does not say \"%s\":\n%s", words, text_get(output));
}

/* A stream's three arrays may have a quarter of the memory. The last look: no cgroup stays behind (ls: 2). */
static void half_a_core_and_two_gib_are_kept_and_stated(void **state) {
    struct text output = {0}, command = {0};
    (void)state;
    text_printf(
        &command,
        "%s 50000 100000 2147483648 $S run --cpu --bench fma membw --seconds 0.5s --out limited.jsonl",
        in_cgroup);
    int status = shell(text_get(&command), &output);
    if (status == NO_CGROUP) {
        print_message("skipped: %s", text_get(&output));
        text_free(&command);
        text_free(&output);
        skip();
    }
    if (status != 0)
        fail_msg("status %d: %s", status, text_get(&output));
    assert_says(&output, "notice: limits: 0.5 of ");
    assert_says(&output, "\nlimits: 0.5 of ");
    assert_says(&output, "2 GiB of ");
    assert_says(&output, "finding throttled in ");
    assert_says(&output, "CPU quota");
    struct record r = read_record("limited.jsonl");
    const json_t *device = json_array_get(json_object_get(r.head, "devices"), 0);
    assert_int_equal(json_integer_value(json_object_get(device, "units")), 1);
    assert_same(r.device_memory_bytes, 2147483648.0);
    assert_same(limit(&r, "memory_bytes"), 2147483648.0);
    assert_same(limit(&r, "cpu_quota"), 0.5);
    assert_same(limit(&r, "usable_cpus"), 1);
    size_t throttled = 0;
    for (size_t i = 0; i < r.case_count; i++) {
        assert_int_equal(r.cases[i].status, CASE_MEASURED);
        assert_true(r.cases[i].op.kind == OP_FMA || op_bytes(&r.cases[i].op) <= 2147483648.0 / 4);
        assert_true(r.cases[i].host.quota_throttled_periods > 0);
        throttled += record_throttled_samples(&r.cases[i].ranks[0], NULL);
    }
    assert_true(throttled > 0);
    record_free(&r);
    assert_int_equal(
        shell("ls -d /sys/fs/cgroup/stepcost-test-* /sys/fs/cgroup/*/stepcost-test-* 2>/dev/null", &output),
        2);
    text_free(&command);
    text_free(&output);
}

/* A process of our own that does nothing but spin. */
static pid_t burn_a_core(void) {
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        for (volatile unsigned i = 0;; i++)
            ;
    }
    return pid;
}

/* The spinning child has a fair share of these CPUs whatever else runs: far above 5 % of them. */
static void a_run_beside_other_work_is_marked_contaminated(void **state) {
    struct text output = {0};
    (void)state;
    pid_t burner = burn_a_core();
    assert_true(burner > 0);
    int status = shell("$S run -q --cpu --bench fma --seconds 0.5s --out beside.jsonl", &output);
    kill(burner, SIGKILL);
    waitpid(burner, NULL, 0);
    assert_int_equal(status, 0);
    assert_says(&output, "finding contaminated in fma.");
    struct record r = read_record("beside.jsonl");
    assert_true(r.cases[0].host.others_cpu_s > 0.05 * r.cases[0].host.cpus * r.cases[0].host.window_s);
    record_free(&r);
    assert_int_equal(shell("$S show beside.jsonl", &output), 0);
    assert_says(&output, "contaminated: ");
    text_free(&output);
}

static void append(struct record_writer *w, const char *kind, json_t *body) {
    struct err e;
    assert_ok(record_append(w, kind, body, &e), &e);
    json_decref(body);
}

/* A record from a container that does not see its host: one case with a window and nothing in it. */
static void a_host_that_was_not_visible_is_said_to_be_so(void **state) {
    struct text output = {0};
    struct err e;
    (void)state;
    struct record_host host = record_host_unknown();
    host.window_s = 1;
    const struct op op = op_elementwise(OP_FMA, 64, DTYPE_FP32);
    struct record_writer *w = record_create("hidden.jsonl", &e);
    assert_non_null(w);
    append(w, "head", record_head_body(&(struct record_head_line){.program = "test", .backend = "cpu"}));
    append(w, "case", record_case_body(&(struct record_case_line){"fma", "fma", &op, 1, 1, true}));
    append(w, "done", record_done_body(&(struct record_done_line){.id = "fma", .attempt = 1, .host = &host}));
    record_close(w);
    assert_int_equal(shell("$S show hidden.jsonl", &output), 0);
    assert_says(&output, "not visible from here");
    assert_null(strstr(text_get(&output), "limits:"));
    assert_null(strstr(text_get(&output), "contaminated"));
    text_free(&output);
}

int main(void) {
    enter_scratch_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_a_core_and_two_gib_are_kept_and_stated),
        cmocka_unit_test(a_host_that_was_not_visible_is_said_to_be_so),
        cmocka_unit_test(a_run_beside_other_work_is_marked_contaminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
