#include "base/cgroup.h"
#include "base/clock.h"
#include "base/mem.h"
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
    {OP_GEMM, DTYPE_FP32, cpu_run_gemm_fp32}, {OP_GEMM, DTYPE_FP64, cpu_run_gemm_fp64},
    {OP_FMA, DTYPE_FP32, cpu_run_fma},        {OP_FMA, DTYPE_FP64, cpu_run_fma},
    {OP_COPY, DTYPE_FP32, cpu_run_stream},    {OP_COPY, DTYPE_FP64, cpu_run_stream},
    {OP_SCALE, DTYPE_FP32, cpu_run_stream},   {OP_SCALE, DTYPE_FP64, cpu_run_stream},
    {OP_ADD, DTYPE_FP32, cpu_run_stream},     {OP_ADD, DTYPE_FP64, cpu_run_stream},
    {OP_TRIAD, DTYPE_FP32, cpu_run_stream},   {OP_TRIAD, DTYPE_FP64, cpu_run_stream},
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
    cpu_find_temperature(d);
    *out = d;
    return 0;
}

static void cpu_close(struct device *d) {
    if (!d)
        return;
    cpu_unbind(d);
    cpu_blas_close(d->blas);
    free(d);
}

static bool cpu_supports(struct device *d, const struct op *op, char *reason, size_t size) {
    if (op->kind == OP_GEMM && !d->blas)
        snprintf(
            reason, size,
            "OpenBLAS is not here, or was not at build time: apt-get install libopenblas-openmp-dev, then "
            "build again");
    else if (op->kind == OP_GEMM && !find_kernel(op))
        snprintf(reason, size, "no %s GEMM in OpenBLAS, only fp32 and fp64", dtype_name(op->dtype));
    else if (op->kind == OP_GEMM && (op->m > INT_MAX || op->n > INT_MAX || op->k > INT_MAX))
        snprintf(reason, size, "OpenBLAS takes dimensions up to %d", INT_MAX);
    else if (!find_kernel(op))
        snprintf(reason, size, "the CPU backend has no %s of %s", op_kind_name(op->kind),
                 dtype_name(op->dtype));
    else
        return true;
    return false;
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
    *out = p;
    return 0;
}

static void cpu_release(struct prepared *p) {
    free(p);
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
    .summary = "the CPUs of this machine: OpenBLAS for GEMM, OpenMP loops for memory",
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
