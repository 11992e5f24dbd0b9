#include "base/text.h"
#include "bench/bench.h"
#include "bench/inventory_parts.h"

#include <string.h>
#include <sys/utsname.h>

/* One-line files, as they are. */
static const struct line_row {
    const char *key, *path;
} line_rows[] = {
    {"hostname", "/proc/sys/kernel/hostname"},
    {"boot_id", "/proc/sys/kernel/random/boot_id"},
    {"kernel", "/proc/sys/kernel/osrelease"},
    {"machine_vendor", "/sys/class/dmi/id/sys_vendor"},
    {"machine_product", "/sys/class/dmi/id/product_name"},
    {"bios_version", "/sys/class/dmi/id/bios_version"},
    {"clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"frequency_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    {"transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled"},
};

static json_t *os_name(const char *root) {
    char name[256];
    bool got = inventory_find(root, "/etc/os-release", "PRETTY_NAME", '=', name, sizeof name);
    return inventory_text_or_null(got ? name : NULL);
}

/* What this program was built for and runs on: not to be read from files. */
static json_t *architecture(const char *root) {
    struct utsname name;
    (void)root;
    return inventory_text_or_null(uname(&name) == 0 ? name.machine : NULL);
}

static json_t *memory_bytes(const char *root) {
    json_t *memory = inventory_memory(root);
    json_t *total = json_incref(json_object_get(memory, "total_bytes"));
    json_decref(memory);
    return total;
}

/* Words of the kernel's command line that change rates; the rest may hold anything and is left out. */
static json_t *kernel_options(const char *root) {
    static const char *const wanted[] = {
        "mitigations=", "iommu",     "intel_iommu=", "amd_iommu=", "isolcpus=",
        "nohz_full=",   "hugepages", "numa",         "idle=",      "processor.max_cstate=",
        "nosmt",        "pci=",      "intel_idle.",  "tsc=",       "transparent_hugepage="};
    char line[INVENTORY_LINE], *rest = line, *word;
    if (!text_read_line(root, "/proc/cmdline", line, sizeof line))
        return json_null();
    json_t *list = json_array();
    while ((word = strsep(&rest, " ")) != NULL)
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            if (strncmp(word, wanted[i], strlen(wanted[i])) == 0) {
                json_array_append_new(list, json_text(word));
                break;
            }
    return list;
}

static const struct inventory_row {
    const char *key;
    json_t *(*read)(const char *root);
} rows[] = {
    {"os", os_name},
    {"architecture", architecture},
    {"kernel_options", kernel_options},
    {"cpu", inventory_cpu},
    {"mitigations", inventory_mitigations},
    {"numa", inventory_numa},
    {"memory_bytes", memory_bytes},
    {"memory", inventory_memory},
    {"limits", inventory_limits},
    {"load", inventory_load},
    {"container", inventory_container},
    {"hypervisor", inventory_hypervisor},
    {"virtual_machine", inventory_virtual_machine},
    {"gpus", inventory_gpus},
    {"iommu", inventory_iommu},
    {"nvidia", inventory_nvidia_json},
    {"toolkits", inventory_toolkits},
    {"libraries", inventory_libraries},
    {"packages", inventory_packages},
    {"identity", inventory_identity},
};

json_t *inventory_read(const char *root) {
    json_t *host = json_object();
    for (size_t i = 0; i < sizeof line_rows / sizeof line_rows[0]; i++)
        json_object_set_new(host, line_rows[i].key, inventory_text(root, line_rows[i].path));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        json_object_set_new(host, rows[i].key, rows[i].read(root));
    return host;
}
