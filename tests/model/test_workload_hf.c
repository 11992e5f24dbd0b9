#include "tests/model/folder.h"

#include "base/json.h"
#include "model/workload.h"
#include "model/workload_hf.h"

#include <stdlib.h>

/* Converts the text of a config.json and loads what comes of it. */
static int convert(const char *config, struct workload_hf r, struct workload *w, struct err *e) {
    struct folder folder;
    char path[160];
    folder_make(&folder);
    folder_write(&folder, "config.json", config);
    snprintf(path, sizeof path, "%s/config.json", folder.path);
    r.config = path;
    json_t *file = workload_from_hf(&r, e);
    folder_remove(&folder);
    if (!file)
        return -1;
    char *text = json_dumps(file, 0);
    int status = workload_parse("made", text, strlen(text), w, e);
    free(text);
    json_decref(file);
    return status;
}

/* Shapes and parameters of the shipped files and of published counts (by hand in test_workloads.c):
 *   gpt2 124,439,808; bert-large's 335,174,458; Qwen2.5 7,615,616,512; Mixtral 46,702,792,704;
 *   gemma-7b 8,537,680,896 (Google's 8.54 B): 256000 x 3072 + 28 x (3072 x 3 x 4096 + 4096 x 3072
 *   + 3 x 3072 x 24576 + 2 x 3072) + 3072;
 *   Phi-3-mini 3,821,079,552 (3.8 B): 2 x 32064 x 3072 + 32 x (4 x 3072^2 + 3 x 3072 x 8192 + 2 x 3072) +
 * 3072; Mistral-7B 7,241,732,096 (7.24 B): 2 x 32000 x 4096 + 32 x 218,112,000 + 4096 */
static void converts_each_known_family_to_its_parameter_count(void **state) {
    (void)state;
    static const struct {
        const char *config;
        double parameters;
        int64_t sequence;
    } rows[] = {
        {"{\"model_type\":\"gpt2\",\"n_layer\":12,\"n_embd\":768,\"n_head\":12,\"n_positions\":1024,"
         "\"n_inner\":null,\"vocab_size\":50257}",
         124439808, 1024},
        {"{\"model_type\":\"bert\",\"num_hidden_layers\":24,\"hidden_size\":1024,\"num_attention_heads\":16,"
         "\"intermediate_size\":4096,\"max_position_embeddings\":512,\"type_vocab_size\":2,\"vocab_size\":"
         "30522}",
         335174458, 512},
        {"{\"model_type\":\"qwen2\",\"num_hidden_layers\":28,\"hidden_size\":3584,\"num_attention_heads\":28,"
         "\"num_key_value_heads\":4,\"intermediate_size\":18944,\"max_position_embeddings\":131072,"
         "\"vocab_size\":152064,\"tie_word_embeddings\":false}",
         7615616512, 4096},
        {"{\"model_type\":\"mixtral\",\"num_hidden_layers\":32,\"hidden_size\":4096,\"num_attention_heads\":"
         "32,"
         "\"num_key_value_heads\":8,\"intermediate_size\":14336,\"max_position_embeddings\":32768,"
         "\"num_local_experts\":8,\"num_experts_per_tok\":2,\"vocab_size\":32000}",
         46702792704, 4096},
        {"{\"model_type\":\"gemma\",\"num_hidden_layers\":28,\"hidden_size\":3072,\"num_attention_heads\":16,"
         "\"num_key_value_heads\":16,\"head_dim\":256,\"intermediate_size\":24576,"
         "\"max_position_embeddings\":8192,\"vocab_size\":256000}",
         8537680896, 4096},
        {"{\"model_type\":\"phi3\",\"num_hidden_layers\":32,\"hidden_size\":3072,\"num_attention_heads\":32,"
         "\"num_key_value_heads\":32,\"intermediate_size\":8192,\"max_position_embeddings\":4096,"
         "\"vocab_size\":32064}",
         3821079552, 4096},
        {"{\"model_type\":\"mistral\",\"num_hidden_layers\":32,\"hidden_size\":4096,\"num_attention_heads\":"
         "32,"
         "\"num_key_value_heads\":8,\"intermediate_size\":14336,\"max_position_embeddings\":32768,"
         "\"vocab_size\":32000}",
         7241732096, 4096},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct workload w;
        struct err e;
        assert_ok(convert(rows[i].config, (struct workload_hf){0}, &w, &e), &e);
        assert_same(w.parameters, rows[i].parameters);
        assert_int_equal(w.sequence, rows[i].sequence);
        assert_true(w.global_batch * w.sequence >= 524288);
        workload_free(&w);
    }
}

static void a_converted_model_is_the_shipped_one(void **state) {
    (void)state;
    struct workload_hf r = {
        .config = TEST_DATA "/hf/llama3-8b.json", .name = "mine", .sequence = 8192, .global_batch = 128};
    struct workload made, shipped;
    struct err e;
    json_t *file = workload_from_hf(&r, &e);
    assert_non_null(file);
    char *text = json_dumps(file, 0);
    assert_ok(workload_parse("made", text, strlen(text), &made, &e), &e);
    assert_ok(workload_load(NULL, "llama3-8b", &shipped, &e), &e);
    assert_string_equal(made.name, "mine");
    assert_same(made.parameters, shipped.parameters);
    assert_same(workload_model_flop(&made), workload_model_flop(&shipped));
    json_t *layers = json_object_get(json_object_get(file, "figures"), "layers");
    assert_string_equal(json_string_value(json_object_get(layers, "source")),
                        "config.json: num_hidden_layers");
    assert_true(json_is_true(json_object_get(layers, "verified")));
    free(text);
    json_decref(file);
    workload_free(&made);
    workload_free(&shipped);
}

#define LLAMA(layers, heads)                                                                                 \
    "{\"model_type\":\"llama\"," layers "\"hidden_size\":64," heads                                          \
    "\"intermediate_size\":128,\"max_position_embeddings\":32,\"vocab_size\":100}"

static void a_bad_config_is_refused_naming_the_key(void **state) {
    (void)state;
    static const struct {
        const char *config;
        enum err_code code;
        const char *piece;
    } rows[] = {
        {"{", ERR_PARSE, "line 1"},
        {"[]", ERR_PARSE, "not an object"},
        {"{\"hidden_size\":64}", ERR_PARSE, "model_type"},
        {"{\"model_type\":\"mamba\"}", ERR_NOT_FOUND, "'mamba' is not known; known are gpt2, llama, mistral"},
        {LLAMA("", "\"num_attention_heads\":4,"), ERR_PARSE, "num_hidden_layers: missing"},
        {LLAMA("\"num_hidden_layers\":2.5,", "\"num_attention_heads\":4,"), ERR_PARSE,
         "num_hidden_layers: not a whole number"},
        {LLAMA("\"num_hidden_layers\":-2,", "\"num_attention_heads\":4,"), ERR_PARSE, "num_hidden_layers"},
        {LLAMA("\"num_hidden_layers\":2,", "\"num_attention_heads\":5,"), ERR_PARSE,
         "num_attention_heads: 5 does not divide hidden_size 64; add head_dim"},
        {LLAMA("\"num_hidden_layers\":2,\"tie_word_embeddings\":1,", "\"num_attention_heads\":4,"), ERR_PARSE,
         "tie_word_embeddings"},
        {LLAMA("\"num_hidden_layers\":2,", "\"num_attention_heads\":4,\"num_key_value_heads\":3,"), ERR_PARSE,
         "kv_heads: 3 does not divide"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct workload w;
        struct err e;
        assert_int_equal(convert(rows[i].config, (struct workload_hf){0}, &w, &e), -1);
        assert_error(&e, rows[i].code, rows[i].piece);
    }
    struct workload w;
    struct err e;
    assert_int_equal(convert(LLAMA("\"num_hidden_layers\":2,", "\"num_attention_heads\":4,"),
                             (struct workload_hf){.sequence = 64}, &w, &e),
                     -1);
    assert_error(&e, ERR_USAGE, "--sequence: 64 is above max_position_embeddings 32");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts_each_known_family_to_its_parameter_count),
        cmocka_unit_test(a_converted_model_is_the_shipped_one),
        cmocka_unit_test(a_bad_config_is_refused_naming_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
