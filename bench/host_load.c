#include "bench/host_load.h"

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 600, LINE_SIZE = 4096, BUSIEST = 3 };
/* Of the CPU time there was, /proc/stat must account for this share, or it is made up. */
static const double least_accounted = 0.5;
static const double busy_share = 0.02; /* of one CPU: below, a process is not named */

static double ticks_per_s(void) {
    return (double)sysconf(_SC_CLK_TCK);
}

static FILE *open_at(const char *root, const char *path) {
    char full[PATH_SIZE];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "re");
}

/* ---- the CPUs ---- */

static void read_list(const char *list, cpu_set_t *out) {
    while (isdigit((unsigned char)*list)) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((int)cpu, out);
        list = end + (*end == ',');
    }
}

static void read_mask(const char *root, cpu_set_t *out) {
    static const char key[] = "Cpus_allowed_list:";
    char line[LINE_SIZE];
    FILE *file = open_at(root, "/proc/self/status");
    CPU_ZERO(out);
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0)
            read_list(line + sizeof key - 1 + strspn(line + sizeof key - 1, " \t"), out);
    if (file)
        fclose(file);
}

/* proc(5): user nice system idle iowait irq softirq steal guest guest_nice; guests are in user already. */
static void take_cpu_line(struct host_load *out, const char *line, const cpu_set_t *mask) {
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    double t[FIELDS] = {0};
    int cpu;
    if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &t[USER], &t[NICE], &t[SYSTEM], &t[IDLE],
               &t[IOWAIT], &t[IRQ], &t[SOFTIRQ], &t[STEAL]) < 5 ||
        cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, mask))
        return;
    double busy = t[USER] + t[NICE] + t[SYSTEM] + t[IRQ] + t[SOFTIRQ];
    out->busy_s += busy / ticks_per_s();
    out->steal_s += t[STEAL] / ticks_per_s();
    out->all_s += (busy + t[STEAL] + t[IDLE] + t[IOWAIT]) / ticks_per_s();
    out->cpus++;
}

/* lxcfs mounts a file of its own making over /proc/stat: it shows the container as if it were the host. */
static bool is_made_up(const char *root) {
    char line[LINE_SIZE];
    bool found = false;
    FILE *file = open_at(root, "/proc/self/mountinfo");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, " /proc/stat ") != NULL;
    if (file)
        fclose(file);
    return found;
}

static void read_cpus(const char *root, struct host_load *out) {
    char line[LINE_SIZE];
    cpu_set_t mask;
    read_mask(root, &mask);
    FILE *file = open_at(root, "/proc/stat");
    while (file && fgets(line, sizeof line, file))
        take_cpu_line(out, line, &mask);
    if (file)
        fclose(file);
    out->visible = out->cpus > 0 && !is_made_up(root);
}

/* ---- the processes ---- */

/* proc(5), /proc/PID/stat: the name stands in brackets and may hold any character, brackets too. */
static bool read_process(const char *root, const char *pid, struct host_process *out) {
    char path[80], line[LINE_SIZE];
    double user, system, dead_user, dead_system, started;
    long parent;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (!text_read_line(root, path, line, sizeof line))
        return false;
    const char *open = strchr(line, '('), *close = strrchr(line, ')');
    if (!open || !close || close < open ||
        sscanf(close + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lf %lf %lf %lf %*d %*d %*d %*d %lf",
               &parent, &user, &system, &dead_user, &dead_system, &started) != 6)
        return false;
    *out = (struct host_process){.pid = strtol(line, NULL, 10),
                                 .parent = parent,
                                 .cpu_s = (user + system) / ticks_per_s(),
                                 .started = started};
    out->cpu_with_dead_s = out->cpu_s + (dead_user + dead_system) / ticks_per_s();
    snprintf(out->comm, sizeof out->comm, "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

static int by_pid(const void *a, const void *b) {
    long x = ((const struct host_process *)a)->pid, y = ((const struct host_process *)b)->pid;
    return (x > y) - (x < y);
}

static void read_processes(const char *root, struct host_load *out) {
    char path[PATH_SIZE];
    size_t capacity = 0;
    snprintf(path, sizeof path, "%s/proc", root);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct host_process p;
        if (!isdigit((unsigned char)entry->d_name[0]) || !read_process(root, entry->d_name, &p))
            continue;
        out->processes = xgrow(out->processes, sizeof *out->processes, out->process_count, &capacity);
        out->processes[out->process_count++] = p;
    }
    if (folder)
        closedir(folder);
    if (out->process_count > 0)
        qsort(out->processes, out->process_count, sizeof *out->processes, by_pid);
}

/* In the order of their pids, as read_processes leaves them. */
static const struct host_process *find(const struct host_load *l, long pid) {
    struct host_process key = {.pid = pid};
    if (l->process_count == 0)
        return NULL;
    return bsearch(&key, l->processes, l->process_count, sizeof key, by_pid);
}

enum { GENERATIONS = 32 };

static bool descends_from(const struct host_load *l, const struct host_process *p, long ancestor) {
    for (int i = 0; p && i < GENERATIONS; i++) {
        if (p->pid == ancestor)
            return true;
        p = find(l, p->parent);
    }
    return false;
}

/* This process and its descendants: their time is summed, and they are taken off the list. */
static void take_own(const char *root, struct host_load *out) {
    struct host_process self;
    size_t kept = 0;
    out->own_s = NAN;
    if (!read_process(root, "self", &self))
        return;
    bool *own = xcalloc(out->process_count + 1, sizeof *own);
    out->own_s = 0;
    for (size_t i = 0; i < out->process_count; i++) {
        own[i] = descends_from(out, &out->processes[i], self.pid);
        out->own_s += own[i] ? out->processes[i].cpu_with_dead_s : 0;
    }
    for (size_t i = 0; i < out->process_count; i++)
        if (!own[i])
            out->processes[kept++] = out->processes[i];
    out->process_count = kept;
    free(own);
}

/* ---- throttling ---- */

/* Intel's counters per CPU, of the core and of the whole package: the most of any, because the slowest
 * decides. */
static double thermal_s(const char *root) {
    static const char *const counters[] = {"core_throttle_total_time_ms", "package_throttle_total_time_ms"};
    char path[128], line[64];
    double most = NAN;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        bool any = false;
        for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/thermal_throttle/%s", cpu,
                     counters[i]);
            if (text_read_line(root, path, line, sizeof line)) {
                most = fmax(most, 1e-3 * strtod(line, NULL));
                any = true;
            }
        }
        if (!any)
            break;
    }
    return most;
}

void host_load_read(const char *root, struct host_load *out) {
    struct cgroup_throttling quota = cgroup_throttling_read(root);
    *out = (struct host_load){.t_s = 1e-9 * (double)clock_monotonic_ns(),
                              .quota_periods = quota.periods,
                              .quota_throttled_periods = quota.throttled_periods,
                              .quota_throttled_s = 1e-9 * quota.throttled_ns,
                              .thermal_throttled_s = thermal_s(root)};
    read_cpus(root, out);
    read_processes(root, out);
    take_own(root, out);
}

void host_load_free(struct host_load *l) {
    if (!l)
        return;
    free(l->processes);
    *l = (struct host_load){0};
}

/* ---- between two moments ---- */

struct use {
    const char *comm;
    double cpu_s;
};

static double spent_by(const struct host_load *from, const struct host_process *p) {
    const struct host_process *before = find(from, p->pid);
    return p->cpu_s - (before && before->started == p->started ? before->cpu_s : 0);
}

/* All of them are children of kthreadd, pid 2; a container does not see it. */
static double spent_by_kernel(const struct host_load *from, const struct host_load *to) {
    enum { KTHREADD = 2 };
    const struct host_process *kthreadd = find(to, KTHREADD);
    double cpu_s = 0;
    if (!kthreadd || strcmp(kthreadd->comm, "kthreadd") != 0)
        return NAN;
    for (size_t i = 0; i < to->process_count; i++)
        if (to->processes[i].parent == KTHREADD)
            cpu_s += spent_by(from, &to->processes[i]);
    return cpu_s;
}

static const char *name_busiest(const struct host_load *from, const struct host_load *to,
                                struct arena *arena) {
    struct use busiest[BUSIEST + 1] = {{0}};
    for (size_t i = 0; i < to->process_count; i++) {
        size_t place = BUSIEST;
        busiest[place] = (struct use){to->processes[i].comm, spent_by(from, &to->processes[i])};
        for (; place > 0 && busiest[place].cpu_s > busiest[place - 1].cpu_s; place--) {
            struct use faster = busiest[place];
            busiest[place] = busiest[place - 1];
            busiest[place - 1] = faster;
        }
    }
    struct text names = {0};
    for (size_t i = 0; i < BUSIEST && busiest[i].cpu_s > busy_share * (to->t_s - from->t_s); i++)
        text_printf(&names, "%s%s %.2f s", i ? ", " : "", busiest[i].comm, busiest[i].cpu_s);
    const char *kept = arena_strdup(arena, text_get(&names));
    text_free(&names);
    return kept;
}

struct record_host host_load_between(const struct host_load *from, const struct host_load *to,
                                     struct arena *arena) {
    double window_s = to->t_s - from->t_s;
    bool visible = from->visible && to->visible && from->cpus == to->cpus &&
                   to->all_s - from->all_s > least_accounted * window_s * to->cpus;
    double others_s = to->busy_s - from->busy_s - (to->own_s - from->own_s);
    return (struct record_host){
        .window_s = window_s,
        .cpus = to->cpus > 0 ? to->cpus : NAN,
        .others_cpu_s = visible && !isnan(others_s) ? fmax(0, others_s) : NAN,
        .kernel_cpu_s = spent_by_kernel(from, to),
        .steal_s = visible ? to->steal_s - from->steal_s : NAN,
        .quota_periods = to->quota_periods - from->quota_periods,
        .quota_throttled_periods = to->quota_throttled_periods - from->quota_throttled_periods,
        .quota_throttled_s = to->quota_throttled_s - from->quota_throttled_s,
        .thermal_throttled_s = to->thermal_throttled_s - from->thermal_throttled_s,
        .busiest = name_busiest(from, to, arena),
    };
}
