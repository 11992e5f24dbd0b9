#include "base/cgroup.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 16 };

/* A whole small file of root, NUL-terminated; NULL when it cannot be read. Caller frees. */
static char *read_file(const char *root, const char *folder, const char *name) {
    char *path = xasprintf("%s%s/%s", root, folder, name);
    FILE *in = fopen(path, "re");
    free(path);
    if (!in)
        return NULL;
    char *text = xmalloc(FILE_MAX);
    size_t length = fread(text, 1, FILE_MAX - 1, in);
    text[length] = '\0';
    fclose(in);
    return text;
}

/* The number behind key at the start of a line ("MemTotal:", "throttled_usec"); NaN when it is not there. */
static double number_after(const char *text, const char *key) {
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && strchr(" \t", line[length]) && line[length])
            return strtod(line + length, NULL);
    }
    return NAN;
}

/* The number that a file begins with; NaN for "max", a negative one or no file. */
static double read_number(const char *root, const char *folder, const char *name) {
    char *text = read_file(root, folder, name);
    double value = NAN;
    if (text && text[0] >= '0' && text[0] <= '9')
        value = strtod(text, NULL);
    free(text);
    return value;
}

static double read_field(const char *root, const char *folder, const char *name, const char *key) {
    char *text = read_file(root, folder, name);
    double value = text ? number_after(text, key) : NAN;
    free(text);
    return value;
}

/* ---- one level of a hierarchy ---- */

struct totals {
    double cpu_quota, memory_limit_bytes, memory_left_bytes, pids_max; /* tightest; NaN = none */
    struct cgroup_throttling throttling;                               /* sums; NaN = none     */
    int version;
};

typedef void take_level(const char *root, const char *folder, struct totals *t);

static void add(double *sum, double value) {
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

static void add_throttling(struct totals *t, const char *root, const char *folder, const char *time_key,
                           double ns_per_unit) {
    add(&t->throttling.periods, read_field(root, folder, "cpu.stat", "nr_periods"));
    add(&t->throttling.throttled_periods, read_field(root, folder, "cpu.stat", "nr_throttled"));
    add(&t->throttling.throttled_ns, read_field(root, folder, "cpu.stat", time_key) * ns_per_unit);
}

/* The page cache that the kernel drops first is not use: with it a container that has read a large file
 * would seem full (the kubelet's working set leaves it out as well). */
static void take_memory(struct totals *t, double limit, double use, double inactive_file) {
    if (isnan(limit))
        return;
    double working_set = use - fmin(use, isnan(inactive_file) ? 0 : inactive_file);
    t->memory_limit_bytes = fmin(t->memory_limit_bytes, limit);
    if (!isnan(working_set))
        t->memory_left_bytes = fmin(t->memory_left_bytes, fmax(0, limit - working_set));
}

static void take_v2(const char *root, const char *folder, struct totals *t) {
    char *max = read_file(root, folder, "cpu.max");
    double quota_us, period_us;
    if (max && sscanf(max, "%lf %lf", &quota_us, &period_us) == 2 && period_us > 0)
        t->cpu_quota = fmin(t->cpu_quota, quota_us / period_us);
    free(max);
    add_throttling(t, root, folder, "throttled_usec", 1e3);
    t->pids_max = fmin(t->pids_max, read_number(root, folder, "pids.max"));
    take_memory(t, read_number(root, folder, "memory.max"), read_number(root, folder, "memory.current"),
                read_field(root, folder, "memory.stat", "inactive_file"));
}

static void take_v1_cpu(const char *root, const char *folder, struct totals *t) {
    double quota_us = read_number(root, folder, "cpu.cfs_quota_us");
    double period_us = read_number(root, folder, "cpu.cfs_period_us");
    if (period_us > 0)
        t->cpu_quota = fmin(t->cpu_quota, quota_us / period_us);
    add_throttling(t, root, folder, "throttled_time", 1);
}

static void take_v1_memory(const char *root, const char *folder, struct totals *t) {
    take_memory(t, read_number(root, folder, "memory.limit_in_bytes"),
                read_number(root, folder, "memory.usage_in_bytes"),
                read_field(root, folder, "memory.stat", "total_inactive_file"));
}

static void take_v1_pids(const char *root, const char *folder, struct totals *t) {
    t->pids_max = fmin(t->pids_max, read_number(root, folder, "pids.max"));
}

/* ---- the hierarchies of this process ---- */

static const struct hierarchy {
    const char *controller; /* in a line of /proc/self/cgroup; "" is v2                     */
    const char *mount;      /* by systemd's custom; "cpu" is a link where cpuacct joins it */
    take_level *take;
    int version;
} hierarchies[] = {
    {"", "/sys/fs/cgroup", take_v2, 2},
    {"", "/sys/fs/cgroup/unified", take_v2, 2},
    {"cpu", "/sys/fs/cgroup/cpu", take_v1_cpu, 1},
    {"memory", "/sys/fs/cgroup/memory", take_v1_memory, 1},
    {"pids", "/sys/fs/cgroup/pids", take_v1_pids, 1},
};
enum { HIERARCHIES = sizeof hierarchies / sizeof *hierarchies };

/* From the process's own folder up to the mount. In a container the path may be the host's: its folders
 * are then not there, and the mount itself is the container's own level. */
static void walk_up(const char *root, const struct hierarchy *h, const char *path, struct totals *t) {
    char *folder = xasprintf("%s%s", h->mount, strstr(path, "/..") ? "" : path);
    size_t mount_length = strlen(h->mount);
    size_t length = strlen(folder);
    if (folder[length - 1] == '/')
        folder[length - 1] = '\0';
    for (;;) {
        h->take(root, folder, t);
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= mount_length)
            break;
        *slash = '\0';
    }
    free(folder);
}

static bool has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (;;) {
        size_t n = strcspn(list, ",");
        if (n == length && strncmp(list, word, n) == 0)
            return true;
        if (!list[n])
            return false;
        list += n + 1;
    }
}

static struct totals read_totals(const char *root) {
    struct totals t = {NAN, NAN, NAN, NAN, {NAN, NAN, NAN}, 0};
    char *text = read_file(root, "/proc/self", "cgroup");
    char *rest = text, *line;
    while (text && (line = strsep(&rest, "\n")) != NULL) {
        strsep(&line, ":");
        const char *controllers = strsep(&line, ":");
        for (size_t i = 0; line && i < HIERARCHIES; i++)
            if (has_word(controllers, hierarchies[i].controller)) {
                walk_up(root, &hierarchies[i], line, &t);
                if (t.version != 1)
                    t.version = hierarchies[i].version;
            }
    }
    free(text);
    return t;
}

/* CPUs in a list such as "0-3,8,10-11". */
static int count_cpus(const char *list) {
    int count = 0;
    while (*list >= '0' && *list <= '9') {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (last >= first)
            count += (int)(last - first) + 1;
        list = end + (*end == ',');
    }
    return count;
}

static int affinity_cpus(const char *root) {
    static const char key[] = "\nCpus_allowed_list:";
    char *status = read_file(root, "/proc/self", "status");
    const char *found = status ? strstr(status, key) : NULL;
    int cpus = 0;
    if (found) {
        found += sizeof key - 1;
        cpus = count_cpus(found + strspn(found, " \t"));
    }
    free(status);
    return cpus > 0 ? cpus : 1;
}

static uint64_t to_bytes(double bytes) {
    return bytes > 0 ? (uint64_t)bytes : 0;
}

struct cgroup_limits cgroup_read(const char *root) {
    struct totals t = read_totals(root);
    struct cgroup_limits limits = {
        .cpus = affinity_cpus(root), .cpu_quota = t.cpu_quota, .pids_max = t.pids_max, .version = t.version};
    double usable = fmin(limits.cpus, floor(t.cpu_quota));
    limits.usable_cpus = usable >= 1 ? (int)usable : 1;
    double total = read_field(root, "/proc", "meminfo", "MemTotal:") * 1024;
    double available = read_field(root, "/proc", "meminfo", "MemAvailable:") * 1024;
    limits.memory_bytes = to_bytes(fmin(total, t.memory_limit_bytes));
    limits.memory_available_bytes = to_bytes(fmin(available, t.memory_left_bytes));
    return limits;
}

struct cgroup_throttling cgroup_throttling_read(const char *root) {
    return read_totals(root).throttling;
}

double cgroup_throttled_ns(const char *root) {
    return read_totals(root).throttling.throttled_ns;
}
