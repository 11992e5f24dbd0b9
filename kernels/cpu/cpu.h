/* The CPU as a device: OpenBLAS for GEMM, OpenMP loops for memory, a register-only loop for the peak rate.
 * One device = all CPUs that the cgroup allows, one pinned thread on each.
 *
 * Every queue is synchronous: enqueue returns when the work is done. Use a device from the thread that
 * opened it, since the pinned team of threads belongs to that one (telemetry alone may come from another: it
 * reads only what open has set). Not for callers outside kernels/cpu. */
#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H

#include "kernels/backend.h"

#include <sched.h>

enum { CPU_MAX_THREADS = 1024 };

struct cpu_blas;
struct cpu_dnnl;

struct device {
    struct cpu_blas *blas; /* NULL = no GEMM      */
    struct cpu_dnnl *dnnl; /* NULL = no int8 GEMM */
    char no_dnnl[160];     /* and why             */
    int threads;
    int bound; /* CPUs in cpus; 0 = not pinned */
    int cpus[CPU_MAX_THREADS];
    cpu_set_t before;          /* affinity that the opening thread had */
    char temperature_path[96]; /* "" = none */
    uint64_t free_at_open_bytes, allocated_bytes;
    volatile double sink; /* results that nobody reads end here, so that they must be worked out */
};

struct buffer {
    struct device *device;
    uint64_t size;
    unsigned char *bytes;
};

struct prepared {
    struct device *device;
    struct op op;
    unsigned char *operands[OP_MAX_OPERANDS];
    void (*run)(const struct prepared *p);
    struct buffer *wide[3]; /* A B C of one product in fp32, where a 16-bit GEMM is emulated; else NULL */
};

/* A share of n elements, the same for whoever touches a buffer: so a page lies with the thread that uses
 * it. Shares begin at whole cache lines. */
struct cpu_share {
    uint64_t begin, end;
};
struct cpu_share cpu_share(uint64_t n, int thread, int threads);
/* The calling thread's number in the team. */
int cpu_thread(void);

/* ---- cpu_bind.c ---- */
/* Makes a team of d->threads (fewer where OpenMP gives fewer: then d->threads says so), and pins it to CPUs
 * of the affinity mask, different cores first. */
void cpu_bind(struct device *d);
/* Gives all threads the mask back that they had before cpu_bind. */
void cpu_unbind(struct device *d);

/* ---- cpu_memory.c ---- */
int cpu_alloc(struct device *d, uint64_t size_bytes, struct buffer **out, struct err *e);
void cpu_free(struct buffer *b);
int cpu_fill(struct buffer *b, enum dtype t, enum fill how, uint64_t seed, struct err *e);
int cpu_write(struct buffer *b, uint64_t offset, const void *from, uint64_t size, struct err *e);
int cpu_read(struct buffer *b, uint64_t offset, void *to, uint64_t size, struct err *e);

/* ---- what runs: each executes p once on the whole team ---- */
void cpu_run_gemm_fp32(const struct prepared *p);
void cpu_run_gemm_fp64(const struct prepared *p);
void cpu_run_gemm_int8(const struct prepared *p);
void cpu_run_gemm_emulated(const struct prepared *p);
void cpu_run_chase(const struct prepared *p);
void cpu_run_fma(const struct prepared *p);
void cpu_run_stream(const struct prepared *p);

/* ---- cpu_gemm.c ---- */
/* The library, with its core type mended where it took one far below the CPU; NULL = no CBLAS here. */
struct cpu_blas *cpu_blas_open(int threads);
void cpu_blas_close(struct cpu_blas *b);
void cpu_blas_facts(const struct cpu_blas *b, struct device_info *out);

/* Row major, C[m,n] = op(A) op(B), one product in fp32. */
void cpu_sgemm(const struct cpu_blas *b, const struct op *op, const float *x, const float *y, float *z);

/* ---- cpu_dnnl.c: int8 by oneDNN, version 2 or 3 ---- */
/* NULL and the reason (with its mend) when there is none, or none that can share our threads. */
struct cpu_dnnl *cpu_dnnl_open(int threads, char *reason, size_t size);
void cpu_dnnl_close(struct cpu_dnnl *n);
void cpu_dnnl_facts(const struct cpu_dnnl *n, struct device_info *out);

/* ---- cpu_emulate.c: bf16 and fp16 ---- */
/* Allocates p->wide for p->op. */
int cpu_emulate_prepare(struct prepared *p, struct err *e);
void cpu_emulate_release(struct prepared *p);

/* ---- cpu_chase.c ---- */
/* Lays the cycle into p's lines, so that all of their pages are resident, too. */
void cpu_chase_prepare(struct prepared *p);

/* ---- cpu_describe.c ---- */
int cpu_describe(struct device *d, struct device_info *out, struct err *e);
void cpu_telemetry(struct device *d, struct telemetry *out);
void cpu_find_temperature(struct device *d);
void cpu_add_fact(struct device_info *out, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *cpu_fma_isa(void);

#endif
