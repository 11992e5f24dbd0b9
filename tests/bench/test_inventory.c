#include "tests/base/fake_root.h"

#include "bench/bench.h"
#include "bench/identity.h"

#include <jansson.h>
#include <sys/utsname.h>

/* /proc/driver/nvidia/version of the closed and of the open kernel module, as NVIDIA's README shows them. */
static const char closed_driver[] =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
static const char open_driver[] = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  "
                                  "Release Build  (dvs-builder@U16)  Thu Jan 23 22:50:36 UTC 2025\n";

static const struct fake_file gpu_node[] = {
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
    struct fake_root root = fake_root_make();
    fake_root_put_all(&root, gpu_node, COUNT(gpu_node));
    struct nvidia_presence found = inventory_nvidia(root.path);
    assert_int_equal(found.devices, 2);
    assert_string_equal(found.driver, "");
    fake_root_remove(&root);
}

static void counts_device_files_where_a_container_passes_only_some(void **state) {
    (void)state;
    struct fake_root root = fake_root_make();
    static const struct fake_file files[] = {{"/dev/nvidia3", ""},
                                             {"/dev/nvidiactl", ""},
                                             {"/dev/nvidia-uvm", ""},
                                             {"/dev/null", ""},
                                             {"/proc/driver/nvidia/version", closed_driver}};
    fake_root_put_all(&root, gpu_node, COUNT(gpu_node));
    fake_root_put_all(&root, files, COUNT(files));
    struct nvidia_presence found = inventory_nvidia(root.path);
    assert_int_equal(found.devices, 1);
    assert_string_equal(found.driver, "550.54.15");
    fake_root_remove(&root);
}

static void reads_the_version_of_the_open_kernel_module(void **state) {
    (void)state;
    struct fake_root root = fake_root_make();
    fake_root_put(&root, "/proc/driver/nvidia/version", open_driver);
    assert_string_equal(inventory_nvidia(root.path).driver, "570.86.15");
    fake_root_remove(&root);
}

static void finds_no_gpu_where_there_is_none(void **state) {
    (void)state;
    struct fake_root root = fake_root_make();
    struct nvidia_presence found = inventory_nvidia(root.path);
    assert_int_equal(found.devices, 0);
    assert_string_equal(found.driver, "");
    fake_root_remove(&root);
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
    static const struct fake_file files[] = {
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
    struct fake_root root = fake_root_make();
    fake_root_put_all(&root, files, COUNT(files));
    json_t *host = inventory_read(root.path);
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
    const json_t *load = json_object_get(json_object_get(host, "load"), "average");
    assert_true(json_number_value(json_array_get(load, 1)) == 1.25);
    assert_true(json_is_null(json_object_get(host, "frequency_governor"))); /* no such file: not known */
    json_decref(host);
    fake_root_remove(&root);
}

static void says_null_for_what_an_empty_machine_does_not_tell(void **state) {
    (void)state;
    static const char *const keys[] = {
        "hostname",  "boot_id",        "kernel", "os",    "clock_source", "memory_bytes",   "hypervisor",
        "container", "machine_vendor", "gpus",   "iommu", "mitigations",  "virtual_machine"};
    struct fake_root root = fake_root_make();
    json_t *host = inventory_read(root.path);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_true(json_is_null(json_object_get(host, keys[i])));
    assert_true(json_is_null(json_object_get(json_object_get(host, "cpu"), "sockets")));
    json_decref(host);
    fake_root_remove(&root);
}

/* ---- whole machines ---- */

/* The value at "cpu/caches_of_cpu0/2/level": keys, and places in lists. */
static const json_t *value_at(const json_t *value, const char *path) {
    char copy[200], *rest = copy, *part;
    snprintf(copy, sizeof copy, "%s", path);
    while ((part = strsep(&rest, "/")) != NULL)
        value =
            json_is_array(value) ? json_array_get(value, (size_t)atoi(part)) : json_object_get(value, part);
    return value;
}

/* want is JSON text. */
struct wanted {
    const char *path, *want;
};

static void assert_values(const json_t *host, const struct wanted *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const json_t *got = value_at(host, rows[i].path);
        char *text = got != NULL ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        if (text == NULL || strcmp(text, rows[i].want) != 0)
            fail_msg("%s: %s, not %s", rows[i].path, text != NULL ? text : "absent", rows[i].want);
        free(text);
    }
}

/* The bus of a DGX H100 by its manual's topology: eight GPUs, four on each socket, four NVSwitches. */
static void put_dgx_bus(const struct fake_root *root) {
    static const char *const gpus[] = {"1b", "43", "52", "61", "9d", "c3", "d1", "df"};
    static const struct fake_file files[] = {
        {"vendor", "0x10de\n"},
        {"device", "0x2330\n"},
        {"subsystem_vendor", "0x10de\n"},
        {"subsystem_device", "0x16c1\n"},
        {"class", "0x030200\n"},
        {"current_link_speed", "2.5 GT/s PCIe\n"},
        {"max_link_speed", "32.0 GT/s PCIe\n"},
        {"current_link_width", "16\n"},
        {"max_link_width", "16\n"},
    };
    char path[200];
    for (size_t g = 0; g < COUNT(gpus); g++) {
        for (size_t i = 0; i < COUNT(files); i++) {
            snprintf(path, sizeof path, "/sys/bus/pci/devices/0000:%s:00.0/%s", gpus[g], files[i].path);
            fake_root_put(root, path, files[i].content);
        }
        snprintf(path, sizeof path, "/sys/bus/pci/devices/0000:%s:00.0/numa_node", gpus[g]);
        fake_root_put(root, path, g < 4 ? "0\n" : "1\n");
        snprintf(path, sizeof path, "/sys/bus/pci/devices/0000:%s:00.0/driver", gpus[g]);
        fake_root_link(root, path, "../../../../bus/pci/drivers/nvidia");
    }
    for (int i = 5; i <= 8; i++) {
        snprintf(path, sizeof path, "/sys/bus/pci/devices/0000:0%d:00.0/vendor", i);
        fake_root_put(root, path, "0x10de\n");
        snprintf(path, sizeof path, "/sys/bus/pci/devices/0000:0%d:00.0/class", i);
        fake_root_put(root, path, "0x068000\n");
    }
}

static void describes_a_node_of_eight_gpus(void **state) {
    (void)state;
    static const struct fake_file files[] = {
        {"/proc/cpuinfo", two_sockets},
        {"/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=secret iommu=pt mitigations=off token=secret\n"},
        {"/proc/driver/nvidia/version", open_driver},
        {"/proc/driver/nvidia/gpus/0000:1b:00.0/information",
         "Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-6e1f1b2e-0000-1111-2222-333344445555\n"},
        {"/proc/driver/nvidia/gpus/0000:43:00.0/information", "GPU UUID: \t GPU-????????\n"},
        {"/sys/module/nvidia/refcnt", "1\n"},
        {"/sys/module/nvidia_peermem/refcnt", "0\n"},
        {"/sys/class/iommu/dmar0/x", ""},
        {"/sys/class/dmi/id/sys_vendor", "NVIDIA\n"},
        {"/sys/class/dmi/id/product_name", "DGXH100\n"},
        {"/sys/class/dmi/id/board_serial", "1660224000069\n"},
        {"/sys/devices/system/cpu/smt/active", "1\n"},
        {"/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"},
        {"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000\n"},
        {"/sys/devices/system/cpu/cpu0/cache/index3/level", "3\n"},
        {"/sys/devices/system/cpu/cpu0/cache/index3/type", "Unified\n"},
        {"/sys/devices/system/cpu/cpu0/cache/index3/size", "107520K\n"},
        {"/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "0-1\n"},
        {"/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"},
        {"/sys/devices/system/node/node0/cpulist", "0-1\n"},
        {"/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  1024 kB\nNode 0 MemFree:   512 kB\n"},
        {"/sys/devices/system/node/node0/distance", "10 21\n"},
        {"/sys/devices/system/node/node1/distance", "21 10\n"},
        {"/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "4\n"},
        {"/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "3\n"},
        {"/usr/local/cuda-12.4/version.json",
         "{\"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"12.4.1\"}}"},
        {"/usr/local/lib/python3.10/dist-packages/torch-2.4.0+cu124.dist-info/METADATA", ""},
        {"/proc/pressure/cpu", "some avg10=1.00 avg60=2.50 avg300=0.00 total=1\n"},
    };
    static const struct wanted rows[] = {
        {"gpus/7/address", "\"0000:df:00.0\""},
        {"gpus/7/numa_node", "1"},
        {"gpus/0/numa_node", "0"},
        {"gpus/0/device_id", "\"0x2330\""},
        {"gpus/0/subsystem_device_id", "\"0x16c1\""},
        {"gpus/0/driver", "\"nvidia\""},
        {"gpus/0/link_generation", "1"},
        {"gpus/0/link_generation_max", "5"},
        {"gpus/0/link_width_max", "16"},
        {"gpus/0/iommu_group", "null"},
        {"nvidia/devices", "8"},
        {"nvidia/driver", "\"570.86.15\""},
        {"nvidia/open_kernel_module", "true"},
        {"nvidia/nvswitches", "4"},
        {"nvidia/kernel_modules", "[\"nvidia\",\"nvidia_peermem\"]"},
        {"iommu", "true"},
        {"kernel_options", "[\"iommu=pt\",\"mitigations=off\"]"},
        {"cpu/smt", "true"},
        {"cpu/turbo", "true"},
        {"cpu/max_clock_hz", "3800000000.0"},
        {"cpu/caches_of_cpu0/0/size_bytes", "110100480"},
        {"mitigations/meltdown", "\"Not affected\""},
        {"numa/0/memory_bytes", "1048576"},
        {"numa/0/free_bytes", "524288"},
        {"numa/1/distances", "[21,10]"},
        {"numa/1/memory_bytes", "null"},
        {"memory/huge_pages/0/size_bytes", "1073741824"},
        {"memory/huge_pages/0/free", "3"},
        {"memory/shm_bytes", "null"},
        {"toolkits/0/path", "\"/usr/local/cuda-12.4\""},
        {"toolkits/0/version", "\"12.4.1\""},
        {"packages/0/name", "\"torch\""},
        {"packages/0/version", "\"2.4.0+cu124\""},
        {"packages/0/folder", "\"/usr/local/lib/python3.10/dist-packages\""},
        {"load/cpu_pressure_60s", "0.025000000000000001"},
        {"load/others_now/others_cpu_s", "null"},
        /* printf 'stepcost board_serial 1660224000069' | sha256sum */
        {"identity/board_serial", "\"f7742ac9b4512d30d086ce157620dc50af2c0800bb90dd2a4d940aa18e00c6d3\""},
        {"identity/machine_id", "null"},
    };
    struct fake_root root = fake_root_make();
    put_dgx_bus(&root);
    fake_root_put_all(&root, files, COUNT(files));
    json_t *host = inventory_read(root.path);
    assert_values(host, rows, COUNT(rows));
    assert_int_equal(json_array_size(json_object_get(host, "gpus")), 8);
    assert_int_equal(json_array_size(value_at(host, "identity/gpu_uuids")), 1);
    /* nothing of these in clear */
    static const char *const private[] = {"1660224000069", "6e1f1b2e", "secret"};
    char *text = json_dumps(host, 0);
    for (size_t i = 0; i < COUNT(private); i++)
        assert_null(strstr(text, private[i]));
    free(text);
    json_decref(host);
    fake_root_remove(&root);
}

/* A Kubernetes pod under cgroup v1 whose bus is hidden: the device files tell. Quota 250 ms of 100 ms. */
static void describes_a_pod_that_hides_the_bus(void **state) {
    (void)state;
    static const struct fake_file files[] = {
        {"/proc/cpuinfo", two_sockets},
        {"/proc/meminfo", "MemTotal: 1048576 kB\nMemAvailable: 1048576 kB\nSwapTotal: 0 kB\n"},
        {"/proc/self/cgroup", "3:pids:/kubepods/a\n2:memory:/kubepods/a\n1:cpu,cpuacct:/kubepods/a\n"},
        {"/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0-1\n"},
        {"/proc/self/limits",
         "Limit                     Soft Limit           Hard Limit           Units     \n"
         "Max open files            1024                 4096                 files     \n"
         "Max locked memory         unlimited            unlimited            bytes     \n"},
        {"/sys/fs/cgroup/cpu/kubepods/a/cpu.cfs_quota_us", "250000\n"},
        {"/sys/fs/cgroup/cpu/kubepods/a/cpu.cfs_period_us", "100000\n"},
        {"/sys/fs/cgroup/cpu/kubepods/a/cpu.stat",
         "nr_periods 40\nnr_throttled 8\nthrottled_time 500000000\n"},
        {"/sys/fs/cgroup/memory/kubepods/a/memory.limit_in_bytes", "536870912\n"},
        {"/sys/fs/cgroup/memory/kubepods/a/memory.usage_in_bytes", "0\n"},
        {"/sys/fs/cgroup/pids/kubepods/a/pids.max", "100\n"},
        {"/dev/nvidia0", ""},
    };
    static const struct wanted rows[] = {
        {"gpus", "null"},
        {"nvidia/devices", "1"},
        {"nvidia/driver", "null"},
        {"container", "\"kubernetes\""},
        {"limits/cgroup_version", "1"},
        {"limits/cpu_quota", "2.5"},
        {"limits/usable_cpus", "2"},
        {"limits/cpu_list", "\"0-3\""},
        {"limits/memory_nodes", "\"0-1\""},
        {"limits/memory_bytes", "536870912"},
        {"limits/pids_max", "100.0"},
        {"limits/quota_throttled_periods", "8.0"},
        {"limits/quota_throttled_s", "0.5"},
        {"limits/open_files", "1024.0"},
        {"limits/locked_memory_bytes", "\"unlimited\""},
        {"memory/total_bytes", "1073741824"},
        {"memory/swap_bytes", "0"},
    };
    struct fake_root root = fake_root_make();
    fake_root_put_all(&root, files, COUNT(files));
    json_t *host = inventory_read(root.path);
    assert_values(host, rows, COUNT(rows));
    json_decref(host);
    fake_root_remove(&root);
}

/* Neoverse N1 as Linux shows it: no model name, sockets and cores only under /sys, no flag for a hypervisor.
 */
static void describes_an_arm64_guest(void **state) {
    (void)state;
    static const struct fake_file files[] = {
        {"/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd asimdhp sve bf16\n"
                          "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"
                          "processor\t: 1\nFeatures\t: fp asimd asimdhp sve bf16\nCPU implementer\t: 0x41\n"
                          "CPU part\t: 0xd0c\n\n"},
        {"/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"},
        {"/sys/devices/system/cpu/cpu0/topology/core_id", "0\n"},
        {"/sys/devices/system/cpu/cpu1/topology/physical_package_id", "0\n"},
        {"/sys/devices/system/cpu/cpu1/topology/core_id", "1\n"},
        {"/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"},
        {"/run/systemd/container", "lxc\n"},
        {"/sys/devices/system/cpu/cpufreq/boost", "0\n"},
    };
    static const struct wanted rows[] = {
        {"cpu/model", "\"arm64 implementer 0x41 part 0xd0c\""},
        {"cpu/threads", "2"},
        {"cpu/cores", "2"},
        {"cpu/sockets", "1"},
        {"cpu/flags", "[\"asimd\",\"asimdhp\",\"sve\",\"bf16\"]"},
        {"cpu/turbo", "false"},
        {"cpu/smt", "null"},
        {"hypervisor", "null"},
        {"virtual_machine", "\"amazon\""},
        {"container", "\"lxc\""},
    };
    struct fake_root root = fake_root_make();
    fake_root_put_all(&root, files, COUNT(files));
    json_t *host = inventory_read(root.path);
    assert_values(host, rows, COUNT(rows));
    json_decref(host);
    fake_root_remove(&root);
}

/* What one side does not know tells nothing. */
static void two_machines_differ_in_what_both_know(void **state) {
    (void)state;
    static const struct {
        const char *one, *other, *want;
    } rows[] = {
        {"{'machine_id': 'a', 'board_serial': 'b', 'gpu_uuids': []}",
         "{'machine_id': 'a', 'board_serial': null, 'gpu_uuids': ['u']}", NULL},
        {"{'machine_id': 'a'}", "{'machine_id': 'c'}", "machine_id"},
        {"{'machine_id': null, 'board_serial': 'b'}", "{'machine_id': 'c', 'board_serial': 'd'}",
         "board_serial"},
        {"{'gpu_uuids': ['u', 'v']}", "{'gpu_uuids': ['u', 'w']}", "gpu_uuids"},
        {"null", "{'machine_id': 'c'}", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *hosts[2];
        const char *const sides[] = {rows[i].one, rows[i].other};
        for (int k = 0; k < 2; k++) {
            char text[200];
            snprintf(text, sizeof text, "{\"identity\": %s}", sides[k]);
            for (char *c = text; *c; c++)
                *c = *c == '\'' ? '"' : *c;
            assert_non_null(hosts[k] = json_loads(text, 0, NULL));
        }
        const char *got = identity_difference(hosts[0], hosts[1]);
        if ((got == NULL) != (rows[i].want == NULL) || (got != NULL && strcmp(got, rows[i].want) != 0))
            fail_msg("row %zu: %s", i, got != NULL ? got : "no difference");
        json_decref(hosts[0]);
        json_decref(hosts[1]);
    }
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
        cmocka_unit_test(describes_a_node_of_eight_gpus),
        cmocka_unit_test(describes_a_pod_that_hides_the_bus),
        cmocka_unit_test(describes_an_arm64_guest),
        cmocka_unit_test(two_machines_differ_in_what_both_know),
        cmocka_unit_test(describes_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
