/* How a workload is laid on n devices, and what that takes of each device's memory.
 * Now: data parallel, micro-batches, accumulation, full recomputation. */
#ifndef MODEL_LAYOUT_H
#define MODEL_LAYOUT_H

#include "model/dtype.h"

#include <stdbool.h>
#include <stdint.h>

struct workload;

struct layout {
    int64_t devices;      /* data-parallel ranks                                             */
    int64_t micro_batch;  /* sequences at once on one device                             */
    int64_t accumulation; /* micro-batches per step and device (the last may be partial) */
    bool recompute;       /* activations of a layer are computed again in the backward pass   */
    enum dtype dtype;
};

/* Bytes on each device by category. */
struct layout_memory {
    double weights, gradients, optimizer, activations, logits, reserve;
    double total;
};

/* Bytes per device:
 *   16-bit training: weights 2 + gradients 2 + optimizer 12 bytes a parameter (fp32 master copy and two
 *   Adam moments: ZeRO, Rajbhandari et al. 2020, section 3.1: 16 in all); fp32: 4 + 4 + 8.
 *   activations of a layer 34 s b h bytes in 16 bit with a fused attention (Korthikanti et al. 2022,
 *   eq. 2 without the 5 a s / h term), 2 s b h when recomputed plus one layer in full; twice in fp32.
 *   logits: s b V x (2 + 4) bytes (4 + 4 in fp32). reserve: what the device's runtime keeps. */
void layout_memory(const struct workload *w, const struct layout *l, bool is_gpu, struct layout_memory *out);

/* The cheapest layout that fits memory_bytes on each of n devices: the largest micro-batch (a power of
 * two up to the workload's max, 1 on a CPU, at most the device's share of the global batch) without
 * recomputation if any fits, else with it. True = fits. False: *out is the smallest layout tried and
 * *memory says what it needs. */
bool layout_choose(const struct workload *w, int64_t devices, enum dtype dtype, double memory_bytes,
                   bool is_gpu, struct layout *out, struct layout_memory *memory);

#endif
