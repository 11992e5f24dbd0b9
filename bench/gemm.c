#include "bench/plan.h"

#include "model/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sweep[] = {512, 1024, 2048, 4096};
enum { CPU_SWEEP = 3, GPU_SWEEP = 4 };
static const int64_t dimension_max = INT64_C(1) << 20;

/* On a GPU a warm second-level cache flatters small products. A CPU's product packs its operands into
 * its own cache at every call, and its last-level cache may be the whole host's: rotating over 4 x that
 * would cost seconds of filling a case for an effect of a few percent on the smallest shapes. */
static void add_gemm(struct plan *out, const struct plan_request *r, const struct op *op) {
    struct bench_case c = {.bench = "gemm", .op = *op, .rotate = r->device->is_gpu};
    c.mandatory = op->dtype != DTYPE_FP64;
    plan_add_op(out, r, &c);
}

int plan_parse_shape(const char *text, int64_t out[3], struct err *e) {
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        long long value = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : 0;
        if (value < 1 || value > dimension_max || *end != (i < 2 ? 'x' : '\0')) {
            return err_set(e, ERR_USAGE,
                           "shape '%s': want MxNxK with each size from 1 to %lld, as in 1024x3072x768", text,
                           (long long)dimension_max);
        }
        out[i] = value;
        at = end + 1;
    }
    return 0;
}

static int add_shapes(struct plan *out, const struct plan_request *r, enum dtype t, struct err *e) {
    for (size_t i = 0; i < r->shape_count; i++) {
        int64_t s[3] = {0};
        if (plan_parse_shape(r->shapes[i], s, e) != 0)
            return -1;
        struct op op = op_gemm(s[0], s[1], s[2], t);
        add_gemm(out, r, &op);
    }
    return 0;
}

static void add_step_op(struct plan *out, const struct plan_request *r, const struct op *op) {
    if (op->kind == OP_GEMM) {
        add_gemm(out, r, op);
    } else if (op->kind == OP_ATTENTION && !r->device->is_gpu) {
        struct op parts[OP_MAX_PARTS];
        size_t count = op_unfused_attention(op, parts);
        for (size_t i = 0; i < count; i++)
            add_step_op(out, r, &parts[i]);
    }
}

static void add_workload(struct plan *out, const struct plan_request *r, enum dtype t) {
    struct layout layout;
    struct layout_memory memory;
    struct step_ops steps = {0};
    /* When nothing fits, the smallest layout's shapes are still what a bigger device would run. */
    layout_choose(r->workload, r->devices, t, r->device->memory_bytes, r->device->is_gpu, &layout, &memory);
    workload_expand(r->workload, &layout, &steps);
    for (size_t i = 0; i < steps.count; i++)
        add_step_op(out, r, &steps.items[i].op);
    step_ops_free(&steps);
}

static void add_sweep(struct plan *out, const struct plan_request *r, enum dtype t, bool largest_only) {
    size_t count = r->device->is_gpu ? GPU_SWEEP : CPU_SWEEP;
    for (size_t i = largest_only ? count - 1 : 0; i < count; i++) {
        struct op op = op_gemm(sweep[i], sweep[i], sweep[i], t);
        add_gemm(out, r, &op);
    }
}

static int plan_dtype(const struct plan_request *r, struct plan *out, enum dtype t, struct err *e) {
    if (r->shape_count > 0)
        return add_shapes(out, r, t, e);
    /* One large square beside a workload's shapes: tiles and waves make any single shape misleading. */
    add_sweep(out, r, t, r->workload != NULL);
    if (r->workload != NULL)
        add_workload(out, r, t);
    return 0;
}

/* The types to measure when none are asked for; returns how many. */
static size_t usual_dtypes(const struct plan_request *r, enum dtype *out) {
    static const enum dtype cpu_types[] = {DTYPE_FP32, DTYPE_FP64};
    static const enum dtype gpu_types[] = {DTYPE_BF16, DTYPE_FP16, DTYPE_TF32, DTYPE_FP32};
    size_t count =
        r->device->is_gpu ? sizeof gpu_types / sizeof gpu_types[0] : sizeof cpu_types / sizeof cpu_types[0];
    if (r->workload != NULL) {
        out[0] = plan_workload_dtype(r);
        return 1;
    }
    memcpy(out, r->device->is_gpu ? gpu_types : cpu_types, count * sizeof *out);
    return count;
}

int gemm_plan(const struct plan_request *r, struct plan *out, struct err *e) {
    enum dtype usual[DTYPE_COUNT];
    size_t count = r->dtype_count > 0 ? r->dtype_count : usual_dtypes(r, usual);
    const enum dtype *types = r->dtype_count > 0 ? r->dtypes : usual;
    for (size_t i = 0; i < count; i++)
        if (plan_dtype(r, out, types[i], e) != 0)
            return -1;
    return 0;
}
