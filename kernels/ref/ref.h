/* The oracle: what every op must give, one output element at a time, in plain double arithmetic.
 *
 * Inputs are asked for by index, so that a verifier needs no copy of them: an element of a filled buffer
 * is a pure function of (dtype, fill, seed, index). Not for speed: an element of a GEMM costs k products.
 *
 * ref_element also says how far a correct device may be off (derivations in docs/method.md):
 *   sums       |got - sum| <= E + u_out (|sum| + E),  E = 2 g S,  g = k u / (1 - k u),  S = sum |a||b|
 *              (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1: an inner
 *              product of k terms in any order errs by at most g S; u is the roundoff of the accumulating
 *              type, u_out that of the output). The 2 pays for the oracle's own double sum and for
 *              accumulators that truncate instead of rounding, as tensor cores do.
 *   whole numbers   no error at all while S < 1/u: want is then rounded to the output's type, bound 0
 *   copy, scale, add   one correctly rounded operation: bound 0
 *   chase      the node at the cycle's last place (kernels/chase.h): bound 0
 *   file ops   the key of the seed in every place (kernels/disk/disk_content.h): bound 0
 *   triad      the product may be rounded or fused: the rule for sums with k = 1 and S = |b| + |s c| */
#ifndef KERNELS_REF_REF_H
#define KERNELS_REF_REF_H

#include "kernels/backend.h"

/* The scalar s of SCALE and TRIAD: STREAM's own value. */
#define REF_STREAM_SCALAR 3.0

/* x rounded to the nearest value of t, ties to even; infinite above the largest (floats), the nearest
 * limit (integers). Types without a row (fp8, fp4) give NaN: see ref_has_dtype. */
double ref_round(double x, enum dtype t);
bool ref_has_dtype(enum dtype t);
/* Element `index` of an array of t at `array`; ref_store rounds first. */
double ref_load(const void *array, enum dtype t, uint64_t index);
void ref_store(void *array, enum dtype t, uint64_t index, double value);

/* Where the elements of an input come from. */
struct ref_source {
    double (*at)(const void *context, uint64_t index);
    const void *context;
};
/* A buffer filled by backend->fill: {ref_filled_at, &filled}. */
struct ref_filled {
    enum dtype dtype;
    enum fill how;
    uint64_t seed;
};
double ref_filled_at(const void *filled, uint64_t index);
/* What a normal is multiplied by before FILL_NORMAL rounds it: 16 for int8, with a limit at +-64, as a
 * quantiser of step 1/16 has it; else 1. Within +-64 no int8 kernel saturates: even one that shifts A to
 * 0..255 and adds two products in 16 bits stays under 2 x 192 x 64 = 24576. */
double ref_fill_scale(enum dtype t);
/* An array in memory: {ref_array_at, &array}. */
struct ref_array {
    enum dtype dtype;
    const void *elements;
};
double ref_array_at(const void *array, uint64_t index);

/* Can the oracle compute this op? When not, why. */
bool ref_supports(const struct op *op, char *reason, size_t size);

struct ref_value {
    double want, bound;
};
/* Element `index` of the op's output; inputs in the order of op_operands. The op must be supported. */
struct ref_value ref_element(const struct op *op, const struct ref_source *inputs, uint64_t index);
/* True when got lies within the bound; false for NaN. */
bool ref_accepts(struct ref_value v, double got);

extern const struct backend ref_backend;

#endif
