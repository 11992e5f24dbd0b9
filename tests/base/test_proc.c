#include "tests/base/check.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the children: this program again, with a word that says what to be ---- */

static void send_or_die(const char *line) {
    struct proc_channel c = proc_channel_make(PROC_CHILD_FD);
    struct err e;
    if (proc_send(&c, line, &e) != 0)
        _exit(9);
}

static int child_echo(void) {
    struct proc_channel c = proc_channel_make(PROC_CHILD_FD);
    struct err e;
    char *line;
    while (proc_receive(&c, &line, UINT64_MAX, &e) == 1)
        if (proc_send(&c, line, &e) != 0)
            return 9;
    proc_channel_close(&c);
    return 0;
}

/* "fd:target" of every open descriptor. */
static int child_describe(void) {
    char line[2000] = "";
    for (int fd = 0; fd < 200; fd++) {
        char path[40], target[200];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length >= 0)
            snprintf(line + strlen(line), sizeof line - strlen(line), "%d:%.*s ", fd,
                     (int)(fd == 2 || fd == 3 ? 0 : length), target);
    }
    int death_signal = 0;
    prctl(PR_GET_PDEATHSIG, &death_signal);
    snprintf(line + strlen(line), sizeof line - strlen(line), "death=%d", death_signal);
    send_or_die(line);
    return 0;
}

static int child_crash(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
}

static int child_exit_3(void) {
    return 3;
}

static int child_hang(void) {
    signal(SIGTERM, SIG_IGN);
    while (pause() != 0)
        ;
    return 0;
}

static void write_raw(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t n = send(PROC_CHILD_FD, bytes, count, MSG_NOSIGNAL);
        if (n < 0)
            _exit(9);
        bytes += n;
        count -= (size_t)n;
    }
}

static int child_send_endless(void) {
    char block[4096];
    memset(block, 'x', sizeof block);
    for (size_t sent = 0; sent < (size_t)PROC_LINE_MAX * 2; sent += sizeof block)
        write_raw(block, sizeof block);
    return 0;
}

static int child_send_half_a_line(void) {
    write_raw("whole\nha", 8);
    return 0;
}

static int child_send_nul(void) {
    write_raw("a\0b\n", 4);
    return 0;
}

static int child_send_slowly(void) {
    for (const char *c = "sl\now\n"; *c; c++) {
        write_raw(c, 1);
        clock_sleep_ns(5000000);
    }
    return 0;
}

static int child_send_three(void) {
    write_raw("one\ntwo\n\n", 9);
    return 0;
}

/* Starts a child of its own, tells its pid and hangs: whoever kills this one must not leave that one. */
static int child_parent(void) {
    char program[] = "test", word[] = "hang", *argv[] = {program, word, NULL};
    struct proc p;
    struct err e;
    if (proc_start_self(&p, argv, &e) != 0)
        return 9;
    char line[40];
    snprintf(line, sizeof line, "%d", (int)p.pid);
    send_or_die(line);
    return child_hang();
}

static const struct {
    const char *word;
    int (*run)(void);
} children[] = {
    {"echo", child_echo},
    {"describe", child_describe},
    {"crash", child_crash},
    {"exit-3", child_exit_3},
    {"hang", child_hang},
    {"endless", child_send_endless},
    {"half", child_send_half_a_line},
    {"nul", child_send_nul},
    {"slowly", child_send_slowly},
    {"three", child_send_three},
    {"parent", child_parent},
};

/* ---- the tests ---- */

static struct proc start(const char *word) {
    char program[] = "test", copy[20], *argv[] = {program, copy, NULL};
    struct proc p;
    struct err e;
    snprintf(copy, sizeof copy, "%s", word);
    assert_ok(proc_start_self(&p, argv, &e), &e);
    assert_true(p.pid > 0);
    return p;
}

static uint64_t soon(void) {
    return clock_monotonic_ns() + 20000000000u;
}

static void wait_exit(struct proc *p) {
    uint64_t deadline_ns = soon();
    while (!proc_poll_exit(p)) {
        assert_true(clock_monotonic_ns() < deadline_ns);
        clock_sleep_ns(1000000);
    }
}

static void lines_go_there_and_back(void **state) {
    (void)state;
    static const char *const lines[] = {"hello", "", "{\"a\":1}", "\xE2\x82\xAC", " blank "};
    struct proc p = start("echo");
    struct err e;
    char *line;
    for (size_t i = 0; i < COUNT(lines); i++) {
        assert_ok(proc_send(&p.channel, lines[i], &e), &e);
        assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
        assert_string_equal(line, lines[i]);
    }
    proc_kill(&p);
}

/* Far more than a socket holds, so that both sides see partial writes and reads. */
static void the_longest_line_goes_there_and_back(void **state) {
    (void)state;
    char *longest = xmalloc(PROC_LINE_MAX + 2), *line;
    for (size_t i = 0; i < PROC_LINE_MAX; i++)
        longest[i] = (char)('a' + i % 23);
    longest[PROC_LINE_MAX] = '\0';
    struct proc p = start("echo");
    struct err e;
    assert_ok(proc_send(&p.channel, longest, &e), &e);
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    assert_string_equal(line, longest);
    longest[PROC_LINE_MAX] = 'x';
    longest[PROC_LINE_MAX + 1] = '\0';
    assert_int_equal(proc_send(&p.channel, longest, &e), -1);
    assert_error(&e, ERR_PEER, "over the limit");
    assert_int_equal(proc_send(&p.channel, "a\nb", &e), -1);
    assert_error(&e, ERR_PEER, "two lines");
    proc_kill(&p);
    free(longest);
}

static void several_lines_in_one_read_come_one_by_one(void **state) {
    (void)state;
    static const char *const want[] = {"one", "two", ""};
    struct proc p = start("three");
    struct err e;
    char *line;
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
        assert_string_equal(line, want[i]);
    }
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), -1);
    assert_error(&e, ERR_PEER, "closed the channel");
    proc_kill(&p);
}

static void a_line_that_comes_in_pieces_is_put_together(void **state) {
    (void)state;
    struct proc p = start("slowly");
    struct err e;
    char *line;
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    assert_string_equal(line, "sl");
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    assert_string_equal(line, "ow");
    proc_kill(&p);
}

static void receiving_stops_at_the_deadline(void **state) {
    (void)state;
    struct proc p = start("hang");
    struct err e;
    char *line;
    uint64_t before_ns = clock_monotonic_ns();
    assert_int_equal(proc_receive(&p.channel, &line, before_ns + 50000000, &e), 0);
    uint64_t waited_ns = clock_monotonic_ns() - before_ns;
    assert_true(waited_ns >= 50000000 && waited_ns < 10000000000u);
    assert_int_equal(proc_receive(&p.channel, &line, 0, &e), 0);
    assert_false(proc_poll_exit(&p));
    proc_kill(&p);
}

static void an_overlong_line_is_refused(void **state) {
    (void)state;
    struct proc p = start("endless");
    struct err e;
    char *line;
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), -1);
    assert_error(&e, ERR_PEER, "a line of more than 4194304 bytes");
    proc_kill(&p);
}

static void half_a_line_and_nul_bytes_are_errors(void **state) {
    (void)state;
    struct err e;
    char *line;
    struct proc p = start("half");
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    assert_string_equal(line, "whole");
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), -1);
    assert_error(&e, ERR_PEER, "in the middle of a line");
    proc_kill(&p);
    p = start("nul");
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), -1);
    assert_error(&e, ERR_PEER, "NUL");
    proc_kill(&p);
}

static void sending_to_the_dead_is_an_error_and_no_signal(void **state) {
    (void)state;
    struct proc p = start("exit-3");
    struct err e;
    wait_exit(&p);
    assert_int_equal(proc_send(&p.channel, "x", &e), -1);
    assert_error(&e, ERR_PEER, "gone");
    proc_kill(&p);
}

static void exits_are_described(void **state) {
    (void)state;
    static const struct {
        const char *word, *want;
    } rows[] = {
        {"exit-3", "exited with status 3"},
        {"crash", "killed by signal 11 (Segmentation fault)"},
        {"nul", "exited with status 0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char buffer[80];
        struct proc p = start(rows[i].word);
        wait_exit(&p);
        assert_true(p.exited);
        assert_int_equal(p.pid, 0);
        assert_string_equal(proc_describe_exit(p.status, buffer, sizeof buffer), rows[i].want);
        assert_true(proc_poll_exit(&p));
        proc_kill(&p);
    }
}

static void killing_reaps_and_is_safe_at_any_time(void **state) {
    (void)state;
    struct proc zeroed = {0};
    proc_kill(&zeroed);
    proc_kill(NULL);
    proc_channel_close(NULL);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    struct proc p = start("hang");
    pid_t pid = p.pid;
    proc_kill(&p);
    assert_true(p.exited);
    assert_true(WIFSIGNALED(p.status) && WTERMSIG(p.status) == SIGKILL);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    proc_kill(&p);
}

static void the_child_has_its_channel_and_nothing_else_of_the_parent(void **state) {
    (void)state;
    int leak = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as a careless library opens it */
    int high = fcntl(leak, F_DUPFD, 150);
    assert_true(leak >= 0 && high >= 150);
    struct proc p = start("describe");
    struct err e;
    char *line;
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    assert_string_equal(line, "0:/dev/null 1:/dev/null 2: 3: death=9");
    proc_kill(&p);
    close(leak);
    close(high);
}

static bool is_running(pid_t pid) {
    char path[40], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "r");
    if (!in)
        return false;
    int got = fscanf(in, "%*d (%*[^)]) %c", &state);
    fclose(in);
    return got == 1 && state != 'Z' && state != 'X';
}

static void a_child_dies_with_its_parent(void **state) {
    (void)state;
    struct proc p = start("parent");
    struct err e;
    char *line;
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    pid_t grandchild = (pid_t)atoi(line);
    assert_true(grandchild > 0 && is_running(grandchild));
    proc_kill(&p);
    uint64_t deadline_ns = soon();
    while (is_running(grandchild) && clock_monotonic_ns() < deadline_ns)
        clock_sleep_ns(1000000);
    assert_false(is_running(grandchild));
}

static void a_hundred_children_leave_no_descriptor_behind(void **state) {
    (void)state;
    int before = open("/dev/null", O_RDONLY);
    close(before);
    for (int i = 0; i < 100; i++) {
        struct proc p = start("exit-3");
        proc_kill(&p);
    }
    int after = open("/dev/null", O_RDONLY);
    close(after);
    assert_int_equal(after, before);
}

/* With stdin closed the channel must not become fd 0: a zeroed channel means "none". */
static void works_with_closed_standard_input(void **state) {
    (void)state;
    int saved = fcntl(STDIN_FILENO, F_DUPFD, 100);
    close(STDIN_FILENO);
    struct proc p = start("echo");
    dup2(saved, STDIN_FILENO);
    close(saved);
    struct err e;
    char *line;
    assert_true(p.channel.fd > 2);
    assert_ok(proc_send(&p.channel, "hello", &e), &e);
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    assert_string_equal(line, "hello");
    proc_kill(&p);
}

/* The launcher says so on the channel before it becomes this program. */
static void a_child_is_started_by_the_launcher_that_started_this_program(void **state) {
    (void)state;
    char folder[] = "/tmp/stepcost-launcher-XXXXXX", path[64], self[4000] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/launcher", folder);
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "#!/bin/sh\necho launched >&%d\nexec '%s' \"$@\"\n", PROC_CHILD_FD, self);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("STEPCOST_LAUNCHER", path, 1);
    struct proc p = start("echo");
    unsetenv("STEPCOST_LAUNCHER");
    struct err e;
    char *line;
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    assert_string_equal(line, "launched");
    assert_ok(proc_send(&p.channel, "hello", &e), &e);
    assert_int_equal(proc_receive(&p.channel, &line, soon(), &e), 1);
    assert_string_equal(line, "hello");
    proc_kill(&p);
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < COUNT(children); i++)
        if (strcmp(argv[1], children[i].word) == 0)
            return children[i].run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_go_there_and_back),
        cmocka_unit_test(the_longest_line_goes_there_and_back),
        cmocka_unit_test(several_lines_in_one_read_come_one_by_one),
        cmocka_unit_test(a_line_that_comes_in_pieces_is_put_together),
        cmocka_unit_test(receiving_stops_at_the_deadline),
        cmocka_unit_test(an_overlong_line_is_refused),
        cmocka_unit_test(half_a_line_and_nul_bytes_are_errors),
        cmocka_unit_test(sending_to_the_dead_is_an_error_and_no_signal),
        cmocka_unit_test(exits_are_described),
        cmocka_unit_test(killing_reaps_and_is_safe_at_any_time),
        cmocka_unit_test(the_child_has_its_channel_and_nothing_else_of_the_parent),
        cmocka_unit_test(a_child_dies_with_its_parent),
        cmocka_unit_test(a_hundred_children_leave_no_descriptor_behind),
        cmocka_unit_test(works_with_closed_standard_input),
        cmocka_unit_test(a_child_is_started_by_the_launcher_that_started_this_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
