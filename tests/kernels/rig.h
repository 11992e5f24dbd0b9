/* A device under test: opened, with one queue, and operands filled from fixed seeds. Every step asserts. */
#ifndef TESTS_KERNELS_RIG_H
#define TESTS_KERNELS_RIG_H

#include "kernels/backend.h"
#include "kernels/ref/ref.h"

struct rig {
    const struct backend *backend;
    struct device *device;
    struct queue *queue;
    struct event *from, *to;
};
void rig_open(struct rig *r, const char *backend, const char *scenario);
void rig_close(struct rig *r);

/* An op bound to buffers: inputs filled (input i from seed 100 + i), the output zeroed. */
struct rig_op {
    struct op op;
    struct op_operand operands[OP_MAX_OPERANDS];
    struct buffer *buffers[OP_MAX_OPERANDS];
    size_t count;
    struct ref_filled filled[OP_MAX_OPERANDS];
    struct ref_source sources[OP_MAX_OPERANDS];
    struct prepared *prepared;
};
void rig_prepare(struct rig *r, const struct op *op, enum fill how, struct rig_op *out);
void rig_release(struct rig *r, struct rig_op *o);

/* Device time of n executions, by events. */
double rig_elapsed_s(struct rig *r, struct prepared *p, uint64_t n);
/* Executes once; returns how many of the output's elements (every stride-th) the oracle refuses. */
uint64_t rig_wrong_elements(struct rig *r, const struct rig_op *o, uint64_t stride);
/* The same for the output as it stands. */
uint64_t rig_count_wrong(struct rig *r, const struct rig_op *o, uint64_t stride);

#endif
