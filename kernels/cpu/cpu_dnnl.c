/* oneDNN is opened when a device is, as OpenBLAS is: a machine without it loses the int8 GEMM only. Of its
 * interface only what versions 2 and 3 have alike is used. */
#include "kernels/cpu/cpu.h"

#ifdef STEPCOST_DNNL
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct cpu_dnnl {
    void *library;
    __typeof__(dnnl_gemm_s8s8s32) *gemm;
    __typeof__(dnnl_version) *version;
    /* of the OpenMP runtime that the library works with; NULL = it has other threads */
    void (*set_num_threads)(int);
};

/* The one that was meant at build time, else what the loader finds. */
static const char *const libraries[] = {"$ORIGIN/cpu/libdnnl.so.3",
                                        "$ORIGIN/cpu/libdnnl.so.2",
                                        STEPCOST_DNNL_PATH,
                                        "libdnnl.so.3",
                                        "libdnnl.so.3.6" /* Debian 13 */,
                                        "libdnnl.so.2"};

static void find(const struct cpu_dnnl *n, const char *name, void *slot) {
    void *address = dlsym(n->library, name);
    memcpy(slot, &address, sizeof address);
}

/* Two runtimes would be two teams on the same CPUs, and only ours is pinned one thread a CPU. */
static bool shares_our_team(const struct cpu_dnnl *n, int threads) {
    if (threads == 1)
        return true;
#ifdef _OPENMP
    return n->set_num_threads == omp_set_num_threads;
#else
    return false;
#endif
}

static bool multiplies(const struct cpu_dnnl *n) {
    const int8_t a[2] = {3, -5}, b[2] = {7, 2};
    int32_t c = 0, zero = 0;
    return n->gemm('N', 'N', 'F', 1, 1, 2, 1, a, 2, 0, b, 1, 0, 0, &c, 1, &zero) == dnnl_success && c == 11;
}

static const char *load(struct cpu_dnnl *n, int threads) {
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0] && !n->library; i++)
        n->library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
        return "oneDNN is not here: apt-get install libdnnl-dev";
    find(n, "dnnl_gemm_s8s8s32", &n->gemm);
    find(n, "dnnl_version", &n->version);
    find(n, "omp_set_num_threads", &n->set_num_threads);
    if (!n->gemm || !n->version)
        return "this oneDNN has no dnnl_gemm_s8s8s32: apt-get install libdnnl-dev";
    if (!shares_our_team(n, threads))
        return "oneDNN has other threads than this program (another OpenMP runtime): build with gcc, or "
               "measure with --threads 1";
    if (n->set_num_threads)
        n->set_num_threads(threads);
    return multiplies(n) ? NULL : "oneDNN refuses the int8 GEMM on this CPU";
}

struct cpu_dnnl *cpu_dnnl_open(int threads, char *reason, size_t size) {
    struct cpu_dnnl *n = calloc(1, sizeof *n);
    const char *missing = n ? load(n, threads) : "no memory";
    if (!missing)
        return n;
    snprintf(reason, size, "%s", missing);
    cpu_dnnl_close(n);
    return NULL;
}

void cpu_dnnl_close(struct cpu_dnnl *n) {
    free(n); /* the library stays, as OpenBLAS does */
}

/* Both operands are signed. oneDNN may shift one to unsigned and add pairs of products in 16 bits on a CPU
 * without VNNI, which saturates for large values: what the benchmarks fill with cannot (ref_fill_scale). */
void cpu_run_gemm_int8(const struct prepared *p) {
    const struct op *op = &p->op;
    const int8_t *a = (const void *)p->operands[0], *b = (const void *)p->operands[1];
    int32_t *c = (void *)p->operands[2], zero = 0;
    for (int64_t i = 0; i < op->batch; i++) {
        /* A status that is not success leaves C wrong, which the verification after it tells. */
        (void)p->device->dnnl->gemm(op->trans_a ? 'T' : 'N', op->trans_b ? 'T' : 'N', 'F', op->m, op->n,
                                    op->k, 1, a, op->trans_a ? op->m : op->k, 0, b,
                                    op->trans_b ? op->k : op->n, 0, 0, c, op->n, &zero);
        a += op->m * op->k;
        b += op->k * op->n;
        c += op->m * op->n;
    }
}

void cpu_dnnl_facts(const struct cpu_dnnl *n, struct device_info *out) {
    void *address;
    Dl_info info;
    if (!n)
        return;
    memcpy(&address, &n->gemm, sizeof address);
    const dnnl_version_t *v = n->version();
    cpu_add_fact(out, "onednn_version", "%d.%d.%d", v->major, v->minor, v->patch);
    cpu_add_fact(out, "onednn_library", "%s",
                 dladdr(address, &info) && info.dli_fname ? info.dli_fname : "unknown");
}
#else
#include <stdio.h>

struct cpu_dnnl *cpu_dnnl_open(int threads, char *reason, size_t size) {
    (void)threads;
    snprintf(reason, size,
             "oneDNN was not here at build time: apt-get install libdnnl-dev, then build again");
    return NULL;
}
void cpu_dnnl_close(struct cpu_dnnl *n) {
    (void)n;
}
void cpu_run_gemm_int8(const struct prepared *p) {
    (void)p;
}
void cpu_dnnl_facts(const struct cpu_dnnl *n, struct device_info *out) {
    (void)n, (void)out;
}
#endif
