#include "kernels/disk/disk_content.h"

#include "base/rng.h"

#include <string.h>

enum { UNIT = 16 }; /* bytes that one draw gives */

uint64_t disk_seed(double operand) {
    uint64_t bits;
    memcpy(&bits, &operand, sizeof bits);
    return bits;
}

int32_t disk_key(double operand) {
    uint32_t words[4];
    rng_philox(disk_seed(operand), UINT64_MAX, words);
    return (int32_t)(words[0] >> 2) + 1;
}

static uint64_t first_unit(uint64_t block, uint64_t size) {
    return block * ((size + UNIT - 1) / UNIT);
}

void disk_fill(uint64_t seed, uint64_t block, uint64_t size, unsigned char *out) {
    uint64_t first = first_unit(block, size);
    for (uint64_t at = 0; at < size; at += UNIT) {
        uint32_t words[4];
        rng_philox(seed, first + at / UNIT, words);
        memcpy(out + at, words, size - at < UNIT ? size - at : UNIT);
    }
}

int32_t disk_check(uint64_t seed, int32_t key, uint64_t block, uint64_t size, const unsigned char *bytes) {
    uint64_t word = block * 2654435761U % (size / 4);
    uint32_t words[4], got;
    rng_philox(seed, first_unit(block, size) + word / 4, words);
    memcpy(&got, bytes + 4 * word, sizeof got);
    return (int32_t)((got ^ words[word % 4]) ^ (uint32_t)key);
}
