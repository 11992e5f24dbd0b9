#include "model/layout.h"

#include "model/workload.h"

#include <math.h>
#include <stddef.h>

/* What the device's runtime keeps for itself: our assumption, about what a CUDA context with its libraries
 * and workspaces takes; on a CPU the program and its thread buffers. */
static const double RESERVE_GPU_BYTES = 1e9, RESERVE_CPU_BYTES = 0.25e9;

void layout_memory(const struct workload *w, const struct layout *l, bool is_gpu, struct layout_memory *out) {
    double width = dtype_bytes(l->dtype);
    bool mixed = width < 4; /* 16 bit beside an fp32 master copy */
    double bytes = mixed ? 2 : width;
    double tokens = (double)l->micro_batch * (double)w->sequence;
    double token_layer = tokens * (double)w->hidden * (bytes / 2); /* s b h, in units of 16 bit */
    double layers = (double)w->layers;
    *out = (struct layout_memory){
        .weights = w->parameters * bytes,
        .gradients = w->parameters * bytes,
        .optimizer = w->parameters * (mixed ? 12 : 2 * bytes),
        .activations = l->recompute ? (2 * layers + 34) * token_layer : 34 * layers * token_layer,
        .logits = tokens * (double)w->vocab_padded * (bytes + (mixed ? 4 : bytes)),
        .reserve = is_gpu ? RESERVE_GPU_BYTES : RESERVE_CPU_BYTES,
    };
    out->total =
        out->weights + out->gradients + out->optimizer + out->activations + out->logits + out->reserve;
}

/* The largest power of two that neither the workload's bound nor the device's share of the batch cuts. */
static int64_t largest_micro_batch(const struct workload *w, int64_t devices, bool is_gpu) {
    int64_t micro_batch = 1;
    while (is_gpu && micro_batch * 2 <= w->max_micro_batch && micro_batch * 2 * devices <= w->global_batch)
        micro_batch *= 2;
    return micro_batch;
}

static int64_t accumulation(const struct workload *w, int64_t devices, int64_t micro_batch) {
    return (int64_t)ceil((double)w->global_batch / ((double)devices * (double)micro_batch));
}

bool layout_choose(const struct workload *w, int64_t devices, enum dtype dtype, double memory_bytes,
                   bool is_gpu, struct layout *out, struct layout_memory *memory) {
    int64_t largest = largest_micro_batch(w, devices, is_gpu);
    for (int recompute = 0; recompute <= 1; recompute++)
        for (int64_t micro_batch = largest; micro_batch >= 1; micro_batch /= 2) {
            *out = (struct layout){.devices = devices,
                                   .micro_batch = micro_batch,
                                   .accumulation = accumulation(w, devices, micro_batch),
                                   .recompute = recompute,
                                   .dtype = dtype};
            layout_memory(w, out, is_gpu, memory);
            if (memory->total <= memory_bytes)
                return true;
        }
    return false;
}
