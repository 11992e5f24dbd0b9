/* What the harness costs: its rates against the same work in bare loops, in interleaved pairs inside one run.
 *
 *   fp32 GEMM   runner on the cpu backend / cblas_sgemm in a loop     wanted: median ratio at least 0.98
 *   triad       runner on the cpu backend / a plain STREAM triad loop wanted: median ratio at least 0.97
 *   enqueue     on sim: under 1 microsecond each, no allocation in the timed region
 *
 * usage: perf_overhead [PAIRS]      (15 by default; the exit status says whether all three hold) */
#include "base/clock.h"
#include "base/stats.h"
#include "bench/bench.h"

#include <cblas.h>
#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GEMM_N = 1536, MAX_PAIRS = 1000 };
static const double SLICE_S = 1.0;

struct totals {
    double work, seconds;
};

static int add_samples(void *context, const struct sample *samples, size_t count,
                       const struct telemetry_row *telemetry, size_t telemetry_count, struct err *e) {
    struct totals *t = context;
    (void)telemetry, (void)telemetry_count, (void)e;
    for (size_t i = 0; i < count; i++) {
        t->work += samples[i].iterations;
        t->seconds += samples[i].elapsed_s;
    }
    return 0;
}

/* Work per second that the runner finds for op. */
static double harness_rate(const struct runner *r, const struct op *op) {
    struct bench_case c = {.bench = "perf", .op = *op, .seconds = SLICE_S};
    struct totals t = {0};
    struct runner_sink sink = {.context = &t, .chunk = add_samples};
    struct runner_result result;
    struct err e = {0};
    const char *unit;
    if (runner_run(r, &c, &sink, &result, &e) || result.status != CASE_MEASURED) {
        fprintf(stderr, "runner: %s%s\n", e.text, result.reason);
        exit(3);
    }
    return t.work * op_work(op, &unit) / t.seconds;
}

static double seconds_since(uint64_t start_ns) {
    return (double)(clock_monotonic_ns() - start_ns) * 1e-9;
}

static double bare_gemm_rate(__typeof__(cblas_sgemm) *sgemm, float *a, float *b, float *c) {
    const int n = GEMM_N;
    double executions = 0;
    sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
    uint64_t start = clock_monotonic_ns();
    while (seconds_since(start) < SLICE_S) {
        sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
        executions++;
    }
    return executions * 2.0 * n * n * n / seconds_since(start);
}

static double bare_triad_rate(double *restrict a, const double *restrict b, const double *restrict c,
                              int64_t n) {
    double executions = 0;
    uint64_t start = clock_monotonic_ns();
    while (seconds_since(start) < SLICE_S) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++)
            a[i] = b[i] + 3.0 * c[i];
        executions++;
    }
    return executions * 24.0 * (double)n / seconds_since(start);
}

/* On the same kind of pages as the backend's buffers: the ratio is to show the harness, not the pages. */
static void *first_touched(size_t size) {
    const size_t page = 2 << 20;
    char *p = aligned_alloc(page, (size + page - 1) / page * page);
    if (!p)
        exit(3);
    (void)madvise(p, size, MADV_HUGEPAGE);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < size; i += 4096)
        memset(p + i, 0, size - i < 4096 ? size - i : 4096);
    return p;
}

static bool judge(const char *what, const double *ratios, size_t pairs, double wanted) {
    double median = stats_median(ratios, pairs);
    printf("%-10s harness / bare: median %.4f of %zu pairs (min %.4f, max %.4f), wanted %.2f: %s\n", what,
           median, pairs, stats_quantile(ratios, pairs, 0), stats_quantile(ratios, pairs, 1), wanted,
           median >= wanted ? "ok" : "MISSED");
    return median >= wanted;
}

static bool compare_gemm(const struct runner *r, size_t pairs) {
    size_t size = sizeof(float) * GEMM_N * GEMM_N;
    float *a = first_touched(size), *b = first_touched(size), *c = first_touched(size);
    struct op op = op_gemm(GEMM_N, GEMM_N, GEMM_N, DTYPE_FP32);
    double ratios[MAX_PAIRS];
    for (size_t i = 0; i < (size_t)GEMM_N * GEMM_N; i++)
        a[i] = b[i] = (float)(i % 7) - 3;
    /* The very library that the open device uses, its core type mended: not a second copy. */
    __typeof__(cblas_sgemm) *sgemm;
    void *library = dlopen(STEPCOST_BLAS_PATH, RTLD_NOW),
         *address = library ? dlsym(library, "cblas_sgemm") : NULL;
    if (!address)
        exit(3);
    memcpy(&sgemm, &address, sizeof address);
    for (size_t i = 0; i < pairs; i++)
        ratios[i] = harness_rate(r, &op) / bare_gemm_rate(sgemm, a, b, c);
    free(a), free(b), free(c);
    return judge("sgemm", ratios, pairs, 0.98);
}

static bool compare_triad(const struct runner *r, size_t pairs) {
    int64_t n = (int64_t)(4 * r->info.cache_bytes / 24);
    if (n > 64 << 20)
        n = 64 << 20;
    double *a = first_touched((size_t)n * 8), *b = first_touched((size_t)n * 8),
           *c = first_touched((size_t)n * 8);
    struct op op = op_elementwise(OP_TRIAD, n, DTYPE_FP64);
    double ratios[MAX_PAIRS];
    for (size_t i = 0; i < pairs; i++)
        ratios[i] = harness_rate(r, &op) / bare_triad_rate(a, b, c, n);
    free(a), free(b), free(c);
    return judge("triad", ratios, pairs, 0.97);
}

static int open_device(struct runner *r, const char *name, struct err *e) {
    const struct backend_config config = {0};
    *r = (struct runner){.backend = backend_find(name, e), .seed = 1, .goal = 0.01};
    return !r->backend || r->backend->open(&config, 0, &r->device, e) ||
                   r->backend->describe(r->device, &r->info, e)
               ? -1
               : 0;
}

/* Average host time of one enqueue on the simulator, and what it allocates. */
static bool time_enqueue(const struct runner *r) {
    enum { COUNT = 1000000 };
    const struct backend *b = r->backend;
    struct op op = op_gemm(256, 256, 256, DTYPE_FP32);
    struct buffer *buffers[3] = {0};
    struct prepared *p;
    struct queue *q;
    struct err e = {0};
    for (int i = 0; i < 3; i++)
        if (b->alloc(r->device, sizeof(float) * 256 * 256, &buffers[i], &e))
            exit(3);
    if (b->prepare(r->device, &op, buffers, 3, &p, &e) || b->queue_open(r->device, &q, &e))
        exit(3);
    size_t before = mallinfo2().uordblks;
    uint64_t start = clock_monotonic_ns();
    for (int i = 0; i < COUNT; i++)
        if (b->enqueue(q, p, 1, &e))
            exit(3);
    double each_ns = seconds_since(start) * 1e9 / COUNT;
    size_t after = mallinfo2().uordblks;
    bool good = each_ns < 1000 && after == before;
    printf(
        "%-10s %.0f ns each over %d on sim, %zu bytes allocated meanwhile, wanted under 1000 ns and 0: %s\n",
        "enqueue", each_ns, COUNT, after - before, good ? "ok" : "MISSED");
    return good;
}

int main(int argc, char **argv) {
    size_t pairs = argc > 1 ? (size_t)atoi(argv[1]) : 15;
    struct runner cpu, sim;
    struct err e = {0};
    setenv("STEPCOST_MODULES", MODULES, 1);
    if (pairs < 1 || pairs > MAX_PAIRS || open_device(&cpu, "cpu", &e) || open_device(&sim, "sim", &e)) {
        fprintf(stderr, "perf_overhead: %s\n", e.text[0] ? e.text : "usage: perf_overhead [PAIRS]");
        return 2;
    }
    printf("%s, %d threads\n", cpu.info.name, cpu.info.units);
    bool good = time_enqueue(&sim);
    good &= compare_gemm(&cpu, pairs);
    good &= compare_triad(&cpu, pairs);
    return good ? 0 : 1;
}
