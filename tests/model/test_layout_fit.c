/* What fits where: three workloads on six machines, by hand. */
#include "tests/base/check.h"

#include "model/layout.h"
#include "model/workload.h"

#include <math.h>
#include <stdlib.h>

static const double GIB = 1073741824.0;

static struct workload load(const char *name) {
    struct workload w;
    struct err e;
    assert_ok(workload_load(NULL, name, &w, &e), &e);
    return w;
}

/* clang-format off */
/* P parameters, bytes per sequence; bf16: weights 2 P, gradients 2 P, optimizer 12 P; 1 GB of reserve.
 *
 * gpt2-1.5b: P = 1,557,611,200, s h = 1,638,400, L = 48. A sequence: activations 34 x 48 s h = 2,673,868,800,
 *   logits 6 x 1024 x 50304 = 309,067,776; recomputed (2 x 48 + 34) s h = 212,992,000.
 *   L4: 16 P + 212,992,000 + 309,067,776 + 1e9 = 26,443,838,976, over 24 GiB = 25,769,803,776.
 *   A100 of 40: (42,949,672,960 - 25,921,779,200) / 2,982,936,576 = 5.7, so 4 at once; all others the most, 16.
 * llama3-8b: P = 8,030,261,248, 8192 tokens. A block leaves 34 h bytes a token: h = 4096, Q = 4096,
 *   K = V = 1024, f = 14336: 3 h + 4096 + 2048 + 4096 + h + 3 f = 17 h values. A sequence: 32 x 34 x 8192 x 4096
 *   = 36,507,222,016; logits 6 x 8192 x 128256 = 6,304,038,912; recomputed 2 x 32 x 8192 x 4096 + 1,140,850,688
 *   = 3,288,334,336. Alone 16 P = 128,484,179,968 and 10,592,373,248 more: on no card of these.
 *   8 x 80 GiB: ZeRO-1 takes 4 P + 12 P / 8 + 1e9 + 42,811,260,928 = 87,977,697,792 of 85,899,345,920; ZeRO-2
 *   2 P + 14 P / 8 + ... = 73,924,740,608. 8 x 180 GiB: 16 P + 1e9 + 42,811,260,928 = 172,295,440,896 of
 *   193,273,528,320, without any sharding.
 * llama3-70b: P = 70,553,706,496. A block leaves 4 h + 2 x 8192 + 2048 + 3 f = 137,216 values, 274,432 bytes a
 *   token: 80 x 274,432 x 8192 = 179,851,755,520 a sequence, 44,962,938,880 on one of 4 tensor ranks. Alone
 *   16 P + (160 x 8192 + 274,432) x 8192 + 6,304,038,912 + 1e9 = 1,149,148,908,032.
 *   8 x 80 GiB: 16 P / 8 = 141,107,412,992 alone is too much; least with 8 tensor ranks, recomputed:
 *   + (160 x 8192 + 274,432) x 8192 / 8 + 788,004,864 + 1e9 = 144,518,613,504.
 *   8 x 180 GiB: 4 tensor ranks and ZeRO-3 over 2: 16 P / 8 + two gathered blocks 2 x 2 x 855,654,400 / 4
 *   + 44,962,938,880 + 1,576,009,728 + 1e9 = 189,502,016,000 of 193,273,528,320. */
/* clang-format on */
static void fit_is_what_one_works_out_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *workload, *machine;
        int64_t devices;
        double gib;
        bool fits;
        struct layout want;          /* dtype, devices and accumulation follow */
        struct layout_memory memory; /* total alone where it does not fit */
    } rows[] = {
#define PLAIN(b) {.micro_batch = (b), .tensor = 1}
#define NOTHING(sum)                                                                                         \
    false, {.micro_batch = 1, .tensor = 1, .recompute = true}, {                                             \
        .total = (sum)                                                                                       \
    }
        {"gpt2-1.5b", "L4", 1, 24, NOTHING(26443838976)},
        {"gpt2-1.5b",
         "A100-40",
         1,
         40,
         true,
         PLAIN(4),
         {3115222400, 3115222400, 18691334400, 10695475200, 1236271104, 1e9, 37853525504}},
        {"gpt2-1.5b",
         "A100-80",
         1,
         80,
         true,
         PLAIN(16),
         {3115222400, 3115222400, 18691334400, 42781900800, 4945084416, 1e9, 73648764416}},
        {"gpt2-1.5b",
         "8 x A100-80",
         8,
         80,
         true,
         PLAIN(16),
         {3115222400, 3115222400, 18691334400, 42781900800, 4945084416, 1e9, 73648764416}},
        {"gpt2-1.5b",
         "8 x H100-80",
         8,
         80,
         true,
         PLAIN(16),
         {3115222400, 3115222400, 18691334400, 42781900800, 4945084416, 1e9, 73648764416}},
        {"gpt2-1.5b",
         "8 x B200-180",
         8,
         180,
         true,
         PLAIN(16),
         {3115222400, 3115222400, 18691334400, 42781900800, 4945084416, 1e9, 73648764416}},
        {"llama3-8b", "L4", 1, 24, NOTHING(139076553216)},
        {"llama3-8b", "A100-40", 1, 40, NOTHING(139076553216)},
        {"llama3-8b", "A100-80", 1, 80, NOTHING(139076553216)},
        {"llama3-8b",
         "8 x A100-80",
         8,
         80,
         true,
         {.micro_batch = 1, .tensor = 1, .zero = 2},
         {16060522496, 2007565312, 12045391872, 36507222016, 6304038912, 1e9, 73924740608}},
        {"llama3-8b",
         "8 x H100-80",
         8,
         80,
         true,
         {.micro_batch = 1, .tensor = 1, .zero = 2},
         {16060522496, 2007565312, 12045391872, 36507222016, 6304038912, 1e9, 73924740608}},
        {"llama3-8b",
         "8 x B200-180",
         8,
         180,
         true,
         {.micro_batch = 1, .tensor = 1},
         {16060522496, 16060522496, 96363134976, 36507222016, 6304038912, 1e9, 172295440896}},
        {"llama3-70b", "L4", 1, 24, NOTHING(1149148908032)},
        {"llama3-70b", "A100-40", 1, 40, NOTHING(1149148908032)},
        {"llama3-70b", "A100-80", 1, 80, NOTHING(1149148908032)},
        {"llama3-70b",
         "8 x A100-80",
         8,
         80,
         false,
         {.micro_batch = 1, .tensor = 8, .recompute = true},
         {.total = 144518613504}},
        {"llama3-70b",
         "8 x H100-80",
         8,
         80,
         false,
         {.micro_batch = 1, .tensor = 8, .recompute = true},
         {.total = 144518613504}},
        {"llama3-70b",
         "8 x B200-180",
         8,
         180,
         true,
         {.micro_batch = 1, .tensor = 4, .zero = 3},
         {18494081024, 17638426624, 105830559744, 44962938880, 1576009728, 1e9, 189502016000}},
#undef PLAIN
#undef NOTHING
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct workload w = load(rows[i].workload);
        struct layout l;
        struct layout_memory m;
        bool fits = layout_choose(&w, rows[i].devices, DTYPE_BF16, rows[i].gib * GIB, true, &l, &m);
        print_message("%s on %s\n", rows[i].workload, rows[i].machine);
        assert_int_equal(fits, rows[i].fits);
        assert_int_equal(l.micro_batch, rows[i].want.micro_batch);
        assert_int_equal(l.tensor, rows[i].want.tensor);
        assert_int_equal(l.zero, rows[i].want.zero);
        assert_int_equal(l.recompute, rows[i].want.recompute);
        assert_int_equal(l.pipeline * l.expert, 1);
        assert_int_equal(l.accumulation * l.micro_batch * layout_data_ranks(&l), w.global_batch);
        assert_same(m.total, rows[i].memory.total);
        if (fits) {
            assert_same(m.weights, rows[i].memory.weights);
            assert_same(m.gradients, rows[i].memory.gradients);
            assert_same(m.optimizer, rows[i].memory.optimizer);
            assert_same(m.activations, rows[i].memory.activations);
            assert_same(m.logits, rows[i].memory.logits);
        }
        workload_free(&w);
    }
}

/* llama3-8b in two stages: 16 blocks of 218,112,000 and the token table with the last norm, 525,340,672; two
 * micro-batches in flight on the first, whose 2 x 16 blocks leave what 32 do. The last stage has one and the
 * logits, which is less. With one micro-batch a step only one is in flight: then the logits decide. */
static void the_first_stage_of_a_pipeline_holds_as_many_micro_batches_as_stages(void **state) {
    (void)state;
    struct workload w = load("llama3-8b");
    struct layout l = {2, 1, 128, false, DTYPE_BF16, 1, 2, 1, 0};
    struct layout_memory m;
    layout_memory(&w, &l, true, &m);
    assert_same(m.weights, 2 * (16 * 218112000.0 + 525340672));
    assert_same(m.activations, 36507222016);
    assert_same(m.logits, 0);
    l.accumulation = 1;
    layout_memory(&w, &l, true, &m);
    assert_same(m.activations, 36507222016.0 / 2);
    assert_same(m.logits, 6304038912);
    workload_free(&w);
}

/* Mixtral on 8 ranks: 32 x 8 experts of 176,160,768; with one of 8 on each rank, 1/8 of those; ZeRO-1 shards
 * the rest of the optimizer over 8 and an expert's over the one rank that has it. */
static void expert_ranks_hold_their_own_experts(void **state) {
    (void)state;
    struct workload w = load("mixtral-8x7b");
    struct layout l = {8, 1, 32, false, DTYPE_BF16, 1, 1, 8, 1};
    struct layout_memory m;
    double experts = 32 * 176160768.0, rest = 46702792704.0 - 8 * experts;
    layout_memory(&w, &l, true, &m);
    assert_same(m.weights, 2 * (rest + experts));
    assert_same(m.gradients, 2 * (rest + experts));
    assert_same(m.optimizer, 12 * (rest / 8 + experts));
    workload_free(&w);
}

/* LoRA: frozen weights 2 bytes each, adapters 16. */
static void frozen_parameters_have_neither_gradient_nor_optimizer(void **state) {
    (void)state;
    struct workload w = load("llama3-8b-lora");
    struct layout l = {1, 1, 64, false, DTYPE_BF16, 1, 1, 1, 0};
    struct layout_memory m;
    layout_memory(&w, &l, true, &m);
    assert_same(m.weights, 2 * (8030261248.0 + 3407872));
    assert_same(m.gradients, 2 * 3407872.0);
    assert_same(m.optimizer, 12 * 3407872.0);
    workload_free(&w);
}

/* torchvision's table: 11.115 M activations an image; each once as the convolution's output, once as the
 * norm's, in 2 bytes; logits of 1000 classes. */
static void a_cnn_keeps_each_output_and_its_norm(void **state) {
    (void)state;
    struct workload w = load("resnet50");
    struct layout l = {1, 64, 4, false, DTYPE_BF16, 1, 1, 1, 0};
    struct layout_memory m;
    layout_memory(&w, &l, true, &m);
    assert_near(m.activations, 64 * 2 * 2 * 11.115e6, 1e-3);
    assert_same(m.logits, 64 * 1000 * 6.0);
    assert_same(m.weights + m.gradients + m.optimizer, 16 * 25557032.0);
    workload_free(&w);
}

/* Every layout that is offered fits, and splits what it says it splits. */
static void all_that_is_enumerated_fits_and_divides(void **state) {
    (void)state;
    static const char *const names[] = {"llama3-70b", "mixtral-8x7b", "qwen2.5-7b", "llama3-8b-lora",
                                        "gpt2-1.5b"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct workload w = load(names[i]);
        struct layout_device d = {8, DTYPE_BF16, 180 * GIB, true};
        struct layout_fits fits;
        layout_enumerate(&w, &d, &fits);
        assert_true(fits.count > 0);
        for (size_t k = 0; k < fits.count; k++) {
            const struct layout *l = &fits.items[k].layout;
            assert_true(fits.items[k].memory.total <= d.memory_bytes);
            assert_int_equal(w.heads % l->tensor + workload_kv_heads(&w) % l->tensor + w.layers % l->pipeline,
                             0);
            assert_int_equal(layout_data_ranks(l) * l->tensor * l->pipeline, 8);
            assert_true(l->expert == 1 ||
                        (w.experts % l->expert == 0 && layout_data_ranks(l) % l->expert == 0));
            assert_true(l->pipeline == 1 || l->zero <= 1);
            assert_true(l->accumulation * l->micro_batch * layout_data_ranks(l) >= w.global_batch);
        }
        free(fits.items);
        workload_free(&w);
    }
}

static void a_layout_is_described_in_the_fields_terms(void **state) {
    (void)state;
    struct layout l = {16, 2, 4, true, DTYPE_BF16, 2, 2, 4, 1},
                  plain = {8, 64, 1, false, DTYPE_FP16, 1, 1, 1, 0};
    char text[LAYOUT_TEXT_SIZE];
    assert_string_equal(layout_describe(&l, text),
                        "DP 4, TP 2, PP 2, EP 4, ZeRO-1, recomputed, 2 x 4 in bf16");
    assert_string_equal(layout_brief(&l, text), "tp2 pp2 ep4 z1 rc");
    assert_string_equal(layout_describe(&plain, text), "DP 8, 64 x 1 in fp16");
    assert_string_equal(layout_brief(&plain, text), "");
    assert_true(layout_is_plain(&plain));
    assert_false(layout_is_plain(&l));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit_is_what_one_works_out_by_hand),
        cmocka_unit_test(the_first_stage_of_a_pipeline_holds_as_many_micro_batches_as_stages),
        cmocka_unit_test(expert_ranks_hold_their_own_experts),
        cmocka_unit_test(frozen_parameters_have_neither_gradient_nor_optimizer),
        cmocka_unit_test(a_cnn_keeps_each_output_and_its_norm),
        cmocka_unit_test(all_that_is_enumerated_fits_and_divides),
        cmocka_unit_test(a_layout_is_described_in_the_fields_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
