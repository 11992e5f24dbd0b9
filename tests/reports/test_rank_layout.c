/* The layout that a ranking chooses, and what it costs. */
#include "tests/reports/rank_fixture.h"

#include <stdlib.h>

/* ---- shipped workloads over the example catalogues ---- */

struct examples {
    struct gpu_table gpus;
    struct workload workload;
    struct offer_set set;
    struct rank_request request;
    struct ranking ranking;
};

static void rank_examples(struct examples *x, const char *workload) {
    struct err e;
    memset(x, 0, sizeof *x);
    assert_ok(gpu_table_load(&own_data, &x->gpus, &e), &e);
    assert_ok(workload_load(&own_data, workload, &x->workload, &e), &e);
    assert_ok(offers_read_examples(&x->set, &x->gpus, &own_data, &e), &e);
    x->request = (struct rank_request){.workload = &x->workload,
                                       .offers = &x->set,
                                       .gpus = &x->gpus,
                                       .data = &own_data,
                                       .own_price = {money_unknown()},
                                       .checkpoint_s = 60,
                                       .restart_s = 600,
                                       .seed = 1,
                                       .draws = 100};
    assert_ok(rank_offers(&x->request, &x->ranking, &e), &e);
}

static void close_examples(struct examples *x) {
    ranking_free(&x->ranking);
    offers_free(&x->set);
    workload_free(&x->workload);
    gpu_table_free(&x->gpus);
}

/* 16 bytes for each of 70,553,706,496 parameters are 1128.9 GB: whatever the layout, a node whose cards
 * together hold less cannot hold them. Of one H100 node (687 GB) or eight A100 of 40 GB (344 GB) none may be
 * there. */
static void llama3_70b_is_never_ranked_where_its_state_does_not_fit(void **state) {
    (void)state;
    struct examples x;
    rank_examples(&x, "llama3-70b");
    assert_true(x.ranking.count > 0);
    for (size_t i = 0; i < x.ranking.count; i++) {
        const struct rank_row row = ranking_row(&x.ranking, i), *r = &row;
        double has_bytes = r->gpu->figures[GPU_MEMORY].value;
        assert_true(has_bytes * (double)r->layout.devices > 16 * 70553706496.0);
        assert_true(r->memory.total <= has_bytes);
        assert_null(strstr(r->gpu->name, "-80GB"));
        assert_false(layout_is_plain(&r->layout));
    }
    size_t unfit = 0;
    for (size_t i = 0; i < x.ranking.not_ranked_count; i++)
        if (strncmp(x.ranking.not_ranked[i].reason, "does not fit: needs ", 20) == 0)
            unfit += x.ranking.not_ranked[i].offers;
    assert_true(unfit > 100);
    close_examples(&x);
}

static void every_row_fits_and_its_parts_add_up(void **state) {
    (void)state;
    static const char *const names[] = {"gpt2-1.5b", "llama3-8b", "llama3-8b-lora", "mixtral-8x7b",
                                        "resnet50"};
    for (size_t n = 0; n < COUNT(names); n++) {
        struct examples x;
        rank_examples(&x, names[n]);
        assert_true(x.ranking.count > 0);
        for (size_t i = 0; i < x.ranking.count; i++) {
            const struct rank_row row = ranking_row(&x.ranking, i), *r = &row;
            assert_true(r->memory.total <= r->gpu->figures[GPU_MEMORY].value);
            assert_near(r->compute_s + r->memory_s + r->optimizer_s + r->exposed_comm_s + r->bubble_s +
                            r->straggler_s,
                        r->step_s.mid, 1e-12);
            assert_near(r->cost_per_mega * workload_units_per_step(&x.workload) / 1e6, r->cost.mid, 1e-12);
        }
        close_examples(&x);
    }
}

/* (p - 1) / m of a pipeline's busy time, its waits for neighbours included: Narayanan et al. 2021,
 * section 2.2. */
static void a_pipeline_pays_its_bubble(void **state) {
    (void)state;
    struct examples x;
    size_t seen = 0;
    rank_examples(&x, "llama3-8b");
    for (size_t i = 0; i < x.ranking.count; i++) {
        const struct rank_row row = ranking_row(&x.ranking, i), *r = &row;
        if (r->layout.pipeline == 1) {
            assert_same(r->bubble_s, 0);
            continue;
        }
        double share = (double)(r->layout.pipeline - 1) / (double)r->layout.accumulation;
        double busy_s = r->compute_s + r->memory_s;
        assert_true(r->bubble_s >= share * busy_s * (1 - 1e-12));
        assert_true(r->bubble_s <= share * (busy_s + r->exposed_comm_s) * (1 + 1e-12));
        seen++;
    }
    assert_true(seen > 0);
    close_examples(&x);
}

/* Mixtral with one expert on each of 8 H200 (busbw 482 GB/s): in each of 32 blocks 4 all-to-alls of 2 x s b h
 * in 2 bytes, each (n - 1) / n = 7/8 of that over the bus, and nothing hides them. What comes on top is at
 * most the all-reduce of all gradients of a rank. */
static void expert_ranks_pay_their_all_to_alls(void **state) {
    (void)state;
    struct examples x;
    size_t seen = 0;
    rank_examples(&x, "mixtral-8x7b");
    for (size_t i = 0; i < x.ranking.count; i++) {
        const struct rank_row row = ranking_row(&x.ranking, i), *r = &row;
        if (r->layout.expert != 8 || strcmp(r->gpu->name, "H200-SXM-141GB") != 0)
            continue;
        double passes = r->layout.recompute ? 1.5 : 1;
        double bytes = passes * 32 * 4 * 2 * 4096.0 * (double)r->layout.micro_batch * 4096 * 2;
        double all_to_all_s = (double)r->layout.accumulation * bytes * 7 / 8 / 482e9;
        double gradients_s = 2 * 7 / 8.0 * r->memory.gradients / 482e9;
        assert_true(r->exposed_comm_s > all_to_all_s);
        assert_true(r->exposed_comm_s < all_to_all_s + gradients_s);
        seen++;
    }
    assert_true(seen > 0);
    close_examples(&x);
}

/* ---- by hand ---- */

/* 2,097,152 tokens leave 2 x 17 x 64 values in 2 bytes and logits of 1024 x 6 bytes each: 22 GB, or 18 GB
 * when recomputed, on a card of 16 GiB; a pipeline's last stage has all the logits. Two tensor ranks halve
 * both. Each of 8 micro-batches waits for 4 all-reduces of s h x 2 bytes in each of two blocks: 2 (n-1)/n = 1
 * over 50 GB/s. There are no gradients to share. */
static void tensor_ranks_pay_four_all_reduces_a_block(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 2)->device_count = 2;
    w.workload.sequence = 2097152;
    rank(&w);
    const struct rank_row *r = row_of(&w, "acme a");
    assert_int_equal(r->layout.tensor, 2);
    assert_false(r->layout.recompute);
    assert_int_equal(r->layout.accumulation, 8);
    assert_near(r->exposed_comm_s, 8 * 4 * 2 * (2097152.0 * 64 * 2) / 50e9, 1e-12);
    close_world(&w);
}

/* One head and three blocks: neither tensor nor pipeline ranks divide them, so only ZeRO shards. */
static const struct rank_row *rank_indivisible(struct world *w, double parameters) {
    open_world(w);
    add_offer(w, "a", "ALPHA-16GB", 2)->device_count = 2;
    w->workload.heads = 1;
    w->workload.layers = 3;
    w->workload.parameters = parameters;
    w->workload.lora_rank = parameters > 2e9 ? 4 : 0;
    w->workload.lora_targets = 1u << LORA_Q;
    rank(w);
    return row_of(w, "acme a");
}

/* 1.2e9 parameters: 19.2 GB of state, 12 GB with the optimizer in two. A reduce-scatter and a gather of 2.4
 * GB are one all-reduce: 2 (n-1)/n = 1, 48 ms, next to microseconds of products that could hide it. */
static void zero_1_moves_what_plain_data_parallelism_moves(void **state) {
    (void)state;
    struct world w;
    const struct rank_row *r = rank_indivisible(&w, 1.2e9);
    assert_int_equal(r->layout.zero, 1);
    assert_near(r->exposed_comm_s, 2.4e9 / 50e9, 0.01);
    close_world(&w);
}

/* LoRA on 1e10 frozen parameters: 20 GB of weights, in two by ZeRO-3 alone. Each of 1 micro-batch gathers
 * them forward and backward, each half of an all-reduce: 2 x 10 GB over 50 GB/s. */
static void zero_3_gathers_frozen_weights_too(void **state) {
    (void)state;
    struct world w;
    const struct rank_row *r = rank_indivisible(&w, 1e10);
    assert_int_equal(r->layout.zero, 3);
    assert_int_equal(r->layout.accumulation, 1);
    assert_near(r->exposed_comm_s, 2 * 10e9 / 50e9, 0.01);
    close_world(&w);
}

/* LoRA of rank 4 on q [64, 64] in two blocks: 2 x 4 x 128 = 1024 parameters, 2048 bytes of gradient, one
 * bucket: 2 (n-1)/n S / busbw = 2048 / 50e9. Of full training it is 340,000 bytes. */
static void lora_reduces_the_gradients_of_its_adapters_alone(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 2)->device_count = 2;
    w.workload.lora_rank = 4;
    w.workload.lora_targets = 1u << LORA_Q;
    rank(&w);
    assert_near(row_of(&w, "acme a")->exposed_comm_s, 2048 / 50e9, 1e-9);
    close_world(&w);
}

/* A list of products: n devices each run 1/n of it, without communication. 2 x 4096^3 FLOP at 80 TFLOP/s. */
static void a_list_of_products_costs_its_flop(void **state) {
    (void)state;
    struct world w;
    struct step_op item = {.op = op_gemm(4096, 4096, 4096, DTYPE_BF16), .phase = STEP_FORWARD, .count = 1};
    open_world(&w);
    add_offer(&w, "a", "ALPHA-16GB", 2);
    add_offer(&w, "a2", "ALPHA-16GB", 2)->device_count = 2;
    w.workload = (struct workload){.name = "list",
                                   .kind = WORKLOAD_GEMMS,
                                   .global_batch = 1,
                                   .max_micro_batch = 1,
                                   .precisions = {DTYPE_BF16},
                                   .precision_count = 1};
    step_ops_add(&w.workload.gemms, &item);
    rank(&w);
    double once_s = 2 * 4096.0 * 4096 * 4096 / 80e12;
    assert_near(row_of(&w, "acme a")->step_s.mid, once_s, 1e-12);
    assert_near(row_of(&w, "acme a2")->compute_s, once_s / 2, 1e-12);
    assert_same(row_of(&w, "acme a2")->exposed_comm_s, 0);
    close_world(&w);
    step_ops_free(&w.workload.gemms);
}

/* 2.5e9 parameters at 16 bytes: 40 GB, on four cards of 16 GiB only when sharded; on one of them not at all.
 */
static void shards_what_one_card_cannot_hold(void **state) {
    (void)state;
    struct world w;
    open_world(&w);
    add_offer(&w, "one", "ALPHA-16GB", 2);
    add_offer(&w, "four", "ALPHA-16GB", 8)->device_count = 4;
    w.workload.parameters = 2.5e9;
    rank(&w);
    assert_int_equal(w.ranking.count, 1);
    const struct rank_row *r = row_of(&w, "acme four");
    assert_false(layout_is_plain(&r->layout));
    assert_true(r->layout.zero > 0 || r->layout.tensor * r->layout.pipeline > 1);
    assert_true(r->memory.total <= 16 * 1073741824.0);
    assert_reason(&w, "does not fit: needs 38.2 GiB on each ALPHA-16GB, has 16 GiB", 1);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama3_70b_is_never_ranked_where_its_state_does_not_fit),
        cmocka_unit_test(every_row_fits_and_its_parts_add_up),
        cmocka_unit_test(a_pipeline_pays_its_bubble),
        cmocka_unit_test(expert_ranks_pay_their_all_to_alls),
        cmocka_unit_test(tensor_ranks_pay_four_all_reduces_a_block),
        cmocka_unit_test(zero_1_moves_what_plain_data_parallelism_moves),
        cmocka_unit_test(zero_3_gathers_frozen_weights_too),
        cmocka_unit_test(lora_reduces_the_gradients_of_its_adapters_alone),
        cmocka_unit_test(a_list_of_products_costs_its_flop),
        cmocka_unit_test(shards_what_one_card_cannot_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
