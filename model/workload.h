/* A training job: what one optimizer step computes, whoever computes it. The global batch is the same
 * for every offer, so that a step is a fixed amount of work. Read from data/workloads/NAME.json, where
 * every figure carries its source; or made of a Hugging Face config.json (workload_hf.h); or a CSV list of
 * matrix products. */
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

enum workload_kind { WORKLOAD_TRANSFORMER, WORKLOAD_CNN, WORKLOAD_GEMMS };
/* Zero is GPT-2's way in each: a GELU between two matrices, layer norms, biases, the head tied to the token
 * table, causal attention. */
enum feed_forward { FEED_GELU, FEED_SWIGLU };
enum norm { NORM_LAYER, NORM_RMS };
enum biases { BIASES_ALL, BIASES_QKV, BIASES_NONE };
/* MLM is BERT's: a linear layer with GELU and layer norm, then the tied table with a bias. */
enum head { HEAD_TIED, HEAD_UNTIED, HEAD_MLM };
enum attention { ATTENTION_CAUSAL, ATTENTION_FULL };
/* Linear layers that LoRA adds its two low-rank matrices to: bits of lora_targets. */
enum lora_target { LORA_Q, LORA_K, LORA_V, LORA_O, LORA_GATE, LORA_UP, LORA_DOWN, LORA_TARGET_COUNT };

/* What follows a convolution: batch norm always, then these. */
enum conv_after { AFTER_RELU, AFTER_ADD, AFTER_NOTHING };
/* `count` alike convolutions: a product of batch x size^2 rows, `out` columns, `in` x kernel^2 terms
 * (im2col). A linear layer is one with kernel and size 1, and has biases instead of the norm. */
struct convolution {
    int64_t in, out, kernel, size, count; /* size: edge of the output */
    enum conv_after after;                /* ADD: a residual is added, then ReLU */
    bool linear;
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

/* Where a figure of the file comes from. */
struct workload_source {
    const char *figure, *source;
    bool verified; /* read at its source */
};

struct workload {
    struct arena arena;
    const char *name, *title, *source;
    struct workload_source *sources; /* in the file's order; none for a list of products */
    size_t source_count;
    enum workload_kind kind;
    /* transformer */
    int64_t layers, hidden, heads, ffn, vocab, vocab_padded, sequence;
    int64_t kv_heads, head_size;    /* 0 = heads, hidden / heads                               */
    int64_t positions, token_types; /* rows of learned tables; 0 = none (rotary positions)     */
    enum feed_forward feed_forward;
    enum norm norm;
    enum biases biases;
    enum head head;
    enum attention attention;
    int64_t experts, experts_active; /* per block, and per token; 0 = one feed-forward         */
    int64_t lora_rank;               /* 0 = all parameters are trained                         */
    unsigned lora_targets;           /* 1 << LORA_Q ...                                        */
    /* cnn */
    struct convolution *convolutions; /* in forward order; the last is the classifier */
    size_t convolution_count;
    /* a list of products: one "sample" is the list once */
    struct step_ops gemms;
    double parameters;        /* of the model without adapters                                      */
    double lookup_parameters; /* pure look-up tables: no GEMM, not in 6ND's N                       */
    int64_t global_batch;     /* sequences, images or lists per optimizer step                      */
    int64_t max_micro_batch;  /* of these at once on a GPU at most: above it nothing is gained      */
    enum dtype precisions[WORKLOAD_MAX_PRECISIONS]; /* in order of preference */
    size_t precision_count;
    double dataset_bytes, checkpoint_bytes;
};

/* Loads by name ("gpt2-124m") from the embedded data or --data DIR, or from a path ending in .json or .csv.
 * The parameters are those that the shapes add up to; a file whose figure is more than 0.5 % off is refused.
 * ERR_NOT_FOUND lists the names there are.
 *
 * CSV: a header of m,n,k and any of batch,dtype,count,phase (forward, backward); each row a product that a
 * step executes `count` times. dtype: one for all rows; without it the first of bf16, fp16, fp32 that the
 * device has. n devices each run a share of 1/n of the lists, without communication. */
int workload_load(const struct data *data, const char *name, struct workload *out, struct err *e) MUST_CHECK;
/* From the text of such a file; name is for messages. */
int workload_parse(const char *name, const char *bytes, size_t length, struct workload *out,
                   struct err *e) MUST_CHECK;
void workload_free(struct workload *w);
/* Known words of the files, NULL-terminated; in the order of their enums. */
extern const char *const workload_kind_names[],
    *const feed_forward_names[], *const norm_names[], *const biases_names[],
                                                          *const head_names[], *const attention_names[],
                                                                                   *const lora_target_names[];

/* Key/value heads and head size, with their defaults. */
int64_t workload_kv_heads(const struct workload *w);
int64_t workload_head_size(const struct workload *w);

/* Parameters by where they sit. All of a device alone. */
struct workload_parameters {
    double block;   /* one transformer block, all its experts         */
    double experts; /* of a block: those in experts                    */
    double adapter; /* of a block: LoRA's                              */
    double tables;  /* outside the blocks: tables, head, last norm; a CNN has nothing else */
    double total;   /* with adapters                                   */
    double active;  /* that one token meets                            */
    double trained; /* with a gradient                                 */
};
void workload_parameters(const struct workload *w, struct workload_parameters *out);
/* The model's parameters as its shapes have them, without adapters; *lookup: pure look-up tables. */
double workload_shape_parameters(const struct workload *w, double *lookup);

/* What a step processes: global batch x sequence tokens, images, or lists. */
double workload_units_per_step(const struct workload *w);
/* "token", "image", "list". */
const char *workload_unit(const struct workload *w);
/* Model FLOP of one step, independent of the op list, which must agree within 1 %:
 *   transformer  per token 6 N + 12 L H Q T (PaLM, appendix B; N active parameters without pure look-up
 *                tables, L layers, H heads of size Q, sequence T, full attention);
 *                LoRA 4 N + 6 x adapters + 12 L H Q T: frozen matrices have no weight gradient
 *   cnn          3 x the multiply-adds of the forward convolutions x 2
 *   list         the sum of its products */
double workload_model_flop(const struct workload *w);
/* Bytes of all trained parameters' gradients in precision t. */
double workload_gradient_bytes(const struct workload *w, enum dtype t);

/* The ops of one device under this layout, dtype l->dtype, attention fused. Counts are averages where the
 * device's share of the global batch is no whole number of micro-batches. Tensor parallel as Megatron has it
 * (Shoeybi et al. 2019; norms and residuals by sequence: Korthikanti et al. 2022). A pipeline stage is taken
 * to hold the head: the slowest decides. Experts are balanced. Free with step_ops_free. */
void workload_expand(const struct workload *w, const struct layout *l, struct step_ops *out);
void step_ops_add(struct step_ops *s, const struct step_op *item);
void step_ops_free(struct step_ops *s);
/* FLOP of a whole step on all devices: the sum that workload_model_flop is checked against (every stage of a
 * pipeline counts a head). */
double step_ops_flop(const struct step_ops *s, const struct layout *l);
/* Trained parameters whose gradients are final after backward stage i of 0 .. workload_stages - 1. */
size_t workload_stages(const struct workload *w, const struct layout *l);
double workload_stage_parameters(const struct workload *w, const struct layout *l, size_t stage);

#endif
