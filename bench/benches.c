#include "bench/plan.h"

#include <string.h>

static const struct bench benches[] = {
    {"fma", "register-only multiply-adds: the peak that everything else is held against", fma_plan},
    {"membw", "memory bandwidth as STREAM defines it: copy, scale, add, triad", membw_plan},
    {"gemm", "matrix products: a square sweep, shapes MxNxK, or a workload's own", gemm_plan},
    {"precision", "one product in several number formats: speed-up and error of each", precision_plan},
    {"cache", "latency of dependent loads by footprint: sizes and latencies of the caches", cache_plan},
    {"disk", "a folder: blocks in order and at random, syncs, small files and the same in one tar",
     disk_plan},
};

const struct bench *bench_at(size_t index) {
    return index < sizeof benches / sizeof benches[0] ? &benches[index] : NULL;
}

const struct bench *bench_find(const char *name) {
    const struct bench *b;
    for (size_t i = 0; (b = bench_at(i)) != NULL; i++)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}
