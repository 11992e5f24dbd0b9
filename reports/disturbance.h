/* What disturbed a case while it ran, by the host's own figures (model/record_host.h): work of others, time
 * that the hypervisor took, and throttling, by the CPU quota or by heat. Not for what the rates alone show:
 * see findings_case.c. */
#ifndef REPORTS_DISTURBANCE_H
#define REPORTS_DISTURBANCE_H

#include "model/record.h"

/* True when others than this run had more than 5 % of the CPUs that it may use; of a CPU device, where the
 * slowest thread decides, already more than half of one CPU. The same for time taken by the hypervisor. */
struct contamination {
    const char *by;       /* "other processes", "the hypervisor (steal)" */
    double cpus, of_cpus; /* mean over the case */
};
bool case_contaminated(const struct record *r, const struct record_case *c, struct contamination *out);
/* CPUs that others had, mean over the case; NaN = not visible. Of a folder's case the kernel's own threads
 * are no others: they write its files. */
double case_others_cpus(const struct record_case *c);

/* Throttled for more than 1 % of the case. A CPU's counter is that of the cgroup's quota, a GPU's its own. */
struct throttling {
    int rank;
    bool by_quota;
    double throttled_s, case_s;
    size_t samples, of_samples;
};
bool rank_throttled(const struct record *r, const struct record_rank *rank, struct throttling *out);

#endif
