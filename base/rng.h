/* Random numbers that any device can make alike.
 *
 * rng_*_at are pure functions of (seed, index): Philox4x32-10 (Salmon et al., "Parallel random numbers:
 * as easy as 1, 2, 3", SC'11) with key (seed low, seed high) and counter (index low, index high, 0, 0),
 * so that a host can know an element of a buffer filled on a device without reading it. Normals are
 * the sum of eight 16-bit uniforms (Irwin-Hall), scaled to variance 1: integer arithmetic and one
 * exact product, hence bit-identical everywhere; the tails end at +-4.9 sigma.
 *
 * struct rng is a stream for resampling and tests; it shares no block with rng_*_at of the same seed. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* One block of Philox4x32-10. Inline, as is rng_normal_at, so that loops over an index vectorise. */
static inline void rng_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)UINT32_C(0xD2511F53) * c0;
        uint64_t p1 = (uint64_t)UINT32_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += UINT32_C(0x9E3779B9);
        k1 += UINT32_C(0xBB67AE85);
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static inline void rng_philox(uint64_t seed, uint64_t counter, uint32_t out[4]) {
    const uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    rng_philox_block(c, key, out);
}

static inline double rng_normal_at(uint64_t seed, uint64_t index) {
    uint32_t w[4];
    rng_philox(seed, index, w);
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (w[i] & 0xFFFF) + (w[i] >> 16);
    /* mean 8 x 65535/2; variance 8 x (2^32 - 1)/12, and 1/sqrt of that */
    return (double)((int32_t)sum - 262140) * 0x1.3988e1412ed76p-16;
}

/* A whole number in [-limit, limit], equally likely (within 2^-42); 0 <= limit <= 2^20: the high half of
 * (first two words as one 64-bit number) x (2 limit + 1). */
static inline int32_t rng_integer_at(uint64_t seed, uint64_t index, int32_t limit) {
    uint32_t w[4];
    rng_philox(seed, index, w);
    uint64_t range = 2 * (uint64_t)limit + 1;
    return (int32_t)((w[0] * range + ((w[1] * range) >> 32)) >> 32) - limit;
}

/* out[i] = rng_normal_at(seed, first + i), for buffers of many millions: vectorised for this CPU. */
void rng_fill_normal(uint64_t seed, uint64_t first, double *out, size_t n);
void rng_fill_normal_f32(uint64_t seed, uint64_t first, float *out, size_t n);

struct rng {
    uint64_t seed, counter;
};

struct rng rng_make(uint64_t seed);
uint64_t rng_next(struct rng *r);
double rng_uniform(struct rng *r); /* [0, 1), 53 bits */
double rng_normal(struct rng *r);  /* exact normal by Box-Muller */
/* A seed for a named thing: the same name and seed always give the same stream. */
uint64_t rng_seed_from(uint64_t seed, const char *name);

#endif
