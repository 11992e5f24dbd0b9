#include "bench/plan.h"

#include <math.h>

static const double least_bytes = 4096;
static const double cache_multiple = 4, memory_share = 0.25;
/* A round through more takes seconds, and no core has a cache of a quarter of it. */
static const double most_bytes = 512.0 * (1 << 20);
static const double unknown_cache_bytes = 32.0 * (1 << 20);

/* Two footprints an octave: a cache's size shows within a factor of 1.41. */
int cache_plan(const struct plan_request *r, struct plan *out, struct err *e) {
    (void)e;
    const struct device_info *d = r->device;
    double most = cache_multiple * (d->cache_bytes > 0 ? d->cache_bytes : unknown_cache_bytes);
    most = fmin(most, most_bytes);
    if (d->memory_bytes > 0)
        most = fmin(most, memory_share * d->memory_bytes);
    for (int step = 0;; step++) {
        double bytes = least_bytes * exp2(step / 2.0);
        if (bytes > most)
            return 0;
        struct bench_case c = {.bench = "cache", .op = op_chase((int64_t)bytes)};
        plan_add_op(out, r, &c);
    }
}
