/* Number formats of the field: size, precision, names as the field writes them. */
#ifndef MODEL_DTYPE_H
#define MODEL_DTYPE_H

#include "base/err.h"

#include <stddef.h>

/* member, name, bits in memory, significand bits (with the hidden one) of the multiply, integer? */
#define DTYPES(X)                                                                                            \
    X(DTYPE_FP64, "fp64", 64, 53, 0)                                                                         \
    X(DTYPE_FP32, "fp32", 32, 24, 0)                                                                         \
    X(DTYPE_TF32, "tf32", 32, 11, 0)                                                                         \
    X(DTYPE_BF16, "bf16", 16, 8, 0)                                                                          \
    X(DTYPE_FP16, "fp16", 16, 11, 0)                                                                         \
    X(DTYPE_FP8_E4M3, "fp8e4m3", 8, 4, 0)                                                                    \
    X(DTYPE_FP8_E5M2, "fp8e5m2", 8, 3, 0)                                                                    \
    X(DTYPE_FP4, "fp4", 4, 2, 0)                                                                             \
    X(DTYPE_INT8, "int8", 8, 7, 1)                                                                           \
    X(DTYPE_INT32, "int32", 32, 31, 1)

#define DTYPE_ENUM_MEMBER(member, name, bits, significand, integer) member,
enum dtype { DTYPES(DTYPE_ENUM_MEMBER) DTYPE_COUNT };
#undef DTYPE_ENUM_MEMBER

const char *dtype_name(enum dtype t);
double dtype_bytes(enum dtype t); /* 0.5 for fp4 */
/* Unit roundoff 2^-significand; 0 for integers. */
double dtype_roundoff(enum dtype t);
/* ERR_USAGE with the nearest name when unknown. */
int dtype_parse(const char *name, enum dtype *out, struct err *e) MUST_CHECK;

#endif
