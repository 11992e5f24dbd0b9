#include "bench/plan.h"

/* The square that the gemm benchmark has, too: what it measured is not measured again. */
static const int64_t cpu_square = 2048, gpu_square = 4096;

/* The widest first: the rest is held against it. A CPU multiplies bf16 and fp16 by way of fp32 (emulated). */
static const enum dtype cpu_types[] = {DTYPE_FP64, DTYPE_FP32, DTYPE_BF16, DTYPE_FP16, DTYPE_INT8};
static const enum dtype gpu_types[] = {DTYPE_FP32, DTYPE_TF32, DTYPE_BF16, DTYPE_FP16, DTYPE_INT8};
enum { TYPES = sizeof cpu_types / sizeof cpu_types[0] };
_Static_assert(sizeof gpu_types == sizeof cpu_types, "one count serves both");

static void add(struct plan *out, const struct plan_request *r, const int64_t size[3], enum dtype t) {
    struct bench_case c = {.bench = "precision", .rotate = r->device->is_gpu};
    c.op = op_gemm(size[0], size[1], size[2], t);
    plan_add_op(out, r, &c);
}

int precision_plan(const struct plan_request *r, struct plan *out, struct err *e) {
    int64_t square = r->device->is_gpu ? gpu_square : cpu_square, size[3] = {square, square, square};
    const enum dtype *types = r->dtype_count > 0 ? r->dtypes : r->device->is_gpu ? gpu_types : cpu_types;
    size_t type_count = r->dtype_count > 0 ? r->dtype_count : TYPES;
    for (size_t s = 0; s == 0 || s < r->shape_count; s++) {
        if (r->shape_count > 0 && plan_parse_shape(r->shapes[s], size, e) != 0)
            return -1;
        for (size_t i = 0; i < type_count; i++)
            add(out, r, size, types[i]);
    }
    return 0;
}
