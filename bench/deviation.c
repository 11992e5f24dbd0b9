#include "base/rng.h"
#include "bench/operands.h"
#include "kernels/ref/ref.h"

#include <math.h>

enum { STRATA = 64, ELEMENT_BYTES_MAX = 8 };

/* A long double, because in double the sum of an fp64 product would be as far off as what it judges. */
static double exact_element(const struct operands *o, uint64_t index) {
    const struct op *op = &o->op;
    uint64_t m = (uint64_t)op->m, n = (uint64_t)op->n, k = (uint64_t)op->k;
    uint64_t product = index / (m * n), row = index / n % m, column = index % n;
    long double sum = 0;
    for (uint64_t i = 0; i < k; i++) {
        uint64_t a = product * m * k + (op->trans_a ? i * m + row : row * k + i);
        uint64_t b = product * k * n + (op->trans_b ? column * k + i : i * n + column);
        sum += (long double)rng_normal_at(o->seeds[0], a) * rng_normal_at(o->seeds[1], b);
    }
    return (double)sum;
}

int operands_deviation(const struct operands *o, size_t set, uint64_t salt, struct record_deviation *out,
                       struct err *e) {
    *out = (struct record_deviation){NAN, NAN, NAN};
    if (o->op.kind != OP_GEMM)
        return 0;
    struct rng random = rng_make(salt);
    const struct op_operand *c = &o->shapes[2];
    uint64_t size = (uint64_t)dtype_bytes(c->dtype);
    double scale = ref_fill_scale(o->op.dtype), count = (double)c->elements;
    double worst = 0, squares = 0, wanted = 0;
    for (int i = 0; i < STRATA; i++) {
        unsigned char raw[ELEMENT_BYTES_MAX];
        uint64_t index = (uint64_t)fmin(count - 1, (i + rng_uniform(&random)) / STRATA * count);
        if (o->backend->read(o->sets[set].buffers[2], index * size, raw, size, e) != 0)
            return -1;
        double want = exact_element(o, index);
        double error = ref_load(raw, c->dtype, 0) / (scale * scale) - want;
        worst = fmax(worst, fabs(error));
        squares += error * error;
        wanted += want * want;
    }
    if (wanted > 0)
        *out = (struct record_deviation){worst / sqrt(wanted / STRATA), sqrt(squares / wanted), STRATA};
    return 0;
}
