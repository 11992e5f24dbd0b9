#include "tests/base/check.h"

#include "base/rng.h"

/* Known answers published with Random123 (kat_vectors, philox4x32 with 10 rounds). */
static void gives_the_published_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } rows[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t got[4];
        rng_philox_block(rows[i].counter, rows[i].key, got);
        assert_memory_equal(got, rows[i].want, sizeof got);
    }
}

static void takes_seed_and_index_apart_low_word_first(void **state) {
    (void)state;
    const uint32_t counter[4] = {0x89abcdef, 0x01234567, 0, 0}, key[2] = {0x76543210, 0xfedcba98};
    uint32_t want[4], got[4];
    rng_philox_block(counter, key, want);
    rng_philox(0xfedcba9876543210, 0x0123456789abcdef, got);
    assert_memory_equal(got, want, sizeof got);
}

/* The halves of the block of zeros are, by hand, 26151 + 59605 + 57705 + 50573 + 48215 + 44108 + 39680 +
 * 56280 = 382317; less 4 x 65535 = 120177; the variance of a sum of eight is 8 (2^32 - 1) / 12. */
static void normal_is_the_scaled_sum_of_eight_halves(void **state) {
    (void)state;
    assert_near(rng_normal_at(0, 0), 120177 / sqrt(8 * 4294967295.0 / 12), 1e-15);
}

static void normals_have_mean_zero_and_variance_one(void **state) {
    (void)state;
    enum { N = 1 << 20 };
    double sum = 0, squares = 0, extreme = 0;
    for (uint64_t i = 0; i < N; i++) {
        double z = rng_normal_at(7, i);
        sum += z;
        squares += z * z;
        extreme = fmax(extreme, fabs(z));
    }
    /* five standard errors: 5 / sqrt(N), and 5 sqrt(1.85 / N) for kurtosis 3 - 1.2/8 */
    assert_true(fabs(sum / N) < 0.005);
    assert_true(fabs(squares / N - 1) < 0.0067);
    assert_true(extreme > 4 && extreme < 4.9);
}

static void fills_what_the_single_elements_are(void **state) {
    (void)state;
    enum { N = 1003 };
    static double wide[N];
    static float narrow[N];
    const uint64_t first = UINT64_C(0xfffffff0); /* the low word of the counter wraps on the way */
    rng_fill_normal(42, first, wide, N);
    rng_fill_normal_f32(42, first, narrow, N);
    for (size_t i = 0; i < N; i++) {
        double want = rng_normal_at(42, first + i);
        assert_same(wide[i], want);
        assert_same((double)narrow[i], (double)(float)want);
    }
}

/* 0x6627e8d5 e169c58d is 0.39904 of 2^64: times 9 is 3.59, so 3 - 4. Of 2 x 1 + 1: 1.197, so 1 - 1. */
static void integer_is_a_share_of_the_range(void **state) {
    (void)state;
    assert_int_equal(rng_integer_at(0, 0, 4), -1);
    assert_int_equal(rng_integer_at(0, 0, 1), 0);
    assert_int_equal(rng_integer_at(0, 0, 0), 0);
}

static void integers_are_equally_likely(void **state) {
    (void)state;
    enum { N = 90000, LIMIT = 4, VALUES = 2 * LIMIT + 1 };
    int seen[VALUES] = {0};
    for (uint64_t i = 0; i < N; i++) {
        int32_t value = rng_integer_at(3, i, LIMIT);
        assert_in_range(value + LIMIT, 0, VALUES - 1);
        seen[value + LIMIT]++;
    }
    double expected = (double)N / VALUES, chi2 = 0;
    for (int v = 0; v < VALUES; v++)
        chi2 += (seen[v] - expected) * (seen[v] - expected) / expected;
    assert_true(chi2 < 26.12); /* 99.9 % point with 8 degrees of freedom */
}

static void integers_reach_both_ends_of_a_wide_range(void **state) {
    (void)state;
    int32_t limit = 1 << 20, low = 0, high = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        int32_t value = rng_integer_at(5, i, limit);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    assert_in_range(-low, limit - 200, limit);
    assert_in_range(high, limit - 200, limit);
}

static void stream_is_the_same_for_the_same_seed(void **state) {
    (void)state;
    struct rng a = rng_make(9), b = rng_make(9), c = rng_make(10);
    uint64_t first = rng_next(&a);
    assert_true(first == rng_next(&b));
    assert_true(first != rng_next(&c));
    assert_true(rng_next(&a) != first);
}

static void stream_shares_no_block_with_buffers(void **state) {
    (void)state;
    struct rng r = rng_make(9);
    uint32_t w[4];
    rng_philox(9, 0, w);
    assert_true(rng_next(&r) != ((uint64_t)w[0] << 32 | w[1]));
}

static void uniforms_lie_in_the_unit_interval(void **state) {
    (void)state;
    enum { N = 100000 };
    struct rng r = rng_make(1);
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double u = rng_uniform(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
    }
    assert_true(fabs(sum / N - 0.5) < 5 / sqrt(12.0 * N));
}

static void stream_normals_have_the_tails_of_a_normal(void **state) {
    (void)state;
    enum { N = 400000 };
    /* Phi(-z): tables of the normal distribution */
    static const struct {
        double z, above;
    } rows[] = {{0, 0.5}, {1, 0.158655}, {1.959964, 0.025}, {3, 0.00134990}};
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct rng r = rng_make(2);
        int above = 0;
        for (int i = 0; i < N; i++)
            above += rng_normal(&r) > rows[k].z;
        double p = rows[k].above, error = sqrt(p * (1 - p) / N);
        assert_true(fabs(above / (double)N - p) < 5 * error);
    }
}

static void names_and_seeds_give_seeds_of_their_own(void **state) {
    (void)state;
    assert_true(rng_seed_from(1, "gemm") == rng_seed_from(1, "gemm"));
    assert_true(rng_seed_from(1, "gemm") != rng_seed_from(2, "gemm"));
    assert_true(rng_seed_from(1, "gemm") != rng_seed_from(1, "gemn"));
    assert_true(rng_seed_from(1, "") != rng_seed_from(1, "a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_published_known_answers),
        cmocka_unit_test(takes_seed_and_index_apart_low_word_first),
        cmocka_unit_test(normal_is_the_scaled_sum_of_eight_halves),
        cmocka_unit_test(normals_have_mean_zero_and_variance_one),
        cmocka_unit_test(fills_what_the_single_elements_are),
        cmocka_unit_test(integer_is_a_share_of_the_range),
        cmocka_unit_test(integers_are_equally_likely),
        cmocka_unit_test(integers_reach_both_ends_of_a_wide_range),
        cmocka_unit_test(stream_is_the_same_for_the_same_seed),
        cmocka_unit_test(stream_shares_no_block_with_buffers),
        cmocka_unit_test(uniforms_lie_in_the_unit_interval),
        cmocka_unit_test(stream_normals_have_the_tails_of_a_normal),
        cmocka_unit_test(names_and_seeds_give_seeds_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
