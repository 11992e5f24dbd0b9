#include "bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A machine is a folder of small files. */
struct fixture_file {
    const char *path, *content;
};

static char *make_root(void) {
    static char root[64];
    snprintf(root, sizeof root, "/tmp/stepcost-root-XXXXXX");
    assert_non_null(mkdtemp(root));
    return root;
}

static void put(const char *root, const struct fixture_file *file) {
    char path[400];
    snprintf(path, sizeof path, "%s%s", root, file->path);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(file->content, out);
    fclose(out);
}

static void remove_root(const char *root) {
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

/* /proc/driver/nvidia/version of the closed and of the open kernel module, as NVIDIA's README shows them. */
static const char closed_driver[] =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
static const char open_driver[] = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  "
                                  "Release Build  (dvs-builder@U16)  Thu Jan 23 22:50:36 UTC 2025\n";

static const struct fixture_file gpu_node[] = {
    {"/sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n"},
    {"/sys/bus/pci/devices/0000:00:01.0/class", "0x030000\n"}, /* another vendor's display */
    {"/sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n"},
    {"/sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n"}, /* 3D controller */
    {"/sys/bus/pci/devices/0000:2a:00.0/vendor", "0x10de\n"},
    {"/sys/bus/pci/devices/0000:2a:00.0/class", "0x030000\n"}, /* VGA */
    {"/sys/bus/pci/devices/0000:2a:00.1/vendor", "0x10de\n"},
    {"/sys/bus/pci/devices/0000:2a:00.1/class", "0x040300\n"}, /* its audio function */
    {"/sys/bus/pci/devices/0000:07:00.0/vendor", "0x10de\n"},
    {"/sys/bus/pci/devices/0000:07:00.0/class", "0x068000\n"}, /* NVSwitch bridge */
};

static void counts_nvidia_gpus_on_the_bus_without_a_driver(void **state) {
    (void)state;
    char *root = make_root();
    for (size_t i = 0; i < sizeof gpu_node / sizeof gpu_node[0]; i++)
        put(root, &gpu_node[i]);
    struct nvidia_presence found = inventory_nvidia(root);
    assert_int_equal(found.devices, 2);
    assert_string_equal(found.driver, "");
    remove_root(root);
}

static void counts_device_files_where_a_container_passes_only_some(void **state) {
    (void)state;
    char *root = make_root();
    static const struct fixture_file files[] = {{"/dev/nvidia3", ""},
                                                {"/dev/nvidiactl", ""},
                                                {"/dev/nvidia-uvm", ""},
                                                {"/dev/null", ""},
                                                {"/proc/driver/nvidia/version", closed_driver}};
    for (size_t i = 0; i < sizeof gpu_node / sizeof gpu_node[0]; i++)
        put(root, &gpu_node[i]);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        put(root, &files[i]);
    struct nvidia_presence found = inventory_nvidia(root);
    assert_int_equal(found.devices, 1);
    assert_string_equal(found.driver, "550.54.15");
    remove_root(root);
}

static void reads_the_version_of_the_open_kernel_module(void **state) {
    (void)state;
    char *root = make_root();
    put(root, &(struct fixture_file){"/proc/driver/nvidia/version", open_driver});
    assert_string_equal(inventory_nvidia(root).driver, "570.86.15");
    remove_root(root);
}

static void finds_no_gpu_where_there_is_none(void **state) {
    (void)state;
    char *root = make_root();
    struct nvidia_presence found = inventory_nvidia(root);
    assert_int_equal(found.devices, 0);
    assert_string_equal(found.driver, "");
    remove_root(root);
}

static const char two_sockets[] =
    "processor\t: 0\nmodel name\t: Test CPU @ 2.0GHz\nphysical id\t: 0\n"
    "core id\t\t: 0\nflags\t\t: fpu avx avx2 avx512_bf16 hypervisor amx_tile\n\n"
    "processor\t: 1\nmodel name\t: Test CPU @ 2.0GHz\nphysical id\t: 0\n"
    "core id\t\t: 0\nflags\t\t: fpu avx avx2 avx512_bf16 hypervisor amx_tile\n\n"
    "processor\t: 2\nmodel name\t: Test CPU @ 2.0GHz\nphysical id\t: 0\n"
    "core id\t\t: 1\n\n"
    "processor\t: 3\nmodel name\t: Test CPU @ 2.0GHz\nphysical id\t: 1\n"
    "core id\t\t: 0\n\n";

static long long at(const json_t *host, const char *object, const char *key) {
    return json_integer_value(json_object_get(object ? json_object_get(host, object) : host, key));
}

static const char *text_at(const json_t *host, const char *key) {
    const char *text = json_string_value(json_object_get(host, key));
    return text != NULL ? text : "(null)";
}

static void describes_a_machine_from_its_files(void **state) {
    (void)state;
    static const struct fixture_file files[] = {
        {"/proc/cpuinfo", two_sockets},
        {"/proc/meminfo", "MemTotal:       1024 kB\nMemAvailable:    512 kB\n"},
        {"/proc/loadavg", "0.50 1.25 2.00 1/100 1234\n"},
        {"/proc/sys/kernel/hostname", "node7\n"},
        {"/proc/sys/kernel/osrelease", "6.1.0-test\n"},
        {"/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n"},
        {"/etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"Test Linux 12\"\n"},
        {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
        {"/sys/devices/system/node/node0/cpulist", "0-2\n"},
        {"/sys/devices/system/node/node1/cpulist", "3\n"},
        {"/.dockerenv", ""},
    };
    char *root = make_root();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        put(root, &files[i]);
    json_t *host = inventory_read(root);
    assert_string_equal(text_at(host, "hostname"), "node7");
    assert_string_equal(text_at(host, "kernel"), "6.1.0-test");
    assert_string_equal(text_at(host, "boot_id"), "11111111-2222-3333-4444-555555555555");
    assert_string_equal(text_at(host, "os"), "Test Linux 12");
    assert_string_equal(text_at(host, "clock_source"), "tsc");
    assert_string_equal(text_at(host, "container"), "docker");
    assert_string_equal(text_at(json_object_get(host, "cpu"), "model"), "Test CPU @ 2.0GHz");
    assert_int_equal(at(host, "cpu", "sockets"), 2);
    assert_int_equal(at(host, "cpu", "cores"), 3);
    assert_int_equal(at(host, "cpu", "threads"), 4);
    assert_int_equal(at(host, "cpu", "numa_nodes"), 2);
    assert_true(json_is_true(json_object_get(host, "hypervisor")));
    const json_t *flags = json_object_get(json_object_get(host, "cpu"), "flags");
    static const char *const want[] = {"avx", "avx2", "avx512_bf16", "amx_tile"};
    assert_int_equal(json_array_size(flags), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(json_string_value(json_array_get(flags, i)), want[i]);
    assert_true(json_number_value(json_object_get(host, "memory_bytes")) == 1024.0 * 1024);
    const json_t *load = json_object_get(host, "load_average");
    assert_true(json_number_value(json_array_get(load, 1)) == 1.25);
    assert_true(json_is_null(json_object_get(host, "frequency_governor"))); /* no such file: not known */
    json_decref(host);
    remove_root(root);
}

static void says_null_for_what_an_empty_machine_does_not_tell(void **state) {
    (void)state;
    static const char *const keys[] = {"hostname",     "boot_id",      "kernel",
                                       "os",           "clock_source", "memory_bytes",
                                       "load_average", "container",    "machine_vendor"};
    char *root = make_root();
    json_t *host = inventory_read(root);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_true(json_is_null(json_object_get(host, keys[i])));
    assert_true(json_is_null(json_object_get(json_object_get(host, "cpu"), "sockets")));
    json_decref(host);
    remove_root(root);
}

static void describes_this_machine(void **state) {
    (void)state;
    json_t *host = inventory_read("");
    char name[256];
    struct utsname kernel;
    assert_int_equal(gethostname(name, sizeof name), 0);
    assert_int_equal(uname(&kernel), 0);
    assert_string_equal(text_at(host, "hostname"), name);
    assert_string_equal(text_at(host, "kernel"), kernel.release);
    assert_string_equal(text_at(host, "architecture"), kernel.machine);
    assert_true(at(host, "cpu", "threads") >= sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(at(host, "limits", "usable_cpus") >= 1);
    assert_true(json_number_value(json_object_get(host, "memory_bytes")) ==
                (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
    json_decref(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_nvidia_gpus_on_the_bus_without_a_driver),
        cmocka_unit_test(counts_device_files_where_a_container_passes_only_some),
        cmocka_unit_test(reads_the_version_of_the_open_kernel_module),
        cmocka_unit_test(finds_no_gpu_where_there_is_none),
        cmocka_unit_test(describes_a_machine_from_its_files),
        cmocka_unit_test(says_null_for_what_an_empty_machine_does_not_tell),
        cmocka_unit_test(describes_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
