#include "model/op.h"

#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Which fields of struct op a kind uses. */
enum shape { SHAPE_ELEMENTS, SHAPE_ROWS, SHAPE_ATTENTION, SHAPE_GEMM, SHAPE_FILE };

/* FLOP and bytes of one pass over the elements of an elementwise or row op: `passes` counts how often an
 * element's width crosses the memory. exp, tanh, sqrt and division count as one FLOP each. */
struct pass_cost {
    double flop, passes;
};

struct kind_row {
    const char *name;
    enum shape shape;
    bool compute_bound;
    bool has_pass;
    struct pass_cost cost[2]; /* forward, backward */
};

static const struct kind_row kinds[OP_KIND_COUNT] = {
    /* a register-only loop: nothing crosses the memory */
    [OP_FMA] = {"fma", SHAPE_ELEMENTS, true, false, {{2, 0}, {0, 0}}},
    [OP_GEMM] = {"gemm", SHAPE_GEMM, true, false, {{0, 0}, {0, 0}}},
    /* STREAM: read a, write c; read c, write b; read a b, write c; read b c, write a */
    [OP_COPY] = {"copy", SHAPE_ELEMENTS, false, false, {{0, 2}, {0, 0}}},
    [OP_SCALE] = {"scale", SHAPE_ELEMENTS, false, false, {{1, 2}, {0, 0}}},
    [OP_ADD] = {"add", SHAPE_ELEMENTS, false, false, {{1, 3}, {0, 0}}},
    [OP_TRIAD] = {"triad", SHAPE_ELEMENTS, false, false, {{2, 3}, {0, 0}}},
    [OP_ATTENTION] = {"attention", SHAPE_ATTENTION, true, true, {{0, 0}, {0, 0}}},
    /* read x, write y: max, subtract, exp, sum, divide; read y dy, write dx: y (dy - sum y dy) */
    [OP_SOFTMAX] = {"softmax", SHAPE_ROWS, false, true, {{5, 2}, {4, 3}}},
    /* read x, write y: mean 1, variance 3, normalise 1, scale and shift 2; read x dy, write dx: normalise 2,
     * two row sums 3, dx 5, sums for the two parameter vectors 3 (vectors of one row are not counted) */
    [OP_LAYERNORM] = {"layernorm", SHAPE_ROWS, false, true, {{7, 2}, {13, 3}}},
    /* the same without mean and shift */
    [OP_RMSNORM] = {"rmsnorm", SHAPE_ROWS, false, true, {{4, 2}, {9, 3}}},
    /* read x for the statistics, read x again, write y; read x dy for two sums, read both again, write dx */
    [OP_BATCHNORM] = {"batchnorm", SHAPE_ELEMENTS, false, true, {{7, 3}, {13, 5}}},
    /* tanh form; read x, write y; read x dy, write dx */
    [OP_GELU] = {"gelu", SHAPE_ELEMENTS, false, true, {{9, 2}, {18, 3}}},
    /* silu 4, product 1; read gate up, write y; read gate up dy, write dgate dup */
    [OP_SWIGLU] = {"swiglu", SHAPE_ELEMENTS, false, true, {{5, 3}, {10, 5}}},
    /* read x, write y; read y dy, write dx */
    [OP_RELU] = {"relu", SHAPE_ELEMENTS, false, true, {{1, 2}, {1, 3}}},
    /* 3x3 windows that step by 2 (9 comparisons for 4 inputs), and it bounds 7x7 averages: read x, write a
     * quarter; read that, write dx */
    [OP_POOL] = {"pool", SHAPE_ELEMENTS, false, true, {{2.25, 1.25}, {1, 1.25}}},
    /* read a b, write c */
    [OP_RESIDUAL] = {"residual", SHAPE_ELEMENTS, false, false, {{1, 3}, {0, 0}}},
    /* read the token's row and the position's row, write the sum; read dy, read and write the row's
     * gradient */
    [OP_EMBEDDING] = {"embedding", SHAPE_ROWS, false, true, {{1, 3}, {1, 3}}},
    /* read the logits, write their gradient in one fused kernel: softmax 5, subtract the label 1 */
    [OP_CROSS_ENTROPY] = {"cross_entropy", SHAPE_ROWS, false, false, {{6, 2}, {0, 0}}},
    /* m 3, v 4, two bias corrections 2, sqrt, epsilon, division, decay 2, step 2; bytes: adamw_bytes */
    [OP_ADAMW] = {"adamw", SHAPE_ELEMENTS, false, false, {{16, 0}, {0, 0}}},
    /* counted as the full vector S once, so that work / time is algbw; the additions depend on the ranks */
    [OP_ALLREDUCE] = {"allreduce", SHAPE_ELEMENTS, false, false, {{0, 1}, {0, 0}}},
    /* every line of 16 words once */
    [OP_CHASE] = {"chase", SHAPE_ELEMENTS, false, false, {{0, 16}, {0, 0}}},
    /* every byte once */
    [OP_FILE_WRITE] = {"file_write", SHAPE_FILE, false, false, {{0, 1}, {0, 0}}},
    [OP_FILE_READ] = {"file_read", SHAPE_FILE, false, false, {{0, 1}, {0, 0}}},
    [OP_FILE_RANDOM_READ] = {"file_random_read", SHAPE_FILE, false, false, {{0, 1}, {0, 0}}},
    [OP_FILE_SYNC] = {"file_sync", SHAPE_FILE, false, false, {{0, 1}, {0, 0}}},
    [OP_FILE_SMALL] = {"file_small", SHAPE_FILE, false, false, {{0, 1}, {0, 0}}},
    [OP_FILE_TAR] = {"file_tar", SHAPE_FILE, false, false, {{0, 1}, {0, 0}}},
};

static const char *const pass_names[] = {"forward", "backward", NULL};

static enum dtype default_accumulate(enum dtype t) {
    if (t == DTYPE_FP64)
        return DTYPE_FP64;
    return t == DTYPE_INT8 || t == DTYPE_INT32 ? DTYPE_INT32 : DTYPE_FP32;
}

struct op op_gemm(int64_t m, int64_t n, int64_t k, enum dtype t) {
    return (struct op){
        .kind = OP_GEMM, .dtype = t, .accumulate = default_accumulate(t), .m = m, .n = n, .k = k, .batch = 1};
}

struct op op_elementwise(enum op_kind kind, int64_t elements, enum dtype t) {
    return (struct op){.kind = kind, .dtype = t, .accumulate = default_accumulate(t), .elements = elements};
}

struct op op_chase(int64_t footprint_bytes) {
    return op_elementwise(OP_CHASE, footprint_bytes / OP_CHASE_LINE, DTYPE_INT32);
}

struct op op_file(enum op_kind kind, int64_t count, int64_t bytes, int64_t of, int64_t depth) {
    return (struct op){.kind = kind,
                       .dtype = DTYPE_INT8,
                       .accumulate = default_accumulate(DTYPE_INT8),
                       .m = count,
                       .n = bytes,
                       .k = of,
                       .batch = depth};
}

bool op_is_file(const struct op *op) {
    return kinds[op->kind].shape == SHAPE_FILE;
}

double op_chase_accesses(const struct op *op) {
    static const double least = 1 << 16; /* so that a call's overhead is lost in it */
    double nodes = (double)op->elements;
    return nodes * fmax(1, ceil(least / nodes)) - 1;
}

static double op_elements(const struct op *op) {
    enum shape shape = kinds[op->kind].shape;
    return shape == SHAPE_ROWS || shape == SHAPE_FILE ? (double)op->m * (double)op->n : (double)op->elements;
}

static const struct pass_cost *op_pass_cost(const struct op *op) {
    const struct kind_row *row = &kinds[op->kind];
    return &row->cost[row->has_pass && op->pass == OP_BACKWARD];
}

double op_flop(const struct op *op) {
    double gemm = 2.0 * (double)op->m * (double)op->n * (double)op->k * (double)op->batch;
    switch (kinds[op->kind].shape) {
    case SHAPE_GEMM:
        return gemm;
    case SHAPE_ATTENTION:
        return (op->pass == OP_FORWARD ? 2 : 4) * gemm;
    case SHAPE_ELEMENTS:
    case SHAPE_ROWS:
    case SHAPE_FILE:
        break;
    }
    return op_pass_cost(op)->flop * op_elements(op);
}

/* An integer product does not fit its inputs' type; every other result is stored as the inputs are. */
static enum dtype gemm_result(const struct op *op) {
    return op->dtype == DTYPE_INT8 ? op->accumulate : op->dtype;
}

static double gemm_bytes(const struct op *op) {
    double m = (double)op->m, n = (double)op->n, k = (double)op->k;
    return (double)op->batch *
           ((m * k + k * n) * dtype_bytes(op->dtype) + m * n * dtype_bytes(gemm_result(op)));
}

/* Forward: read Q K V, write O. Backward: read Q K V O dO, write dQ dK dV. One number a row (the softmax
 * statistics) is not counted. */
static double attention_bytes(const struct op *op) {
    double rows = (op->pass == OP_FORWARD ? 2 : 4) * ((double)op->m + (double)op->n);
    return rows * (double)op->k * (double)op->batch * dtype_bytes(op->dtype);
}

/* Read and write both moments and the master copy; read the gradient; 16-bit weights are written beside
 * the master copy. 28 bytes a parameter in 16 bit and in fp32 alike. */
static double adamw_bytes(const struct op *op) {
    double width = dtype_bytes(op->dtype), state = width < 4 ? 4 : width;
    return op_elements(op) * (6 * state + (width < 4 ? 2 : 1) * width);
}

double op_bytes(const struct op *op) {
    if (op->kind == OP_GEMM)
        return gemm_bytes(op);
    if (op->kind == OP_ATTENTION)
        return attention_bytes(op);
    if (op->kind == OP_ADAMW)
        return adamw_bytes(op);
    return op_pass_cost(op)->passes * op_elements(op) * dtype_bytes(op->dtype);
}

bool op_is_compute_bound(const struct op *op) {
    return kinds[op->kind].compute_bound;
}

double op_work(const struct op *op, const char **unit) {
    static const char *const file_units[OP_KIND_COUNT] = {[OP_FILE_RANDOM_READ] = "access",
                                                          [OP_FILE_SYNC] = "sync",
                                                          [OP_FILE_SMALL] = "file",
                                                          [OP_FILE_TAR] = "file"};
    if (file_units[op->kind]) {
        *unit = file_units[op->kind];
        return (double)op->m;
    }
    bool compute = op_is_compute_bound(op), whole = op->dtype == DTYPE_INT8 || op->dtype == DTYPE_INT32;
    if (op->kind == OP_CHASE) {
        *unit = "access";
        return op_chase_accesses(op);
    }
    *unit = !compute ? "B" : whole ? "OP" : "FLOP";
    return compute ? op_flop(op) : op_bytes(op);
}

const char *op_kind_name(enum op_kind kind) {
    return kind < OP_KIND_COUNT ? kinds[kind].name : "?";
}

static int name_file(const struct op *op, char *out, size_t size) {
    int used = snprintf(out, size, "%" PRId64 "x%" PRId64, op->m, op->n);
    if (op->k > 1)
        used += snprintf(out + used, size - (size_t)used, ".of-%" PRId64, op->k);
    if (op->batch > 1)
        used += snprintf(out + used, size - (size_t)used, ".depth-%" PRId64, op->batch);
    return used;
}

static int name_shape(const struct op *op, char *out, size_t size) {
    switch (kinds[op->kind].shape) {
    case SHAPE_ELEMENTS:
        return snprintf(out, size, "%" PRId64, op->elements);
    case SHAPE_ROWS:
        return snprintf(out, size, "%" PRId64 "x%" PRId64, op->m, op->n);
    case SHAPE_FILE:
        return name_file(op, out, size);
    case SHAPE_ATTENTION:
    case SHAPE_GEMM:
        break;
    }
    if (op->batch == 1)
        return snprintf(out, size, "%" PRId64 "x%" PRId64 "x%" PRId64, op->m, op->n, op->k);
    return snprintf(out, size, "%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64, op->batch, op->m, op->n,
                    op->k);
}

/* Every part that a kind does not use is left out, so equal names mean equal ops and the reverse. */
char *op_name(const struct op *op, char *out) {
    static const char *const trans[2][2] = {{"", ".nt"}, {".tn", ".tt"}};
    const struct kind_row *row = &kinds[op->kind];
    char shape[88];
    name_shape(op, shape, sizeof shape);
    if (row->shape == SHAPE_FILE) { /* bytes have no number format */
        snprintf(out, OP_NAME_SIZE, "%s.%s", row->name, shape);
        return out;
    }
    bool odd_sum = op->accumulate != default_accumulate(op->dtype);
    snprintf(out, OP_NAME_SIZE, "%s.%s.%s%s%s%s%s%s", row->name, dtype_name(op->dtype), shape,
             row->shape == SHAPE_GEMM ? trans[op->trans_a][op->trans_b] : "",
             row->shape == SHAPE_ATTENTION && op->causal ? ".causal" : "",
             row->has_pass && op->pass == OP_BACKWARD ? ".backward" : "", odd_sum ? ".sum-" : "",
             odd_sum ? dtype_name(op->accumulate) : "");
    return out;
}

bool op_equal(const struct op *a, const struct op *b) {
    char name_a[OP_NAME_SIZE], name_b[OP_NAME_SIZE];
    return strcmp(op_name(a, name_a), op_name(b, name_b)) == 0;
}

size_t op_operands(const struct op *op, struct op_operand out[OP_MAX_OPERANDS]) {
    static const struct {
        enum op_kind kind;
        const char *names[OP_MAX_OPERANDS]; /* the last one is the output */
    } streams[] = {
        {OP_COPY, {"a", "c"}},
        {OP_SCALE, {"c", "b"}},
        {OP_ADD, {"a", "b", "c"}},
        {OP_TRIAD, {"b", "c", "a"}},
    };
    if (op_is_file(op)) {
        out[0] = (struct op_operand){"seed", DTYPE_FP64, 1, false};
        out[1] = (struct op_operand){"seen", DTYPE_INT32, op->m, true};
        return 2;
    }
    if (op->kind == OP_GEMM) {
        out[0] = (struct op_operand){"A", op->dtype, op->batch * op->m * op->k, false};
        out[1] = (struct op_operand){"B", op->dtype, op->batch * op->k * op->n, false};
        out[2] = (struct op_operand){"C", gemm_result(op), op->batch * op->m * op->n, true};
        return 3;
    }
    if (op->kind == OP_CHASE) {
        out[0] = (struct op_operand){
            "lines", DTYPE_INT32, op->elements * OP_CHASE_LINE / (int64_t)sizeof(int32_t), .scratch = true};
        out[1] = (struct op_operand){"end", DTYPE_INT32, 1, .output = true};
        return 2;
    }
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        if (streams[i].kind != op->kind)
            continue;
        size_t count = 0;
        for (; count < OP_MAX_OPERANDS && streams[i].names[count]; count++)
            out[count] = (struct op_operand){streams[i].names[count], op->dtype, op->elements, false};
        out[count - 1].output = true;
        return count;
    }
    return 0;
}

uint64_t op_operand_bytes(const struct op_operand *operand) {
    return (uint64_t)ceil((double)operand->elements * dtype_bytes(operand->dtype));
}

/* ---- record form ---- */

/* The fields a shape uses, in the order that they are written. */
struct op_field {
    const char *key;
    size_t offset;
    unsigned shapes; /* bit set of enum shape */
};

enum {
    IN_ELEMENTS = 1u << SHAPE_ELEMENTS,
    IN_ROWS = 1u << SHAPE_ROWS,
    IN_ATTENTION = 1u << SHAPE_ATTENTION,
    IN_GEMM = 1u << SHAPE_GEMM,
    IN_FILE = 1u << SHAPE_FILE
};

static const struct op_field dimensions[] = {
    {"elements", offsetof(struct op, elements), IN_ELEMENTS},
    {"m", offsetof(struct op, m), IN_ROWS | IN_ATTENTION | IN_GEMM | IN_FILE},
    {"n", offsetof(struct op, n), IN_ROWS | IN_ATTENTION | IN_GEMM | IN_FILE},
    {"k", offsetof(struct op, k), IN_ATTENTION | IN_GEMM | IN_FILE},
    {"batch", offsetof(struct op, batch), IN_ATTENTION | IN_GEMM | IN_FILE},
};
static const struct op_field flags[] = {
    {"trans_a", offsetof(struct op, trans_a), IN_GEMM},
    {"trans_b", offsetof(struct op, trans_b), IN_GEMM},
    {"causal", offsetof(struct op, causal), IN_ATTENTION},
};
enum {
    DIMENSION_COUNT = sizeof dimensions / sizeof dimensions[0],
    FLAG_COUNT = sizeof flags / sizeof flags[0]
};

static bool uses(const struct op_field *field, const struct op *op) {
    return field->shapes >> kinds[op->kind].shape & 1;
}

json_t *op_to_json(const struct op *op) {
    const char *base = (const char *)op;
    json_t *out = json_object();
    json_object_set_new(out, "kind", json_string(op_kind_name(op->kind)));
    json_object_set_new(out, "dtype", json_string(dtype_name(op->dtype)));
    json_object_set_new(out, "accumulate", json_string(dtype_name(op->accumulate)));
    if (kinds[op->kind].has_pass)
        json_object_set_new(out, "pass", json_string(pass_names[op->pass]));
    for (size_t i = 0; i < DIMENSION_COUNT; i++)
        if (uses(&dimensions[i], op))
            json_object_set_new(out, dimensions[i].key,
                                json_integer(*(const int64_t *)(const void *)(base + dimensions[i].offset)));
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (uses(&flags[i], op))
            json_object_set_new(out, flags[i].key, json_boolean(*(const bool *)(base + flags[i].offset)));
    return out;
}

/* Index of word in names, or an error that names the nearest. */
static int find_name(const char *key, const char *word, const char *const *names, size_t count,
                     struct err *e) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return (int)i;
    const char *nearest = text_nearest(word, names, count);
    return err_set(e, ERR_PARSE, "%s: unknown word '%s'%s%s", key, word, nearest ? ", nearest is " : "",
                   nearest ? nearest : "");
}

static int read_head(const json_t *value, struct op *out, struct err *e) {
    const char *names[OP_KIND_COUNT], *word;
    for (int i = 0; i < OP_KIND_COUNT; i++)
        names[i] = kinds[i].name;
    if (json_get_string(value, "kind", &word, e) != 0)
        return -1;
    int kind = find_name("kind", word, names, OP_KIND_COUNT, e);
    if (kind < 0)
        return -1;
    out->kind = (enum op_kind)kind;
    if (json_get_string(value, "dtype", &word, e) != 0)
        return -1;
    if (dtype_parse(word, &out->dtype, e) != 0 || json_get_string(value, "accumulate", &word, e) != 0 ||
        dtype_parse(word, &out->accumulate, e) != 0) {
        e->code = ERR_PARSE; /* here the word comes from a file */
        return -1;
    }
    if (!kinds[kind].has_pass)
        return 0;
    if (json_get_string(value, "pass", &word, e) != 0)
        return -1;
    int pass = find_name("pass", word, pass_names, 2, e);
    out->pass = (enum op_pass)pass;
    return pass < 0 ? -1 : 0;
}

static int read_dimensions(const json_t *value, struct op *out, struct err *e) {
    char *base = (char *)out;
    for (size_t i = 0; i < DIMENSION_COUNT; i++) {
        int64_t number;
        if (!uses(&dimensions[i], out))
            continue;
        if (json_get_int(value, dimensions[i].key, &number, e) != 0)
            return -1;
        if (number < 1 || number > INT64_C(1) << 40)
            return err_set(e, ERR_PARSE, "%s: %" PRId64 " is not between 1 and 2^40", dimensions[i].key,
                           number);
        *(int64_t *)(void *)(base + dimensions[i].offset) = number;
    }
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (uses(&flags[i], out) &&
            json_get_bool(value, flags[i].key, (bool *)(base + flags[i].offset), e) != 0)
            return -1;
    return 0;
}

int op_from_json(const json_t *value, struct op *out, struct err *e) {
    *out = (struct op){0};
    if (!json_is_object(value))
        return err_set(e, ERR_PARSE, "op: not an object");
    if (read_head(value, out, e) != 0 || read_dimensions(value, out, e) != 0)
        return err_wrap(e, "op");
    /* with this bound no product of dimensions overflows in op_operands */
    if (!(op_bytes(out) < ldexp(1.0, 46)))
        return err_set(e, ERR_PARSE, "op: its operands take %.3g bytes; the limit is 2^46", op_bytes(out));
    return 0;
}

static struct op batched(struct op op, int64_t batch, bool trans_a, bool trans_b) {
    op.batch = batch;
    op.trans_a = trans_a;
    op.trans_b = trans_b;
    return op;
}

size_t op_unfused_attention(const struct op *attention, struct op out[OP_MAX_PARTS]) {
    int64_t m = attention->m, n = attention->n, k = attention->k, batch = attention->batch;
    enum dtype t = attention->dtype;
    struct op softmax = {.kind = OP_SOFTMAX,
                         .dtype = t,
                         .accumulate = attention->accumulate,
                         .pass = attention->pass,
                         .m = batch * m,
                         .n = n};
    struct op scores = batched(op_gemm(m, n, k, t), batch, false, true); /* Q K^T, and dP = dO V^T */
    struct op mix = batched(op_gemm(m, k, n, t), batch, false, false);   /* P V, and dQ = dS K      */
    struct op turned = batched(op_gemm(n, k, m, t), batch, true, false); /* dV = P^T dO, dK = dS^T Q */
    if (attention->pass == OP_FORWARD) {
        out[0] = scores;
        out[1] = softmax;
        out[2] = mix;
        return 3;
    }
    out[0] = turned;
    out[1] = scores;
    out[2] = softmax;
    out[3] = mix;
    out[4] = turned;
    return 5;
}
