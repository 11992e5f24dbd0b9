#include "model/workload_hf.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/workload.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Names of the sizes in config.json; NULL = the family has none. "tied": its default of tie_word_embeddings.
 */
struct family {
    const char *model_type, *layers, *hidden, *heads, *kv_heads, *ffn, *context;
    enum feed_forward feed_forward;
    enum norm norm;
    enum biases biases;
    enum head head;
    enum attention attention;
    bool learned_positions;
    const char *source; /* of the words, which config.json does not say */
};

#define LLAMA_LIKE "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"
static const struct family families[] = {
    {"gpt2", "n_layer", "n_embd", "n_head", NULL, "n_inner", "n_positions", FEED_GELU, NORM_LAYER, BIASES_ALL,
     HEAD_TIED, ATTENTION_CAUSAL, true, "huggingface/transformers modeling_gpt2.py"},
    {"llama", "num_hidden_layers", LLAMA_LIKE, "max_position_embeddings", FEED_SWIGLU, NORM_RMS, BIASES_NONE,
     HEAD_UNTIED, ATTENTION_CAUSAL, false, "huggingface/transformers modeling_llama.py"},
    {"mistral", "num_hidden_layers", LLAMA_LIKE, "max_position_embeddings", FEED_SWIGLU, NORM_RMS,
     BIASES_NONE, HEAD_UNTIED, ATTENTION_CAUSAL, false, "huggingface/transformers modeling_mistral.py"},
    {"mixtral", "num_hidden_layers", LLAMA_LIKE, "max_position_embeddings", FEED_SWIGLU, NORM_RMS,
     BIASES_NONE, HEAD_UNTIED, ATTENTION_CAUSAL, false, "huggingface/transformers modeling_mixtral.py"},
    {"qwen2", "num_hidden_layers", LLAMA_LIKE, "max_position_embeddings", FEED_SWIGLU, NORM_RMS, BIASES_QKV,
     HEAD_UNTIED, ATTENTION_CAUSAL, false, "huggingface/transformers modeling_qwen2.py"},
    {"phi3", "num_hidden_layers", LLAMA_LIKE, "max_position_embeddings", FEED_SWIGLU, NORM_RMS, BIASES_NONE,
     HEAD_UNTIED, ATTENTION_CAUSAL, false, "huggingface/transformers modeling_phi3.py"},
    {"gemma", "num_hidden_layers", LLAMA_LIKE, "max_position_embeddings", FEED_SWIGLU, NORM_RMS, BIASES_NONE,
     HEAD_TIED, ATTENTION_CAUSAL, false, "huggingface/transformers modeling_gemma.py"},
    {"bert", "num_hidden_layers", "hidden_size", "num_attention_heads", NULL, "intermediate_size",
     "max_position_embeddings", FEED_GELU, NORM_LAYER, BIASES_ALL, HEAD_MLM, ATTENTION_FULL, true,
     "huggingface/transformers modeling_bert.py"},
};
#undef LLAMA_LIKE
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

static const struct family *find_family(const char *model_type, struct err *e) {
    struct text known = {0};
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (strcmp(families[i].model_type, model_type) == 0) {
            text_free(&known);
            return &families[i];
        }
        text_printf(&known, "%s%s", i ? ", " : "", families[i].model_type);
    }
    (void)err_set(e, ERR_NOT_FOUND,
                  "model_type: '%s' is not known; known are %s. Write the workload file by hand: "
                  "`stepcost workload NAME` shows one's figures",
                  model_type, text_get(&known));
    text_free(&known);
    return NULL;
}

/* A whole number under key, which must be there unless def is not 0; null counts as absent. */
static int get_size(const json_t *config, const char *key, int64_t def, int64_t *out, struct err *e) {
    const json_t *value = json_object_get(config, key);
    *out = def;
    if (!value || json_is_null(value))
        return def ? 0
                   : err_set(e, ERR_PARSE, "%s: missing; add it as the model's own config.json has it", key);
    if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > 100000000)
        return err_set(e, ERR_PARSE, "%s: not a whole number from 1 to 100000000; correct it", key);
    *out = json_integer_value(value);
    return 0;
}

static int get_flag(const json_t *config, const char *key, bool def, bool *out, struct err *e) {
    const json_t *value = json_object_get(config, key);
    *out = value ? json_is_true(value) : def;
    if (value && !json_is_boolean(value))
        return err_set(e, ERR_PARSE, "%s: neither true nor false; correct it", key);
    return 0;
}

struct conversion {
    const struct workload_hf *request;
    const json_t *config;
    const struct family *family;
    struct workload w;
};

static int read_sizes(struct conversion *c, struct err *e) {
    const struct family *f = c->family;
    struct workload *w = &c->w;
    const json_t *config = c->config;
    if (get_size(config, f->layers, 0, &w->layers, e) || get_size(config, f->hidden, 0, &w->hidden, e) ||
        get_size(config, f->heads, 0, &w->heads, e) || get_size(config, "vocab_size", 0, &w->vocab, e) ||
        get_size(config, f->ffn, f->learned_positions && !f->kv_heads ? 4 * w->hidden : 0, &w->ffn, e))
        return -1;
    if (f->kv_heads && get_size(config, f->kv_heads, w->heads, &w->kv_heads, e))
        return -1;
    if (json_object_get(config, "head_dim") && get_size(config, "head_dim", -1, &w->head_size, e))
        return -1;
    w->head_size = w->head_size < 0 ? 0 : w->head_size;
    if (!w->head_size && w->heads > 0 && w->hidden % w->heads)
        return err_set(e, ERR_PARSE, "%s: %" PRId64 " does not divide %s %" PRId64 "; add head_dim", f->heads,
                       w->heads, f->hidden, w->hidden);
    w->vocab_padded = (w->vocab + 63) / 64 * 64;
    return 0;
}

static int read_words(struct conversion *c, struct err *e) {
    const struct family *f = c->family;
    struct workload *w = &c->w;
    bool tied, attention_bias, mlp_bias;
    w->feed_forward = f->feed_forward;
    w->norm = f->norm;
    w->biases = f->biases;
    w->head = f->head;
    w->attention = f->attention;
    if (get_flag(c->config, "tie_word_embeddings", f->head != HEAD_UNTIED, &tied, e) ||
        get_flag(c->config, "attention_bias", false, &attention_bias, e) ||
        get_flag(c->config, "mlp_bias", false, &mlp_bias, e))
        return -1;
    if (f->head != HEAD_MLM)
        w->head = tied ? HEAD_TIED : HEAD_UNTIED;
    if (f->biases == BIASES_NONE && attention_bias)
        w->biases = mlp_bias ? BIASES_ALL : BIASES_QKV;
    if (strcmp(f->model_type, "mixtral") == 0 &&
        (get_size(c->config, "num_local_experts", 0, &w->experts, e) ||
         get_size(c->config, "num_experts_per_tok", 0, &w->experts_active, e)))
        return -1;
    return f->head == HEAD_MLM ? get_size(c->config, "type_vocab_size", 2, &w->token_types, e) : 0;
}

/* As many as hold this many tokens, rounded up. */
static int64_t sequences_of(int64_t tokens, int64_t sequence) {
    return sequence > 0 ? (tokens + sequence - 1) / sequence : 1;
}

static int read_job(struct conversion *c, struct err *e) {
    const struct workload_hf *r = c->request;
    struct workload *w = &c->w;
    int64_t context;
    if (get_size(c->config, c->family->context, 0, &context, e))
        return -1;
    w->positions = c->family->learned_positions ? context : 0;
    w->sequence = r->sequence ? r->sequence : context < 4096 ? context : 4096;
    if (w->sequence > context)
        return err_set(e, ERR_USAGE, "--sequence: %" PRId64 " is above %s %" PRId64, w->sequence,
                       c->family->context, context);
    w->global_batch = r->global_batch ? r->global_batch : sequences_of(524288, w->sequence);
    w->max_micro_batch = sequences_of(65536, w->sequence);
    w->parameters = workload_shape_parameters(w, &w->lookup_parameters);
    return 0;
}

/* ---- writing ---- */

static void put(json_t *figures, const char *key, json_t *value, const char *source, bool verified) {
    json_object_set_new(figures, key,
                        json_pack("{s:o, s:s, s:b}", "value", value, "source", source, "verified", verified));
}

static void put_sizes(struct conversion *c, json_t *figures) {
    const struct workload *w = &c->w;
    const struct family *f = c->family;
    const struct {
        const char *key;
        int64_t value;
        const char *from;
    } rows[] = {
        {"layers", w->layers, f->layers},
        {"hidden", w->hidden, f->hidden},
        {"heads", w->heads, f->heads},
        {"kv_heads", w->kv_heads, f->kv_heads},
        {"head_size", w->head_size, "head_dim"},
        {"ffn", w->ffn, f->ffn},
        {"vocab", w->vocab, "vocab_size"},
        {"positions", w->positions, f->context},
        {"token_types", w->token_types, "type_vocab_size"},
        {"experts", w->experts, "num_local_experts"},
        {"experts_active", w->experts_active, "num_experts_per_tok"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].value == 0)
            continue;
        const json_t *given = json_object_get(c->config, rows[i].from);
        bool read = given && !json_is_null(given);
        char *source =
            xasprintf("%s: %s%s", read ? "config.json" : f->source, rows[i].from, read ? "" : " (default)");
        put(figures, rows[i].key, json_integer(rows[i].value), source, read);
        free(source);
    }
    put(figures, "vocab_padded", json_integer(w->vocab_padded), "vocabulary padded to a multiple of 64",
        false);
}

static void put_words(struct conversion *c, json_t *figures) {
    const struct workload *w = &c->w;
    const char *source = c->family->source;
    put(figures, "feed_forward", json_string(feed_forward_names[w->feed_forward]), source, false);
    put(figures, "norm", json_string(norm_names[w->norm]), source, false);
    put(figures, "biases", json_string(biases_names[w->biases]), source, false);
    put(figures, "head", json_string(head_names[w->head]), source, false);
    put(figures, "attention", json_string(attention_names[w->attention]), source, false);
}

static void put_job(struct conversion *c, json_t *figures) {
    const struct workload *w = &c->w;
    const struct workload_hf *r = c->request;
    put(figures, "sequence", json_integer(w->sequence),
        r->sequence ? "given to stepcost workload from-hf" : "the model's context, at most 4096", false);
    put(figures, "parameters", json_real(w->parameters), "summed from the shapes of config.json", false);
    put(figures, "global_batch", json_integer(w->global_batch),
        r->global_batch ? "given to stepcost workload from-hf" : "assumption: 524,288 tokens a step", false);
    put(figures, "max_micro_batch", json_integer(w->max_micro_batch),
        "assumption: 65,536 tokens saturate a GPU", false);
    put(figures, "precisions", json_pack("[s,s,s]", "bf16", "fp16", "fp32"),
        "assumption: bfloat16 where the device has it, else float16, else fp32", false);
    put(figures, "dataset_bytes", json_real(0), "not known", false);
    put(figures, "checkpoint_bytes", json_real(14 * w->parameters),
        "16-bit weights, then m, v and master weights in fp32: 14 bytes a parameter", false);
}

/* --name, else the model's path, else the folder of the config; what stands behind the last slash. */
static char *choose_name(const struct workload_hf *r, const json_t *config) {
    const char *path = json_string_value(json_object_get(config, "_name_or_path"));
    if (r->name)
        return xstrdup(r->name);
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *stem = slash ? slash + 1 : path;
    return xstrdup(stem && *stem ? stem : json_string_value(json_object_get(config, "model_type")));
}

static json_t *write_file(struct conversion *c) {
    json_t *figures = json_object();
    char *name = choose_name(c->request, c->config);
    char *title =
        xasprintf("%s, %" PRId64 " sequences of %" PRId64 " a step", name, c->w.global_batch, c->w.sequence);
    put_sizes(c, figures);
    put_words(c, figures);
    put_job(c, figures);
    json_t *top =
        json_pack("{s:o, s:o, s:o, s:s, s:o}", "name", json_text(name), "title", json_text(title), "source",
                  json_text(c->request->config), "kind", "transformer", "figures", figures);
    free(name);
    free(title);
    return top;
}

json_t *workload_from_hf(const struct workload_hf *r, struct err *e) {
    struct conversion c = {.request = r};
    const char *model_type;
    json_t *out = NULL, *config = json_read_file(r->config, e);
    if (!config)
        return NULL;
    c.config = config;
    if (!json_is_object(config)) {
        (void)err_set(e, ERR_PARSE, "%s: not an object; want a Hugging Face config.json", r->config);
        goto out;
    }
    if (json_get_string(config, "model_type", &model_type, e) == 0 &&
        (c.family = find_family(model_type, e)) != NULL && !read_sizes(&c, e) && !read_words(&c, e) &&
        !read_job(&c, e))
        out = write_file(&c);
    else
        (void)err_wrap(e, "%s", r->config);
out:
    json_decref(config);
    return out;
}
