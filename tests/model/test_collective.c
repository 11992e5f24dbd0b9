#include "tests/base/check.h"

#include "model/collective.h"

/* Factors of nccl-tests, doc/PERFORMANCE.md, at n = 1, 2, 8. */
static void bus_factors_are_those_of_nccl_tests(void **state) {
    (void)state;
    static const struct {
        enum collective c;
        const char *name;
        double at_1, at_2, at_8;
    } rows[] = {
        {COLLECTIVE_ALLREDUCE, "allreduce", 0, 1, 1.75},
        {COLLECTIVE_REDUCE_SCATTER, "reduce_scatter", 0, 0.5, 0.875},
        {COLLECTIVE_ALL_GATHER, "all_gather", 0, 0.5, 0.875},
        {COLLECTIVE_ALL_TO_ALL, "all_to_all", 0, 0.5, 0.875},
        {COLLECTIVE_BROADCAST, "broadcast", 1, 1, 1},
        {COLLECTIVE_SEND_RECV, "send_recv", 1, 1, 1},
    };
    assert_int_equal(COUNT(rows), COLLECTIVE_COUNT);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(collective_name(rows[i].c), rows[i].name);
        assert_same(collective_bus_factor(rows[i].c, 1), rows[i].at_1);
        assert_same(collective_bus_factor(rows[i].c, 2), rows[i].at_2);
        assert_same(collective_bus_factor(rows[i].c, 8), rows[i].at_8);
        assert_same(collective_bus_factor(rows[i].c, 0), NAN);
    }
}

/* 8 H100 with NVLS, NVIDIA/nccl#2140: busbw 480 GB/s beside algbw 275 GB/s (rounded there). */
static void a_published_pair_of_algbw_and_busbw_agrees(void **state) {
    (void)state;
    double size_bytes = 16e9, seconds = size_bytes / 275e9;
    assert_near(collective_algbw(size_bytes, seconds), 275e9, 1e-12);
    assert_near(collective_busbw(COLLECTIVE_ALLREDUCE, 8, size_bytes, seconds), 480e9, 0.005);
    assert_near(collective_allreduce_s_from_busbw(8, size_bytes, 480e9), seconds, 0.005);
}

/* n = 8, S = 1 GB, alpha = 10 us, beta = 100 GB/s: S/beta = 10 ms.
 * ring 14 x 10 us + 1.75 x 10 ms; tree 6 x 10 us + 2 x 10 ms; halving and doubling 6 x 10 us + 17.5 ms. */
static void alpha_beta_times_are_the_textbooks(void **state) {
    (void)state;
    struct alpha_beta link = {10e-6, 100e9};
    assert_near(collective_half_rate_bytes(link), 1e6, 1e-12);
    assert_near(collective_ring_s(link, 8, 1e9), 17.64e-3, 1e-12);
    assert_near(collective_tree_s(link, 8, 1e9), 20.06e-3, 1e-12);
    assert_near(collective_halving_doubling_s(link, 8, 1e9), 17.56e-3, 1e-12);
}

static void one_rank_moves_nothing(void **state) {
    (void)state;
    struct alpha_beta link = {10e-6, 100e9};
    assert_same(collective_ring_s(link, 1, 1e9), 0);
    assert_same(collective_tree_s(link, 1, 1e9), 0);
    assert_same(collective_halving_doubling_s(link, 1, 1e9), 0);
    assert_same(collective_allreduce_s_from_busbw(1, 1e9, NAN), 0);
    assert_same(collective_ring_s(link, 0, 1e9), NAN);
}

/* Two regions of 8 devices over 10 Gb/s at 80 ms round trip (40 ms one way). Inside: the ring of 8 above,
 * 17.64 ms. Between: 2 messages of 40 ms and 2 x 1/2 x 1 GB over 1.25 GB/s = 80 ms + 800 ms. */
static void a_wide_area_all_reduce_is_the_inner_ring_and_the_outer_ring(void **state) {
    (void)state;
    struct alpha_beta local = {10e-6, 100e9}, wide = {40e-3, 1.25e9};
    assert_near(collective_wide_area_s(local, 8, wide, 2, 1e9), 0.89764, 1e-12);
    assert_near(collective_wide_area_s(local, 8, wide, 1, 1e9), 17.64e-3, 1e-12);
    assert_near(collective_wide_area_s(local, 1, wide, 2, 1e9), 0.88, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bus_factors_are_those_of_nccl_tests),
        cmocka_unit_test(a_published_pair_of_algbw_and_busbw_agrees),
        cmocka_unit_test(alpha_beta_times_are_the_textbooks),
        cmocka_unit_test(one_rank_moves_nothing),
        cmocka_unit_test(a_wide_area_all_reduce_is_the_inner_ring_and_the_outer_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
