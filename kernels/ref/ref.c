#include "kernels/ref/ref.h"

#include "base/rng.h"
#include "kernels/chase.h"
#include "kernels/disk/disk_content.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Significand bits with the hidden one, exponent of the smallest normal number, largest finite value.
 * fp64 and fp32 are the C types; a row with 0 bits is a type that the oracle lacks. */
struct format {
    int significand, min_exponent;
    double max;
    bool integer;
};
static const struct format formats[DTYPE_COUNT] = {
    [DTYPE_FP64] = {53, -1022, 0x1.fffffffffffffp1023, false},
    [DTYPE_FP32] = {24, -126, 0x1.fffffep127, false},
    [DTYPE_TF32] = {11, -126, 0x1.ffcp127, false},
    [DTYPE_BF16] = {8, -126, 0x1.fep127, false},
    [DTYPE_FP16] = {11, -14, 65504, false},
    [DTYPE_INT8] = {7, 0, 127, true},
    [DTYPE_INT32] = {31, 0, 2147483647, true},
};

bool ref_has_dtype(enum dtype t) {
    return formats[t].significand > 0;
}

double ref_round(double x, enum dtype t) {
    const struct format *f = &formats[t];
    if (!f->significand)
        return NAN;
    if (f->integer)
        return fmax(-f->max - 1, fmin(f->max, nearbyint(x)));
    if (t == DTYPE_FP64 || !isfinite(x) || x == 0)
        return x;
    if (t == DTYPE_FP32)
        return (float)x;
    int exponent;
    frexp(x, &exponent); /* |x| is in [2^(exponent-1), 2^exponent) */
    int step = (exponent - 1 > f->min_exponent ? exponent - 1 : f->min_exponent) - (f->significand - 1);
    double rounded = ldexp(nearbyint(ldexp(x, -step)), step);
    return fabs(rounded) > f->max ? copysign(INFINITY, x) : rounded;
}

static double half_decode(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

/* x is a value of fp16 already. */
static uint16_t half_encode(double x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    if (isnan(x))
        return 0x7e00;
    if (isinf(x))
        return sign | 0x7c00;
    if (magnitude < 0x1p-14)
        return sign | (uint16_t)ldexp(magnitude, 24);
    int exponent;
    double fraction = frexp(magnitude, &exponent);
    return (uint16_t)(sign | (exponent + 14) << 10 | ((int)ldexp(fraction, 11) & 1023));
}

double ref_load(const void *array, enum dtype t, uint64_t index) {
    const unsigned char *at = (const unsigned char *)array + index * (uint64_t)dtype_bytes(t);
    if (t == DTYPE_FP64) {
        double value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (t == DTYPE_FP32 || t == DTYPE_TF32) {
        float value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (t == DTYPE_INT32) {
        int32_t value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (t == DTYPE_INT8)
        return (int8_t)*at;
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    if (t == DTYPE_FP16)
        return half_decode(bits);
    uint32_t wide = (uint32_t)bits << 16; /* bf16 is the upper half of an fp32 */
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

void ref_store(void *array, enum dtype t, uint64_t index, double value) {
    unsigned char *at = (unsigned char *)array + index * (uint64_t)dtype_bytes(t);
    value = ref_round(value, t);
    if (t == DTYPE_FP64) {
        memcpy(at, &value, sizeof value);
    } else if (t == DTYPE_INT32) {
        int32_t whole = (int32_t)value;
        memcpy(at, &whole, sizeof whole);
    } else if (t == DTYPE_INT8) {
        *at = (unsigned char)(int8_t)value;
    } else if (t == DTYPE_FP16) {
        uint16_t bits = half_encode(value);
        memcpy(at, &bits, sizeof bits);
    } else {
        float narrow = (float)value;
        uint32_t wide;
        memcpy(&wide, &narrow, sizeof wide);
        uint16_t upper = (uint16_t)(wide >> 16);
        if (t == DTYPE_BF16)
            memcpy(at, &upper, sizeof upper);
        else
            memcpy(at, &narrow, sizeof narrow);
    }
}

static const double int8_scale = 16, int8_limit = 64;

double ref_fill_scale(enum dtype t) {
    return t == DTYPE_INT8 ? int8_scale : 1;
}

double ref_filled_at(const void *filled, uint64_t index) {
    const struct ref_filled *f = filled;
    if (f->how == FILL_ZERO)
        return 0;
    if (f->how == FILL_INTEGERS)
        return ref_round(rng_integer_at(f->seed, index, 4), f->dtype);
    double normal = rng_normal_at(f->seed, index);
    if (f->dtype == DTYPE_INT8)
        normal = fmax(-int8_limit, fmin(int8_limit, int8_scale * normal));
    return ref_round(normal, f->dtype);
}

double ref_array_at(const void *array, uint64_t index) {
    const struct ref_array *a = array;
    return ref_load(a->elements, a->dtype, index);
}

/* A sum of products as it grows: its value, the sum of magnitudes, and whether all terms were whole. */
struct sum {
    double value, magnitude;
    bool whole;
};

static void sum_add(struct sum *s, double a, double b) {
    s->value += a * b;
    s->magnitude += fabs(a * b);
    s->whole = s->whole && a == nearbyint(a) && b == nearbyint(b);
}

static struct ref_value sum_judge(const struct sum *s, double terms, enum dtype accumulate, enum dtype out) {
    double u = dtype_roundoff(accumulate);
    if (s->whole && s->magnitude * u < 1)
        return (struct ref_value){ref_round(s->value, out), 0};
    double growth = terms * u < 1 ? terms * u / (1 - terms * u) : INFINITY;
    double error = 2 * growth * s->magnitude;
    return (struct ref_value){s->value, error + dtype_roundoff(out) * (fabs(s->value) + error)};
}

static struct ref_value gemm_element(const struct op *op, const struct ref_source *in, uint64_t index) {
    uint64_t m = (uint64_t)op->m, n = (uint64_t)op->n, k = (uint64_t)op->k;
    uint64_t product = index / (m * n), row = index / n % m, column = index % n;
    uint64_t a_first = product * m * k + row * (op->trans_a ? 1 : k), a_step = op->trans_a ? m : 1;
    uint64_t b_first = product * k * n + column * (op->trans_b ? k : 1), b_step = op->trans_b ? 1 : n;
    struct op_operand operands[OP_MAX_OPERANDS];
    size_t count = op_operands(op, operands);
    struct sum s = {.whole = true};
    for (uint64_t i = 0; i < k; i++)
        sum_add(&s, in[0].at(in[0].context, a_first + i * a_step),
                in[1].at(in[1].context, b_first + i * b_step));
    return sum_judge(&s, (double)k, op->accumulate, operands[count - 1].dtype);
}

static struct ref_value copy_element(const struct op *op, const struct ref_source *in, uint64_t index) {
    return (struct ref_value){ref_round(in[0].at(in[0].context, index), op->dtype), 0};
}

static struct ref_value scale_element(const struct op *op, const struct ref_source *in, uint64_t index) {
    return (struct ref_value){ref_round(REF_STREAM_SCALAR * in[0].at(in[0].context, index), op->dtype), 0};
}

static struct ref_value add_element(const struct op *op, const struct ref_source *in, uint64_t index) {
    double sum = in[0].at(in[0].context, index) + in[1].at(in[1].context, index);
    return (struct ref_value){ref_round(sum, op->dtype), 0};
}

static struct ref_value triad_element(const struct op *op, const struct ref_source *in, uint64_t index) {
    struct sum s = {.whole = true};
    sum_add(&s, in[0].at(in[0].context, index), 1);
    sum_add(&s, in[1].at(in[1].context, index), REF_STREAM_SCALAR);
    return sum_judge(&s, 1, op->dtype, op->dtype);
}

static struct ref_value chase_element(const struct op *op, const struct ref_source *in, uint64_t index) {
    (void)in, (void)index;
    uint64_t nodes = (uint64_t)op->elements;
    return (struct ref_value){(double)chase_node(nodes, nodes - 1), 0};
}

static struct ref_value file_element(const struct op *op, const struct ref_source *in, uint64_t index) {
    (void)op, (void)index;
    return (struct ref_value){disk_key(in[0].at(in[0].context, 0)), 0};
}

typedef struct ref_value element_of(const struct op *op, const struct ref_source *in, uint64_t index);
static element_of *const elements[OP_KIND_COUNT] = {
    [OP_GEMM] = gemm_element,       [OP_COPY] = copy_element,       [OP_SCALE] = scale_element,
    [OP_ADD] = add_element,         [OP_TRIAD] = triad_element,     [OP_CHASE] = chase_element,
    [OP_FILE_WRITE] = file_element, [OP_FILE_READ] = file_element,  [OP_FILE_RANDOM_READ] = file_element,
    [OP_FILE_SYNC] = file_element,  [OP_FILE_SMALL] = file_element, [OP_FILE_TAR] = file_element,
};

bool ref_supports(const struct op *op, char *reason, size_t size) {
    if (!elements[op->kind]) {
        snprintf(reason, size, "the reference has no %s", op_kind_name(op->kind));
        return false;
    }
    if (op->kind == OP_CHASE && op->elements > CHASE_MAX_NODES) {
        snprintf(reason, size, "a chase has at most %d lines", CHASE_MAX_NODES);
        return false;
    }
    if (!ref_has_dtype(op->dtype) || !ref_has_dtype(op->accumulate)) {
        snprintf(reason, size, "the reference has no %s", dtype_name(op->dtype));
        return false;
    }
    return true;
}

struct ref_value ref_element(const struct op *op, const struct ref_source *inputs, uint64_t index) {
    return elements[op->kind](op, inputs, index);
}

bool ref_accepts(struct ref_value v, double got) {
    return got == v.want || fabs(got - v.want) <= v.bound;
}
