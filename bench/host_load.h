/* Who else had this host's CPUs: CPU time of other processes, steal, throttling, between two moments.
 *
 * Looks at the CPUs of this process's affinity mask. Others = what those CPUs were busy with, less the CPU
 * time of this process and all its descendants. Where the host is not to be seen (no /proc/stat, one that
 * stands still, or one that lxcfs makes up for the container) that is NaN. Processes are named by comm alone:
 * command lines hold secrets. Paths are under `root` ("" in the program). The kernel counts in ticks of 10
 * ms. */
#ifndef BENCH_HOST_LOAD_H
#define BENCH_HOST_LOAD_H

#include "model/record_host.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct host_process {
    long pid, parent;
    char comm[32];
    double cpu_s;           /* its own                                  */
    double cpu_with_dead_s; /* and that of the children it has waited for */
    double started;         /* tells two processes of one pid apart     */
};

/* Counters at one moment; NaN = cannot be read. */
struct host_load {
    double t_s;
    bool visible; /* the host, and not only a container */
    double cpus, busy_s, steal_s, all_s, own_s;
    double quota_periods, quota_throttled_periods, quota_throttled_s, thermal_throttled_s;
    struct host_process *processes;
    size_t process_count;
};
void host_load_read(const char *root, struct host_load *out);
void host_load_free(struct host_load *l);

/* What happened from one moment to the other. busiest lives in the arena. */
struct record_host host_load_between(const struct host_load *from, const struct host_load *to,
                                     struct arena *arena);

#endif
