#include "tests/model/folder.h"

#include "model/workload.h"

#include <math.h>

static struct workload load_gpt2(void) {
    struct workload w;
    struct err e;
    assert_ok(workload_load(NULL, "gpt2-124m", &w, &e), &e);
    return w;
}

/* Radford et al. 2019 and the shapes of openai/gpt-2's model.py: a block holds two layer norms (2 x 2C),
 * qkv (3C^2 + 3C), projection (C^2 + C), fc (4C^2 + 4C) and its projection (4C^2 + C) = 12 C^2 + 13 C. */
static void gpt2_has_the_parameters_that_its_shapes_add_up_to(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    double c = 768, block = 12 * c * c + 13 * c;
    double sum = 50257 * c + 1024 * c + 12 * block + 2 * c;
    assert_same(sum, 124439808);
    assert_same(w.parameters, sum);
    assert_same(w.lookup_parameters, 1024 * c);
    assert_same((double)w.vocab_padded, 64 * ceil(50257 / 64.0));
    assert_string_equal(w.name, "gpt2-124m");
    assert_int_equal(w.heads * 64, w.hidden);
    workload_free(&w);
}

static void gpt2_is_the_reproduction_of_llm_c(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    assert_same(workload_units_per_step(&w), 524288);
    assert_int_equal(w.max_micro_batch, 64);
    /* "124M parameter model on 10B tokens", two bytes a token: within 2 % of 20 GB */
    assert_near(w.dataset_bytes, 20e9, 0.02);
    assert_same(w.checkpoint_bytes, w.parameters * (2 + 4 + 4 + 4));
    assert_int_equal(w.precision_count, 3);
    assert_int_equal(w.precisions[0], DTYPE_BF16);
    assert_int_equal(w.precisions[2], DTYPE_FP32);
    assert_same(workload_gradient_bytes(&w, DTYPE_BF16), 248879616);
    assert_same(workload_gradient_bytes(&w, DTYPE_FP32), 497759232);
    workload_free(&w);
}

/* Per token 6 x 123,653,376 + 12 x 12 x 768 x 1024 = 741,920,256 + 113,246,208 = 855,166,464 FLOP. */
static void model_flop_are_6nd_and_attention(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    assert_same(workload_model_flop(&w), 855166464.0 * 524288.0);
    workload_free(&w);
}

static double phase_flop(const struct step_ops *s, enum step_phase phase, enum op_kind kind) {
    double flop = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].phase == phase && s->items[i].op.kind == kind)
            flop += op_flop(&s->items[i].op) * s->items[i].count;
    return flop;
}

/* Per token, by hand, C = 768, L = 12, T = 1024, V = 50304:
 *   products of the layers 72 C^2 L = 509,607,936; head 6 C V = 231,800,832; attention 12 L C T = 113,246,208
 *   25 layer norms of 7 + 13 FLOP an element = 384,000; GELU 12 x 3072 x (9 + 18) = 995,328
 *   48 additions of C = 36,864; embedding 2 C = 1,536; cross entropy 6 V = 301,824
 * together 856,374,528; AdamW 16 FLOP for each of 124,439,808 parameters on each device. */
static void the_op_list_does_the_flop_that_one_counts_by_hand(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    static const struct layout rows[] = {
        {8, 64, 1, false, DTYPE_BF16, 1, 1, 1, 0},
        {1, 32, 16, false, DTYPE_FP16, 1, 1, 1, 0},
        {1, 1, 512, false, DTYPE_FP32, 1, 1, 1, 0},
        {5, 64, 2, false, DTYPE_BF16, 1, 1, 1, 0}, /* 102.4 sequences a device: counts are averages */
        {3, 16, 11, false, DTYPE_TF32, 1, 1, 1, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct step_ops ops;
        workload_expand(&w, &rows[i], &ops);
        double got = step_ops_flop(&ops, &rows[i]);
        assert_near(got, 856374528.0 * 524288.0 + (double)rows[i].devices * 16 * 124439808.0, 1e-12);
        assert_near(got, workload_model_flop(&w), 0.01);
        step_ops_free(&ops);
    }
    workload_free(&w);
}

/* A second forward of the layers: 24 C^2 L + 4 L C T = 207,618,048 FLOP a token in products, and
 * 24 x 768 x 7 + 12 x 3072 x 9 + 24 x 768 = 479,232 beside them. */
static void recomputation_adds_one_forward_of_the_layers(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    struct layout plain = {8, 16, 4, false, DTYPE_BF16, 1, 1, 1, 0},
                  again = {8, 16, 4, true, DTYPE_BF16, 1, 1, 1, 0};
    struct step_ops a, b;
    workload_expand(&w, &plain, &a);
    workload_expand(&w, &again, &b);
    double more = step_ops_flop(&b, &again) - step_ops_flop(&a, &plain);
    assert_near(more, (207618048.0 + 479232.0) * 524288.0, 1e-9);
    assert_same(phase_flop(&a, STEP_FORWARD, OP_GEMM), phase_flop(&b, STEP_FORWARD, OP_GEMM));
    step_ops_free(&a);
    step_ops_free(&b);
    workload_free(&w);
}

/* Every forward product has two backward ones of the same size (dX and dW); attention has twice its two. */
static void the_backward_pass_does_twice_the_forward_products(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    struct layout l = {1, 8, 64, false, DTYPE_BF16, 1, 1, 1, 0};
    struct step_ops ops;
    workload_expand(&w, &l, &ops);
    static const enum op_kind kinds[] = {OP_GEMM, OP_ATTENTION};
    for (size_t i = 0; i < COUNT(kinds); i++)
        assert_same(phase_flop(&ops, STEP_BACKWARD, kinds[i]), 2 * phase_flop(&ops, STEP_FORWARD, kinds[i]));
    step_ops_free(&ops);
    workload_free(&w);
}

static double count_of(const struct step_ops *s, enum step_phase phase, const char *name) {
    double count = 0;
    for (size_t i = 0; i < s->count; i++) {
        char got[OP_NAME_SIZE];
        if (s->items[i].phase == phase && strcmp(op_name(&s->items[i].op, got), name) == 0)
            count += s->items[i].count;
    }
    return count;
}

/* The shapes of one device with 8 sequences at once: 8192 tokens. Weights lie as [in, out], so that dX is
 * an .nt product and dW a .tn one; the head's lie as the token table [50304, 768], so that its forward is. */
static void the_op_list_has_the_shapes_of_the_model(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    struct layout l = {1, 8, 64, false, DTYPE_BF16, 1, 1, 1, 0};
    struct step_ops ops;
    workload_expand(&w, &l, &ops);
    static const struct {
        enum step_phase phase;
        const char *name;
        double count;
    } rows[] = {
        {STEP_FORWARD, "embedding.bf16.8192x768", 1},
        {STEP_FORWARD, "layernorm.bf16.8192x768", 25},
        {STEP_FORWARD, "gemm.bf16.8192x2304x768", 12},
        {STEP_FORWARD, "attention.bf16.96x1024x1024x64.causal", 12},
        {STEP_FORWARD, "gemm.bf16.8192x768x768", 12},
        {STEP_FORWARD, "residual.bf16.6291456", 24},
        {STEP_FORWARD, "gemm.bf16.8192x3072x768", 12},
        {STEP_FORWARD, "gelu.bf16.25165824", 12},
        {STEP_FORWARD, "gemm.bf16.8192x768x3072", 12},
        {STEP_FORWARD, "gemm.bf16.8192x50304x768.nt", 1},
        {STEP_FORWARD, "cross_entropy.bf16.8192x50304", 1},
        {STEP_BACKWARD, "gemm.bf16.8192x768x50304", 1},
        {STEP_BACKWARD, "gemm.bf16.50304x768x8192.tn", 1},
        {STEP_BACKWARD, "layernorm.bf16.8192x768.backward", 25},
        {STEP_BACKWARD, "gemm.bf16.8192x768x2304.nt", 12},
        {STEP_BACKWARD, "gemm.bf16.768x2304x8192.tn", 12},
        {STEP_BACKWARD, "attention.bf16.96x1024x1024x64.causal.backward", 12},
        {STEP_BACKWARD, "gemm.bf16.8192x768x768.nt", 12},
        {STEP_BACKWARD, "gemm.bf16.768x768x8192.tn", 12},
        {STEP_BACKWARD, "gemm.bf16.8192x768x3072.nt", 12},
        {STEP_BACKWARD, "gemm.bf16.768x3072x8192.tn", 12},
        {STEP_BACKWARD, "gelu.bf16.25165824.backward", 12},
        {STEP_BACKWARD, "gemm.bf16.8192x3072x768.nt", 12},
        {STEP_BACKWARD, "gemm.bf16.3072x768x8192.tn", 12},
        {STEP_BACKWARD, "residual.bf16.6291456", 24},
        {STEP_BACKWARD, "embedding.bf16.8192x768.backward", 1},
        {STEP_OPTIMIZER, "adamw.bf16.124439808", 1},
    };
    double listed = 0, all = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_same(count_of(&ops, rows[i].phase, rows[i].name), rows[i].count);
        listed += rows[i].count;
    }
    for (size_t i = 0; i < ops.count; i++)
        all += ops.items[i].count;
    assert_same(all, listed);
    step_ops_free(&ops);
    workload_free(&w);
}

static void backward_layers_finish_in_order(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    struct layout l = {1, 8, 64, true, DTYPE_BF16, 1, 1, 1, 0};
    struct step_ops ops;
    int64_t last = 0;
    workload_expand(&w, &l, &ops);
    for (size_t i = 0; i < ops.count; i++) {
        if (ops.items[i].phase != STEP_BACKWARD)
            continue;
        assert_true(ops.items[i].layer_from_end == last || ops.items[i].layer_from_end == last + 1);
        last = ops.items[i].layer_from_end;
    }
    assert_int_equal(last, 13); /* the head, twelve layers, the embedding */
    step_ops_free(&ops);
    workload_free(&w);
}

static void tf32_products_keep_fp32_in_memory(void **state) {
    (void)state;
    struct workload w = load_gpt2();
    struct layout l = {1, 8, 64, false, DTYPE_TF32, 1, 1, 1, 0};
    struct step_ops ops;
    workload_expand(&w, &l, &ops);
    assert_same(count_of(&ops, STEP_FORWARD, "gemm.tf32.8192x2304x768"), 12);
    assert_same(count_of(&ops, STEP_FORWARD, "layernorm.fp32.8192x768"), 25);
    step_ops_free(&ops);
    workload_free(&w);
}

/* ---- files ---- */

#define FIGURE(key, value) "\"" key "\":{\"value\":" value ",\"source\":\"s\",\"verified\":true},"
#define LAYERS             FIGURE("layers", "2")
#define HEADS              FIGURE("heads", "4")
#define VOCAB              FIGURE("vocab_padded", "64")
#define LOOKUP             FIGURE("positions", "16")
#define PRECISIONS         "\"precisions\":{\"value\":[\"fp32\"],\"source\":\"s\",\"verified\":false}"
#define REST                                                                                                 \
    FIGURE("hidden", "8")                                                                                    \
    FIGURE("ffn", "32")                                                                                      \
    FIGURE("vocab", "60")                                                                                    \
    FIGURE("sequence", "16")                                                                                 \
    FIGURE("parameters", "2370")                                                                             \
    FIGURE("global_batch", "4")                                                                              \
    FIGURE("max_micro_batch", "2") FIGURE("dataset_bytes", "0") FIGURE("checkpoint_bytes", "1e4")
#define FIGURES(body) "{\"name\":\"tiny\",\"title\":\"t\",\"source\":\"s\",\"figures\":{" body "}}"

static int load_text(const char *text, struct workload *w, struct err *e) {
    struct folder folder;
    struct data data = {folder.path};
    folder_make(&folder);
    folder_write(&folder, "workloads/tiny.json", text);
    int status = workload_load(&data, "tiny", w, e);
    folder_remove(&folder);
    return status;
}

static void reads_a_workload_from_the_data_folder_and_from_a_path(void **state) {
    (void)state;
    static const char good[] = FIGURES(REST LAYERS HEADS VOCAB LOOKUP PRECISIONS);
    struct workload w;
    struct err e;
    assert_ok(load_text(good, &w, &e), &e);
    assert_int_equal(w.layers, 2);
    /* 60 x 8 + 16 x 8 + 2 x (12 x 8^2 + 13 x 8) + 2 x 8; the file says 2370 */
    assert_same(w.parameters, 2368);
    assert_same(w.lookup_parameters, 128);
    workload_free(&w);

    struct folder folder;
    char path[128];
    folder_make(&folder);
    folder_write(&folder, "mine.json", good);
    snprintf(path, sizeof path, "%s/mine.json", folder.path);
    assert_ok(workload_load(NULL, path, &w, &e), &e);
    assert_string_equal(w.name, "tiny");
    workload_free(&w);
    folder_remove(&folder);
}

static void rejects_a_bad_file_naming_file_and_field(void **state) {
    (void)state;
    static const struct {
        const char *text, *piece;
    } rows[] = {
        {"{", "line 1"},
        {"[]", "not an object"},
        {"{\"name\":\"tiny\",\"title\":\"t\"}", "source"},
        {"{\"name\":\"tiny\",\"title\":\"t\",\"source\":\"s\"}", "figures"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP "\"layer\":{}," PRECISIONS), "layer"},
        {FIGURES(REST HEADS VOCAB LOOKUP PRECISIONS), "figures.layers: missing"},
        {FIGURES(REST "\"layers\":2," HEADS VOCAB LOOKUP PRECISIONS), "figures.layers"},
        {FIGURES(REST "\"layers\":{\"value\":2}," HEADS VOCAB LOOKUP PRECISIONS),
         "figures.layers: field \"source\""},
        {FIGURES(REST
                 "\"layers\":{\"value\":2,\"source\":\"s\",\"verified\":1}," HEADS VOCAB LOOKUP PRECISIONS),
         "figures.layers: field \"verified\""},
        {FIGURES(REST FIGURE("layers", "\"2\"") HEADS VOCAB LOOKUP PRECISIONS),
         "figures.layers: field \"value\""},
        {FIGURES(REST FIGURE("layers", "2.5") HEADS VOCAB LOOKUP PRECISIONS),
         "figures.layers: field \"value\""},
        {FIGURES(REST FIGURE("layers", "0") HEADS VOCAB LOOKUP PRECISIONS), "figures.layers: 0"},
        {FIGURES(REST FIGURE("layers", "99999") HEADS VOCAB LOOKUP PRECISIONS), "between 1 and 10000"},
        {FIGURES(REST LAYERS FIGURE("heads", "3") VOCAB LOOKUP PRECISIONS),
         "figures.heads: 3 does not divide"},
        {FIGURES(REST LAYERS HEADS FIGURE("vocab_padded", "59") LOOKUP PRECISIONS),
         "figures.vocab_padded: 59"},
        {FIGURES(REST LAYERS HEADS VOCAB FIGURE("positions", "15") PRECISIONS), "figures.positions: 15"},
        {FIGURES(REST LAYERS HEADS VOCAB PRECISIONS),
         "figures.parameters: 2370, but the shapes add up to 2240"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP FIGURE("norm", "\"rms\"") PRECISIONS),
         "figures.norm: value: unknown word 'rms'; there are layernorm, rmsnorm"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP FIGURE("kv_heads", "3") PRECISIONS), "figures.kv_heads: 3"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP FIGURE("experts", "8") PRECISIONS),
         "figures.experts_active: 0 of 8"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP FIGURE("lora_rank", "8") PRECISIONS),
         "figures.lora_targets: missing"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP FIGURE("convolutions", "[]") PRECISIONS), "convolutions"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP FIGURE("precisions", "[]") "\"x\":1"), "x"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP
                 "\"precisions\":{\"value\":[],\"source\":\"s\",\"verified\":true}"),
         "figures.precisions: value"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP
                 "\"precisions\":{\"value\":[\"fp23\"],\"source\":\"s\",\"verified\":true}"),
         "figures.precisions: value[0]"},
        {FIGURES(REST LAYERS HEADS VOCAB LOOKUP
                 "\"precisions\":{\"value\":[3],\"source\":\"s\",\"verified\":true}"),
         "figures.precisions: value[0]"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct workload w;
        struct err e;
        assert_int_equal(load_text(rows[i].text, &w, &e), -1);
        assert_error(&e, ERR_PARSE, rows[i].piece);
        assert_error(&e, ERR_PARSE, "workloads/tiny.json");
    }
}

static void an_unknown_workload_lists_those_there_are(void **state) {
    (void)state;
    struct workload w;
    struct err e;
    assert_int_equal(workload_load(NULL, "gpt3", &w, &e), -1);
    assert_error(&e, ERR_NOT_FOUND, "gpt3");
    assert_error(&e, ERR_NOT_FOUND, "gpt2-124m");
    struct data data = {"/nowhere/at/all"};
    assert_int_equal(workload_load(&data, "gpt2-124m", &w, &e), -1);
    assert_error(&e, ERR_NOT_FOUND, "/nowhere/at/all");
    workload_free(NULL);
    step_ops_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_has_the_parameters_that_its_shapes_add_up_to),
        cmocka_unit_test(gpt2_is_the_reproduction_of_llm_c),
        cmocka_unit_test(model_flop_are_6nd_and_attention),
        cmocka_unit_test(the_op_list_does_the_flop_that_one_counts_by_hand),
        cmocka_unit_test(recomputation_adds_one_forward_of_the_layers),
        cmocka_unit_test(the_backward_pass_does_twice_the_forward_products),
        cmocka_unit_test(the_op_list_has_the_shapes_of_the_model),
        cmocka_unit_test(backward_layers_finish_in_order),
        cmocka_unit_test(tf32_products_keep_fp32_in_memory),
        cmocka_unit_test(reads_a_workload_from_the_data_folder_and_from_a_path),
        cmocka_unit_test(rejects_a_bad_file_naming_file_and_field),
        cmocka_unit_test(an_unknown_workload_lists_those_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
