/* A step's op list. */
#include "model/workload.h"

#include <math.h>
#include <stdlib.h>

void step_ops_add(struct step_ops *s, const struct step_op *item) {
    s->items = xgrow(s->items, sizeof *s->items, s->count, &s->capacity);
    s->items[s->count++] = *item;
}

void step_ops_free(struct step_ops *s) {
    if (!s)
        return;
    free(s->items);
    *s = (struct step_ops){0};
}

struct expansion {
    const struct workload *w;
    const struct layout *l;
    struct step_ops *out;
    enum dtype dtype, stored;     /* of the products; of what lies in memory (tf32 is stored as fp32) */
    int64_t tokens;               /* of a micro-batch                                                 */
    int64_t rows;                 /* of them on this device, where norms and residuals are split      */
    int64_t heads, kv_heads, ffn; /* of this device */
    double average;               /* executed share of a micro-batch: the last one of a step may be partial */
    enum step_phase phase;
    int64_t layer_from_end;
};

static int64_t split(int64_t whole, int64_t parts) {
    return (whole + parts - 1) / parts;
}

static void add(struct expansion *x, struct op op, double count) {
    struct step_op item = {.op = op,
                           .phase = x->phase,
                           .count = x->phase == STEP_OPTIMIZER ? count : count * x->average,
                           .layer_from_end = x->phase == STEP_BACKWARD ? x->layer_from_end : 0};
    step_ops_add(x->out, &item);
}

static void add_rows(struct expansion *x, enum op_kind kind, enum op_pass pass, int64_t columns,
                     double count) {
    struct op op = op_elementwise(kind, 0, x->stored);
    op.pass = pass;
    op.m = x->rows;
    op.n = columns;
    add(x, op, count);
}

static void add_elements(struct expansion *x, enum op_kind kind, enum op_pass pass, int64_t elements,
                         double count) {
    struct op op = op_elementwise(kind, elements, x->stored);
    op.pass = pass;
    add(x, op, count);
}

static void add_norm(struct expansion *x, enum op_pass pass, double count) {
    add_rows(x, x->w->norm == NORM_LAYER ? OP_LAYERNORM : OP_RMSNORM, pass, x->w->hidden, count);
}

static void add_attention(struct expansion *x, enum op_pass pass, double count) {
    struct op op = op_gemm(x->w->sequence, x->w->sequence, workload_head_size(x->w), x->dtype);
    op.kind = OP_ATTENTION;
    op.pass = pass;
    op.batch = x->l->micro_batch * x->heads;
    op.causal = x->w->attention == ATTENTION_CAUSAL;
    add(x, op, count);
}

static void add_gemm(struct expansion *x, int64_t m, int64_t n, int64_t k, bool trans_a, bool trans_b,
                     double count) {
    struct op op = op_gemm(m, n, k, x->dtype);
    op.trans_a = trans_a;
    op.trans_b = trans_b;
    add(x, op, count);
}

/* ---- linear layers ---- */

/* Products of one input are one: Q, K and V, gate and up. */
struct linear {
    int64_t rows, in, out;
    double count; /* alike ones in a block: experts */
    unsigned targets;
};

/* Input and output edge of what LoRA adds to, on this device. */
static void lora_edges(const struct expansion *x, int target, int64_t *in, int64_t *out) {
    int64_t h = x->w->hidden, size = workload_head_size(x->w);
    int64_t q = x->heads * size, k = x->kv_heads * size, f = x->ffn;
    const int64_t edges[LORA_TARGET_COUNT][2] = {
        [LORA_Q] = {h, q},    [LORA_K] = {h, k},  [LORA_V] = {h, k},    [LORA_O] = {q, h},
        [LORA_GATE] = {h, f}, [LORA_UP] = {h, f}, [LORA_DOWN] = {f, h},
    };
    *in = edges[target][0];
    *out = edges[target][1];
}

/* Y += (X A) B; backward: dB, d(XA), dA, and its part of dX. */
static void add_adapter(struct expansion *x, const struct linear *y, int target, bool backward,
                        double layers) {
    int64_t in, out, r = x->w->lora_rank;
    double count = y->count * layers;
    lora_edges(x, target, &in, &out);
    if (!backward) {
        add_gemm(x, y->rows, r, in, false, false, count);
        add_gemm(x, y->rows, out, r, false, false, count);
        return;
    }
    add_gemm(x, r, out, y->rows, true, false, count);
    add_gemm(x, y->rows, r, out, false, true, count);
    add_gemm(x, in, r, y->rows, true, false, count);
    add_gemm(x, y->rows, in, r, false, true, count);
}

static void add_adapters(struct expansion *x, const struct linear *y, bool backward, double layers) {
    for (int i = 0; x->w->lora_rank && i < LORA_TARGET_COUNT; i++)
        if (x->w->lora_targets >> i & y->targets >> i & 1)
            add_adapter(x, y, i, backward, layers);
}

/* A linear layer's weights lie as [in, out]: Y = X W; dX = dY W^T; dW = X^T dY, unless W is frozen. Only the
 * head's lie as [out, in], because they are the token table too: Y = X W^T; dX = dY W; dW = dY^T X. */
static void add_linear(struct expansion *x, const struct linear *y, double layers) {
    add_gemm(x, y->rows, y->out, y->in, false, false, y->count * layers);
    add_adapters(x, y, false, layers);
}

static void add_linear_backward(struct expansion *x, const struct linear *y) {
    add_gemm(x, y->rows, y->in, y->out, false, true, y->count);
    if (!x->w->lora_rank)
        add_gemm(x, y->in, y->out, y->rows, true, false, y->count);
    add_adapters(x, y, true, 1);
}

enum { LINEAR_QKV, LINEAR_OUT, LINEAR_UP, LINEAR_DOWN, LINEAR_COUNT };

static void block_linears(const struct expansion *x, struct linear out[LINEAR_COUNT]) {
    const struct workload *w = x->w;
    int64_t size = workload_head_size(w), up = w->feed_forward == FEED_SWIGLU ? 2 : 1;
    int64_t rows = x->tokens;
    double experts = 1;
    if (w->experts) { /* what this rank's experts are sent, in equal shares */
        experts = (double)w->experts / (double)x->l->expert;
        rows = split(x->tokens * w->experts_active * x->l->expert, w->experts);
    }
    out[LINEAR_QKV] = (struct linear){x->tokens, w->hidden, (x->heads + 2 * x->kv_heads) * size, 1,
                                      1u << LORA_Q | 1u << LORA_K | 1u << LORA_V};
    out[LINEAR_OUT] = (struct linear){x->tokens, x->heads * size, w->hidden, 1, 1u << LORA_O};
    out[LINEAR_UP] = (struct linear){rows, w->hidden, up * x->ffn, experts, 1u << LORA_GATE | 1u << LORA_UP};
    out[LINEAR_DOWN] = (struct linear){rows, x->ffn, w->hidden, experts, 1u << LORA_DOWN};
}

/* ---- transformer ---- */

static void add_activation(struct expansion *x, const struct linear *down, enum op_pass pass, double layers) {
    enum op_kind kind = x->w->feed_forward == FEED_SWIGLU ? OP_SWIGLU : OP_GELU;
    add_elements(x, kind, pass, down->rows * down->in, down->count * layers);
}

static struct linear router(const struct expansion *x) {
    return (struct linear){x->tokens, x->w->hidden, x->w->experts, 1, 0};
}

static void add_layers_forward(struct expansion *x, double layers) {
    struct linear linears[LINEAR_COUNT], route = router(x);
    block_linears(x, linears);
    add_norm(x, OP_FORWARD, 2 * layers);
    add_linear(x, &linears[LINEAR_QKV], layers);
    add_attention(x, OP_FORWARD, layers);
    add_linear(x, &linears[LINEAR_OUT], layers);
    if (x->w->experts)
        add_linear(x, &route, layers);
    add_linear(x, &linears[LINEAR_UP], layers);
    add_activation(x, &linears[LINEAR_DOWN], OP_FORWARD, layers);
    add_linear(x, &linears[LINEAR_DOWN], layers);
    add_elements(x, OP_RESIDUAL, OP_FORWARD, x->rows * x->w->hidden, 2 * layers);
}

/* The gradients of the two branches of each residual are added: one RESIDUAL a branch. */
static void add_layer_backward(struct expansion *x) {
    struct linear linears[LINEAR_COUNT], route = router(x);
    block_linears(x, linears);
    add_linear_backward(x, &linears[LINEAR_DOWN]);
    add_activation(x, &linears[LINEAR_DOWN], OP_BACKWARD, 1);
    add_linear_backward(x, &linears[LINEAR_UP]);
    if (x->w->experts)
        add_linear_backward(x, &route);
    add_linear_backward(x, &linears[LINEAR_OUT]);
    add_attention(x, OP_BACKWARD, 1);
    add_linear_backward(x, &linears[LINEAR_QKV]);
    add_norm(x, OP_BACKWARD, 2);
    add_elements(x, OP_RESIDUAL, OP_FORWARD, x->rows * x->w->hidden, 2);
}

/* BERT's transform before the table: a linear layer, GELU, a norm. */
static void add_mlm(struct expansion *x, enum op_pass pass) {
    struct linear square = {x->tokens, x->w->hidden, x->w->hidden, 1, 0};
    if (x->w->head != HEAD_MLM)
        return;
    if (pass == OP_FORWARD)
        add_linear(x, &square, 1);
    else
        add_linear_backward(x, &square);
    add_elements(x, OP_GELU, pass, x->rows * x->w->hidden, 1);
    add_norm(x, pass, 1);
}

static void add_forward(struct expansion *x) {
    const struct workload *w = x->w;
    int64_t vocab = split(w->vocab_padded, x->l->tensor);
    x->phase = STEP_FORWARD;
    add_rows(x, OP_EMBEDDING, OP_FORWARD, w->hidden, 1);
    add_layers_forward(x, (double)w->layers / (double)x->l->pipeline);
    add_norm(x, OP_FORWARD, 1);
    add_mlm(x, OP_FORWARD);
    add_gemm(x, x->tokens, vocab, w->hidden, false, true, 1);
    struct op loss = op_elementwise(OP_CROSS_ENTROPY, 0, x->stored);
    loss.m = x->tokens;
    loss.n = vocab;
    add(x, loss, 1);
}

static void add_backward(struct expansion *x) {
    const struct workload *w = x->w;
    int64_t vocab = split(w->vocab_padded, x->l->tensor), layers = w->layers / x->l->pipeline;
    x->phase = STEP_BACKWARD;
    x->layer_from_end = 0;
    add_gemm(x, x->tokens, w->hidden, vocab, false, false, 1);
    if (!w->lora_rank)
        add_gemm(x, vocab, w->hidden, x->tokens, true, false, 1);
    add_mlm(x, OP_BACKWARD);
    add_norm(x, OP_BACKWARD, 1);
    for (int64_t layer = 1; layer <= layers; layer++) {
        x->layer_from_end = layer;
        if (x->l->recompute)
            add_layers_forward(x, 1);
        add_layer_backward(x);
    }
    x->layer_from_end = layers + 1;
    if (!w->lora_rank)
        add_rows(x, OP_EMBEDDING, OP_BACKWARD, w->hidden, 1);
}

/* ---- cnn ---- */

static void add_convolution_around(struct expansion *x, const struct convolution *c, enum op_pass pass) {
    int64_t elements = x->l->micro_batch * c->size * c->size * c->out;
    double count = (double)c->count;
    if (c->linear)
        return;
    add_elements(x, OP_BATCHNORM, pass, elements, count);
    if (c->after == AFTER_ADD) /* forward the sum; backward the sum of both branches' gradients */
        add_elements(x, OP_RESIDUAL, OP_FORWARD, elements, count);
    if (c->after != AFTER_NOTHING)
        add_elements(x, OP_RELU, pass, elements, count);
}

/* Behind the first convolution and before the classifier. */
static void add_pool(struct expansion *x, size_t index, enum op_pass pass) {
    const struct convolution *c = &x->w->convolutions[index];
    if (index == 0 || index + 2 == x->w->convolution_count)
        add_elements(x, OP_POOL, pass, x->l->micro_batch * c->size * c->size * c->out, 1);
}

static void add_cnn(struct expansion *x) {
    const struct workload *w = x->w;
    x->phase = STEP_FORWARD;
    for (size_t i = 0; i < w->convolution_count; i++) {
        const struct convolution *c = &w->convolutions[i];
        int64_t rows = x->l->micro_batch * c->size * c->size, terms = c->in * c->kernel * c->kernel;
        add_gemm(x, rows, c->out, terms, false, false, (double)c->count);
        add_convolution_around(x, c, OP_FORWARD);
        add_pool(x, i, OP_FORWARD);
    }
    struct op loss = op_elementwise(OP_CROSS_ENTROPY, 0, x->stored);
    loss.m = x->l->micro_batch;
    loss.n = w->convolutions[w->convolution_count - 1].out;
    add(x, loss, 1);
    x->phase = STEP_BACKWARD;
    for (size_t i = w->convolution_count; i-- > 0;) {
        const struct convolution *c = &w->convolutions[i];
        int64_t rows = x->l->micro_batch * c->size * c->size, terms = c->in * c->kernel * c->kernel;
        x->layer_from_end = (int64_t)(w->convolution_count - 1 - i);
        add_pool(x, i, OP_BACKWARD);
        add_convolution_around(x, c, OP_BACKWARD);
        if (i > 0) /* nothing learns from the image's gradient */
            add_gemm(x, rows, terms, c->out, false, true, (double)c->count);
        add_gemm(x, terms, c->out, rows, true, false, (double)c->count);
    }
}

/* ---- all ---- */

static void add_list(struct expansion *x) {
    for (size_t i = 0; i < x->w->gemms.count; i++) {
        const struct step_op *item = &x->w->gemms.items[i];
        struct op op = op_gemm(item->op.m, item->op.n, item->op.k, x->dtype);
        op.batch = item->op.batch;
        x->phase = item->phase;
        add(x, op, item->count);
    }
}

/* Parameters that this device's optimizer updates. */
static int64_t updated_parameters(const struct workload *w, const struct layout *l) {
    double sum = 0, shards = l->zero >= 1 ? (double)layout_data_ranks(l) : 1;
    for (size_t i = 0; i < workload_stages(w, l); i++)
        sum += workload_stage_parameters(w, l, i);
    return (int64_t)ceil(sum / shards);
}

void workload_expand(const struct workload *w, const struct layout *l, struct step_ops *out) {
    *out = (struct step_ops){0};
    double slots = (double)layout_data_ranks(l) * (double)l->micro_batch * (double)l->accumulation;
    struct expansion x = {.w = w,
                          .l = l,
                          .out = out,
                          .dtype = l->dtype,
                          .stored = l->dtype == DTYPE_TF32 ? DTYPE_FP32 : l->dtype,
                          .tokens = l->micro_batch * w->sequence,
                          .rows = split(l->micro_batch * w->sequence, l->tensor),
                          .heads = w->heads / l->tensor,
                          .kv_heads = w->heads ? workload_kv_heads(w) / l->tensor : 0,
                          .ffn = split(w->ffn, l->tensor),
                          .average = (double)w->global_batch / slots};
    if (w->kind == WORKLOAD_GEMMS) {
        add_list(&x);
        return;
    }
    if (w->kind == WORKLOAD_CNN) {
        add_cnn(&x);
    } else {
        add_forward(&x);
        add_backward(&x);
    }
    x.phase = STEP_OPTIMIZER;
    add(&x, op_elementwise(OP_ADAMW, updated_parameters(w, l), x.stored), 1);
}

double step_ops_flop(const struct step_ops *s, const struct layout *l) {
    double flop = 0;
    for (size_t i = 0; i < s->count; i++) {
        double times = s->items[i].phase == STEP_OPTIMIZER ? 1 : (double)l->accumulation;
        flop += op_flop(&s->items[i].op) * s->items[i].count * times;
    }
    return flop * (double)l->devices;
}

/* ---- when gradients are final ---- */

/* A transformer's head is stage 0, its blocks follow, and the rest, with an embedding that shares its weights
 * with the head, is final only in the last; a CNN's layers are stages from the last to the first. */
size_t workload_stages(const struct workload *w, const struct layout *l) {
    if (w->kind == WORKLOAD_CNN)
        return w->convolution_count;
    return w->kind == WORKLOAD_TRANSFORMER ? (size_t)(w->layers / l->pipeline) + 2 : 1;
}

static double convolution_share(const struct workload *w, size_t stage) {
    struct workload one = {.kind = WORKLOAD_CNN,
                           .convolutions = &w->convolutions[w->convolution_count - 1 - stage],
                           .convolution_count = 1};
    double lookup;
    return workload_shape_parameters(&one, &lookup);
}

double workload_stage_parameters(const struct workload *w, const struct layout *l, size_t stage) {
    struct workload_parameters p;
    workload_parameters(w, &p);
    size_t stages = workload_stages(w, l);
    double tensor = (double)l->tensor, head = 0;
    if (w->kind != WORKLOAD_TRANSFORMER)
        return w->kind == WORKLOAD_CNN ? convolution_share(w, stage) : 0;
    if (stage > 0 && stage + 1 < stages)
        return w->lora_rank ? p.adapter / tensor
                            : (p.block - p.experts + p.experts / (double)l->expert) / tensor;
    if (w->lora_rank)
        return 0;
    if (w->head == HEAD_UNTIED)
        head = fmin((double)w->vocab * (double)w->hidden, p.tables);
    if (stage == 0)
        return head / tensor;
    /* the table of the tokens sits on the first stage of a pipeline, an untied head on the last */
    return (l->pipeline > 1 && head > 0 ? 0 : p.tables - head) / tensor;
}
