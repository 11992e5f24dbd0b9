#include "kernels/chase.h"

enum { ROUNDS = 4 };

/* Any function will do here: the network is a bijection for all of them. */
static uint64_t mix(uint64_t half, uint64_t round) {
    uint64_t x = (half + 1) * UINT64_C(0x9E3779B97F4A7C15) + round * UINT64_C(0xBF58476D1CE4E5B9);
    x ^= x >> 29;
    x *= UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 32;
}

static uint64_t feistel(uint64_t x, unsigned half_bits) {
    uint64_t mask = (UINT64_C(1) << half_bits) - 1, left = x >> half_bits, right = x & mask;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t turned = left ^ (mix(right, round) & mask);
        left = right;
        right = turned;
    }
    return left << half_bits | right;
}

uint64_t chase_node(uint64_t nodes, uint64_t place) {
    unsigned half_bits = 1;
    while (UINT64_C(1) << 2 * half_bits < nodes)
        half_bits++;
    do
        place = feistel(place, half_bits);
    while (place >= nodes);
    return place;
}
