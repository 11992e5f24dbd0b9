#include "base/rng.h"

#include <math.h>

/* The same loop for the vector units of newer CPUs, chosen when the program is loaded. */
#ifdef STEPCOST_TARGET_CLONES
#define VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTORISED
#endif

/* Third counter word: keeps streams and named seeds apart from the buffers' blocks, which have 0 there. */
enum { DOMAIN_STREAM = 1, DOMAIN_NAME = 2 };

static void block(uint64_t seed, uint64_t counter, uint32_t domain, uint32_t out[4]) {
    const uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), domain, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    rng_philox_block(c, key, out);
}

static uint64_t join(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

VECTORISED void rng_fill_normal(uint64_t seed, uint64_t first, double *out, size_t n) {
    for (size_t i = 0; i < n; i++)
        out[i] = rng_normal_at(seed, first + i);
}

VECTORISED void rng_fill_normal_f32(uint64_t seed, uint64_t first, float *out, size_t n) {
    for (size_t i = 0; i < n; i++)
        out[i] = (float)rng_normal_at(seed, first + i);
}

struct rng rng_make(uint64_t seed) {
    return (struct rng){.seed = seed, .counter = 0};
}

uint64_t rng_next(struct rng *r) {
    uint32_t w[4];
    block(r->seed, r->counter++, DOMAIN_STREAM, w);
    return join(w[0], w[1]);
}

static double unit_interval(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

double rng_uniform(struct rng *r) {
    return unit_interval(rng_next(r));
}

double rng_normal(struct rng *r) {
    uint32_t w[4];
    block(r->seed, r->counter++, DOMAIN_STREAM, w);
    /* 1 - u is in (0, 1]: its logarithm is finite */
    double radius = sqrt(-2 * log(1 - unit_interval(join(w[0], w[1]))));
    return radius * cos(2 * 3.14159265358979323846 * unit_interval(join(w[2], w[3])));
}

uint64_t rng_seed_from(uint64_t seed, const char *name) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
    uint32_t w[4];
    block(seed, hash, DOMAIN_NAME, w);
    return join(w[0], w[1]);
}
