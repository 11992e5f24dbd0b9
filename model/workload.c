#include "model/workload.h"

#include <math.h>
#include <stdlib.h>

const char *const workload_kind_names[] = {"transformer", "cnn", "products", NULL};
const char *const feed_forward_names[] = {"gelu", "swiglu", NULL};
const char *const norm_names[] = {"layernorm", "rmsnorm", NULL};
const char *const biases_names[] = {"all", "qkv", "none", NULL};
const char *const head_names[] = {"tied", "untied", "mlm", NULL};
const char *const attention_names[] = {"causal", "full", NULL};
const char *const lora_target_names[] = {"q", "k", "v", "o", "gate", "up", "down", NULL};

void workload_free(struct workload *w) {
    if (!w)
        return;
    step_ops_free(&w->gemms);
    arena_free(&w->arena);
    *w = (struct workload){0};
}

/* ---- shapes ---- */

int64_t workload_kv_heads(const struct workload *w) {
    return w->kv_heads ? w->kv_heads : w->heads;
}

int64_t workload_head_size(const struct workload *w) {
    return w->head_size ? w->head_size : w->hidden / w->heads;
}

static double norm_parameters(const struct workload *w) {
    return (w->norm == NORM_LAYER ? 2 : 1) * (double)w->hidden;
}

/* One feed-forward: two matrices with GELU, three with SwiGLU. */
static double feed_parameters(const struct workload *w) {
    double h = (double)w->hidden, f = (double)w->ffn;
    double matrices = w->feed_forward == FEED_SWIGLU ? 3 : 2;
    return matrices * h * f + (w->biases == BIASES_ALL ? (matrices - 1) * f + h : 0);
}

static double attention_parameters(const struct workload *w) {
    double h = (double)w->hidden, q = (double)w->heads * (double)workload_head_size(w);
    double qkv = q + 2 * (double)workload_kv_heads(w) * (double)workload_head_size(w);
    return h * qkv + q * h + (w->biases != BIASES_NONE ? qkv : 0) + (w->biases == BIASES_ALL ? h : 0);
}

static double experts_parameters(const struct workload *w) {
    return (double)w->experts * feed_parameters(w);
}

static double block_parameters(const struct workload *w) {
    double router = (double)w->experts * (double)w->hidden;
    double feed = w->experts ? experts_parameters(w) + router : feed_parameters(w);
    return attention_parameters(w) + feed + 2 * norm_parameters(w);
}

/* r x (in + out) for each layer that LoRA adds to (Hu et al. 2021, section 4.1). */
static double adapter_parameters(const struct workload *w) {
    double h = (double)w->hidden, f = (double)w->ffn, size = (double)workload_head_size(w);
    double q = (double)w->heads * size, k = (double)workload_kv_heads(w) * size;
    const double edges[LORA_TARGET_COUNT] = {
        [LORA_Q] = h + q,    [LORA_K] = h + k,  [LORA_V] = h + k,    [LORA_O] = q + h,
        [LORA_GATE] = h + f, [LORA_UP] = h + f, [LORA_DOWN] = f + h,
    };
    double sum = 0;
    for (int i = 0; i < LORA_TARGET_COUNT; i++)
        sum += w->lora_targets >> i & 1 ? edges[i] : 0;
    return (double)w->lora_rank * sum;
}

/* Weights, and scale and shift of the norm behind it; or the biases of a linear layer. */
static double convolution_parameters(const struct convolution *c) {
    double weights = (double)c->in * (double)c->out * (double)(c->kernel * c->kernel);
    return (double)c->count * (weights + (c->linear ? 1 : 2) * (double)c->out);
}

double workload_shape_parameters(const struct workload *w, double *lookup) {
    double sum = 0, h = (double)w->hidden, table = (double)w->vocab * h;
    *lookup = 0;
    for (size_t i = 0; i < w->convolution_count; i++)
        sum += convolution_parameters(&w->convolutions[i]);
    if (w->kind != WORKLOAD_TRANSFORMER)
        return sum;
    *lookup = (double)(w->positions + w->token_types) * h + (w->head == HEAD_UNTIED ? table : 0);
    double mlm = w->head == HEAD_MLM ? h * h + h + norm_parameters(w) + (double)w->vocab : 0;
    return *lookup + table + (double)w->layers * block_parameters(w) + norm_parameters(w) + mlm;
}

void workload_parameters(const struct workload *w, struct workload_parameters *out) {
    *out = (struct workload_parameters){.tables = w->parameters};
    if (w->kind == WORKLOAD_TRANSFORMER) {
        out->block = fmin(block_parameters(w), w->parameters / (double)w->layers);
        out->experts = fmin(experts_parameters(w), out->block);
        out->adapter = adapter_parameters(w);
        out->tables = w->parameters - (double)w->layers * out->block;
    }
    double adapters = (double)w->layers * out->adapter;
    double idle = w->experts ? 1 - (double)w->experts_active / (double)w->experts : 0;
    out->total = w->parameters + adapters;
    out->active = out->total - (double)w->layers * out->experts * idle;
    out->trained = w->lora_rank ? adapters : w->parameters;
}

/* ---- formulas ---- */

double workload_units_per_step(const struct workload *w) {
    return (double)w->global_batch * (w->kind == WORKLOAD_TRANSFORMER ? (double)w->sequence : 1);
}

const char *workload_unit(const struct workload *w) {
    static const char *const units[] = {"token", "image", "list"};
    return units[w->kind];
}

static double transformer_flop_per_token(const struct workload *w) {
    struct workload_parameters p;
    workload_parameters(w, &p);
    double adapters = w->lora_rank ? p.trained : 0;
    double weights = (w->lora_rank ? 4 : 6) * (p.active - adapters - w->lookup_parameters) + 6 * adapters;
    double width = (double)w->heads * (double)workload_head_size(w);
    return weights + 12 * (double)w->layers * width * (double)w->sequence;
}

static double cnn_flop_per_image(const struct workload *w) {
    double flop = 0;
    for (size_t i = 0; i < w->convolution_count; i++) {
        const struct convolution *c = &w->convolutions[i];
        flop += 3 * 2 * (double)c->count * (double)(c->size * c->size) * (double)c->out * (double)c->in *
                (double)(c->kernel * c->kernel);
    }
    return flop;
}

static double list_flop(const struct workload *w) {
    double flop = 0;
    for (size_t i = 0; i < w->gemms.count; i++)
        flop += w->gemms.items[i].count * op_flop(&w->gemms.items[i].op);
    return flop;
}

double workload_model_flop(const struct workload *w) {
    double each = w->kind == WORKLOAD_TRANSFORMER ? transformer_flop_per_token(w)
                  : w->kind == WORKLOAD_CNN       ? cnn_flop_per_image(w)
                                                  : list_flop(w);
    return each * workload_units_per_step(w);
}

double workload_gradient_bytes(const struct workload *w, enum dtype t) {
    struct workload_parameters p;
    double width = dtype_bytes(t);
    workload_parameters(w, &p);
    return p.trained * (width < 4 ? 2 : width);
}
