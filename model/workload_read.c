/* Workload files: JSON with a source on every figure. */
#include "model/workload_parts.h"

#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRANSFORMER = 1 << WORKLOAD_TRANSFORMER, CNN = 1 << WORKLOAD_CNN, BOTH = TRANSFORMER | CNN };

/* A figure of the file: {"value": V, "source": "...", "verified": true}. Of words: the enum's value. */
struct figure_row {
    const char *key;
    size_t offset;
    enum { FIGURE_INTEGER, FIGURE_NUMBER, FIGURE_WORD } type;
    double min, max;
    int kinds;     /* that have it */
    bool optional; /* absent = 0, the first word */
    const char *const *words;
};

#define INTEGER(field, min, max, kinds, optional)                                                            \
    { #field, offsetof(struct workload, field), FIGURE_INTEGER, min, max, kinds, optional, NULL }
#define NUMBER(field, min, max)                                                                              \
    { #field, offsetof(struct workload, field), FIGURE_NUMBER, min, max, BOTH, false, NULL }
#define WORD(field)                                                                                          \
    { #field, offsetof(struct workload, field), FIGURE_WORD, 0, 0, TRANSFORMER, true, field##_names }
/* the bounds keep every product of dimensions far from overflow */
static const struct figure_row figures[] = {
    INTEGER(layers, 1, 1e4, TRANSFORMER, false),
    INTEGER(hidden, 1, 1e6, TRANSFORMER, false),
    INTEGER(heads, 1, 1e4, TRANSFORMER, false),
    INTEGER(kv_heads, 1, 1e4, TRANSFORMER, true),
    INTEGER(head_size, 1, 1e5, TRANSFORMER, true),
    INTEGER(ffn, 1, 1e7, TRANSFORMER, false),
    INTEGER(vocab, 2, 1e7, TRANSFORMER, false),
    INTEGER(vocab_padded, 2, 1e7, TRANSFORMER, false),
    INTEGER(sequence, 1, 1e7, TRANSFORMER, false),
    INTEGER(positions, 0, 1e7, TRANSFORMER, true),
    INTEGER(token_types, 0, 1e4, TRANSFORMER, true),
    WORD(feed_forward),
    WORD(norm),
    WORD(biases),
    WORD(head),
    WORD(attention),
    INTEGER(experts, 0, 1e4, TRANSFORMER, true),
    INTEGER(experts_active, 0, 1e4, TRANSFORMER, true),
    INTEGER(lora_rank, 0, 1e5, TRANSFORMER, true),
    NUMBER(parameters, 1, 1e14),
    INTEGER(global_batch, 1, 1e9, BOTH, false),
    INTEGER(max_micro_batch, 1, 1e4, BOTH, false),
    NUMBER(dataset_bytes, 0, 1e18),
    NUMBER(checkpoint_bytes, 0, 1e18),
};
#undef INTEGER
#undef NUMBER
#undef WORD
enum { FIGURE_COUNT = sizeof figures / sizeof figures[0] };

static const char *const top_keys[] = {"name", "title", "source", "kind", "figures", NULL};
static const char *const figure_keys[] = {"value", "source", "verified", "note", NULL};

/* ---- figures ---- */

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

int workload_find_word(const char *word, const char *const *names, struct err *e) {
    struct text known = {0};
    for (int i = 0; names[i]; i++) {
        if (strcmp(word, names[i]) == 0) {
            text_free(&known);
            return i;
        }
        text_printf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    err_set(e, ERR_PARSE, "value: unknown word '%s'; there are %s", word, text_get(&known));
    text_free(&known);
    return -1;
}

static int read_word(const json_t *figure, const struct figure_row *row, char *member, struct err *e) {
    const char *word;
    if (json_get_string(figure, "value", &word, e) != 0)
        return -1;
    int index = workload_find_word(word, row->words, e);
    if (index < 0)
        return -1;
    *(int *)(void *)member = index; /* every enum of struct workload is of int's size */
    return 0;
}

static int read_figure(const json_t *all, const struct figure_row *row, struct workload *out, struct err *e) {
    if (row->optional && !json_object_get(all, row->key))
        return 0;
    const json_t *figure = get_figure(all, row->key, e);
    char *member = (char *)out + row->offset;
    int64_t integer = 0;
    double value = 0;
    if (!figure)
        return -1;
    if (row->type == FIGURE_WORD)
        return read_word(figure, row, member, e);
    if (row->type == FIGURE_INTEGER) {
        if (json_get_int(figure, "value", &integer, e) != 0)
            return -1;
        value = (double)integer;
    } else if (json_get_number(figure, "value", &value, e) != 0) {
        return -1;
    }
    if (!(value >= row->min && value <= row->max))
        return err_set(e, ERR_PARSE, "%g is not between %g and %g", value, row->min, row->max);
    if (row->type == FIGURE_INTEGER)
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

static int read_lora_targets(const json_t *all, struct workload *out, struct err *e) {
    if (!json_object_get(all, "lora_targets"))
        return out->lora_rank ? err_set(e, ERR_PARSE, "missing; lora_rank wants it") : 0;
    const json_t *figure = get_figure(all, "lora_targets", e);
    const json_t *list = json_object_get(figure, "value");
    if (!figure)
        return -1;
    if (json_array_size(list) == 0)
        return err_set(e, ERR_PARSE, "value: want a list of layers (q, k, v, o, gate, up, down)");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        int target = workload_find_word(name ? name : "", lora_target_names, e);
        if (target < 0)
            return -1;
        out->lora_targets |= 1u << target;
    }
    return 0;
}

static int read_convolution(const json_t *object, struct convolution *out, struct err *e) {
    static const char *const keys[] = {"in", "out", "kernel", "size", "count", "after", NULL};
    static const char *const afters[] = {"relu", "add", "nothing", "linear", NULL};
    const char *after;
    int64_t *const members[] = {&out->in, &out->out, &out->kernel, &out->size, &out->count};
    static const int64_t most[] = {1 << 20, 1 << 20, 100, 1 << 14, 10000};
    if (!json_is_object(object))
        return err_set(e, ERR_PARSE, "not an object");
    if (json_check_keys(object, keys, e) != 0)
        return -1;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (json_get_int(object, keys[i], members[i], e) != 0)
            return -1;
        if (*members[i] < 1 || *members[i] > most[i])
            return err_set(e, ERR_PARSE, "%s: %" PRId64 " is not between 1 and %" PRId64, keys[i],
                           *members[i], most[i]);
    }
    if (json_get_string(object, "after", &after, e) != 0)
        return -1;
    int index = workload_find_word(after, afters, e);
    if (index < 0)
        return -1;
    out->linear = index == 3;
    out->after = out->linear ? AFTER_NOTHING : (enum conv_after)index;
    return 0;
}

static int read_convolutions(const json_t *all, struct workload *out, struct err *e) {
    const json_t *figure = get_figure(all, "convolutions", e);
    const json_t *list = json_object_get(figure, "value");
    size_t count = json_array_size(list);
    if (!figure)
        return -1;
    if (count < 2 || count > 10000)
        return err_set(e, ERR_PARSE, "value: want a list of 2 to 10000 convolutions");
    out->convolutions = arena_alloc(&out->arena, count * sizeof *out->convolutions);
    out->convolution_count = count;
    for (size_t i = 0; i < count; i++)
        if (read_convolution(json_array_get(list, i), &out->convolutions[i], e) != 0)
            return err_wrap(e, "value[%zu]", i);
    return 0;
}

/* ---- the whole ---- */

static int check_figure_keys(const json_t *all, const struct workload *w, struct err *e) {
    const char *keys[FIGURE_COUNT + 4];
    size_t count = 0;
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (figures[i].kinds >> w->kind & 1)
            keys[count++] = figures[i].key;
    keys[count++] = "precisions";
    keys[count++] = w->kind == WORKLOAD_CNN ? "convolutions" : "lora_targets";
    keys[count] = NULL;
    return json_check_keys(all, keys, e);
}

static int check_transformer(const struct workload *w, struct err *e) {
    if (!w->head_size && w->hidden % w->heads != 0)
        return err_set(e, ERR_PARSE,
                       "figures.heads: %" PRId64 " does not divide hidden %" PRId64 "; give head_size",
                       w->heads, w->hidden);
    if (w->heads % workload_kv_heads(w) != 0)
        return err_set(e, ERR_PARSE, "figures.kv_heads: %" PRId64 " does not divide heads %" PRId64,
                       w->kv_heads, w->heads);
    if (w->vocab_padded < w->vocab)
        return err_set(e, ERR_PARSE, "figures.vocab_padded: %" PRId64 " is under vocab %" PRId64,
                       w->vocab_padded, w->vocab);
    if (w->positions && w->positions < w->sequence)
        return err_set(e, ERR_PARSE,
                       "figures.positions: %" PRId64 " learned ones are under sequence %" PRId64,
                       w->positions, w->sequence);
    if (w->experts_active > w->experts || (w->experts && !w->experts_active))
        return err_set(e, ERR_PARSE, "figures.experts_active: %" PRId64 " of %" PRId64 " experts",
                       w->experts_active, w->experts);
    if (w->lora_rank && w->experts && w->lora_targets & (1u << LORA_GATE | 1u << LORA_UP | 1u << LORA_DOWN))
        return err_set(e, ERR_PARSE,
                       "figures.lora_targets: adapters in experts are not modelled; name q k v o");
    return 0;
}

/* The figure is a check on the shapes; what is computed with is their sum. */
static int check_parameters(struct workload *w, struct err *e) {
    double sum = workload_shape_parameters(w, &w->lookup_parameters);
    if (!(fabs(sum - w->parameters) <= 0.005 * w->parameters))
        return err_set(
            e, ERR_PARSE,
            "figures.parameters: %.0f, but the shapes add up to %.0f (%+.1f %%; 0.5 %% is the limit): "
            "correct a dimension, biases, norm or head",
            w->parameters, sum, 100 * (sum / w->parameters - 1));
    w->parameters = sum;
    return 0;
}

/* Of figures that have all been read. */
static void keep_sources(const json_t *all, struct workload *out) {
    const char *key;
    json_t *figure;
    out->sources = arena_alloc(&out->arena, json_object_size(all) * sizeof *out->sources);
    json_object_foreach((json_t *)all, key, figure) {
        out->sources[out->source_count++] = (struct workload_source){
            .figure = arena_strdup(&out->arena, key),
            .source = arena_strdup(&out->arena, json_string_value(json_object_get(figure, "source"))),
            .verified = json_is_true(json_object_get(figure, "verified")),
        };
    }
}

static int read_figures(const json_t *all, struct workload *out, struct err *e) {
    if (!json_is_object(all))
        return err_set(e, ERR_PARSE, "figures: %s", all ? "not an object" : "missing");
    if (check_figure_keys(all, out, e) != 0)
        return err_wrap(e, "figures");
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (figures[i].kinds >> out->kind & 1 && read_figure(all, &figures[i], out, e) != 0)
            return err_wrap(e, "figures.%s", figures[i].key);
    if (read_precisions(all, out, e) != 0)
        return err_wrap(e, "figures.precisions");
    if (out->kind == WORKLOAD_CNN) {
        if (read_convolutions(all, out, e) != 0)
            return err_wrap(e, "figures.convolutions");
    } else if (read_lora_targets(all, out, e) != 0) {
        return err_wrap(e, "figures.lora_targets");
    }
    keep_sources(all, out);
    if (out->kind == WORKLOAD_TRANSFORMER && check_transformer(out, e) != 0)
        return -1;
    return check_parameters(out, e);
}

static int read_kind(const json_t *top, struct workload *out, struct err *e) {
    const char *kind;
    if (json_opt_string(top, "kind", workload_kind_names[0], &kind, e) != 0)
        return -1;
    int index = workload_find_word(kind, workload_kind_names, e);
    if (index < 0)
        return err_wrap(e, "kind");
    if (index == WORKLOAD_GEMMS)
        return err_set(e, ERR_PARSE, "kind: products are given as a CSV file");
    out->kind = (enum workload_kind)index;
    return 0;
}

static int read_workload(const json_t *top, struct workload *out, struct err *e) {
    const char *name, *title, *source;
    if (!json_is_object(top))
        return err_set(e, ERR_PARSE, "not an object");
    if (json_check_keys(top, top_keys, e) != 0 || json_get_string(top, "name", &name, e) != 0 ||
        json_get_string(top, "title", &title, e) != 0 || json_get_string(top, "source", &source, e) != 0 ||
        read_kind(top, out, e) != 0)
        return -1;
    out->name = arena_strdup(&out->arena, name);
    out->title = arena_strdup(&out->arena, title);
    out->source = arena_strdup(&out->arena, source);
    return read_figures(json_object_get(top, "figures"), out, e);
}

/* ---- loading ---- */

static bool ends_in(const char *name, const char *suffix) {
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* Puts the names there are behind the reason why this one was not found. */
static void list_workloads(const char *name, struct err *e) {
    struct text known = {0};
    struct err reason = *e;
    const char *file;
    for (size_t i = 0; (file = data_embedded_name("workloads/", i)) != NULL; i++) {
        const char *stem = strchr(file, '/') + 1;
        text_printf(&known, "%s%.*s", i ? ", " : "", (int)(strlen(stem) - strlen(".json")), stem);
    }
    err_set(e, ERR_NOT_FOUND, "workload '%s': %s; there are %s, or give a path that ends in .json or .csv",
            name, reason.text, text_get(&known));
    text_free(&known);
}

static int take_json(json_t *top, const char *name, struct workload *out, struct err *e) {
    int status = top ? read_workload(top, out, e) : -1;
    if (top && status != 0)
        err_wrap(e, "%s", name);
    json_decref(top);
    return status;
}

static int load_named(const struct data *data, const char *name, struct workload *out, struct err *e) {
    struct data_blob blob;
    char *file = xasprintf("workloads/%s.json", name);
    int status = data_load(data, file, &blob, e);
    if (status == 0) {
        status = take_json(json_parse(blob.name, blob.bytes, blob.length, e), file, out, e);
        data_release(&blob);
    } else if (e->code == ERR_NOT_FOUND) {
        list_workloads(name, e);
    }
    free(file);
    return status;
}

int workload_load(const struct data *data, const char *name, struct workload *out, struct err *e) {
    *out = (struct workload){0};
    int status = ends_in(name, ".csv")    ? workload_read_list(name, out, e)
                 : ends_in(name, ".json") ? take_json(json_read_file(name, e), name, out, e)
                                          : load_named(data, name, out, e);
    if (status != 0)
        workload_free(out);
    return status;
}

int workload_parse(const char *name, const char *bytes, size_t length, struct workload *out, struct err *e) {
    *out = (struct workload){0};
    int status = take_json(json_parse(name, bytes, length, e), name, out, e);
    if (status != 0)
        workload_free(out);
    return status;
}
