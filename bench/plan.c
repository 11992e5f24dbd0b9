#include "bench/plan.h"

#include "base/mem.h"
#include "model/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plan_add(struct plan *p, const struct bench_case *c) {
    p->cases = xgrow(p->cases, sizeof *p->cases, p->count, &p->capacity);
    p->cases[p->count++] = *c;
}

double plan_seconds(const struct plan *p) {
    double sum_s = 0;
    for (size_t i = 0; i < p->count; i++)
        sum_s += p->cases[i].seconds;
    return sum_s;
}

void plan_free(struct plan *p) {
    if (p != NULL) {
        free(p->cases);
        *p = (struct plan){0};
    }
}

void plan_add_op(struct plan *p, const struct plan_request *r, const struct bench_case *c) {
    struct bench_case added = *c;
    op_name(&c->op, added.id);
    added.seconds = r->seconds;
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->cases[i].id, added.id) == 0)
            return;
    plan_add(p, &added);
}

void plan_recalibrate(struct plan *p) {
    size_t count = p->count, calibrations = 0;
    for (size_t i = 0; i < count; i++)
        calibrations += p->cases[i].op.kind == OP_FMA;
    for (size_t i = 0; i < count && calibrations < count; i++) {
        struct bench_case again = p->cases[i];
        size_t length = strlen(again.id);
        if (again.op.kind != OP_FMA)
            continue;
        snprintf(again.id + length, sizeof again.id - length, "@end");
        again.mandatory = false;
        plan_add(p, &again);
    }
}

static bool device_has(const struct device_info *d, const struct gpu_match *match, enum dtype t) {
    if (!d->is_gpu)
        return t == DTYPE_FP32;
    return match->count == 0 || gpu_has_native(match->candidates[0], t);
}

enum dtype plan_workload_dtype(const struct plan_request *r) {
    const struct workload *w = r->workload;
    struct gpu_table gpus = {0};
    struct gpu_match match = {0};
    struct err ignored;
    const struct data embedded = {0};
    if (r->device->is_gpu && gpu_table_load(&embedded, &gpus, &ignored) == 0)
        match = gpu_match_name(&gpus, r->device->name, r->device->memory_bytes);
    enum dtype found = DTYPE_FP32;
    for (size_t i = 0; i < w->precision_count; i++) {
        if (device_has(r->device, &match, w->precisions[i])) {
            found = w->precisions[i];
            break;
        }
    }
    gpu_table_free(&gpus);
    return found;
}
