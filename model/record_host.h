/* What the host did to a case while it ran, member "host" of a done line, and which samples that touched.
 * Raw figures only: what they mean is judged by reports/. Times in seconds, CPU times summed over CPUs. */
#ifndef MODEL_RECORD_HOST_H
#define MODEL_RECORD_HOST_H

#include "base/mem.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct record_rank;

/* NaN = not visible from here. */
struct record_host {
    double window_s;     /* from the case's being sent to the workers to its end                      */
    double cpus;         /* CPUs that this run may use; the next three count on these                 */
    double others_cpu_s; /* CPU time of all but this run                                              */
    double kernel_cpu_s; /* of that, the kernel's own threads: what writes files back is among them   */
    double steal_s;      /* taken by the hypervisor while a CPU had work                              */
    double quota_periods, quota_throttled_periods, quota_throttled_s; /* by the cgroup's CPU quota    */
    double thermal_throttled_s; /* by the CPU's own thermal counter, of the CPU that had most of it   */
    const char *busiest;        /* names of the busiest other processes, with their CPU time; "" = none */
};

/* All unknown. */
struct record_host record_host_unknown(void);
/* New reference. */
json_t *record_host_body(const struct record_host *h);
/* From the member of a done line, NULL and null too; busiest comes from the arena. */
struct record_host record_host_read(struct arena *arena, const json_t *body);

/* Samples during which the throttle counter of the telemetry grew: every sample that overlaps two
 * neighbouring rows between which it did. mark: one a sample, set here; NULL = only count. */
size_t record_throttled_samples(const struct record_rank *r, bool *mark);
/* Growth of that counter over the case, s; NaN when it was not read. */
double record_throttled_s(const struct record_rank *r);

#endif
