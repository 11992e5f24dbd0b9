/* The workloads that come with the program, each against arithmetic or published figures. */
#include "tests/base/check.h"

#include "model/workload.h"

#include <math.h>
#include <string.h>

static struct workload load(const char *name) {
    struct workload w;
    struct err e;
    assert_ok(workload_load(NULL, name, &w, &e), &e);
    return w;
}

static const struct layout one = {1, 1, 1, false, DTYPE_BF16, 1, 1, 1, 0};

/* By hand: 2 tables, or 1 where the head is tied, of V h; a block of h (H + 2 K) Q + H Q h for attention, the
 * feed-forward's matrices and the norms; and the last norm.
 *   llama3-8b    2 x 128256 x 4096 = 1,050,673,152; block 4096 x 6144 + 4096^2 + 3 x 4096 x 14336 + 2 x 4096
 *                = 218,112,000, x 32 = 6,979,584,000; norm 4096
 *   llama3-70b   2 x 128256 x 8192 = 2,101,346,304; block 8192 x 10240 + 8192^2 + 3 x 8192 x 28672 + 2 x 8192
 *                = 855,654,400, x 80 = 68,452,352,000; norm 8192
 *   qwen2.5-7b   2 x 152064 x 3584 = 1,089,994,752; block 3584 x 4608 + 4608 + 3584^2 + 3 x 3584 x 18944
 *                + 2 x 3584 = 233,057,792, x 28 = 6,525,618,176; norm 3584
 *   mixtral-8x7b 2 x 32000 x 4096 = 262,144,000; block 4096 x 6144 + 4096^2 + 8 x 176,160,768 + 8 x 4096
 *                + 2 x 4096 = 1,451,270,144, x 32 = 46,440,644,608; norm 4096
 *   gpt2-1.5b    50257 x 1600 + 1024 x 1600 + 48 x (12 x 1600^2 + 13 x 1600) + 2 x 1600
 *   bert-large   (30522 + 512 + 2) x 1024 + 24 x (12 x 1024^2 + 13 x 1024) + 2 x 1024, and the head's
 *                1024^2 + 1024 + 2 x 1024 + 30522
 *   gpt3-175b    50257 x 12288 + 2048 x 12288 + 96 x (12 x 12288^2 + 13 x 12288) + 2 x 12288
 *   resnet50     torchvision's num_params */
static void parameters_are_those_worked_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double parameters, lookup;
    } rows[] = {
        {"gpt2-124m", 124439808, 786432},         {"gpt2-1.5b", 1557611200, 1638400},
        {"llama3-8b", 8030261248, 525336576},     {"llama3-8b-lora", 8030261248, 525336576},
        {"llama3-70b", 70553706496, 1050673152},  {"qwen2.5-7b", 7615616512, 544997376},
        {"mixtral-8x7b", 46702792704, 131072000}, {"bert-large", 335174458, 526336},
        {"gpt3-175b", 174604259328, 25165824},    {"resnet50", 25557032, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct workload w = load(rows[i].name);
        assert_same(w.parameters, rows[i].parameters);
        assert_same(w.lookup_parameters, rows[i].lookup);
        workload_free(&w);
    }
}

/* The optimizer's 16 FLOP a parameter are not model FLOP. */
static void every_op_list_agrees_with_its_formula(void **state) {
    (void)state;
    size_t count = 0;
    for (const char *file; (file = data_embedded_name("workloads/", count)) != NULL; count++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen("workloads/.json")), file + 10);
        struct workload w = load(name);
        struct step_ops ops;
        struct layout l = one;
        l.accumulation = w.global_batch;
        workload_expand(&w, &l, &ops);
        double flop = step_ops_flop(&ops, &l) - op_flop(&ops.items[ops.count - 1].op);
        assert_int_equal(ops.items[ops.count - 1].op.kind, OP_ADAMW);
        if (fabs(flop / workload_model_flop(&w) - 1) > 0.01)
            fail_msg("%s: %g, formula %g", name, flop, workload_model_flop(&w));
        step_ops_free(&ops);
        workload_free(&w);
    }
    assert_int_equal(count, 10);
}

/* Mistral AI: 46.7 B in all, 12.9 B used for a token. By hand: of 8 experts of 176,160,768 in each of 32
 * blocks, 6 are idle: 46,702,792,704 - 6 x 32 x 176,160,768. Per token 6 x (that - 131,072,000) and attention
 * 12 x 32 x 4096 x 4096. */
static void a_mixture_of_experts_computes_with_its_active_parameters(void **state) {
    (void)state;
    struct workload w = load("mixtral-8x7b");
    struct workload_parameters p;
    workload_parameters(&w, &p);
    assert_same(p.total, 46702792704);
    assert_same(p.active, 12879925248);
    assert_same(p.trained, p.total);
    assert_near(workload_model_flop(&w), (6 * 12748853248.0 + 6442450944.0) * 256 * 4096, 1e-12);
    workload_free(&w);
}

static double phase_flop(const struct step_ops *s, enum step_phase phase) {
    double flop = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].phase == phase && op_is_compute_bound(&s->items[i].op))
            flop += op_flop(&s->items[i].op) * s->items[i].count;
    return flop;
}

/* Eight ranks with an expert each: it is sent 2/8 of the tokens of all eight, 2 x 4096 = 8192 of them. The
 * FLOP of a rank stay the same. */
static void expert_ranks_share_the_experts_and_not_the_work(void **state) {
    (void)state;
    struct workload w = load("mixtral-8x7b");
    struct layout alone = {8, 1, 32, false, DTYPE_BF16, 1, 1, 1, 0}, shared = alone;
    struct step_ops a, b;
    bool found = false;
    shared.expert = 8;
    workload_expand(&w, &alone, &a);
    workload_expand(&w, &shared, &b);
    assert_near(phase_flop(&a, STEP_FORWARD), phase_flop(&b, STEP_FORWARD), 1e-12);
    for (size_t i = 0; i < b.count; i++)
        found = found || (b.items[i].op.m == 8192 && b.items[i].op.n == 28672 && b.items[i].count == 32);
    assert_true(found);
    step_ops_free(&a);
    step_ops_free(&b);
    workload_free(&w);
}

/* Rank 8 on q [4096, 4096] and v [4096, 1024], 32 blocks: 32 x 8 x (8192 + 5120) = 3,407,872 parameters. */
static void lora_trains_its_adapters_alone(void **state) {
    (void)state;
    struct workload w = load("llama3-8b-lora");
    struct workload_parameters p;
    workload_parameters(&w, &p);
    assert_same(p.trained, 3407872);
    assert_same(p.total, 8030261248.0 + 3407872);
    assert_same(workload_gradient_bytes(&w, DTYPE_BF16), 2 * 3407872.0);
    double sum = 0;
    for (size_t i = 0; i < workload_stages(&w, &one); i++)
        sum += workload_stage_parameters(&w, &one, i);
    assert_same(sum, 3407872);
    workload_free(&w);
}

/* A weight gradient has the tokens as its inner size, and trans_a. Of the adapters there are two for each of
 * two layers in 32 blocks, one edge of 8; of frozen matrices none, while all their input gradients are there.
 */
static void lora_has_no_weight_gradient_of_a_frozen_matrix(void **state) {
    (void)state;
    struct workload w = load("llama3-8b-lora"), full = load("llama3-8b");
    struct layout l = {1, 1, 64, false, DTYPE_BF16, 1, 1, 1, 0};
    struct step_ops ops;
    double gradients = 0, input_gradients = 0;
    workload_expand(&w, &l, &ops);
    for (size_t i = 0; i < ops.count; i++) {
        const struct op *op = &ops.items[i].op;
        if (ops.items[i].phase != STEP_BACKWARD || op->kind != OP_GEMM)
            continue;
        if (op->trans_a) {
            assert_int_equal(op->k, 2048);
            assert_true(op->m == 8 || op->n == 8);
            gradients += ops.items[i].count;
        }
        if (op->trans_b && op->m == 2048 && op->k != 8 && op->n != 8)
            input_gradients += ops.items[i].count;
    }
    assert_same(gradients, 32 * 2 * 2);
    assert_same(input_gradients, 32 * 4);
    assert_int_equal(ops.items[ops.count - 1].op.elements, 3407872);
    /* 4 N instead of 6 N: at the same sequence about two thirds of the products */
    full.sequence = w.sequence;
    full.global_batch = w.global_batch;
    double share = workload_model_flop(&w) / workload_model_flop(&full);
    assert_true(share > 0.66 && share < 0.70);
    step_ops_free(&ops);
    workload_free(&w);
    workload_free(&full);
}

/* 4.089 G multiply-adds forward (torchvision: 4.09 GFLOPS, which are multiply-adds), 2 FLOP each, times 3. */
static void resnet50_takes_24_5_gflop_an_image(void **state) {
    (void)state;
    struct workload w = load("resnet50");
    double image = workload_model_flop(&w) / 256;
    assert_near(image, 24.5e9, 0.002);
    assert_near(image, 6 * 4.089e9, 1e-3);
    assert_string_equal(workload_unit(&w), "image");
    assert_same(workload_units_per_step(&w), 256);
    double sum = 0;
    assert_int_equal(workload_stages(&w, &one), w.convolution_count);
    for (size_t i = 0; i < w.convolution_count; i++)
        sum += workload_stage_parameters(&w, &one, i);
    assert_same(sum, 25557032);
    workload_free(&w);
}

/* The first convolution: 112^2 x batch rows, 64 columns, 3 x 7^2 terms; a 3x3 one of the second stage. */
static void convolutions_are_products_of_their_patches(void **state) {
    (void)state;
    struct workload w = load("resnet50");
    struct layout l = {1, 32, 8, false, DTYPE_BF16, 1, 1, 1, 0};
    struct step_ops ops;
    workload_expand(&w, &l, &ops);
    double first = 0, inner = 0, to_the_image = 0;
    for (size_t i = 0; i < ops.count; i++) {
        char name[OP_NAME_SIZE];
        op_name(&ops.items[i].op, name);
        first += strcmp(name, "gemm.bf16.401408x64x147") == 0 ? ops.items[i].count : 0;
        inner += strcmp(name, "gemm.bf16.25088x128x1152") == 0 ? ops.items[i].count : 0;
        to_the_image += strcmp(name, "gemm.bf16.401408x147x64.nt") == 0 ? ops.items[i].count : 0;
    }
    assert_same(first, 1);
    assert_same(inner, 4);
    assert_same(to_the_image, 0);
    step_ops_free(&ops);
    workload_free(&w);
}

/* Two ranks a layer: half of the heads (16 of 128, with 4 for keys and values), of the feed-forward and of
 * the vocabulary; four ranks: the work of one rank is a quarter. */
static void tensor_ranks_split_heads_feed_forward_and_vocabulary(void **state) {
    (void)state;
    struct workload w = load("llama3-8b");
    struct layout l = {2, 1, 128, false, DTYPE_BF16, 2, 1, 1, 0},
                  whole = {1, 1, 128, false, DTYPE_BF16, 1, 1, 1, 0};
    struct step_ops ops, alone;
    static const char *const want[] = {"gemm.bf16.8192x3072x4096", "attention.bf16.16x8192x8192x128.causal",
                                       "gemm.bf16.8192x4096x2048", "gemm.bf16.8192x14336x4096",
                                       "gemm.bf16.8192x4096x7168", "gemm.bf16.8192x64128x4096.nt",
                                       "rmsnorm.bf16.4096x4096",   "swiglu.bf16.58720256"};
    workload_expand(&w, &l, &ops);
    workload_expand(&w, &whole, &alone);
    for (size_t k = 0; k < COUNT(want); k++) {
        bool found = false;
        for (size_t i = 0; i < ops.count; i++) {
            char name[OP_NAME_SIZE];
            found = found || strcmp(op_name(&ops.items[i].op, name), want[k]) == 0;
        }
        if (!found)
            fail_msg("no %s", want[k]);
    }
    assert_near(2 * phase_flop(&ops, STEP_BACKWARD), phase_flop(&alone, STEP_BACKWARD), 1e-12);
    step_ops_free(&ops);
    step_ops_free(&alone);
    workload_free(&w);
}

static void bert_looks_both_ways(void **state) {
    (void)state;
    struct workload w = load("bert-large");
    struct layout l = {1, 8, 32, false, DTYPE_BF16, 1, 1, 1, 0};
    struct step_ops ops;
    double squares = 0;
    workload_expand(&w, &l, &ops);
    for (size_t i = 0; i < ops.count; i++) {
        const struct op *op = &ops.items[i].op;
        assert_false(op->kind == OP_ATTENTION && op->causal);
        if (ops.items[i].phase == STEP_FORWARD && op->kind == OP_GEMM && op->n == 1024 && op->k == 1024)
            squares += ops.items[i].count;
    }
    assert_same(squares, 25); /* 24 projections and the head's transform */
    step_ops_free(&ops);
    workload_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those_worked_by_hand),
        cmocka_unit_test(every_op_list_agrees_with_its_formula),
        cmocka_unit_test(a_mixture_of_experts_computes_with_its_active_parameters),
        cmocka_unit_test(expert_ranks_share_the_experts_and_not_the_work),
        cmocka_unit_test(lora_trains_its_adapters_alone),
        cmocka_unit_test(lora_has_no_weight_gradient_of_a_frozen_matrix),
        cmocka_unit_test(resnet50_takes_24_5_gflop_an_image),
        cmocka_unit_test(convolutions_are_products_of_their_patches),
        cmocka_unit_test(tensor_ranks_split_heads_feed_forward_and_vocabulary),
        cmocka_unit_test(bert_looks_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
