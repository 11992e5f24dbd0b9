#include "kernels/cpu/cpu.h"

#ifdef STEPCOST_CBLAS
#include <cblas.h>
#include <dlfcn.h>

bool cpu_has_gemm(void) {
    return true;
}

/* Row major, packed, `batch` products one after the other: op_gemm's conventions. */
#define GEMM(name, type, call)                                                                               \
    void name(const struct prepared *p) {                                                                    \
        const struct op *op = &p->op;                                                                        \
        int m = (int)op->m, n = (int)op->n, k = (int)op->k;                                                  \
        const type *a = (const void *)p->operands[0], *b = (const void *)p->operands[1];                     \
        type *c = (void *)p->operands[2];                                                                    \
        for (int64_t i = 0; i < op->batch; i++) {                                                            \
            call(CblasRowMajor, op->trans_a ? CblasTrans : CblasNoTrans,                                     \
                 op->trans_b ? CblasTrans : CblasNoTrans, m, n, k, 1, a, op->trans_a ? m : k, b,             \
                 op->trans_b ? k : n, 0, c, n);                                                              \
            a += op->m * op->k;                                                                              \
            b += op->k * op->n;                                                                              \
            c += op->m * op->n;                                                                              \
        }                                                                                                    \
    }
GEMM(cpu_run_gemm_fp32, float, cblas_sgemm)
GEMM(cpu_run_gemm_fp64, double, cblas_dgemm)

/* Which file the loader took: the one that was meant, or another flavour by alternatives. */
static const char *library_path(void) {
    union {
        __typeof__(&cblas_sgemm) function;
        void *address;
    } symbol = {cblas_sgemm};
    Dl_info info;
    return dladdr(symbol.address, &info) && info.dli_fname ? info.dli_fname : "unknown";
}
#else
bool cpu_has_gemm(void) {
    return false;
}
void cpu_run_gemm_fp32(const struct prepared *p) {
    (void)p;
}
void cpu_run_gemm_fp64(const struct prepared *p) {
    (void)p;
}
#endif

#ifdef STEPCOST_OPENBLAS
void cpu_gemm_set_threads(int threads) {
    openblas_set_num_threads(threads);
}

void cpu_gemm_facts(struct device_info *out) {
    static const char *const models[] = {"0 (sequential)", "1 (pthreads)", "2 (OpenMP)"};
    int parallel = openblas_get_parallel();
    cpu_add_fact(out, "blas_library", "%s", library_path());
    cpu_add_fact(out, "openblas_config", "%s", openblas_get_config());
    cpu_add_fact(out, "openblas_corename", "%s", openblas_get_corename());
    cpu_add_fact(out, "openblas_parallel", "%s", parallel >= 0 && parallel <= 2 ? models[parallel] : "?");
    cpu_add_fact(out, "openblas_threads", "%d", openblas_get_num_threads());
}
#else
void cpu_gemm_set_threads(int threads) {
    (void)threads;
}

void cpu_gemm_facts(struct device_info *out) {
#ifdef STEPCOST_CBLAS
    cpu_add_fact(out, "blas_library", "%s", library_path());
#else
    cpu_add_fact(out, "blas_library", "none");
#endif
}
#endif
