/* The buffers of one case: sets of operands that are executed in turn, so that together they exceed the
 * last-level cache. Every set is filled from the same seeds: addresses differ, contents do not. */
#ifndef BENCH_OPERANDS_H
#define BENCH_OPERANDS_H

#include "bench/bench.h"

struct operand_set {
    struct buffer *buffers[OP_MAX_OPERANDS];
    struct prepared *prepared;
};

struct operands {
    const struct backend *backend;
    struct device *device;
    struct op op;
    struct op_operand shapes[OP_MAX_OPERANDS];
    size_t shape_count; /* 0 for an op that touches no memory */
    uint64_t seeds[OP_MAX_OPERANDS];
    struct operand_set *sets;
    size_t count;
    double set_bytes;
};

/* Allocates, fills and prepares as many sets as c->rotate asks for, within a quarter of the free memory.
 * Whatever happens, operands_close is due. ERR_DEVICE_MEMORY: not even one set fits. */
int operands_open(struct operands *o, const struct runner *r, const struct bench_case *c,
                  struct err *e) MUST_CHECK;
void operands_close(struct operands *o);

/* Compares at least 64 elements of the set's outputs, spread over all of it, and its corners, with
 * kernels/ref. Other salts choose other elements. 0 = right, or nothing to compare; 1 = wrong, and how,
 * in reason; -1 = the device failed. */
int operands_verify(const struct operands *o, size_t set, uint64_t salt, char *reason, size_t size,
                    struct err *e) MUST_CHECK;

/* How far sampled elements of a GEMM's output, as the set's buffers hold it, are from the product of the
 * inputs as they were before they were rounded: struct record_deviation says what is compared. All NaN for
 * other ops. Costs as much as a verification. */
int operands_deviation(const struct operands *o, size_t set, uint64_t salt, struct record_deviation *out,
                       struct err *e) MUST_CHECK;

#endif
