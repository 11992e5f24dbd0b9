#include "reports/disturbance.h"

#include "reports/record_view.h"

#include <math.h>

static const double contaminated_share = 0.05; /* of the CPUs                              */
static const double contaminated_cpus = 0.5;   /* of one CPU, where all threads must agree */
static const double least_cpu_s = 0.05;        /* five ticks of the kernel's counters      */
static const double throttled_share = 0.01;    /* of the case's time                       */

static bool too_much(const struct record *r, const struct record_host *h, double cpu_s) {
    double limit = contaminated_share * h->cpus;
    if (!record_is_gpu(r))
        limit = fmin(limit, contaminated_cpus);
    return cpu_s > fmax(least_cpu_s, limit * h->window_s);
}

/* Of a folder the kernel's threads do the work that is measured. */
static double others_cpu_s(const struct record_case *c) {
    bool kernel_works = op_is_file(&c->op) && !isnan(c->host.kernel_cpu_s);
    return c->host.others_cpu_s - (kernel_works ? c->host.kernel_cpu_s : 0);
}

bool case_contaminated(const struct record *r, const struct record_case *c, struct contamination *out) {
    const struct record_host *h = &c->host;
    const struct {
        double cpu_s;
        const char *by;
    } rows[] = {{others_cpu_s(c), "other processes"}, {h->steal_s, "the hypervisor (steal)"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (too_much(r, h, rows[i].cpu_s)) {
            *out = (struct contamination){rows[i].by, rows[i].cpu_s / h->window_s, h->cpus};
            return true;
        }
    return false;
}

double case_others_cpus(const struct record_case *c) {
    return others_cpu_s(c) / c->host.window_s;
}

bool rank_throttled(const struct record *r, const struct record_rank *rank, struct throttling *out) {
    const struct record_telemetry *t = &rank->telemetry;
    if (t->count < 2)
        return false;
    *out = (struct throttling){.rank = rank->rank,
                               .by_quota = !record_is_gpu(r),
                               .throttled_s = record_throttled_s(rank),
                               .case_s = t->t_s[t->count - 1] - t->t_s[0],
                               .of_samples = rank->count};
    if (!(out->throttled_s > throttled_share * out->case_s))
        return false;
    out->samples = record_throttled_samples(rank, NULL);
    return true;
}
