#include "base/text.h"
#include "bench/bench.h"
#include "bench/inventory_parts.h"

#include <ctype.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES "/sys/bus/pci/devices"

static json_t *file_text(const char *root, const char *folder, const char *name, const char *file) {
    char path[INVENTORY_PATH];
    snprintf(path, sizeof path, "%s/%.64s/%s", folder, name, file);
    return inventory_text(root, path);
}

static double file_number(const char *root, const char *folder, const char *name, const char *file) {
    char path[INVENTORY_PATH];
    snprintf(path, sizeof path, "%s/%.64s/%s", folder, name, file);
    return inventory_double(root, path);
}

/* The last part of where a link leads: the driver, the IOMMU's group. */
static json_t *link_name(const char *root, const char *folder, const char *name, const char *link) {
    char path[INVENTORY_PATH + 80], target[INVENTORY_PATH];
    snprintf(path, sizeof path, "%s%s/%.64s/%s", root, folder, name, link);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return json_null();
    target[length] = '\0';
    return json_text(basename(target));
}

/* "16.0 GT/s PCIe" -> 4: transfers per lane of each generation, PCI-SIG. */
static json_t *generation(const char *root, const char *folder, const char *name, const char *file) {
    static const double transfers[] = {2.5, 5, 8, 16, 32, 64};
    double speed = file_number(root, folder, name, file);
    for (size_t i = 0; i < sizeof transfers / sizeof transfers[0]; i++)
        if (speed == transfers[i])
            return json_integer((json_int_t)i + 1);
    return json_null();
}

/* 0 and 255 are what a port says that does not know. */
static json_t *width(const char *root, const char *folder, const char *name, const char *file) {
    double lanes = file_number(root, folder, name, file);
    return lanes >= 1 && lanes <= 32 ? json_integer((json_int_t)lanes) : json_null();
}

static json_t *numa_node(const char *root, const char *folder, const char *name) {
    double node = file_number(root, folder, name, "numa_node");
    return node >= 0 ? json_integer((json_int_t)node) : json_null();
}

/* Display controllers (03) and processing accelerators (12): PCI Code and ID Assignment, section 1. */
static bool is_accelerator(double class) {
    long base = isnan(class) ? 0 : (long)class >> 16;
    return base == 0x03 || base == 0x12;
}

static void take_device(const char *root, const char *folder, const char *name, json_t *out) {
    if (!is_accelerator(file_number(root, folder, name, "class")))
        return;
    static const struct {
        const char *key;
        json_t *(*read)(const char *, const char *, const char *, const char *);
        const char *file;
    } rows[] = {
        {"vendor_id", file_text, "vendor"},
        {"device_id", file_text, "device"},
        {"subsystem_vendor_id", file_text, "subsystem_vendor"},
        {"subsystem_device_id", file_text, "subsystem_device"},
        {"class", file_text, "class"},
        {"driver", link_name, "driver"},
        {"link_generation", generation, "current_link_speed"},
        {"link_generation_max", generation, "max_link_speed"},
        {"link_width", width, "current_link_width"},
        {"link_width_max", width, "max_link_width"},
        {"iommu_group", link_name, "iommu_group"},
    };
    json_t *device = json_pack("{s:s}", "address", name);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        json_object_set_new(device, rows[i].key, rows[i].read(root, folder, name, rows[i].file));
    json_object_set_new(device, "numa_node", numa_node(root, folder, name));
    json_array_append_new(out, device);
}

/* null where the bus itself is hidden: that is not "none". */
json_t *inventory_gpus(const char *root) {
    if (!inventory_exists(root, DEVICES))
        return json_null();
    json_t *list = json_array();
    inventory_each(root, DEVICES, "*", take_device, list);
    return list;
}

static void take_name(const char *root, const char *folder, const char *name, json_t *out) {
    (void)root, (void)folder;
    json_array_append_new(out, json_text(name));
}

json_t *inventory_iommu(const char *root) {
    if (!inventory_exists(root, "/sys/class/iommu"))
        return json_null();
    json_t *units = json_array();
    inventory_each(root, "/sys/class/iommu", "*", take_name, units);
    json_t *on = json_boolean(json_array_size(units) > 0);
    json_decref(units);
    return on;
}

/* ---- NVIDIA ---- */

/* A display or 3D controller of vendor 10de: not its audio function, not an NVSwitch bridge. A device whose
 * class is not to be read counts: better asked for than overlooked. */
static void take_nvidia(const char *root, const char *folder, const char *name, json_t *out) {
    double class = file_number(root, folder, name, "class");
    if (file_number(root, folder, name, "vendor") == 0x10de && (isnan(class) || is_accelerator(class)))
        json_array_append_new(out, json_text(name));
}

static void take_nvswitch(const char *root, const char *folder, const char *name, json_t *out) {
    double class = file_number(root, folder, name, "class");
    if (file_number(root, folder, name, "vendor") == 0x10de && (long)class >> 8 == 0x0680)
        json_array_append_new(out, json_text(name));
}

static int count(const char *root, const char *folder, const char *pattern,
                 void (*take)(const char *, const char *, const char *, json_t *)) {
    json_t *found = json_array();
    inventory_each(root, folder, pattern, take, found);
    int result = (int)json_array_size(found);
    json_decref(found);
    return result;
}

/* The first word that is digits and dots with a dot: "550.54.15" of "NVRM version: NVIDIA UNIX x86_64
 * Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024". */
static void read_driver(const char *root, char *out, size_t size) {
    char line[INVENTORY_LINE], *rest = line, *word;
    if (!text_read_line(root, "/proc/driver/nvidia/version", line, sizeof line))
        return;
    while ((word = strsep(&rest, " \t")) != NULL) {
        if (strchr(word, '.') != NULL && strspn(word, "0123456789.") == strlen(word)) {
            snprintf(out, size, "%s", word);
            return;
        }
    }
}

struct nvidia_presence inventory_nvidia(const char *root) {
    struct nvidia_presence found = {0};
    int on_bus = count(root, DEVICES, "*", take_nvidia);
    /* A container may hide the bus, or show all of it and pass only some device files on. */
    int files = count(root, "/dev", "nvidia[0-9]*", take_name);
    found.devices = files > 0 ? files : on_bus;
    read_driver(root, found.driver, sizeof found.driver);
    return found;
}

/* Kernel modules that decide what GPUs and NICs may say to each other. */
static json_t *modules(const char *root) {
    static const char *const names[] = {"nvidia", "nvidia_uvm", "nvidia_peermem", "nv_peer_mem", "nvidia_fs",
                                        "gdrdrv", "amdgpu",     "habanalabs",     "mlx5_core",   "efa"};
    char path[INVENTORY_PATH];
    json_t *loaded = json_array();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "/sys/module/%s", names[i]);
        if (inventory_exists(root, path))
            json_array_append_new(loaded, json_string(names[i]));
    }
    return loaded;
}

json_t *inventory_nvidia_json(const char *root) {
    struct nvidia_presence found = inventory_nvidia(root);
    char line[INVENTORY_LINE];
    bool got = text_read_line(root, "/proc/driver/nvidia/version", line, sizeof line);
    return json_pack("{s:i, s:o, s:o, s:i, s:o}", "devices", found.devices, "driver",
                     inventory_text_or_null(found.driver), "open_kernel_module",
                     got ? json_boolean(strstr(line, "Open Kernel Module") != NULL) : json_null(),
                     "nvswitches", count(root, DEVICES, "*", take_nvswitch), "kernel_modules", modules(root));
}
