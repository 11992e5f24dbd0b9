/* How a workload is laid on the n devices of a node, and what that takes of each device's memory: data,
 * tensor, pipeline and expert parallelism, ZeRO, micro-batches, accumulation, full recomputation. */
#ifndef MODEL_LAYOUT_H
#define MODEL_LAYOUT_H

#include "model/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct workload;

struct layout {
    int64_t devices;      /* all of them: data ranks x tensor x pipeline                      */
    int64_t micro_batch;  /* sequences (images) at once on one data rank                       */
    int64_t accumulation; /* micro-batches per step and data rank (the last may be partial)  */
    bool recompute;       /* activations of a layer are computed again in the backward pass   */
    enum dtype dtype;
    int64_t tensor, pipeline; /* ranks that share a layer; that share the layers; 1 = none     */
    int64_t expert;           /* data ranks that share the experts; divides the data ranks      */
    int zero;                 /* ZeRO stage: shards optimizer 1, gradients 2, weights 3 over the data ranks */
};
int64_t layout_data_ranks(const struct layout *l);
/* True for data parallelism alone without recomputation. */
bool layout_is_plain(const struct layout *l);
/* "DP 2, TP 4, ZeRO-1, recomputed, 4 x 16 in bf16"; returns out. */
enum { LAYOUT_TEXT_SIZE = 160 };
char *layout_describe(const struct layout *l, char *out);
/* What is not plain, for a narrow column: "tp4 z1 rc"; "" for a plain one. Returns out. */
char *layout_brief(const struct layout *l, char *out);

/* Bytes on each device by category; of the pipeline stage that needs most. */
struct layout_memory {
    double weights, gradients, optimizer, activations, logits, reserve;
    double total;
};

/* Bytes per device:
 *   16-bit training: weights 2 + gradients 2 + optimizer 12 bytes a parameter (fp32 master copy and two
 *   Adam moments: ZeRO, Rajbhandari et al. 2020, section 3.1: 16 in all); fp32: 4 + 4 + 8. Frozen parameters
 *   are weights alone. ZeRO divides by the data ranks (section 5); stage 3 holds two gathered blocks besides:
 *   the one at work and the next.
 *   activations of a block: norm inputs, input of Q K V, Q, K, V, input of the projection, input of the
 *   feed-forward, its one (GELU: in and out; SwiGLU: gate, up, product) inner vectors for each expert met,
 * and two dropout masks with GELU: 34 s b h bytes for GPT-2's shape (Korthikanti et al. 2022, eq. 2 with a
 *   fused attention), over t tensor ranks (eq. 4, sequence parallel); 2 s b h when recomputed plus one block
 *   in full; twice in fp32. The first of p stages holds min(p, micro-batches) of them (1F1B: section 4.2.3
 *   there). CNN: each convolution's output and the norm's.
 *   logits: s b V x (2 + 4) bytes (4 + 4 in fp32) on the last stage. reserve: what the device's runtime
 * keeps. */
void layout_memory(const struct workload *w, const struct layout *l, bool is_gpu, struct layout_memory *out);

struct layout_device {
    int64_t devices;
    enum dtype dtype;
    double memory_bytes; /* of each; NaN = unknown: nothing fits */
    bool is_gpu;
};
struct layout_fit {
    struct layout layout;
    struct layout_memory memory;
};
/* The layouts that fit, each with the largest micro-batch (a power of two up to the workload's max; 1 for
 * tokens on a CPU; at most the data rank's share of the global batch), in this order: without recomputation
 * first, then by pipeline, tensor and expert ranks (powers of two that divide what they split) and ZeRO
 * stage. Pipelines take no ZeRO above 1 (as in DeepSpeed). Left out: a stage of ZeRO above 1 that gains no
 * larger micro-batch over a lower one. When count is 0, *smallest is the layout that needs least. The caller
 * frees the items. */
struct layout_fits {
    struct layout_fit *items;
    size_t count, capacity;
    struct layout_fit smallest;
};
void layout_enumerate(const struct workload *w, const struct layout_device *d, struct layout_fits *out);

/* The first of layout_enumerate. True = fits. False: *out is the layout that needs least and *memory says
 * what. */
bool layout_choose(const struct workload *w, int64_t devices, enum dtype dtype, double memory_bytes,
                   bool is_gpu, struct layout *out, struct layout_memory *memory);

#endif
