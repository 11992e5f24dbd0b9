#include "base/cgroup.h"
#include "base/text.h"
#include "kernels/cpu/cpu.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cpu_add_fact(struct device_info *out, const char *key, const char *format, ...) {
    if (out->fact_count == sizeof out->facts / sizeof out->facts[0])
        return;
    struct device_fact *fact = &out->facts[out->fact_count++];
    va_list args;
    va_start(args, format);
    snprintf(fact->key, sizeof fact->key, "%s", key);
    vsnprintf(fact->value, sizeof fact->value, format, args);
    va_end(args);
}

static double read_number(const char *path) {
    char line[64];
    return text_read_line("", path, line, sizeof line) ? atof(line) : NAN;
}

/* The value of "key : value" if this line of /proc/cpuinfo has that key, else NULL. */
static const char *cpuinfo_value(char *line, const char *key) {
    char *colon = strchr(line, ':');
    size_t length = strlen(key);
    if (!colon || strncmp(line, key, length) != 0 || line[length + strspn(line + length, " \t")] != ':')
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return colon + 1 + strspn(colon + 1, " \t");
}

/* x86 gives a model name; arm64 only numbers of the designer and the part. */
static void find_name(char *out, size_t size) {
    static const char *const keys[] = {"model name", "Model", "CPU part"};
    char line[4096];
    snprintf(out, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !found; i++) {
            const char *value = cpuinfo_value(line, keys[i]);
            found = value && *value;
            if (found)
                snprintf(out, size, "%s%s", i == 2 ? "arm64 CPU part " : "", value);
        }
    if (file)
        fclose(file);
}

/* Those of the CPU's feature words that decide which kernels can run. */
static void add_features(struct device_info *out) {
    static const char wanted[] =
        " avx avx2 fma avx512f avx512bw avx512_vnni avx512_bf16 avx512_fp16 amx_tile "
        "amx_bf16 amx_int8 asimd asimdhp sve sve2 bf16 i8mm ";
    char line[4096];
    struct text found = {0};
    FILE *file = fopen("/proc/cpuinfo", "r");
    const char *words = NULL;
    while (file && !words && fgets(line, sizeof line, file)) {
        words = cpuinfo_value(line, "flags");
        if (!words)
            words = cpuinfo_value(line, "Features");
    }
    for (const char *word = words; word && *word; word += strcspn(word, " "), word += strspn(word, " ")) {
        int length = (int)strcspn(word, " ");
        char key[48];
        snprintf(key, sizeof key, " %.*s ", length, word);
        if (strstr(wanted, key))
            text_printf(&found, "%s%.*s", found.length ? " " : "", length, word);
    }
    if (file)
        fclose(file);
    cpu_add_fact(out, "cpu_features", "%s", text_get(&found));
    text_free(&found);
}

/* Everything that changes what BLAS and OpenMP do, as the environment has it. */
static void add_environment(struct device_info *out) {
    static const char *const prefixes[] = {"OPENBLAS_", "OMP_",  "GOMP_", "KMP_",   "BLIS_",
                                           "MKL_",      "GOTO_", "DNNL_", "ONEDNN_"};
    for (char **entry = environ; *entry; entry++)
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
            const char *equals = strchr(*entry, '=');
            if (!equals || strncmp(*entry, prefixes[i], strlen(prefixes[i])) != 0)
                continue;
            char key[sizeof out->facts[0].key];
            snprintf(key, sizeof key, "env.%.*s", (int)(equals - *entry), *entry);
            cpu_add_fact(out, key, "%s", equals + 1);
        }
}

static void add_binding(const struct device *d, struct device_info *out) {
    struct text list = {0};
    for (int i = 0; i < d->bound; i++)
        text_printf(&list, "%s%d", i ? "," : "", d->cpus[i]);
    cpu_add_fact(out, "thread_binding", "%s", d->bound ? text_get(&list) : "none");
    text_free(&list);
}

static bool read_cache(int cpu, int level, const char *what, char *out, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, level, what);
    return text_read_line("", path, out, size);
}

/* "32K", "4M" */
static double size_bytes(const char *text) {
    char *unit;
    double count = strtod(text, &unit);
    return count * (*unit == 'K' ? 1 << 10 : *unit == 'M' ? 1 << 20 : 1);
}

/* Bytes of the last cache level of one CPU if it is the first of those in use that share the cache, else
 * 0: so that the sum over the CPUs counts every cache once. NaN when the kernel does not say. */
static double last_cache_bytes(const struct device *d, int cpu) {
    char size[64], sharers[512], other[512];
    int level = 4;
    while (level >= 0 && !read_cache(cpu, level, "size", size, sizeof size))
        level--;
    if (level < 0 || !read_cache(cpu, level, "shared_cpu_list", sharers, sizeof sharers))
        return NAN;
    for (int i = 0; i < d->bound && d->cpus[i] != cpu; i++)
        if (read_cache(d->cpus[i], level, "shared_cpu_list", other, sizeof other) && !strcmp(other, sharers))
            return 0;
    return size_bytes(size);
}

static double cache_bytes(const struct device *d) {
    if (!d->bound)
        return last_cache_bytes(d, 0);
    double sum = 0;
    for (int i = 0; i < d->bound; i++)
        sum += last_cache_bytes(d, d->cpus[i]);
    return sum;
}

/* As the kernel has them for the first CPU in use: level 1 is the data cache. */
static void add_caches(const struct device *d, struct device_info *out) {
    for (int index = 0; index < 5; index++) {
        char type[32], level[8], size[64], key[32];
        int cpu = d->bound ? d->cpus[0] : 0;
        if (!read_cache(cpu, index, "type", type, sizeof type) || strcmp(type, "Instruction") == 0 ||
            !read_cache(cpu, index, "level", level, sizeof level) ||
            !read_cache(cpu, index, "size", size, sizeof size))
            continue;
        snprintf(key, sizeof key, "cache_l%s_bytes", level);
        cpu_add_fact(out, key, "%.0f", size_bytes(size));
    }
}

int cpu_describe(struct device *d, struct device_info *out, struct err *e) {
    (void)e;
    struct cgroup_limits limits = cgroup_read("");
    *out = (struct device_info){
        .memory_bytes = (double)limits.memory_bytes,
        .free_bytes = (double)limits.memory_available_bytes,
        .cache_bytes = cache_bytes(d),
        .clock_hz = 1e3 * read_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"),
        .units = d->threads,
    };
    find_name(out->name, sizeof out->name);
    cpu_blas_facts(d->blas, out);
    cpu_dnnl_facts(d->dnnl, out);
    cpu_add_fact(out, "emulated_gemm", "bf16 fp16");
    add_caches(d, out);
    cpu_add_fact(out, "fma_isa", "%s", cpu_fma_isa());
    add_features(out);
    add_binding(d, out);
    add_environment(out);
    return 0;
}

/* Mean over the CPUs in use, from the governor, else from /proc/cpuinfo (a constant in most guests). */
static double clock_hz(const struct device *d) {
    char path[96], line[4096];
    double sum_hz = 0;
    int count = 0;
    for (int i = 0; i < d->bound; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", d->cpus[i]);
        sum_hz += 1e3 * read_number(path);
        count++;
    }
    if (count && !isnan(sum_hz))
        return sum_hz / count;
    FILE *file = fopen("/proc/cpuinfo", "r");
    sum_hz = count = 0;
    while (file && fgets(line, sizeof line, file)) {
        const char *value = cpuinfo_value(line, "cpu MHz");
        if (value)
            sum_hz += 1e6 * atof(value), count++;
    }
    if (file)
        fclose(file);
    return count ? sum_hz / count : NAN;
}

void cpu_telemetry(struct device *d, struct telemetry *out) {
    *out = (struct telemetry){
        .clock_hz = clock_hz(d),
        .power_w = NAN,
        .temperature_c = *d->temperature_path ? 1e-3 * read_number(d->temperature_path) : NAN,
        .throttled_s = 1e-9 * cgroup_throttled_ns(""),
    };
}

void cpu_find_temperature(struct device *d) {
    static const char *const drivers[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
    glob_t found = {0};
    d->temperature_path[0] = '\0';
    if (glob("/sys/class/hwmon/hwmon*/name", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !*d->temperature_path; i++) {
            char name[64];
            if (!text_read_line("", found.gl_pathv[i], name, sizeof name))
                continue;
            for (size_t k = 0; k < sizeof drivers / sizeof drivers[0]; k++)
                if (!strcmp(name, drivers[k]))
                    snprintf(d->temperature_path, sizeof d->temperature_path, "%.*stemp1_input",
                             (int)(strlen(found.gl_pathv[i]) - strlen("name")), found.gl_pathv[i]);
        }
    globfree(&found);
}
