#include "tests/base/fake_root.h"

#include "bench/host_load.h"

/* Ticks of 10 ms, as every Linux of today has them (sysconf(_SC_CLK_TCK) = 100). Fields of /proc/stat: user
 * nice system idle iowait irq softirq steal guest guest_nice. This process is 100, its worker 101; 7 is
 * another's. */
static const struct fake_file machine[] = {
    {"/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\n"},
    {"/proc/self/stat", "100 (stepcost) S 1 1 1 0 -1 0 0 0 0 0 10 10 0 0 20 0 1 0 500 0 0\n"},
    {"/proc/100/stat", "100 (stepcost) S 1 1 1 0 -1 0 0 0 0 0 10 10 0 0 20 0 1 0 500 0 0\n"},
    {"/proc/101/stat", "101 (stepcost worker) R 100 1 1 0 -1 0 0 0 0 0 1000 100 0 0 20 0 1 0 600 0 0\n"},
    {"/proc/7/stat", "7 (a) R 1 (b) S 1 1 1 0 -1 0 0 0 0 0 4000 0 0 0 20 0 1 0 10 0 0\n"},
};

static void put_stat(const struct fake_root *root, int busy0, int idle0, int busy1, int idle1, int steal1) {
    char stat[400];
    snprintf(stat, sizeof stat,
             "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 %d 0 0 %d 0 0 0 0 0 0\ncpu1 0 0 %d %d 0 0 0 %d 0 0\n"
             "cpu2 900000 0 0 0 0 0 0 0 0 0\nctxt 1\n",
             busy0, idle0, busy1, idle1, steal1);
    fake_root_put(root, "/proc/stat", stat);
}

static struct fake_root make_machine(void) {
    struct fake_root root = fake_root_make();
    fake_root_put_all(&root, machine, COUNT(machine));
    put_stat(&root, 5000, 0, 3000, 2000, 0);
    return root;
}

/* Two seconds on two CPUs (400 ticks): 300 busy, 80 idle, 20 stolen. Ours: the worker's 150, and 30 of a
 * child that the supervisor has waited for. So others had 120 ticks; process 7 shows for 100 of them. CPU 2
 * is not ours and does not count. */
static const struct fake_file later[] = {
    {"/proc/100/stat", "100 (stepcost) S 1 1 1 0 -1 0 0 0 0 0 10 10 20 10 20 0 1 0 500 0 0\n"},
    {"/proc/101/stat", "101 (stepcost worker) R 100 1 1 0 -1 0 0 0 0 0 1150 100 0 0 20 0 1 0 600 0 0\n"},
    {"/proc/7/stat", "7 (a) R 1 (b) S 1 1 1 0 -1 0 0 0 0 0 4100 0 0 0 20 0 1 0 10 0 0\n"},
};

static void others_had_what_was_busy_and_not_ours(void **state) {
    (void)state;
    struct arena arena = {0};
    struct host_load before, after;
    struct fake_root root = make_machine();
    host_load_read(root.path, &before);
    fake_root_put_all(&root, later, COUNT(later));
    put_stat(&root, 5180, 20, 3120, 2060, 20);
    host_load_read(root.path, &after);
    after.t_s = before.t_s + 2;
    struct record_host h = host_load_between(&before, &after, &arena);
    assert_same(h.window_s, after.t_s - before.t_s);
    assert_same(h.cpus, 2);
    assert_near(h.others_cpu_s, 1.2, 1e-9);
    assert_near(h.steal_s, 0.2, 1e-9);
    assert_same(h.kernel_cpu_s, NAN); /* no kthreadd to be seen */
    assert_string_equal(h.busiest, "a) R 1 (b 1.00 s");
    assert_same(h.quota_periods, NAN);
    assert_same(h.thermal_throttled_s, NAN);
    host_load_free(&before);
    host_load_free(&after);
    arena_free(&arena);
    fake_root_remove(&root);
}

/* What the next three machines share: they change, and what others had is not known. */
static void assert_not_visible(const struct fake_root *root, int busy0, int idle0) {
    struct arena arena = {0};
    struct host_load before, after;
    host_load_read(root->path, &before);
    if (busy0)
        put_stat(root, busy0, idle0, 3200, 2000, 0);
    host_load_read(root->path, &after);
    after.t_s = before.t_s + 2;
    struct record_host h = host_load_between(&before, &after, &arena);
    assert_same(h.others_cpu_s, NAN);
    assert_same(h.steal_s, NAN);
    assert_same(h.window_s, after.t_s - before.t_s);
    host_load_free(&before);
    host_load_free(&after);
    arena_free(&arena);
}

static void a_host_that_cannot_be_seen_is_not_called_quiet(void **state) {
    (void)state;
    struct fake_root root = make_machine();
    assert_not_visible(&root, 0, 0); /* counters that stand still for two seconds */
    fake_root_put(&root, "/proc/self/mountinfo",
                  "22 27 0:21 / /proc rw - proc proc rw\n"
                  "90 22 0:50 /proc/stat /proc/stat rw,nosuid - fuse.lxcfs lxcfs rw\n");
    assert_not_visible(&root, 5200, 0);
    fake_root_remove(&root);
    root = fake_root_make();
    assert_not_visible(&root, 0, 0); /* no /proc/stat at all */
    fake_root_remove(&root);
}

/* kworker had 30 ticks between the two moments; process 7 is no child of kthreadd. */
static void the_kernels_own_threads_are_counted_apart(void **state) {
    (void)state;
    struct arena arena = {0};
    struct host_load before, after;
    struct fake_root root = make_machine();
    fake_root_put(&root, "/proc/2/stat", "2 (kthreadd) S 0 0 0 0 -1 0 0 0 0 0 0 9 0 0 20 0 1 0 0 0 0\n");
    fake_root_put(&root, "/proc/9/stat", "9 (kworker/0:1) I 2 0 0 0 -1 0 0 0 0 0 0 100 0 0 20 0 1 0 3 0 0\n");
    host_load_read(root.path, &before);
    fake_root_put(&root, "/proc/9/stat", "9 (kworker/0:1) I 2 0 0 0 -1 0 0 0 0 0 0 130 0 0 20 0 1 0 3 0 0\n");
    fake_root_put_all(&root, later, COUNT(later));
    put_stat(&root, 5180, 20, 3120, 2060, 20);
    host_load_read(root.path, &after);
    after.t_s = before.t_s + 2;
    struct record_host h = host_load_between(&before, &after, &arena);
    assert_near(h.kernel_cpu_s, 0.3, 1e-9);
    assert_near(h.others_cpu_s, 1.2, 1e-9);
    host_load_free(&before);
    host_load_free(&after);
    arena_free(&arena);
    fake_root_remove(&root);
}

/* A pid that begins anew is another process: its time counts from nothing. */
static void a_pid_that_was_used_again_is_a_new_process(void **state) {
    (void)state;
    struct arena arena = {0};
    struct host_load before, after;
    struct fake_root root = make_machine();
    host_load_read(root.path, &before);
    fake_root_put(&root, "/proc/7/stat", "7 (new) R 1 1 1 0 -1 0 0 0 0 0 50 0 0 0 20 0 1 0 900 0 0\n");
    put_stat(&root, 5200, 0, 3000, 2200, 0);
    host_load_read(root.path, &after);
    after.t_s = before.t_s + 2;
    assert_string_equal(host_load_between(&before, &after, &arena).busiest, "new 0.50 s");
    host_load_free(&before);
    host_load_free(&after);
    arena_free(&arena);
    fake_root_remove(&root);
}

/* 100 ms periods; throttled_usec of v2. Intel's thermal counters: the most of any CPU, core or package. */
static void quota_and_heat_are_told_apart(void **state) {
    (void)state;
    struct arena arena = {0};
    struct host_load before, after;
    struct fake_root root = make_machine();
    fake_root_put(&root, "/proc/self/cgroup", "0::/\n");
    fake_root_put(&root, "/sys/fs/cgroup/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_usec 200000\n");
    fake_root_put(&root, "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms", "10\n");
    fake_root_put(&root, "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_total_time_ms",
                  "40\n");
    host_load_read(root.path, &before);
    fake_root_put(&root, "/sys/fs/cgroup/cpu.stat", "nr_periods 30\nnr_throttled 9\nthrottled_usec 700000\n");
    fake_root_put(&root, "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_total_time_ms",
                  "90\n");
    host_load_read(root.path, &after);
    struct record_host h = host_load_between(&before, &after, &arena);
    assert_same(h.quota_periods, 20);
    assert_same(h.quota_throttled_periods, 5);
    assert_near(h.quota_throttled_s, 0.5, 1e-9);
    assert_near(h.thermal_throttled_s, 0.05, 1e-9);
    host_load_free(&before);
    host_load_free(&after);
    arena_free(&arena);
    fake_root_remove(&root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_had_what_was_busy_and_not_ours),
        cmocka_unit_test(a_host_that_cannot_be_seen_is_not_called_quiet),
        cmocka_unit_test(the_kernels_own_threads_are_counted_apart),
        cmocka_unit_test(a_pid_that_was_used_again_is_a_new_process),
        cmocka_unit_test(quota_and_heat_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
