/* 16-bit floats as bits, to fp32 exactly and back to the nearest, ties to even; too large becomes infinite,
 * and a NaN stays one (quiet). Integer arithmetic without branches, so that loops over them vectorise. */
#ifndef KERNELS_CPU_CPU_HALF_H
#define KERNELS_CPU_CPU_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_bits_as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t half_float_as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float half_from_bf16(uint16_t h) {
    return half_bits_as_float((uint32_t)h << 16);
}

static inline uint16_t half_to_bf16(float x) {
    uint32_t u = half_float_as_bits(x);
    uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16, nan = u >> 16 | 0x40;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

static inline float half_from_fp16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    uint32_t normal = (rest << 13) + ((127 - 15) << 23), special = rest << 13 | 0x7f800000;
    uint32_t subnormal = half_float_as_bits((float)(int32_t)rest * 0x1p-24F);
    uint32_t magnitude = rest >= 0x7c00 ? special : rest < 0x400 ? subnormal : normal;
    return half_bits_as_float(sign | magnitude);
}

static inline uint16_t half_to_fp16(float x) {
    uint32_t u = half_float_as_bits(x), sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
    /* 0.5 has its last bit at 2^-24, where fp16 has its own below 2^-14: the addition rounds */
    uint32_t subnormal = half_float_as_bits(half_bits_as_float(rest) + 0.5F) - half_float_as_bits(0.5F);
    uint32_t normal = (rest - ((127U - 15U) << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
    uint32_t large = rest > 0x7f800000 ? 0x7e00 : 0x7c00;
    uint32_t magnitude = rest >= 0x47800000 ? large : rest < 0x38800000 ? subnormal : normal;
    return (uint16_t)(sign | magnitude);
}

#endif
