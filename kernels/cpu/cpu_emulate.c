/* A 16-bit GEMM as its sums want it, without the hardware: operands expanded to fp32 exactly, multiplied by
 * OpenBLAS, the sums rounded to the nearest, ties to even. The result is that of fp32 accumulation; the rate
 * is no rate of 16-bit hardware. CPUs with avx512_bf16 or amx take this way too: oneDNN's interfaces for it
 * differ between versions 2 and 3. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/cpu_half.h"

#ifdef STEPCOST_TARGET_CLONES
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

CLONES static void expand_bf16(const uint16_t *from, float *to, struct cpu_share s) {
    for (uint64_t i = s.begin; i < s.end; i++)
        to[i] = half_from_bf16(from[i]);
}

CLONES static void expand_fp16(const uint16_t *from, float *to, struct cpu_share s) {
    for (uint64_t i = s.begin; i < s.end; i++)
        to[i] = half_from_fp16(from[i]);
}

CLONES static void round_bf16(const float *from, uint16_t *to, struct cpu_share s) {
    for (uint64_t i = s.begin; i < s.end; i++)
        to[i] = half_to_bf16(from[i]);
}

CLONES static void round_fp16(const float *from, uint16_t *to, struct cpu_share s) {
    for (uint64_t i = s.begin; i < s.end; i++)
        to[i] = half_to_fp16(from[i]);
}

static void expand(const struct prepared *p, const uint16_t *from, float *to, int64_t count) {
    int threads = p->device->threads;
#pragma omp parallel num_threads(threads)
    {
        struct cpu_share s = cpu_share((uint64_t)count, cpu_thread(), threads);
        if (p->op.dtype == DTYPE_BF16)
            expand_bf16(from, to, s);
        else
            expand_fp16(from, to, s);
    }
}

static void round_off(const struct prepared *p, const float *from, uint16_t *to, int64_t count) {
    int threads = p->device->threads;
#pragma omp parallel num_threads(threads)
    {
        struct cpu_share s = cpu_share((uint64_t)count, cpu_thread(), threads);
        if (p->op.dtype == DTYPE_BF16)
            round_bf16(from, to, s);
        else
            round_fp16(from, to, s);
    }
}

static void sizes(const struct op *op, int64_t out[3]) {
    out[0] = op->m * op->k;
    out[1] = op->k * op->n;
    out[2] = op->m * op->n;
}

int cpu_emulate_prepare(struct prepared *p, struct err *e) {
    int64_t count[3];
    sizes(&p->op, count);
    for (int i = 0; i < 3; i++)
        if (cpu_alloc(p->device, (uint64_t)count[i] * sizeof(float), &p->wide[i], e) ||
            cpu_fill(p->wide[i], DTYPE_FP32, FILL_ZERO, 0, e))
            return -1;
    return 0;
}

void cpu_emulate_release(struct prepared *p) {
    for (int i = 0; i < 3; i++)
        cpu_free(p->wide[i]);
}

void cpu_run_gemm_emulated(const struct prepared *p) {
    int64_t count[3];
    sizes(&p->op, count);
    float *wide[3];
    for (int i = 0; i < 3; i++)
        wide[i] = (void *)p->wide[i]->bytes;
    for (int64_t product = 0; product < p->op.batch; product++) {
        const uint16_t *a = (const void *)p->operands[0], *b = (const void *)p->operands[1];
        uint16_t *c = (void *)p->operands[2];
        expand(p, a + product * count[0], wide[0], count[0]);
        expand(p, b + product * count[1], wide[1], count[1]);
        cpu_sgemm(p->device->blas, &p->op, wide[0], wide[1], wide[2]);
        round_off(p, wide[2], c + product * count[2], count[2]);
    }
}
