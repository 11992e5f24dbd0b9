#include "base/cgroup.h"
#include "base/text.h"
#include "bench/inventory_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- limits ---- */

/* "Max locked memory   8388608   8388608   bytes": the soft one; "unlimited" is no number. */
static json_t *soft_limit(const char *root, const char *name) {
    char line[INVENTORY_LINE], *end;
    json_t *value = json_null();
    FILE *file = inventory_open(root, "/proc/self/limits");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) != 0)
            continue;
        double limit = strtod(line + strlen(name), &end);
        value =
            strstr(line + strlen(name), "unlimited") == NULL ? json_number(limit) : json_string("unlimited");
        break;
    }
    if (file != NULL)
        fclose(file);
    return value;
}

static json_t *status_text(const char *root, const char *key) {
    char value[INVENTORY_LINE];
    bool got = inventory_find(root, "/proc/self/status", key, ':', value, sizeof value);
    return inventory_text_or_null(got ? value : NULL);
}

static json_t *bytes_or_null(uint64_t bytes) {
    return bytes > 0 ? json_integer((json_int_t)bytes) : json_null();
}

json_t *inventory_limits(const char *root) {
    struct cgroup_limits limits = cgroup_read(root);
    struct cgroup_throttling t = cgroup_throttling_read(root);
    json_t *out = json_pack("{s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "cpus", limits.cpus, "cpu_quota",
                            json_number(limits.cpu_quota), "usable_cpus", limits.usable_cpus, "memory_bytes",
                            bytes_or_null(limits.memory_bytes), "memory_available_bytes",
                            bytes_or_null(limits.memory_available_bytes), "pids_max",
                            json_number(limits.pids_max), "cpu_list", status_text(root, "Cpus_allowed_list"),
                            "memory_nodes", status_text(root, "Mems_allowed_list"));
    json_object_set_new(out, "cgroup_version", limits.version ? json_integer(limits.version) : json_null());
    json_object_set_new(out, "quota_periods", json_number(t.periods));
    json_object_set_new(out, "quota_throttled_periods", json_number(t.throttled_periods));
    json_object_set_new(out, "quota_throttled_s", json_number(1e-9 * t.throttled_ns));
    json_object_set_new(out, "locked_memory_bytes", soft_limit(root, "Max locked memory"));
    json_object_set_new(out, "open_files", soft_limit(root, "Max open files"));
    return out;
}

/* ---- container ---- */

static const struct container_row {
    const char *path, *words, *name; /* words NULL: the file's being there is enough */
} container_rows[] = {
    {"/var/run/secrets/kubernetes.io", NULL, "kubernetes"},
    {"/run/secrets/kubernetes.io", NULL, "kubernetes"},
    {"/proc/self/cgroup", "kubepods", "kubernetes"},
    {"/.dockerenv", NULL, "docker"},
    {"/run/.containerenv", NULL, "podman"},
    {"/run/systemd/container", "lxc", "lxc"},
    {"/run/systemd/container", "podman", "podman"},
    {"/run/systemd/container", "docker", "docker"},
    {"/run/systemd/container", "systemd-nspawn", "systemd-nspawn"},
    {"/proc/1/environ", "container=lxc", "lxc"},
    {"/proc/self/cgroup", "/docker", "docker"},
    {"/proc/self/cgroup", "/libpod", "podman"},
    {"/proc/self/cgroup", "/lxc", "lxc"},
    {"/proc/self/cgroup", "/slurm", "slurm"},
    {"/.singularity.d", NULL, "singularity"},
};

/* Also behind NULs, as environments have them. */
static bool file_says(const char *root, const char *path, const char *words) {
    char bytes[INVENTORY_LINE];
    FILE *file = inventory_open(root, path);
    size_t got = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    return got > 0 && memmem(bytes, got, words, strlen(words)) != NULL;
}

json_t *inventory_container(const char *root) {
    for (size_t i = 0; i < sizeof container_rows / sizeof container_rows[0]; i++) {
        const struct container_row *row = &container_rows[i];
        if (row->words == NULL ? inventory_exists(root, row->path) : file_says(root, row->path, row->words))
            return json_string(row->name);
    }
    return json_null();
}

/* ---- virtual machine ---- */

/* By what the firmware says of itself, as systemd-detect-virt and cloud-init tell them apart. */
static const struct {
    const char *path, *words, *name;
} machine_rows[] = {
    {"/sys/class/dmi/id/sys_vendor", "Amazon EC2", "amazon"},
    {"/sys/class/dmi/id/product_name", "Google Compute Engine", "google"},
    {"/sys/class/dmi/id/product_name", "Virtual Machine", "hyper-v"},
    {"/sys/class/dmi/id/sys_vendor", "VMware", "vmware"},
    {"/sys/class/dmi/id/product_name", "VirtualBox", "virtualbox"},
    {"/sys/class/dmi/id/product_name", "KVM", "kvm"},
    {"/sys/class/dmi/id/sys_vendor", "QEMU", "qemu"},
    {"/sys/class/dmi/id/sys_vendor", "Xen", "xen"},
    {"/sys/hypervisor/type", "xen", "xen"},
    {"/proc/device-tree/hypervisor/compatible", "kvm", "kvm"},
    {"/proc/version", "microsoft", "wsl"},
    {"/proc/version", "Microsoft", "wsl"},
    {"/proc/version", "gVisor", "gvisor"},
};

/* Bare metal of a cloud names the cloud as well: the CPU's flag decides, where it has one. */
json_t *inventory_virtual_machine(const char *root) {
    for (size_t i = 0; i < sizeof machine_rows / sizeof machine_rows[0]; i++)
        if (file_says(root, machine_rows[i].path, machine_rows[i].words))
            return json_string(machine_rows[i].name);
    return json_null();
}

/* x86 CPUs say so; of others nothing is known by this. */
json_t *inventory_hypervisor(const char *root) {
    char flags[INVENTORY_LINE];
    if (!inventory_find(root, "/proc/cpuinfo", "flags", ':', flags, sizeof flags))
        return json_null();
    return json_boolean(strstr(flags, " hypervisor") != NULL);
}
