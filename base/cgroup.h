/* What this process may use of the machine: the cgroup's limits, never the host's counts.
 * Reads cgroup v2 (and v1 where that is mounted), the affinity mask and /proc. Paths are under `root`
 * ("" in the program) so that tests can show other machines. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdint.h>

struct cgroup_limits {
    int cpus;                        /* CPUs in the affinity mask (Cpus_allowed_list of /proc/self/status) */
    double cpu_quota;                /* CPUs by quota, the tightest of the whole path upwards; NaN = none */
    int usable_cpus;                 /* max(1, min(cpus, floor(quota)))                                   */
    uint64_t memory_bytes;           /* min(MemTotal, tightest memory.max upwards); 0 = cannot be read    */
    uint64_t memory_available_bytes; /* min(MemAvailable, limit - use without inactive file cache) */
    double pids_max;                 /* tasks, the tightest upwards; NaN = none                           */
    int version;                     /* 2, 1 (also where both are mounted and v1 limits); 0 = none found  */
};

struct cgroup_limits cgroup_read(const char *root);

/* How often the CPU quota of this cgroup and of those above it held it back so far; NaN when it cannot be
 * read. */
struct cgroup_throttling {
    double periods, throttled_periods;
    double throttled_ns; /* summed over CPUs as the kernel counts it */
};
struct cgroup_throttling cgroup_throttling_read(const char *root);
double cgroup_throttled_ns(const char *root);

#endif
