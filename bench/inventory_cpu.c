#include "base/text.h"
#include "bench/inventory_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPU "/sys/devices/system/cpu"

/* Extensions that decide which kernels a BLAS may use, and what they reach. */
static const char *const flags_of_interest[] = {
    "sse4_2",   "avx",         "avx2",        "fma",         "f16c",     "avx512f",  "avx512bw",
    "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16",
    "amx_int8", "asimd",       "asimdhp",     "sve",         "sve2",     "bf16",     "i8mm",
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
    char model[256], microcode[64], implementer[32], part[32];
    int threads, cores, sockets; /* cores, sockets: 0 = not said */
    long socket;
    json_t *flags;
    json_t *seen; /* {"SOCKET" or "SOCKET/CORE": true} */
};

static int count_new(json_t *seen, const char *key) {
    return json_object_get(seen, key) != NULL ? 0 : json_object_set_new(seen, key, json_true()) == 0;
}

static void take_flags(struct cpu *cpu, const char *words) {
    for (size_t i = 0; i < sizeof flags_of_interest / sizeof flags_of_interest[0]; i++)
        if (has_word(words, flags_of_interest[i]))
            json_array_append_new(cpu->flags, json_string(flags_of_interest[i]));
}

static void take_line(struct cpu *cpu, char *line) {
    const struct {
        const char *key;
        char *out;
        size_t size;
    } texts[] = {{"model name", cpu->model, sizeof cpu->model},
                 {"microcode", cpu->microcode, sizeof cpu->microcode},
                 {"CPU implementer", cpu->implementer, sizeof cpu->implementer},
                 {"CPU part", cpu->part, sizeof cpu->part}};
    char key[64], *value;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if ((value = inventory_value(line, texts[i].key, ':')) != NULL) {
            snprintf(texts[i].out, texts[i].size, "%s", value);
            return;
        }
    if (inventory_value(line, "processor", ':') != NULL) {
        cpu->threads++;
    } else if ((value = inventory_value(line, "physical id", ':')) != NULL) {
        cpu->socket = strtol(value, NULL, 10);
        snprintf(key, sizeof key, "%ld", cpu->socket);
        cpu->sockets += count_new(cpu->seen, key);
    } else if ((value = inventory_value(line, "core id", ':')) != NULL) {
        snprintf(key, sizeof key, "%ld/%ld", cpu->socket, strtol(value, NULL, 10));
        cpu->cores += count_new(cpu->seen, key);
    } else if (json_array_size(cpu->flags) == 0 &&
               ((value = inventory_value(line, "flags", ':')) != NULL ||
                (value = inventory_value(line, "Features", ':')) != NULL)) {
        take_flags(cpu, value);
    }
}

/* arm64 tells sockets and cores only under /sys. */
static void take_topology(const char *root, const char *folder, const char *name, json_t *seen) {
    char path[INVENTORY_PATH], key[64];
    snprintf(path, sizeof path, "%s/%s/topology/physical_package_id", folder, name);
    double socket = inventory_double(root, path);
    snprintf(path, sizeof path, "%s/%s/topology/core_id", folder, name);
    double core = inventory_double(root, path);
    if (!(socket >= 0) || !(core >= 0)) /* -1: the firmware does not say */
        return;
    snprintf(key, sizeof key, "%.0f", socket);
    json_object_set_new(seen, key, json_true());
    snprintf(key, sizeof key, "%.0f/%.0f", socket, core);
    json_object_set_new(seen, key, json_true());
}

static void count_topology(const char *root, struct cpu *cpu) {
    const char *key;
    json_t *value;
    inventory_each(root, CPU, "cpu[0-9]*", take_topology, cpu->seen);
    json_object_foreach(cpu->seen, key, value) {
        bool core = strchr(key, '/') != NULL;
        cpu->cores += core;
        cpu->sockets += !core;
    }
}

static json_t *count_or_null(int count) {
    return count > 0 ? json_integer(count) : json_null();
}

/* "32K", "1024K", "30M" */
static json_t *cache_size(const char *root, const char *path) {
    char line[64], *unit;
    if (!text_read_line(root, path, line, sizeof line))
        return json_null();
    double size = strtod(line, &unit);
    return json_integer((json_int_t)(size * (*unit == 'K' ? 1 << 10 : *unit == 'M' ? 1 << 20 : 1)));
}

static void take_cache(const char *root, const char *folder, const char *name, json_t *out) {
    static const char *const files[] = {"level", "type", "size", "shared_cpu_list"};
    char path[4][INVENTORY_PATH];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        snprintf(path[i], sizeof path[i], "%s/%s/%s", folder, name, files[i]);
    json_array_append_new(out,
                          json_pack("{s:o, s:o, s:o, s:o}", "level", inventory_number(root, path[0]), "type",
                                    inventory_text(root, path[1]), "size_bytes", cache_size(root, path[2]),
                                    "shared_by", inventory_text(root, path[3])));
}

/* One file says it the right way round, the other upside down. */
static json_t *turbo(const char *root) {
    double off = inventory_double(root, CPU "/intel_pstate/no_turbo"),
           on = inventory_double(root, CPU "/cpufreq/boost");
    return !isnan(off) ? json_boolean(off == 0) : !isnan(on) ? json_boolean(on != 0) : json_null();
}

static json_t *smt(const char *root) {
    double active = inventory_double(root, CPU "/smt/active");
    return isnan(active) ? json_null() : json_boolean(active != 0);
}

json_t *inventory_cpu(const char *root) {
    char line[INVENTORY_LINE];
    struct cpu cpu = {.flags = json_array(), .seen = json_object()};
    FILE *file = inventory_open(root, "/proc/cpuinfo");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        take_line(&cpu, line);
    if (file != NULL)
        fclose(file);
    if (cpu.sockets == 0)
        count_topology(root, &cpu);
    if (!cpu.model[0] && cpu.part[0])
        snprintf(cpu.model, sizeof cpu.model, "arm64 implementer %s part %s", cpu.implementer, cpu.part);
    json_t *caches = json_array(), *nodes = inventory_numa(root);
    inventory_each(root, CPU "/cpu0/cache", "index[0-9]*", take_cache, caches);
    json_t *out = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model",
        inventory_text_or_null(cpu.model), "sockets", count_or_null(cpu.sockets), "cores",
        count_or_null(cpu.cores), "threads", count_or_null(cpu.threads), "smt", smt(root), "online",
        inventory_text(root, CPU "/online"), "numa_nodes", count_or_null((int)json_array_size(nodes)),
        "flags", cpu.flags, "microcode", inventory_text_or_null(cpu.microcode), "caches_of_cpu0", caches,
        "max_clock_hz", json_number(1e3 * inventory_double(root, CPU "/cpu0/cpufreq/cpuinfo_max_freq")),
        "frequency_driver", inventory_text(root, CPU "/cpu0/cpufreq/scaling_driver"), "turbo", turbo(root));
    json_decref(cpu.seen);
    json_decref(nodes);
    return out;
}

static void take_mitigation(const char *root, const char *folder, const char *name, json_t *out) {
    char path[INVENTORY_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_object_set_new(out, name, inventory_text(root, path));
}

json_t *inventory_mitigations(const char *root) {
    if (!inventory_exists(root, CPU "/vulnerabilities"))
        return json_null();
    json_t *out = json_object();
    inventory_each(root, CPU "/vulnerabilities", "*", take_mitigation, out);
    return out;
}

/* ---- NUMA ---- */

/* "Node 0 MemTotal:  1024 kB" */
static json_t *node_bytes(const char *root, const char *path, const char *node, const char *what) {
    char key[64], value[64];
    snprintf(key, sizeof key, "Node %s %s", node, what);
    bool got = inventory_find(root, path, key, ':', value, sizeof value);
    return got ? json_integer((json_int_t)(strtod(value, NULL) * 1024)) : json_null();
}

static json_t *distances(const char *root, const char *path) {
    char line[INVENTORY_LINE], *rest = line, *word;
    if (!text_read_line(root, path, line, sizeof line))
        return json_null();
    json_t *list = json_array();
    while ((word = strsep(&rest, " ")) != NULL)
        if (*word)
            json_array_append_new(list, json_integer(strtol(word, NULL, 10)));
    return list;
}

static void take_node(const char *root, const char *folder, const char *name, json_t *out) {
    static const char *const files[] = {"cpulist", "meminfo", "distance"};
    char path[3][INVENTORY_PATH];
    const char *number = name + strlen("node");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        snprintf(path[i], sizeof path[i], "%s/%s/%s", folder, name, files[i]);
    json_array_append_new(out, json_pack("{s:i, s:o, s:o, s:o, s:o}", "node", atoi(number), "cpus",
                                         inventory_text(root, path[0]), "memory_bytes",
                                         node_bytes(root, path[1], number, "MemTotal"), "free_bytes",
                                         node_bytes(root, path[1], number, "MemFree"), "distances",
                                         distances(root, path[2])));
}

json_t *inventory_numa(const char *root) {
    json_t *list = json_array();
    inventory_each(root, "/sys/devices/system/node", "node[0-9]*", take_node, list);
    return list;
}
