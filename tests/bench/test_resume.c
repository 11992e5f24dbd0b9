/* kill -9 of the supervisor, and of a worker, at random moments: nothing finished is lost or done twice. */
#include "tests/bench/sim_run.h"

#include "base/clock.h"
#include "base/proc.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLS = 50, SHAPES = 6, CASES = PEAKS + SHAPES };
/* A short k makes an output quick to verify; the sizes make so many executions a second that a case takes
 * some ten milliseconds of real time, most of the run. */
static const char *const shapes[SHAPES] = {"2048x2048x16", "2048x2048x24", "2048x3072x16",
                                           "3072x2048x16", "3072x3072x16", "3072x3072x24"};

/* This program as `supervise PATH RESUME`. */
static int supervise(const char *path, bool resume) {
    struct run_summary summary;
    struct err e;
    struct run_request r = sim_run_request("healthy:devices=2", path, shapes, SHAPES);
    r.plan.seconds = 1;
    r.grace_s = 30;
    r.resume = resume;
    int result = supervisor_run(&r, &summary, &e);
    if (result != 0)
        fprintf(stderr, "%s\n", e.text);
    sim_run_free(&r);
    return result == 0 && summary.finished ? 0 : 1;
}

static pid_t start_supervisor(const char *path, bool resume) {
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "test", "supervise", path, resume ? "1" : "0", (char *)NULL);
        _exit(126);
    }
    assert_true(pid > 0);
    return pid;
}

static int status_of(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Children of pid; they are the workers. */
static size_t workers_of(pid_t pid, pid_t *out, size_t limit) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "r");
    size_t count = 0;
    int child;
    while (file != NULL && count < limit && fscanf(file, "%d", &child) == 1)
        out[count++] = child;
    if (file != NULL)
        fclose(file);
    return count;
}

/* Not there any more, or a zombie that init has not reaped yet. */
static bool gone(pid_t pid) {
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true;
    bool got = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    fclose(file);
    return !got || state == 'Z' || state == 'X';
}

static bool gone_soon(pid_t pid) {
    for (int i = 0; i < 5000 && !gone(pid); i++)
        clock_sleep_ns(1000000);
    return gone(pid);
}

static size_t file_size(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (size_t)status.st_size : 0;
}

/* The whole file; caller frees. */
static char *slurp(const char *path, size_t *size) {
    *size = file_size(path);
    char *bytes = malloc(*size + 1);
    FILE *file = fopen(path, "rb");
    assert_true(bytes != NULL && file != NULL);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static size_t whole_lines(const char *bytes, size_t size) {
    while (size > 0 && bytes[size - 1] != '\n')
        size--;
    return size;
}

/* How large the record becomes when nobody disturbs the run. */
static size_t undisturbed_bytes(void) {
    const char *path = sim_run_path("undisturbed");
    assert_int_equal(status_of(start_supervisor(path, false)), 0);
    size_t bytes = file_size(path);
    unlink(path);
    return bytes;
}

/* A random moment: waits until the record of pid has grown to some size, or pid has ended, and a little
 * longer. The moment depends on the run's progress and not on how busy the machine is. */
static void await_moment(pid_t pid, const char *path, size_t bytes, struct rng *random) {
    siginfo_t info = {0};
    while (file_size(path) < bytes && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0)
        clock_sleep_ns(100000);
    clock_sleep_ns((uint64_t)(rng_uniform(random) * 3e6));
}

/* Every case of the plan once, measured, with samples of both ranks. */
static void check_complete(const struct record *r) {
    assert_int_equal(r->state, RECORD_INTACT);
    assert_int_equal(r->case_count, CASES);
    for (size_t i = 0; i < CASES; i++) {
        assert_int_equal(r->cases[i].status, CASE_MEASURED);
        assert_int_equal(r->cases[i].rank_count, 2);
        for (int k = 0; k < 2; k++)
            assert_true(r->cases[i].ranks[k].count >= 10); /* of 50 ms, in 1 s less the warm-up */
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(r->cases[i].id, r->cases[j].id);
    }
}

/* What was finished before is there, not measured again. */
static void check_kept(const struct record *before, const struct record *after) {
    for (size_t i = 0; i < before->case_count; i++) {
        const struct record_case *old = &before->cases[i];
        const struct record_case *new = record_find_case(after, old->id);
        assert_non_null(new);
        if (old->status == CASE_OPEN) {
            assert_int_equal(new->attempt, old->attempt + 1);
            continue;
        }
        assert_int_equal(new->attempt, old->attempt);
        assert_int_equal(new->status, old->status);
        assert_int_equal(new->ranks[0].count, old->ranks[0].count);
        assert_memory_equal(new->ranks[0].elapsed_s, old->ranks[0].elapsed_s,
                            old->ranks[0].count * sizeof(double));
    }
}

/* A power cut may tear the last line: cuts off up to 60 of its bytes. */
static void tear(const char *path, struct rng *random) {
    size_t size = file_size(path);
    size_t bytes = 1 + (size_t)(rng_uniform(random) * 60);
    if (size > bytes + 2000)
        assert_int_equal(truncate(path, (off_t)(size - bytes)), 0);
}

/* Kills the supervisor at some moment; false when it was done before that, or had not begun the record. */
static bool kill_supervisor(const char *path, size_t at_bytes, struct rng *random) {
    pid_t workers[4], pid = start_supervisor(path, false);
    await_moment(pid, path, at_bytes, random);
    size_t count = workers_of(pid, workers, 4);
    kill(pid, SIGKILL);
    bool killed = WIFSIGNALED(status_of(pid));
    for (size_t i = 0; i < count; i++)
        assert_true(gone_soon(workers[i]));
    size_t size = 0;
    char *bytes = killed && file_size(path) > 0 ? slurp(path, &size) : NULL;
    bool begun = bytes != NULL && whole_lines(bytes, size) > 0;
    free(bytes);
    return begun;
}

static void loses_nothing_when_the_supervisor_is_killed(void **state) {
    (void)state;
    double whole_bytes = (double)undisturbed_bytes();
    struct rng random = rng_make(20261130);
    size_t resumed = 0;
    for (int i = 0; i < KILLS; i++) {
        struct err e;
        struct record before, after;
        const char *path = sim_run_path("supervisor");
        if (!kill_supervisor(path, (size_t)(rng_uniform(&random) * whole_bytes), &random)) {
            unlink(path);
            continue;
        }
        if (i % 3 == 0)
            tear(path, &random);
        size_t old_size, new_size;
        char *old_bytes = slurp(path, &old_size);
        old_size = whole_lines(old_bytes, old_size);
        assert_int_equal(record_read(path, &before, &e), 0);
        if (before.state == RECORD_UNFINISHED) {
            assert_int_equal(status_of(start_supervisor(path, true)), 0);
            resumed++;
        }
        assert_int_equal(record_read(path, &after, &e), 0);
        check_complete(&after);
        check_kept(&before, &after);
        char *new_bytes = slurp(path, &new_size);
        assert_true(new_size >= old_size);
        assert_memory_equal(new_bytes, old_bytes, old_size);
        free(old_bytes);
        free(new_bytes);
        record_free(&before);
        record_free(&after);
        unlink(path);
    }
    assert_true(resumed >= KILLS / 2); /* else the moments were ill chosen, and this shows nothing */
}

static void loses_one_case_at_most_when_a_worker_is_killed(void **state) {
    (void)state;
    double whole_bytes = (double)undisturbed_bytes();
    struct rng random = rng_make(20261201);
    size_t failures = 0;
    for (int i = 0; i < KILLS; i++) {
        struct err e;
        struct record r;
        pid_t workers[4];
        const char *path = sim_run_path("worker");
        pid_t pid = start_supervisor(path, false);
        await_moment(pid, path, (size_t)(rng_uniform(&random) * 0.9 * whole_bytes), &random);
        size_t count = workers_of(pid, workers, 4);
        if (count > 0)
            kill(workers[rng_next(&random) % count], SIGKILL);
        if (status_of(pid) != 0 && file_size(path) == 0) {
            unlink(path); /* it died while it opened its device: the run could not begin */
            continue;
        }
        assert_int_equal(record_read(path, &r, &e), 0);
        assert_int_equal(r.state, RECORD_INTACT);
        assert_int_equal(r.case_count, CASES);
        size_t failed = 0;
        for (size_t c = 0; c < CASES; c++) {
            if (r.cases[c].status == CASE_MEASURED)
                continue;
            failed++;
            assert_int_equal(r.cases[c].status, CASE_FAILED);
            assert_non_null(strstr(r.cases[c].reason, "killed by signal 9 (Killed)"));
        }
        assert_in_range(failed, 0, 1);
        failures += failed;
        record_free(&r);
        unlink(path);
    }
    assert_true(failures >= KILLS / 5); /* else this shows nothing */
}

static void cuts_a_torn_last_line_and_says_how_much(void **state) {
    (void)state;
    struct err e;
    struct run_summary summary;
    struct record record;
    const char *path = sim_run_path("torn");
    struct run_request r = sim_run_request("healthy", path, shapes, SHAPES);
    assert_int_equal(supervisor_run(&r, &summary, &e), 0);
    size_t size;
    char *bytes = slurp(path, &size);
    size_t before_last = whole_lines(bytes, size - 1);
    assert_int_equal(truncate(path, (off_t)(before_last + 7)), 0);
    r.resume = true;
    assert_int_equal(supervisor_run(&r, &summary, &e), 0);
    assert_int_equal(summary.cut_bytes, 7);
    assert_int_equal(summary.resumed, CASES);
    assert_true(summary.finished);
    assert_int_equal(record_read(path, &record, &e), 0);
    assert_int_equal(record.state, RECORD_INTACT);
    record_free(&record);
    free(bytes);
    unlink(path);
    sim_run_free(&r);
}

int main(int argc, char **argv) {
    if (sim_run_is_worker(argc, argv))
        return 0;
    if (argc == 4 && strcmp(argv[1], "supervise") == 0)
        return supervise(argv[2], strcmp(argv[3], "1") == 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loses_nothing_when_the_supervisor_is_killed),
        cmocka_unit_test(loses_one_case_at_most_when_a_worker_is_killed),
        cmocka_unit_test(cuts_a_torn_last_line_and_says_how_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
