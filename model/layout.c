#include "model/layout.h"

#include "base/mem.h"
#include "model/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What the device's runtime keeps for itself: our assumption, about what a CUDA context with its libraries
 * and workspaces takes; on a CPU the program and its thread buffers. */
static const double RESERVE_GPU_BYTES = 1e9, RESERVE_CPU_BYTES = 0.25e9;

int64_t layout_data_ranks(const struct layout *l) {
    return l->devices / (l->tensor * l->pipeline);
}

bool layout_is_plain(const struct layout *l) {
    return !l->recompute && l->tensor == 1 && l->pipeline == 1 && l->expert == 1 && l->zero == 0;
}

/* ---- text ---- */

char *layout_describe(const struct layout *l, char *out) {
    int used = snprintf(out, LAYOUT_TEXT_SIZE, "DP %" PRId64, layout_data_ranks(l));
    const struct {
        const char *name;
        int64_t ranks;
    } parts[] = {{"TP", l->tensor}, {"PP", l->pipeline}, {"EP", l->expert}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].ranks > 1)
            used += snprintf(out + used, LAYOUT_TEXT_SIZE - (size_t)used, ", %s %" PRId64, parts[i].name,
                             parts[i].ranks);
    if (l->zero)
        used += snprintf(out + used, LAYOUT_TEXT_SIZE - (size_t)used, ", ZeRO-%d", l->zero);
    snprintf(out + used, LAYOUT_TEXT_SIZE - (size_t)used, "%s, %" PRId64 " x %" PRId64 " in %s",
             l->recompute ? ", recomputed" : "", l->micro_batch, l->accumulation, dtype_name(l->dtype));
    return out;
}

char *layout_brief(const struct layout *l, char *out) {
    int used = 0;
    const struct {
        const char *name;
        int64_t value, plain;
    } parts[] = {{"tp", l->tensor, 1}, {"pp", l->pipeline, 1}, {"ep", l->expert, 1}, {"z", l->zero, 0}};
    *out = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].value != parts[i].plain)
            used += snprintf(out + used, LAYOUT_TEXT_SIZE - (size_t)used, "%s%s%" PRId64, used ? " " : "",
                             parts[i].name, parts[i].value);
    if (l->recompute)
        snprintf(out + used, LAYOUT_TEXT_SIZE - (size_t)used, "%src", used ? " " : "");
    return out;
}

/* ---- memory ---- */

/* Values that a token leaves in a block for the backward pass; in units of an element. */
static double block_activations(const struct workload *w) {
    double h = (double)w->hidden, f = (double)w->ffn, size = (double)workload_head_size(w);
    double q = (double)w->heads * size, kv = 2 * (double)workload_kv_heads(w) * size;
    bool gated = w->feed_forward == FEED_SWIGLU;
    double met = w->experts ? (double)w->experts_active : 1;
    double masks = gated ? 0 : h; /* two of one byte */
    return 2 * h + h + q + kv + q + met * (h + (gated ? 3 : 2) * f) + masks;
}

static double cnn_activations(const struct workload *w) {
    double values = 0;
    for (size_t i = 0; i < w->convolution_count; i++) {
        const struct convolution *c = &w->convolutions[i];
        values += 2 * (double)c->count * (double)(c->size * c->size) * (double)c->out;
    }
    return values;
}

static double largest_op_bytes(const struct workload *w) {
    double most = 0;
    for (size_t i = 0; i < w->gemms.count; i++)
        most = fmax(most, op_bytes(&w->gemms.items[i].op));
    return most;
}

/* Parameters on a device before ZeRO: shared by all its data ranks, and experts by fewer of them. */
struct held {
    double dense, experts, adapters;
};

/* bytes of each parameter held, divided over the data ranks when this stage of ZeRO shards it */
static double held_bytes(const struct held *h, const struct layout *l, bool sharded, double bytes) {
    double ranks = sharded ? (double)layout_data_ranks(l) : 1;
    return bytes *
           (h->dense / ranks + h->experts / (sharded ? ranks / (double)l->expert : 1) + h->adapters / ranks);
}

static void state_memory(const struct workload *w, const struct layout *l, const struct held *held,
                         struct layout_memory *out) {
    double width = dtype_bytes(l->dtype);
    bool mixed = width < 4; /* 16 bit beside an fp32 master copy */
    double bytes = mixed ? 2 : width;
    struct workload_parameters p;
    struct held trained = *held;
    if (w->lora_rank)
        trained.dense = trained.experts = 0;
    out->weights = held_bytes(held, l, l->zero >= 3, bytes);
    out->gradients = held_bytes(&trained, l, l->zero >= 2, bytes);
    out->optimizer = held_bytes(&trained, l, l->zero >= 1, mixed ? 12 : 2 * bytes);
    workload_parameters(w, &p);
    if (l->zero >= 3 && layout_data_ranks(l) > 1)
        out->weights += 2 * bytes * (p.block + p.adapter) / (double)l->tensor;
}

/* One stage of a pipeline; stage 0 holds the token table, the last one the head. */
static void stage_memory(const struct workload *w, const struct layout *l, bool first,
                         struct layout_memory *out) {
    double width = dtype_bytes(l->dtype), bytes = width < 4 ? 2 : width;
    double tensor = (double)l->tensor, pipeline = (double)l->pipeline;
    double layers = (double)w->layers / pipeline, images = (double)l->micro_batch;
    struct workload_parameters p;
    workload_parameters(w, &p);
    double tables = p.tables;
    if (l->pipeline > 1 && w->head == HEAD_UNTIED) /* half of them is at the other end */
        tables = fmax(tables - (double)w->vocab * (double)w->hidden, 0);
    struct held held = {.dense = (layers * (p.block - p.experts) + tables) / tensor,
                        .experts = layers * p.experts / tensor / (double)l->expert,
                        .adapters = layers * p.adapter / tensor};
    *out = (struct layout_memory){0};
    state_memory(w, l, &held, out);
    if (w->kind == WORKLOAD_GEMMS) {
        out->activations = largest_op_bytes(w);
        return;
    }
    double logit_bytes = bytes + (width < 4 ? 4 : bytes);
    if (w->kind == WORKLOAD_CNN) {
        out->activations = images * cnn_activations(w) * bytes;
        out->logits = images * (double)w->convolutions[w->convolution_count - 1].out * logit_bytes;
        return;
    }
    double tokens = images * (double)w->sequence, block = block_activations(w);
    double in_flight = first ? fmin(pipeline, (double)l->accumulation) : 1;
    double kept = l->recompute ? layers * in_flight * (double)w->hidden + block : layers * in_flight * block;
    out->activations = kept * tokens * bytes / tensor;
    if (!first || l->pipeline == 1)
        out->logits = tokens * (double)w->vocab_padded * logit_bytes / tensor;
}

void layout_memory(const struct workload *w, const struct layout *l, bool is_gpu, struct layout_memory *out) {
    *out = (struct layout_memory){0};
    for (int first = 1; first >= (l->pipeline > 1 ? 0 : 1); first--) {
        struct layout_memory stage;
        stage_memory(w, l, first, &stage);
        stage.reserve = is_gpu ? RESERVE_GPU_BYTES : RESERVE_CPU_BYTES;
        stage.total = stage.weights + stage.gradients + stage.optimizer + stage.activations + stage.logits +
                      stage.reserve;
        if (stage.total > out->total)
            *out = stage;
    }
}

/* ---- choice ---- */

/* The largest power of two that neither the workload's bound nor the rank's share of the batch cuts. */
static int64_t largest_micro_batch(const struct workload *w, int64_t ranks, bool is_gpu) {
    bool many = is_gpu || w->kind == WORKLOAD_CNN;
    int64_t micro_batch = 1;
    while (many && micro_batch * 2 <= w->max_micro_batch && micro_batch * 2 * ranks <= w->global_batch)
        micro_batch *= 2;
    return micro_batch;
}

struct search {
    const struct workload *w;
    const struct layout_device *d;
    struct layout_fits *out;
};

/* Adds l with the largest micro-batch that fits; gives that, or 0. */
static int64_t try_layout(struct search *s, struct layout l) {
    int64_t ranks = layout_data_ranks(&l);
    for (l.micro_batch = largest_micro_batch(s->w, ranks, s->d->is_gpu); l.micro_batch >= 1;
         l.micro_batch /= 2) {
        struct layout_fit fit = {.layout = l};
        double each = (double)ranks * (double)l.micro_batch;
        fit.layout.accumulation = (int64_t)ceil((double)s->w->global_batch / each);
        layout_memory(s->w, &fit.layout, s->d->is_gpu, &fit.memory);
        struct layout_fits *out = s->out;
        if (!(out->smallest.memory.total > 0) || fit.memory.total < out->smallest.memory.total)
            out->smallest = fit;
        if (fit.memory.total <= s->d->memory_bytes) {
            out->items = xgrow(out->items, sizeof *out->items, out->count, &out->capacity);
            out->items[out->count++] = fit;
            return l.micro_batch;
        }
    }
    return 0;
}

static bool divides(int64_t part, int64_t whole) {
    return whole % part == 0;
}

/* Can these ranks share this workload on these devices? */
static bool is_possible(const struct workload *w, const struct layout *l) {
    if (l->tensor * l->pipeline * l->expert == 1)
        return true;
    return w->kind == WORKLOAD_TRANSFORMER && divides(l->tensor * l->pipeline, l->devices) &&
           divides(l->tensor, w->heads) && divides(l->tensor, workload_kv_heads(w)) &&
           divides(l->tensor, w->ffn) && divides(l->pipeline, w->layers) &&
           divides(l->expert, layout_data_ranks(l)) &&
           (l->expert == 1 || (w->experts > 0 && divides(l->expert, w->experts)));
}

/* All stages of ZeRO for these ranks. A stage above 1 only moves more, so it is worth a larger micro-batch or
 * nothing; pipelines take none above 1. */
static void try_stages(struct search *s, struct layout l) {
    bool sharded = layout_data_ranks(&l) > 1 && s->w->kind != WORKLOAD_GEMMS;
    int last = !sharded ? 0 : l.pipeline > 1 ? 1 : 3;
    int64_t most = 0;
    for (l.zero = 0; l.zero <= last; l.zero++) {
        size_t before = s->out->count;
        int64_t micro_batch = try_layout(s, l);
        if (l.zero > 1 && micro_batch <= most)
            s->out->count = before;
        else if (l.zero > 0)
            most = micro_batch;
    }
}

static int compare_fits(const void *left, const void *right) {
    const struct layout *a = &((const struct layout_fit *)left)->layout;
    const struct layout *b = &((const struct layout_fit *)right)->layout;
    const int64_t keys[][2] = {{a->recompute, b->recompute},
                               {a->pipeline, b->pipeline},
                               {a->tensor, b->tensor},
                               {a->expert, b->expert},
                               {a->zero, b->zero}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

void layout_enumerate(const struct workload *w, const struct layout_device *d, struct layout_fits *out) {
    *out = (struct layout_fits){0};
    struct search s = {.w = w, .d = d, .out = out};
    struct layout l = {.devices = d->devices, .dtype = d->dtype};
    for (l.pipeline = 1; l.pipeline <= d->devices; l.pipeline *= 2)
        for (l.tensor = 1; l.tensor <= d->devices; l.tensor *= 2)
            for (l.expert = 1; l.expert <= d->devices; l.expert *= 2) {
                if (!is_possible(w, &l))
                    continue;
                l.recompute = false;
                try_stages(&s, l);
                l.recompute = true;
                if (w->kind == WORKLOAD_TRANSFORMER)
                    try_stages(&s, l);
            }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, compare_fits);
}

bool layout_choose(const struct workload *w, int64_t devices, enum dtype dtype, double memory_bytes,
                   bool is_gpu, struct layout *out, struct layout_memory *memory) {
    struct layout_device d = {
        .devices = devices, .dtype = dtype, .memory_bytes = memory_bytes, .is_gpu = is_gpu};
    struct layout_fits fits;
    layout_enumerate(w, &d, &fits);
    bool found = fits.count > 0;
    *out = found ? fits.items[0].layout : fits.smallest.layout;
    *memory = found ? fits.items[0].memory : fits.smallest.memory;
    free(fits.items);
    return found;
}
