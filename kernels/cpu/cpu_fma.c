#include "kernels/cpu/cpu.h"

/* Multiply-adds that never leave the registers. One chain waits for itself: latency x units of them are
 * needed (4 x 2 on x86 since Skylake and Zen, 4 x 4 on Neoverse V1), and they must fit the registers (16
 * with AVX2). */
#ifdef __aarch64__
enum { CHAINS = 16 };
#else
enum { CHAINS = 12 };
#endif

/* Each chain tends to term / (1 - factor) = 1: no overflow and no denormal, ever. The volatile hides the
 * constants, or a chain that starts at its fixed point would be left out by the compiler. */
#define FMA_LOOP(name, type, width_bytes, target_attribute)                                                  \
    target_attribute static double name(int64_t rounds) {                                                    \
        typedef type vector __attribute__((vector_size(width_bytes)));                                       \
        volatile type factor = (type)0.75, term = (type)0.25;                                                \
        vector x = (vector){0} + factor, y = (vector){0} + term, chain[CHAINS], sum = {0};                   \
        for (int i = 0; i < CHAINS; i++)                                                                     \
            chain[i] = (vector){0} + (type)i;                                                                \
        for (int64_t round = 0; round < rounds; round++)                                                     \
            for (int i = 0; i < CHAINS; i++)                                                                 \
                chain[i] = chain[i] * x + y;                                                                 \
        for (int i = 0; i < CHAINS; i++)                                                                     \
            sum += chain[i];                                                                                 \
        return (double)sum[0];                                                                               \
    }

typedef double fma_loop(int64_t rounds);
struct fma_row {
    const char *isa;
    int width_bytes;
    fma_loop *fp64, *fp32;
};

FMA_LOOP(generic_fp64, double, 16, )
FMA_LOOP(generic_fp32, float, 16, )
static const struct fma_row generic_row = {"generic", 16, generic_fp64, generic_fp32};

#ifdef __x86_64__
FMA_LOOP(avx512_fp64, double, 64, __attribute__((target("avx512f"))))
FMA_LOOP(avx512_fp32, float, 64, __attribute__((target("avx512f"))))
FMA_LOOP(avx2_fp64, double, 32, __attribute__((target("avx2,fma"))))
FMA_LOOP(avx2_fp32, float, 32, __attribute__((target("avx2,fma"))))
static const struct fma_row avx512_row = {"avx512f", 64, avx512_fp64, avx512_fp32};
static const struct fma_row avx2_row = {"avx2", 32, avx2_fp64, avx2_fp32};

static const struct fma_row *choose(void) {
    if (__builtin_cpu_supports("avx512f"))
        return &avx512_row;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2_row : &generic_row;
}
#else
static const struct fma_row *choose(void) {
    return &generic_row;
}
#endif

const char *cpu_fma_isa(void) {
    return choose()->isa;
}

void cpu_run_fma(const struct prepared *p) {
    const struct fma_row *row = choose();
    fma_loop *loop = p->op.dtype == DTYPE_FP32 ? row->fp32 : row->fp64;
    int64_t lanes = row->width_bytes / (int64_t)dtype_bytes(p->op.dtype);
    int64_t per_round = lanes * CHAINS * p->device->threads;
    int64_t rounds = (p->op.elements + per_round - 1) / per_round;
    double sum = 0;
#pragma omp parallel num_threads(p->device->threads) reduction(+ : sum)
    sum += loop(rounds);
    p->device->sink = sum;
}
