#include "base/cgroup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kernels/chase.h"
#include "kernels/cpu/cpu.h"
#include "kernels/operand_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct queue {
    struct device *device;
};
struct event {
    uint64_t at_ns; /* 0 = not recorded */
};

struct kernel_row {
    enum op_kind kind;
    enum dtype dtype;
    void (*run)(const struct prepared *p);
};
static const struct kernel_row kernels[] = {
    {OP_GEMM, DTYPE_FP32, cpu_run_gemm_fp32},
    {OP_GEMM, DTYPE_FP64, cpu_run_gemm_fp64},
    {OP_GEMM, DTYPE_INT8, cpu_run_gemm_int8},
    {OP_CHASE, DTYPE_INT32, cpu_run_chase},
    {OP_GEMM, DTYPE_BF16, cpu_run_gemm_emulated},
    {OP_GEMM, DTYPE_FP16, cpu_run_gemm_emulated},
    {OP_FMA, DTYPE_FP32, cpu_run_fma},
    {OP_FMA, DTYPE_FP64, cpu_run_fma},
    {OP_COPY, DTYPE_FP32, cpu_run_stream},
    {OP_COPY, DTYPE_FP64, cpu_run_stream},
    {OP_SCALE, DTYPE_FP32, cpu_run_stream},
    {OP_SCALE, DTYPE_FP64, cpu_run_stream},
    {OP_ADD, DTYPE_FP32, cpu_run_stream},
    {OP_ADD, DTYPE_FP64, cpu_run_stream},
    {OP_TRIAD, DTYPE_FP32, cpu_run_stream},
    {OP_TRIAD, DTYPE_FP64, cpu_run_stream},
};

static const struct kernel_row *find_kernel(const struct op *op) {
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i].kind == op->kind && kernels[i].dtype == op->dtype)
            return &kernels[i];
    return NULL;
}

static int cpu_count(const struct backend_config *c, struct err *e) {
    (void)c, (void)e;
    return 1;
}

static int cpu_open(const struct backend_config *c, int index, struct device **out, struct err *e) {
    struct cgroup_limits limits = cgroup_read("");
    int threads = c->threads ? c->threads : limits.usable_cpus;
    if (index != 0)
        return err_set(e, ERR_NO_DEVICE, "cpu: there is only device 0, not %d", index);
    if (threads > CPU_MAX_THREADS)
        threads = CPU_MAX_THREADS;
    if (threads < 1 || threads > limits.cpus)
        return err_set(e, ERR_USAGE, "threads: %d asked for, this process may use 1 to %d", c->threads,
                       limits.cpus);
    struct device *d = xcalloc(1, sizeof *d);
    d->threads = threads;
    d->free_at_open_bytes = limits.memory_available_bytes;
    cpu_bind(d);
    d->blas = cpu_blas_open(d->threads);
    d->dnnl = cpu_dnnl_open(d->threads, d->no_dnnl, sizeof d->no_dnnl);
    cpu_find_temperature(d);
    *out = d;
    return 0;
}

static void cpu_close(struct device *d) {
    if (!d)
        return;
    cpu_unbind(d);
    cpu_blas_close(d->blas);
    cpu_dnnl_close(d->dnnl);
    free(d);
}

static bool cpu_supports(struct device *d, const struct op *op, char *reason, size_t size) {
    if (op->kind == OP_GEMM && op->dtype == DTYPE_INT8 && !d->dnnl)
        snprintf(reason, size, "no int8 GEMM: %s", d->no_dnnl);
    else if (op->kind == OP_GEMM && op->dtype != DTYPE_INT8 && !d->blas)
        snprintf(
            reason, size,
            "OpenBLAS is not here, or was not at build time: apt-get install libopenblas-openmp-dev, then "
            "build again");
    else if (op->kind == OP_GEMM && !find_kernel(op))
        snprintf(reason, size, "no %s GEMM on the CPU, only fp64, fp32, bf16, fp16 and int8",
                 dtype_name(op->dtype));
    else if (op->kind == OP_GEMM && (op->m > INT_MAX || op->n > INT_MAX || op->k > INT_MAX))
        snprintf(reason, size, "a GEMM on the CPU takes dimensions up to %d", INT_MAX);
    else if (op->kind == OP_GEMM && op->accumulate != op_gemm(1, 1, 1, op->dtype).accumulate)
        snprintf(reason, size, "no %s GEMM that sums in %s on the CPU", dtype_name(op->dtype),
                 dtype_name(op->accumulate));
    else if (op->kind == OP_CHASE && op->elements > CHASE_MAX_NODES)
        snprintf(reason, size, "a chase has at most %d lines", CHASE_MAX_NODES);
    else if (!find_kernel(op))
        snprintf(reason, size, "the CPU backend has no %s of %s", op_kind_name(op->kind),
                 dtype_name(op->dtype));
    else
        return true;
    return false;
}

static void cpu_release(struct prepared *p) {
    if (p)
        cpu_emulate_release(p);
    free(p);
}

static int cpu_prepare(struct device *d, const struct op *op, struct buffer *const *buffers, size_t count,
                       struct prepared **out, struct err *e) {
    uint64_t sizes[OP_MAX_OPERANDS] = {0};
    char reason[ERR_TEXT_SIZE / 2];
    if (!cpu_supports(d, op, reason, sizeof reason))
        return err_set(e, ERR_DEVICE, "cpu: %s", reason);
    for (size_t i = 0; i < count && i < OP_MAX_OPERANDS; i++)
        sizes[i] = buffers[i]->size;
    if (operand_check_buffers(op, sizes, count, e))
        return err_wrap(e, "cpu");
    struct prepared *p = xcalloc(1, sizeof *p);
    p->device = d;
    p->op = *op;
    p->run = find_kernel(op)->run;
    for (size_t i = 0; i < count; i++)
        p->operands[i] = buffers[i]->bytes;
    if (op->kind == OP_CHASE)
        cpu_chase_prepare(p);
    if (p->run == cpu_run_gemm_emulated && cpu_emulate_prepare(p, e)) {
        cpu_release(p);
        return -1;
    }
    *out = p;
    return 0;
}

static int cpu_queue_open(struct device *d, struct queue **out, struct err *e) {
    (void)e;
    *out = xmalloc(sizeof **out);
    (*out)->device = d;
    return 0;
}

static void cpu_queue_close(struct queue *q) {
    free(q);
}

static int cpu_event_open(struct device *d, struct event **out, struct err *e) {
    (void)d, (void)e;
    *out = xcalloc(1, sizeof **out);
    return 0;
}

static void cpu_event_close(struct event *ev) {
    free(ev);
}

static int cpu_enqueue(struct queue *q, struct prepared *p, uint64_t n, struct err *e) {
    (void)q, (void)e;
    for (uint64_t i = 0; i < n; i++)
        p->run(p);
    return 0;
}

static int cpu_record(struct queue *q, struct event *ev, struct err *e) {
    (void)q, (void)e;
    ev->at_ns = clock_monotonic_ns();
    return 0;
}

static int cpu_wait(struct queue *q, struct event *ev, struct err *e) {
    (void)q;
    return ev->at_ns ? 0 : err_set(e, ERR_DEVICE, "cpu: wait for an event that was not recorded");
}

static int cpu_sync(struct queue *q, struct err *e) {
    (void)q, (void)e;
    return 0;
}

static int cpu_elapsed(struct event *from, struct event *to, double *out_s, struct err *e) {
    if (!from->at_ns || !to->at_ns)
        return err_set(e, ERR_DEVICE, "cpu: elapsed between events that were not recorded");
    *out_s = ((double)to->at_ns - (double)from->at_ns) * 1e-9;
    return 0;
}

/* The one symbol of the module: BACKEND_SYMBOL. */
extern const struct backend stepcost_backend;
__attribute__((visibility("default"))) const struct backend stepcost_backend = {
    .abi = BACKEND_ABI,
    .name = "cpu",
    .summary = "the CPUs of this machine: OpenBLAS and oneDNN for GEMM, OpenMP loops for memory",
    .count = cpu_count,
    .open = cpu_open,
    .close = cpu_close,
    .describe = cpu_describe,
    .telemetry = cpu_telemetry,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .fill = cpu_fill,
    .write = cpu_write,
    .read = cpu_read,
    .supports = cpu_supports,
    .prepare = cpu_prepare,
    .release = cpu_release,
    .queue_open = cpu_queue_open,
    .queue_close = cpu_queue_close,
    .event_open = cpu_event_open,
    .event_close = cpu_event_close,
    .enqueue = cpu_enqueue,
    .record = cpu_record,
    .wait = cpu_wait,
    .sync = cpu_sync,
    .elapsed = cpu_elapsed,
};
