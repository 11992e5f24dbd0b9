#include "bench/plan.h"

#include <math.h>

enum { ARRAYS_MAX = 3, ROUND_ELEMENTS = 4096 };

static const double cpu_least_bytes = 64.0 * (1 << 20);
static const double gpu_least_bytes = 256.0 * (1 << 20);

/* Elements of one array: the two of `copy` together exceed 4 x the last-level cache, and the three of
 * `triad` stay within a quarter of the memory. All four ops share one length, as in STREAM. */
static int64_t array_elements(const struct device_info *d) {
    double bytes = d->is_gpu ? gpu_least_bytes : cpu_least_bytes;
    if (d->cache_bytes > 0)
        bytes = fmax(bytes, 2 * d->cache_bytes + ROUND_ELEMENTS * sizeof(double));
    if (d->memory_bytes > 0)
        bytes = fmin(bytes, d->memory_bytes / 4 / ARRAYS_MAX);
    int64_t blocks = (int64_t)(bytes / (ROUND_ELEMENTS * sizeof(double)));
    return (blocks > 0 ? blocks : 1) * ROUND_ELEMENTS;
}

int membw_plan(const struct plan_request *r, struct plan *out, struct err *e) {
    (void)e;
    static const enum op_kind kinds[] = {OP_COPY, OP_SCALE, OP_ADD, OP_TRIAD};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct bench_case c = {.bench = "membw", .mandatory = true, .rotate = true};
        c.op = op_elementwise(kinds[i], array_elements(r->device), DTYPE_FP64);
        plan_add_op(out, r, &c);
    }
    return 0;
}
