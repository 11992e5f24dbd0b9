#include "base/cgroup.h"
#include "base/json.h"
#include "base/text.h"
#include "bench/bench.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PATH_SIZE = 600, LINE_SIZE = 8192 };

static FILE *open_at(const char *root, const char *path) {
    char full[PATH_SIZE];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "r");
}

static bool exists_at(const char *root, const char *path) {
    char full[PATH_SIZE];
    snprintf(full, sizeof full, "%s%s", root, path);
    return access(full, F_OK) == 0;
}

static json_t *text_or_null(const char *text) {
    json_t *value = text != NULL && text[0] != '\0' ? json_string(text) : NULL;
    return value != NULL ? value : json_null();
}

/* ---- one-line files, as they are ---- */

static const struct line_row {
    const char *key, *path;
} line_rows[] = {
    {"hostname", "/proc/sys/kernel/hostname"},
    {"boot_id", "/proc/sys/kernel/random/boot_id"},
    {"kernel", "/proc/sys/kernel/osrelease"},
    {"machine_vendor", "/sys/class/dmi/id/sys_vendor"},
    {"machine_product", "/sys/class/dmi/id/product_name"},
    {"clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"frequency_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    {"transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled"},
};

static void add_lines(json_t *host, const char *root) {
    char line[LINE_SIZE];
    for (size_t i = 0; i < sizeof line_rows / sizeof line_rows[0]; i++) {
        bool got = text_read_line(root, line_rows[i].path, line, sizeof line);
        json_object_set_new(host, line_rows[i].key, text_or_null(got ? line : NULL));
    }
}

/* ---- "KEY separator value" files ---- */

/* The value after the separator when line is about key, else NULL. */
static char *value_of(char *line, const char *key, char separator) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    char *at = line + length;
    at += strspn(at, " \t");
    if (*at != separator)
        return NULL;
    at++;
    at += strspn(at, " \t\"");
    at[strcspn(at, "\"\n")] = '\0';
    return at;
}

static json_t *os_name(const char *root) {
    char line[LINE_SIZE];
    FILE *file = open_at(root, "/etc/os-release");
    json_t *name = json_null();
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *value = value_of(line, "PRETTY_NAME", '=');
        if (value != NULL) {
            name = text_or_null(value);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
    return name;
}

/* ---- CPU ---- */

/* Extensions that decide which kernels a BLAS may use, and what they reach. */
static const char *const flags_of_interest[] = {
    "sse4_2",   "avx",         "avx2",        "fma",         "f16c",     "avx512f",  "avx512bw",
    "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16",
    "amx_int8", "asimd",       "sve",         "sve2",        "bf16",     "i8mm",
};

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length) {
        bool begins = at == words || at[-1] == ' ';
        if (begins && (at[length] == '\0' || at[length] == ' '))
            return true;
    }
    return false;
}

struct cpu {
    char model[256];
    int threads, cores, sockets; /* cores, sockets: 0 = not said */
    long socket;
    bool hypervisor;
    json_t *flags;
    json_t *seen; /* {"SOCKET" or "SOCKET/CORE": true} */
};

static int count_new(json_t *seen, const char *key) {
    return json_object_get(seen, key) != NULL ? 0 : json_object_set_new(seen, key, json_true()) == 0;
}

static void take_flags(struct cpu *cpu, const char *words) {
    cpu->hypervisor = has_word(words, "hypervisor");
    for (size_t i = 0; i < sizeof flags_of_interest / sizeof flags_of_interest[0]; i++)
        if (has_word(words, flags_of_interest[i]))
            json_array_append_new(cpu->flags, json_string(flags_of_interest[i]));
}

static void take_cpu_line(struct cpu *cpu, char *line) {
    char key[64], *value;
    if (value_of(line, "processor", ':') != NULL) {
        cpu->threads++;
    } else if ((value = value_of(line, "model name", ':')) != NULL) {
        snprintf(cpu->model, sizeof cpu->model, "%s", value);
    } else if ((value = value_of(line, "physical id", ':')) != NULL) {
        cpu->socket = strtol(value, NULL, 10);
        snprintf(key, sizeof key, "%ld", cpu->socket);
        cpu->sockets += count_new(cpu->seen, key);
    } else if ((value = value_of(line, "core id", ':')) != NULL) {
        snprintf(key, sizeof key, "%ld/%ld", cpu->socket, strtol(value, NULL, 10));
        cpu->cores += count_new(cpu->seen, key);
    } else if (json_array_size(cpu->flags) == 0 && ((value = value_of(line, "flags", ':')) != NULL ||
                                                    (value = value_of(line, "Features", ':')) != NULL)) {
        take_flags(cpu, value);
    }
}

static json_t *count_or_null(int count) {
    return count > 0 ? json_integer(count) : json_null();
}

static int numa_nodes(const char *root) {
    char path[64];
    int count = 0;
    do {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d", count);
    } while (exists_at(root, path) && ++count < 1024);
    return count;
}

static void add_cpu(json_t *host, const char *root) {
    char line[LINE_SIZE];
    struct cpu cpu = {.flags = json_array(), .seen = json_object()};
    FILE *file = open_at(root, "/proc/cpuinfo");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        take_cpu_line(&cpu, line);
    if (file != NULL)
        fclose(file);
    json_decref(cpu.seen);
    json_object_set_new(host, "cpu",
                        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "model", text_or_null(cpu.model),
                                  "sockets", count_or_null(cpu.sockets), "cores", count_or_null(cpu.cores),
                                  "threads", count_or_null(cpu.threads), "numa_nodes",
                                  count_or_null(numa_nodes(root)), "flags", cpu.flags));
    json_object_set_new(host, "hypervisor", json_boolean(cpu.hypervisor));
}

/* ---- limits, load, container ---- */

static void add_limits(json_t *host, const char *root) {
    struct cgroup_limits limits = cgroup_read(root);
    json_object_set_new(host, "limits",
                        json_pack("{s:i, s:o, s:i, s:I, s:I}", "cpus", limits.cpus, "cpu_quota",
                                  json_number(limits.cpu_quota), "usable_cpus", limits.usable_cpus,
                                  "memory_bytes", (json_int_t)limits.memory_bytes, "memory_available_bytes",
                                  (json_int_t)limits.memory_available_bytes));
}

static json_t *memory_bytes(const char *root) {
    char line[LINE_SIZE];
    double kib = 0;
    FILE *file = open_at(root, "/proc/meminfo");
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL) {
        char *value = value_of(line, "MemTotal", ':');
        kib = value != NULL ? strtod(value, NULL) : 0;
    }
    if (file != NULL)
        fclose(file);
    return kib > 0 ? json_number(kib * 1024) : json_null();
}

/* Averages over 1, 5 and 15 minutes: load that was here before the run began. */
static json_t *load_average(const char *root) {
    char line[LINE_SIZE];
    double load[3];
    bool got = text_read_line(root, "/proc/loadavg", line, sizeof line) &&
               sscanf(line, "%lf %lf %lf", &load[0], &load[1], &load[2]) == 3;
    return got ? json_numbers(load, 3) : json_null();
}

static const struct container_row {
    const char *path, *name;
} container_rows[] = {
    {"/var/run/secrets/kubernetes.io", "kubernetes"},
    {"/.dockerenv", "docker"},
    {"/run/.containerenv", "podman"},
};

static json_t *container(const char *root) {
    for (size_t i = 0; i < sizeof container_rows / sizeof container_rows[0]; i++)
        if (exists_at(root, container_rows[i].path))
            return json_string(container_rows[i].name);
    return json_null();
}

/* ---- NVIDIA ---- */

/* A display or 3D controller of vendor 10de: not its audio function, not an NVSwitch bridge. */
static bool is_nvidia_gpu(const char *root, const char *address) {
    char path[PATH_SIZE], vendor[32], class[32];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.64s/vendor", address);
    if (!text_read_line(root, path, vendor, sizeof vendor) || strtoul(vendor, NULL, 16) != 0x10de)
        return false;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.64s/class", address);
    return !text_read_line(root, path, class, sizeof class) || strtoul(class, NULL, 16) >> 16 == 0x03;
}

static bool is_nvidia_file(const char *root, const char *name) {
    (void)root;
    return strncmp(name, "nvidia", 6) == 0 && isdigit((unsigned char)name[6]);
}

static int count_entries(const char *root, const char *folder, bool (*counts)(const char *, const char *)) {
    char full[PATH_SIZE];
    int count = 0;
    snprintf(full, sizeof full, "%s%s", root, folder);
    DIR *dir = opendir(full);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        count += counts(root, entry->d_name);
    if (dir != NULL)
        closedir(dir);
    return count;
}

/* The first word that is digits and dots with a dot: "550.54.15" of "NVRM version: NVIDIA UNIX x86_64
 * Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024". */
static void read_driver(const char *root, char *out, size_t size) {
    char line[LINE_SIZE], *rest = line, *word;
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
    int on_bus = count_entries(root, "/sys/bus/pci/devices", is_nvidia_gpu);
    /* A container may hide the bus, or show all of it and pass only some device files on. */
    int files = count_entries(root, "/dev", is_nvidia_file);
    found.devices = files > 0 ? files : on_bus;
    read_driver(root, found.driver, sizeof found.driver);
    return found;
}

json_t *inventory_read(const char *root) {
    json_t *host = json_object();
    struct utsname name;
    struct nvidia_presence nvidia = inventory_nvidia(root);
    add_lines(host, root);
    json_object_set_new(host, "os", os_name(root));
    json_object_set_new(host, "architecture", text_or_null(uname(&name) == 0 ? name.machine : NULL));
    add_cpu(host, root);
    json_object_set_new(host, "memory_bytes", memory_bytes(root));
    add_limits(host, root);
    json_object_set_new(host, "load_average", load_average(root));
    json_object_set_new(host, "container", container(root));
    json_object_set_new(
        host, "nvidia",
        json_pack("{s:i, s:o}", "devices", nvidia.devices, "driver", text_or_null(nvidia.driver)));
    return host;
}
