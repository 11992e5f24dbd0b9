#include "kernels/cpu/cpu.h"

/* gcc would turn copy into memcpy, whose stores bypass the cache and do not compare with the other three
 * loops; clang is told by -fno-builtin, which gcc does not heed here. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

/* The same loop for each vector width, chosen when the module is loaded. */
#ifdef STEPCOST_TARGET_CLONES
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

#define SCALAR 3 /* as REF_STREAM_SCALAR */

/* Inputs x and y (where there are two), output z, as op_operands lists them. */
typedef void stream_loop(const void *x, const void *y, void *z, struct cpu_share s);

#define STREAM_LOOP(name, type, value)                                                                       \
    CLONES static void name(const void *x, const void *y, void *z, struct cpu_share s) {                     \
        typedef type element;                                                                                \
        const element *a = x, *b = y;                                                                        \
        element *c = z;                                                                                      \
        (void)b;                                                                                             \
        for (uint64_t i = s.begin; i < s.end; i++)                                                           \
            c[i] = value;                                                                                    \
    }

STREAM_LOOP(copy_fp64, double, a[i])
STREAM_LOOP(copy_fp32, float, a[i])
STREAM_LOOP(scale_fp64, double, SCALAR *a[i])
STREAM_LOOP(scale_fp32, float, SCALAR *a[i])
STREAM_LOOP(add_fp64, double, a[i] + b[i])
STREAM_LOOP(add_fp32, float, a[i] + b[i])
STREAM_LOOP(triad_fp64, double, a[i] + SCALAR * b[i])
STREAM_LOOP(triad_fp32, float, a[i] + SCALAR * b[i])

static stream_loop *const loops[OP_KIND_COUNT][2] = {
    [OP_COPY] = {copy_fp64, copy_fp32},
    [OP_SCALE] = {scale_fp64, scale_fp32},
    [OP_ADD] = {add_fp64, add_fp32},
    [OP_TRIAD] = {triad_fp64, triad_fp32},
};

void cpu_run_stream(const struct prepared *p) {
    stream_loop *loop = loops[p->op.kind][p->op.dtype == DTYPE_FP32];
    bool two_inputs = p->op.kind == OP_ADD || p->op.kind == OP_TRIAD;
    const void *x = p->operands[0], *y = two_inputs ? p->operands[1] : x;
    void *z = p->operands[two_inputs ? 2 : 1];
    uint64_t count = (uint64_t)p->op.elements;
#pragma omp parallel num_threads(p->device->threads)
    loop(x, y, z, cpu_share(count, cpu_thread(), p->device->threads));
}
