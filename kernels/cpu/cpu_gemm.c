/* OpenBLAS is opened when a device is, not linked: a machine without it loses GEMM only, and the core type
 * can be mended before any of its threads exist. */
#include "kernels/cpu/cpu.h"

#ifdef STEPCOST_CBLAS
#include <cblas.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cpu_blas {
    void *library;
    char core_by_itself[32]; /* what the library chose, when that was mended; else "" */
    __typeof__(cblas_sgemm) *sgemm;
    __typeof__(cblas_dgemm) *dgemm;
    /* OpenBLAS only; NULL in another CBLAS */
    void (*set_num_threads)(int);
    int (*get_num_threads)(void);
    int (*get_parallel)(void);
    char *(*get_config)(void);
    char *(*get_corename)(void);
};

/* A bundle's own, the flavour that was meant at build time, else what the loader finds. */
static const char *const libraries[] = {"$ORIGIN/cpu/libopenblas.so.0", STEPCOST_BLAS_PATH,
                                        "libopenblas.so.0", "libcblas.so.3"};

static bool load(struct cpu_blas *b) {
    const struct {
        const char *name;
        void *slot;
    } symbols[] = {
        {"cblas_sgemm", &b->sgemm},
        {"cblas_dgemm", &b->dgemm},
        {"openblas_set_num_threads", &b->set_num_threads},
        {"openblas_get_num_threads", &b->get_num_threads},
        {"openblas_get_parallel", &b->get_parallel},
        {"openblas_get_config", &b->get_config},
        {"openblas_get_corename", &b->get_corename},
    };
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0] && !b->library; i++)
        b->library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; b->library && i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(b->library, symbols[i].name);
        memcpy(symbols[i].slot, &address, sizeof address);
    }
    return b->sgemm && b->dgemm;
}

/* The core type that suits this CPU where the library took one without AVX: an OpenBLAS older than the CPU
 * does not know its model and falls back that far, at a tenth of the speed. NULL = let it be. */
static const char *better_core(const char *core) {
    static const char *const without_avx[] = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Atom"};
    bool poor = false;
    for (size_t i = 0; i < sizeof without_avx / sizeof without_avx[0]; i++)
        poor |= strcmp(core, without_avx[i]) == 0;
#ifdef __x86_64__
    if (poor && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (poor && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}

/* A choice of the user's own is never overruled. */
static void mend_core(struct cpu_blas *b) {
    static const char variable[] = "OPENBLAS_CORETYPE";
    const char *better = b->get_corename && !getenv(variable) ? better_core(b->get_corename()) : NULL;
    if (!better)
        return;
    snprintf(b->core_by_itself, sizeof b->core_by_itself, "%s", b->get_corename());
    dlclose(b->library);
    b->library = NULL;
    setenv(variable, better, 1);
    (void)load(b);
    unsetenv(variable);
}

struct cpu_blas *cpu_blas_open(int threads) {
    struct cpu_blas *b = calloc(1, sizeof *b);
    if (!b || !load(b)) {
        cpu_blas_close(b);
        return NULL;
    }
    mend_core(b);
    if (b->set_num_threads)
        b->set_num_threads(threads);
    return b;
}

void cpu_blas_close(struct cpu_blas *b) {
    /* The library stays: its threads may still be about. */
    free(b);
}

/* Row major, packed, `batch` products one after the other: op_gemm's conventions. */
#define GEMM(name, type, call)                                                                               \
    void name(const struct prepared *p) {                                                                    \
        const struct op *op = &p->op;                                                                        \
        int m = (int)op->m, n = (int)op->n, k = (int)op->k;                                                  \
        typedef type element;                                                                                \
        const element *a = (const void *)p->operands[0], *b = (const void *)p->operands[1];                  \
        element *c = (void *)p->operands[2];                                                                 \
        for (int64_t i = 0; i < op->batch; i++) {                                                            \
            p->device->blas->call(CblasRowMajor, op->trans_a ? CblasTrans : CblasNoTrans,                    \
                                  op->trans_b ? CblasTrans : CblasNoTrans, m, n, k, 1, a,                    \
                                  op->trans_a ? m : k, b, op->trans_b ? k : n, 0, c, n);                     \
            a += op->m * op->k;                                                                              \
            b += op->k * op->n;                                                                              \
            c += op->m * op->n;                                                                              \
        }                                                                                                    \
    }
GEMM(cpu_run_gemm_fp32, float, sgemm)
GEMM(cpu_run_gemm_fp64, double, dgemm)

void cpu_sgemm(const struct cpu_blas *b, const struct op *op, const float *x, const float *y, float *z) {
    int m = (int)op->m, n = (int)op->n, k = (int)op->k;
    b->sgemm(CblasRowMajor, op->trans_a ? CblasTrans : CblasNoTrans, op->trans_b ? CblasTrans : CblasNoTrans,
             m, n, k, 1, x, op->trans_a ? m : k, y, op->trans_b ? k : n, 0, z, n);
}

/* Which file the loader took: the one that was meant, or another flavour by alternatives. */
static const char *library_path(const struct cpu_blas *b) {
    void *address;
    Dl_info info;
    memcpy(&address, &b->sgemm, sizeof address);
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "unknown";
}

void cpu_blas_facts(const struct cpu_blas *b, struct device_info *out) {
    static const char *const models[] = {"0 (sequential)", "1 (pthreads)", "2 (OpenMP)"};
    cpu_add_fact(out, "blas_library", "%s", b ? library_path(b) : "none found");
    if (!b || !b->get_parallel || !b->get_config || !b->get_corename || !b->get_num_threads)
        return;
    int parallel = b->get_parallel();
    cpu_add_fact(out, "openblas_config", "%s", b->get_config());
    cpu_add_fact(out, "openblas_corename", "%s", b->get_corename());
    if (b->core_by_itself[0])
        cpu_add_fact(out, "openblas_core_by_itself", "%s", b->core_by_itself);
    cpu_add_fact(out, "openblas_parallel", "%s", parallel >= 0 && parallel <= 2 ? models[parallel] : "?");
    cpu_add_fact(out, "openblas_threads", "%d", b->get_num_threads());
}
#else
struct cpu_blas *cpu_blas_open(int threads) {
    (void)threads;
    return NULL;
}
void cpu_blas_close(struct cpu_blas *b) {
    (void)b;
}
void cpu_run_gemm_fp32(const struct prepared *p) {
    (void)p;
}
void cpu_run_gemm_fp64(const struct prepared *p) {
    (void)p;
}
void cpu_sgemm(const struct cpu_blas *b, const struct op *op, const float *x, const float *y, float *z) {
    (void)b, (void)op, (void)x, (void)y, (void)z;
}
void cpu_blas_facts(const struct cpu_blas *b, struct device_info *out) {
    (void)b;
    cpu_add_fact(out, "blas_library", "none at build time");
}
#endif
