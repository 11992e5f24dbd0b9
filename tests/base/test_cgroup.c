#include "tests/base/check.h"

#include "base/cgroup.h"
#include "base/mem.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t gib = 1ull << 30;

/* ---- another machine, as files in a folder ---- */

struct machine {
    char root[40];
};

static void put(const struct machine *m, const char *path, const char *text) {
    char *full = xasprintf("%s%s", m->root, path);
    for (char *c = full + strlen(m->root) + 1; *c; c++) {
        if (*c != '/')
            continue;
        *c = '\0';
        mkdir(full, 0755);
        *c = '/';
    }
    FILE *out = fopen(full, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    free(full);
}

/* Eight CPUs, 64 GiB (67108864 kB) with 48 GiB (50331648 kB) available. */
static struct machine make_machine(const char *cgroup) {
    struct machine m;
    strcpy(m.root, "/tmp/stepcost-cgroup-XXXXXX");
    assert_non_null(mkdtemp(m.root));
    put(&m, "/proc/meminfo", "MemTotal:       67108864 kB\nMemFree: 1 kB\nMemAvailable:   50331648 kB\n");
    put(&m, "/proc/self/status",
        "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nMems_allowed_list:\t0\n");
    put(&m, "/proc/self/cgroup", cgroup);
    return m;
}

static void remove_machine(const struct machine *m) {
    char *command = xasprintf("rm -rf %s", m->root);
    assert_int_equal(system(command), 0);
    free(command);
}

static void assert_limits(const struct machine *m, double quota, int usable, double memory,
                          double available) {
    struct cgroup_limits l = cgroup_read(m->root);
    assert_int_equal(l.cpus, 8);
    assert_same(l.cpu_quota, quota);
    assert_int_equal(l.usable_cpus, usable);
    assert_int_equal(l.memory_bytes, (uint64_t)memory);
    assert_int_equal(l.memory_available_bytes, (uint64_t)available);
}

static void a_machine_without_limits_is_its_own(void **state) {
    (void)state;
    struct machine m = make_machine("0::/\n");
    assert_limits(&m, NAN, 8, 64.0 * gib, 48.0 * gib);
    assert_same(cgroup_throttled_ns(m.root), NAN);
    remove_machine(&m);
}

/* A container as an engine makes it with half a core and 2 GiB: its own folder is the mount. */
static void half_a_core_and_two_gib_are_seen(void **state) {
    (void)state;
    struct machine m = make_machine("0::/\n");
    put(&m, "/sys/fs/cgroup/cpu.max", "50000 100000\n");
    put(&m, "/sys/fs/cgroup/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 1234\n");
    put(&m, "/sys/fs/cgroup/memory.max", "2147483648\n");
    put(&m, "/sys/fs/cgroup/memory.current", "536870912\n");
    assert_limits(&m, 0.5, 1, 2.0 * gib, 1.5 * gib);
    put(&m, "/sys/fs/cgroup/pids.max", "512\n");
    assert_same(cgroup_throttled_ns(m.root), 1234000);
    assert_same(cgroup_throttling_read(m.root).throttled_periods, 3);
    assert_same(cgroup_throttling_read(m.root).periods, NAN); /* no such line */
    assert_same(cgroup_read(m.root).pids_max, 512);
    assert_int_equal(cgroup_read(m.root).version, 2);
    remove_machine(&m);
}

/* Quotas down the path: 6, none, 3.5 CPUs; memory 16 GiB with 15 used above 32 GiB with 1 used. */
static void of_nested_limits_the_tightest_wins(void **state) {
    (void)state;
    struct machine m = make_machine("0::/kubepods.slice/pod1/c1\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/cpu.max", "600000 100000\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/pod1/cpu.max", "max 100000\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/pod1/c1/cpu.max", "700000 200000\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/memory.max", "17179869184\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/memory.current", "16106127360\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/pod1/memory.max", "max\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/pod1/memory.current", "16106127360\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/pod1/c1/memory.max", "34359738368\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/pod1/c1/memory.current", "1073741824\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/pod1/c1/cpu.stat", "throttled_usec 10\n");
    put(&m, "/sys/fs/cgroup/kubepods.slice/cpu.stat", "throttled_usec 5\n");
    assert_limits(&m, 3.5, 3, 16.0 * gib, 1.0 * gib);
    assert_same(cgroup_throttled_ns(m.root), 15000);
    remove_machine(&m);
}

static void siblings_do_not_count(void **state) {
    (void)state;
    struct machine m = make_machine("0::/a/me\n");
    put(&m, "/sys/fs/cgroup/a/other/cpu.max", "10000 100000\n");
    put(&m, "/sys/fs/cgroup/a/m/memory.max", "1024\n");
    put(&m, "/sys/fs/cgroup/a/me/cpu.max", "400000 100000\n");
    assert_limits(&m, 4, 4, 64.0 * gib, 48.0 * gib);
    remove_machine(&m);
}

static void max_is_no_limit(void **state) {
    (void)state;
    struct machine m = make_machine("0::/a\n");
    put(&m, "/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    put(&m, "/sys/fs/cgroup/a/memory.max", "max\n");
    put(&m, "/sys/fs/cgroup/a/memory.current", "1073741824\n");
    assert_limits(&m, NAN, 8, 64.0 * gib, 48.0 * gib);
    remove_machine(&m);
}

static void a_limit_above_the_machine_is_the_machine(void **state) {
    (void)state;
    struct machine m = make_machine("0::/a\n");
    put(&m, "/sys/fs/cgroup/a/cpu.max", "1600000 100000\n");
    put(&m, "/sys/fs/cgroup/a/memory.max", "1099511627776\n");
    put(&m, "/sys/fs/cgroup/a/memory.current", "0\n");
    assert_limits(&m, 16, 8, 64.0 * gib, 48.0 * gib);
    remove_machine(&m);
}

/* 4 GiB limit, 3.5 GiB used of which 2 GiB are cache that can be dropped: 4 - 1.5 = 2.5 GiB left. */
static void inactive_file_cache_is_no_use(void **state) {
    (void)state;
    struct machine m = make_machine("0::/a\n");
    put(&m, "/sys/fs/cgroup/a/memory.max", "4294967296\n");
    put(&m, "/sys/fs/cgroup/a/memory.current", "3758096384\n");
    put(&m, "/sys/fs/cgroup/a/memory.stat", "anon 5\nactive_file 7\ninactive_file 2147483648\n");
    assert_limits(&m, NAN, 8, 4.0 * gib, 2.5 * gib);
    remove_machine(&m);
}

/* cgroup v1: no quota is -1, no memory limit the largest multiple of the page size. */
static void version_1_is_read_where_it_is_mounted(void **state) {
    (void)state;
    struct machine m =
        make_machine("9:name=systemd:/\n4:memory:/docker/abc\n2:cpuset:/\n1:cpu,cpuacct:/docker/abc\n");
    put(&m, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put(&m, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put(&m, "/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "250000\n");
    put(&m, "/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
    put(&m, "/sys/fs/cgroup/cpu/docker/abc/cpu.stat", "nr_periods 1\nthrottled_time 777\n");
    put(&m, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(&m, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "2147483648\n");
    put(&m, "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "8589934592\n");
    put(&m, "/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "4294967296\n");
    put(&m, "/sys/fs/cgroup/memory/docker/abc/memory.stat",
        "inactive_file 1\ntotal_inactive_file 1073741824\n");
    assert_limits(&m, 2.5, 2, 8.0 * gib, 5.0 * gib);
    assert_same(cgroup_throttled_ns(m.root), 777);
    assert_int_equal(cgroup_read(m.root).version, 1);
    assert_same(cgroup_read(m.root).pids_max, NAN);
    remove_machine(&m);
}

/* Without a cgroup namespace the path is the host's, and only the mount shows the container's level. */
static void a_path_of_the_host_falls_back_to_the_mount(void **state) {
    (void)state;
    struct machine m = make_machine("4:memory:/docker/abc\n1:cpu:/docker/abc\n");
    put(&m, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
    put(&m, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put(&m, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
    put(&m, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n");
    assert_limits(&m, 1.5, 1, 1.0 * gib, 1.0 * gib);
    remove_machine(&m);
}

static void a_path_out_of_the_namespace_stays_inside_the_mount(void **state) {
    (void)state;
    struct machine m = make_machine("0::/../../outside\n");
    put(&m, "/sys/fs/cgroup/cpu.max", "200000 100000\n");
    put(&m, "/sys/outside/cpu.max", "100000 100000\n");
    assert_limits(&m, 2, 2, 64.0 * gib, 48.0 * gib);
    remove_machine(&m);
}

static void damaged_files_are_no_limits(void **state) {
    (void)state;
    static const char *const cgroups[] = {"", "\n", "0\n", "0:\n", ":::\n", "0::", "garbage\n\n:\n"};
    for (size_t i = 0; i < COUNT(cgroups); i++) {
        struct machine m = make_machine(cgroups[i]);
        put(&m, "/sys/fs/cgroup/cpu.max", "x y\n");
        put(&m, "/sys/fs/cgroup/memory.max", "");
        put(&m, "/sys/fs/cgroup/memory.current", "-5\n");
        assert_limits(&m, NAN, 8, 64.0 * gib, 48.0 * gib);
        remove_machine(&m);
    }
}

static void a_machine_without_files_still_has_one_cpu(void **state) {
    (void)state;
    struct cgroup_limits l = cgroup_read("/nowhere");
    assert_int_equal(l.cpus, 1);
    assert_int_equal(l.usable_cpus, 1);
    assert_same(l.cpu_quota, NAN);
    assert_same(l.pids_max, NAN);
    assert_int_equal(l.version, 0);
    assert_int_equal(l.memory_bytes, 0);
    assert_int_equal(l.memory_available_bytes, 0);
}

static void counts_cpu_lists(void **state) {
    (void)state;
    static const struct {
        const char *list;
        int want;
    } rows[] = {{"0", 1}, {"0-3", 4}, {"0-3,8,10-11", 7}, {"5,7", 2}, {"", 1}, {"0-1023", 1024}, {"3-1", 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct machine m = make_machine("0::/\n");
        char status[100];
        snprintf(status, sizeof status, "Name:\tx\nCpus_allowed_list:\t%s\n", rows[i].list);
        put(&m, "/proc/self/status", status);
        assert_int_equal(cgroup_read(m.root).cpus, rows[i].want);
        remove_machine(&m);
    }
}

/* The kernel's own answers, by other calls. */
static void this_machine_agrees_with_the_kernel(void **state) {
    (void)state;
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    struct cgroup_limits l = cgroup_read("");
    assert_int_equal(l.cpus, CPU_COUNT(&set));
    assert_true(l.usable_cpus >= 1 && l.usable_cpus <= l.cpus);
    uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(l.memory_bytes > 0 && l.memory_bytes <= physical);
    assert_true(l.memory_available_bytes > 0 && l.memory_available_bytes <= l.memory_bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_without_limits_is_its_own),
        cmocka_unit_test(half_a_core_and_two_gib_are_seen),
        cmocka_unit_test(of_nested_limits_the_tightest_wins),
        cmocka_unit_test(siblings_do_not_count),
        cmocka_unit_test(max_is_no_limit),
        cmocka_unit_test(a_limit_above_the_machine_is_the_machine),
        cmocka_unit_test(inactive_file_cache_is_no_use),
        cmocka_unit_test(version_1_is_read_where_it_is_mounted),
        cmocka_unit_test(a_path_of_the_host_falls_back_to_the_mount),
        cmocka_unit_test(a_path_out_of_the_namespace_stays_inside_the_mount),
        cmocka_unit_test(damaged_files_are_no_limits),
        cmocka_unit_test(a_machine_without_files_still_has_one_cpu),
        cmocka_unit_test(counts_cpu_lists),
        cmocka_unit_test(this_machine_agrees_with_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
