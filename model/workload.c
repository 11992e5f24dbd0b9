#include "model/workload.h"

#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* A figure of the file: {"value": V, "source": "...", "verified": true}. */
struct figure_row {
    const char *key;
    size_t offset;
    bool integer;
    double min, max;
};

#define INTEGER(field, min, max)                                                                             \
    { #field, offsetof(struct workload, field), true, min, max }
#define NUMBER(field, min, max)                                                                              \
    { #field, offsetof(struct workload, field), false, min, max }
/* the bounds keep every product of dimensions far from overflow */
static const struct figure_row figures[] = {
    INTEGER(layers, 1, 1e4),
    INTEGER(hidden, 1, 1e6),
    INTEGER(heads, 1, 1e4),
    INTEGER(ffn, 1, 1e7),
    INTEGER(vocab, 2, 1e7),
    INTEGER(vocab_padded, 2, 1e7),
    INTEGER(sequence, 1, 1e7),
    NUMBER(parameters, 1, 1e14),
    NUMBER(lookup_parameters, 0, 1e14),
    INTEGER(global_batch, 1, 1e9),
    INTEGER(max_micro_batch, 1, 1e4),
    NUMBER(dataset_bytes, 0, 1e18),
    NUMBER(checkpoint_bytes, 0, 1e18),
};
#undef INTEGER
#undef NUMBER
enum { FIGURE_COUNT = sizeof figures / sizeof figures[0] };

static const char *const top_keys[] = {"name", "title", "source", "figures", NULL};
static const char *const figure_keys[] = {"value", "source", "verified", "note", NULL};

/* The object of a figure, checked for its source and flag; NULL on failure. */
static const json_t *get_figure(const json_t *all, const char *key, struct err *e) {
    const json_t *figure = json_object_get(all, key);
    const char *source;
    bool verified;
    if (!json_is_object(figure)) {
        err_set(e, ERR_PARSE, "%s", figure ? "not an object with value, source and verified" : "missing");
        return NULL;
    }
    if (json_check_keys(figure, figure_keys, e) != 0 || json_get_string(figure, "source", &source, e) != 0 ||
        json_get_bool(figure, "verified", &verified, e) != 0)
        return NULL;
    return figure;
}

static int read_figure(const json_t *all, const struct figure_row *row, struct workload *out, struct err *e) {
    const json_t *figure = get_figure(all, row->key, e);
    char *member = (char *)out + row->offset;
    int64_t integer = 0;
    double value = 0;
    if (!figure)
        return -1;
    if (row->integer) {
        if (json_get_int(figure, "value", &integer, e) != 0)
            return -1;
        value = (double)integer;
    } else if (json_get_number(figure, "value", &value, e) != 0) {
        return -1;
    }
    if (!(value >= row->min && value <= row->max))
        return err_set(e, ERR_PARSE, "%g is not between %g and %g", value, row->min, row->max);
    if (row->integer)
        *(int64_t *)(void *)member = integer;
    else
        *(double *)(void *)member = value;
    return 0;
}

static int read_precisions(const json_t *all, struct workload *out, struct err *e) {
    const json_t *figure = get_figure(all, "precisions", e);
    if (!figure)
        return -1;
    const json_t *list = json_object_get(figure, "value");
    size_t count = json_array_size(list);
    if (count < 1 || count > WORKLOAD_MAX_PRECISIONS)
        return err_set(e, ERR_PARSE, "value: want a list of 1 to %d number formats", WORKLOAD_MAX_PRECISIONS);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name)
            return err_set(e, ERR_PARSE, "value[%zu]: not a string", i);
        if (dtype_parse(name, &out->precisions[i], e) != 0) {
            e->code = ERR_PARSE; /* here the word comes from a file */
            return err_wrap(e, "value[%zu]", i);
        }
    }
    out->precision_count = count;
    return 0;
}

static int check_figure_keys(const json_t *all, struct err *e) {
    const char *keys[FIGURE_COUNT + 2];
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        keys[i] = figures[i].key;
    keys[FIGURE_COUNT] = "precisions";
    keys[FIGURE_COUNT + 1] = NULL;
    return json_check_keys(all, keys, e);
}

static int read_figures(const json_t *all, struct workload *out, struct err *e) {
    if (!json_is_object(all))
        return err_set(e, ERR_PARSE, "figures: %s", all ? "not an object" : "missing");
    if (check_figure_keys(all, e) != 0)
        return err_wrap(e, "figures");
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (read_figure(all, &figures[i], out, e) != 0)
            return err_wrap(e, "figures.%s", figures[i].key);
    if (read_precisions(all, out, e) != 0)
        return err_wrap(e, "figures.precisions");
    if (out->hidden % out->heads != 0)
        return err_set(e, ERR_PARSE, "figures.heads: %" PRId64 " does not divide hidden %" PRId64, out->heads,
                       out->hidden);
    if (out->vocab_padded < out->vocab)
        return err_set(e, ERR_PARSE, "figures.vocab_padded: %" PRId64 " is under vocab %" PRId64,
                       out->vocab_padded, out->vocab);
    if (out->lookup_parameters > out->parameters)
        return err_set(e, ERR_PARSE, "figures.lookup_parameters: more than parameters");
    return 0;
}

static int read_workload(const json_t *top, struct workload *out, struct err *e) {
    const char *name, *title, *source;
    if (!json_is_object(top))
        return err_set(e, ERR_PARSE, "not an object");
    if (json_check_keys(top, top_keys, e) != 0 || json_get_string(top, "name", &name, e) != 0 ||
        json_get_string(top, "title", &title, e) != 0 || json_get_string(top, "source", &source, e) != 0)
        return -1;
    out->name = arena_strdup(&out->arena, name);
    out->title = arena_strdup(&out->arena, title);
    out->source = arena_strdup(&out->arena, source);
    return read_figures(json_object_get(top, "figures"), out, e);
}

/* Puts the names there are behind the reason why this one was not found. */
static void list_workloads(const char *name, struct err *e) {
    struct text known = {0};
    struct err reason = *e;
    const char *file;
    for (size_t i = 0; (file = data_embedded_name("workloads/", i)) != NULL; i++) {
        const char *stem = strchr(file, '/') + 1;
        text_printf(&known, "%s%.*s", i ? ", " : "", (int)strcspn(stem, "."), stem);
    }
    err_set(e, ERR_NOT_FOUND, "workload '%s': %s; there are %s, or give a path that ends in .json", name,
            reason.text, text_get(&known));
    text_free(&known);
}

static json_t *load_json(const struct data *data, const char *name, char **file, struct err *e) {
    static const char suffix[] = ".json";
    size_t length = strlen(name);
    if (length > strlen(suffix) && strcmp(name + length - strlen(suffix), suffix) == 0) {
        *file = xstrdup(name);
        return json_read_file(name, e);
    }
    struct data_blob blob;
    *file = xasprintf("workloads/%s.json", name);
    if (data_load(data, *file, &blob, e) != 0) {
        if (e->code == ERR_NOT_FOUND)
            list_workloads(name, e);
        return NULL;
    }
    json_t *top = json_parse(blob.name, blob.bytes, blob.length, e);
    data_release(&blob);
    return top;
}

int workload_load(const struct data *data, const char *name, struct workload *out, struct err *e) {
    char *file = NULL;
    *out = (struct workload){0};
    json_t *top = load_json(data, name, &file, e);
    int status = -1;
    if (top) {
        status = read_workload(top, out, e);
        if (status != 0)
            err_wrap(e, "%s", file);
    }
    if (status != 0)
        workload_free(out);
    json_decref(top);
    free(file);
    return status;
}

void workload_free(struct workload *w) {
    if (!w)
        return;
    arena_free(&w->arena);
    *w = (struct workload){0};
}

/* ---- formulas ---- */

double workload_tokens_per_step(const struct workload *w) {
    return (double)w->global_batch * (double)w->sequence;
}

double workload_model_flop(const struct workload *w) {
    double weights = 6 * (w->parameters - w->lookup_parameters);
    double attention = 12 * (double)w->layers * (double)w->hidden * (double)w->sequence;
    return (weights + attention) * workload_tokens_per_step(w);
}

double workload_gradient_bytes(const struct workload *w, enum dtype t) {
    double width = dtype_bytes(t);
    return w->parameters * (width < 4 ? 2 : width);
}

/* ---- the op list ---- */

struct expansion {
    const struct workload *w;
    struct step_ops *out;
    enum dtype dtype, stored; /* of the products; of what lies in memory (tf32 is stored as fp32) */
    int64_t tokens, micro_batch;
    double average; /* executed share of a micro-batch: the last one of a step may be partial */
    enum step_phase phase;
    int64_t layer_from_end;
};

static void add(struct expansion *x, struct op op, double count) {
    x->out->items = xgrow(x->out->items, sizeof *x->out->items, x->out->count, &x->out->capacity);
    x->out->items[x->out->count++] =
        (struct step_op){.op = op,
                         .phase = x->phase,
                         .count = x->phase == STEP_OPTIMIZER ? count : count * x->average,
                         .layer_from_end = x->phase == STEP_BACKWARD ? x->layer_from_end : 0};
}

static void add_rows(struct expansion *x, enum op_kind kind, enum op_pass pass, int64_t columns,
                     double count) {
    struct op op = op_elementwise(kind, 0, x->stored);
    op.pass = pass;
    op.m = x->tokens;
    op.n = columns;
    add(x, op, count);
}

static void add_elements(struct expansion *x, enum op_kind kind, enum op_pass pass, int64_t columns,
                         double count) {
    struct op op = op_elementwise(kind, x->tokens * columns, x->stored);
    op.pass = pass;
    add(x, op, count);
}

static void add_attention(struct expansion *x, enum op_pass pass, double count) {
    struct op op = op_gemm(x->w->sequence, x->w->sequence, x->w->hidden / x->w->heads, x->dtype);
    op.kind = OP_ATTENTION;
    op.pass = pass;
    op.batch = x->micro_batch * x->w->heads;
    op.causal = true;
    add(x, op, count);
}

static void add_gemm(struct expansion *x, int64_t m, int64_t n, int64_t k, bool trans_a, bool trans_b,
                     double count) {
    struct op op = op_gemm(m, n, k, x->dtype);
    op.trans_a = trans_a;
    op.trans_b = trans_b;
    add(x, op, count);
}

/* A linear layer's weights lie as [in, out]: Y = X W; dX = dY W^T; dW = X^T dY. Only the head's lie as
 * [out, in], because they are the token table too: Y = X W^T; dX = dY W; dW = dY^T X. */
static void add_linear(struct expansion *x, int64_t in, int64_t out, double count) {
    add_gemm(x, x->tokens, out, in, false, false, count);
}

static void add_linear_backward(struct expansion *x, int64_t in, int64_t out) {
    add_gemm(x, x->tokens, in, out, false, true, 1);
    add_gemm(x, in, out, x->tokens, true, false, 1);
}

static void add_layers_forward(struct expansion *x, double layers) {
    int64_t hidden = x->w->hidden, ffn = x->w->ffn;
    add_rows(x, OP_LAYERNORM, OP_FORWARD, hidden, 2 * layers);
    add_linear(x, hidden, 3 * hidden, layers);
    add_attention(x, OP_FORWARD, layers);
    add_linear(x, hidden, hidden, layers);
    add_linear(x, hidden, ffn, layers);
    add_elements(x, OP_GELU, OP_FORWARD, ffn, layers);
    add_linear(x, ffn, hidden, layers);
    add_elements(x, OP_RESIDUAL, OP_FORWARD, hidden, 2 * layers);
}

/* The gradients of the two branches of each residual are added: one RESIDUAL a branch. */
static void add_layer_backward(struct expansion *x) {
    int64_t hidden = x->w->hidden, ffn = x->w->ffn;
    add_linear_backward(x, ffn, hidden);
    add_elements(x, OP_GELU, OP_BACKWARD, ffn, 1);
    add_linear_backward(x, hidden, ffn);
    add_linear_backward(x, hidden, hidden);
    add_attention(x, OP_BACKWARD, 1);
    add_linear_backward(x, hidden, 3 * hidden);
    add_rows(x, OP_LAYERNORM, OP_BACKWARD, hidden, 2);
    add_elements(x, OP_RESIDUAL, OP_FORWARD, hidden, 2);
}

static void add_forward(struct expansion *x) {
    const struct workload *w = x->w;
    x->phase = STEP_FORWARD;
    add_rows(x, OP_EMBEDDING, OP_FORWARD, w->hidden, 1);
    add_layers_forward(x, (double)w->layers);
    add_rows(x, OP_LAYERNORM, OP_FORWARD, w->hidden, 1);
    add_gemm(x, x->tokens, w->vocab_padded, w->hidden, false, true, 1);
    add_rows(x, OP_CROSS_ENTROPY, OP_FORWARD, w->vocab_padded, 1);
}

static void add_backward(struct expansion *x, bool recompute) {
    const struct workload *w = x->w;
    x->phase = STEP_BACKWARD;
    x->layer_from_end = 0;
    add_gemm(x, x->tokens, w->hidden, w->vocab_padded, false, false, 1);
    add_gemm(x, w->vocab_padded, w->hidden, x->tokens, true, false, 1);
    add_rows(x, OP_LAYERNORM, OP_BACKWARD, w->hidden, 1);
    for (int64_t layer = 1; layer <= w->layers; layer++) {
        x->layer_from_end = layer;
        if (recompute)
            add_layers_forward(x, 1);
        add_layer_backward(x);
    }
    x->layer_from_end = w->layers + 1;
    add_rows(x, OP_EMBEDDING, OP_BACKWARD, w->hidden, 1);
}

void workload_expand(const struct workload *w, const struct layout *l, struct step_ops *out) {
    *out = (struct step_ops){0};
    double slots = (double)l->devices * (double)l->micro_batch * (double)l->accumulation;
    struct expansion x = {.w = w,
                          .out = out,
                          .dtype = l->dtype,
                          .stored = l->dtype == DTYPE_TF32 ? DTYPE_FP32 : l->dtype,
                          .micro_batch = l->micro_batch,
                          .tokens = l->micro_batch * w->sequence,
                          .average = (double)w->global_batch / slots};
    add_forward(&x);
    add_backward(&x, l->recompute);
    x.phase = STEP_OPTIMIZER;
    add(&x, op_elementwise(OP_ADAMW, (int64_t)w->parameters, x.stored), 1);
}

void step_ops_free(struct step_ops *s) {
    if (!s)
        return;
    free(s->items);
    *s = (struct step_ops){0};
}

double step_ops_flop(const struct step_ops *s, const struct layout *l) {
    double flop = 0;
    for (size_t i = 0; i < s->count; i++) {
        double times = s->items[i].phase == STEP_OPTIMIZER ? 1 : (double)l->accumulation;
        flop += op_flop(&s->items[i].op) * s->items[i].count * times;
    }
    return flop * (double)l->devices;
}
