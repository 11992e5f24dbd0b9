#include "bench/plan.h"

/* Long enough that a call's overhead is lost in it (milliseconds), short enough to be batched. */
static const int64_t cpu_multiply_adds = INT64_C(1) << 27;
static const int64_t gpu_multiply_adds = INT64_C(1) << 34;

int fma_plan(const struct plan_request *r, struct plan *out, struct err *e) {
    (void)e;
    static const enum dtype types[] = {DTYPE_FP32, DTYPE_FP64};
    int64_t elements = r->device->is_gpu ? gpu_multiply_adds : cpu_multiply_adds;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct bench_case c = {.bench = "fma", .mandatory = true};
        c.op = op_elementwise(OP_FMA, elements, types[i]);
        plan_add_op(out, r, &c);
    }
    return 0;
}
