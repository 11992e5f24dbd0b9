/* A training job: what one optimizer step computes, whoever computes it. The global batch is the same
 * for every offer, so that a step is a fixed amount of work. Read from data/workloads/NAME.json, where
 * every figure carries its source. */
#ifndef MODEL_WORKLOAD_H
#define MODEL_WORKLOAD_H

#include "base/err.h"
#include "base/mem.h"
#include "model/data.h"
#include "model/layout.h"
#include "model/op.h"

#include <stddef.h>
#include <stdint.h>

enum { WORKLOAD_MAX_PRECISIONS = 6 };

struct workload {
    struct arena arena;
    const char *name, *title, *source;
    /* a dense decoder-only transformer, GPT-2 style */
    int64_t layers, hidden, heads, ffn, vocab, vocab_padded, sequence;
    double parameters;        /* all of them                                                     */
    double lookup_parameters; /* pure look-up tables (position embedding): no GEMM, not in 6ND's N */
    int64_t global_batch;     /* sequences per optimizer step                                    */
    int64_t max_micro_batch;  /* sequences at once on a GPU at most: above it nothing is gained  */
    enum dtype precisions[WORKLOAD_MAX_PRECISIONS]; /* in order of preference */
    size_t precision_count;
    double dataset_bytes, checkpoint_bytes;
};

/* One line of a step's op list. */
enum step_phase { STEP_FORWARD, STEP_BACKWARD, STEP_OPTIMIZER };
struct step_op {
    struct op op;
    enum step_phase phase;
    double count;           /* executions per micro-batch (forward, backward) or per step (optimizer) */
    int64_t layer_from_end; /* backward: 0 = first to finish; orders the gradient buckets    */
};
struct step_ops {
    struct step_op *items;
    size_t count, capacity;
};

/* Loads by name ("gpt2-124m") from the embedded data or --data DIR, or from a path ending in .json.
 * ERR_NOT_FOUND lists the names there are. */
int workload_load(const struct data *data, const char *name, struct workload *out, struct err *e) MUST_CHECK;
void workload_free(struct workload *w);

/* Tokens of one optimizer step: global_batch x sequence. */
double workload_tokens_per_step(const struct workload *w);
/* Model FLOP of one step: per token 6 N + 12 L H Q T (PaLM, appendix B; N without pure look-up tables,
 * H Q = hidden size), times tokens. Independent of the op list, which must agree within 1 %. */
double workload_model_flop(const struct workload *w);
/* Gradient bytes that one data-parallel all-reduce carries in precision t. */
double workload_gradient_bytes(const struct workload *w, enum dtype t);

/* The ops of one device under this layout, dtype l->dtype, attention fused. Counts are averages where the
 * device's share of the global batch is no whole number of micro-batches. Free with step_ops_free. */
void workload_expand(const struct workload *w, const struct layout *l, struct step_ops *out);
void step_ops_free(struct step_ops *s);
/* FLOP of a whole step on all devices: the sum that workload_model_flop is checked against. */
double step_ops_flop(const struct step_ops *s, const struct layout *l);

#endif
