#include "tests/base/check.h"

#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void gives_memory_for_size_zero_too(void **state) {
    (void)state;
    void *a = xmalloc(0), *b = xcalloc(0, 8), *c = xrealloc(NULL, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    free(a);
    free(b);
    free(c);
}

static void grows_by_doubling_and_keeps_the_items(void **state) {
    (void)state;
    int *items = NULL;
    size_t capacity = 0, changes = 0;
    for (size_t i = 0; i < 1000; i++) {
        size_t before = capacity;
        items = xgrow(items, sizeof *items, i, &capacity);
        assert_true(capacity > i);
        changes += capacity != before;
        items[i] = (int)i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_true(changes <= 10);
    free(items);
}

static void duplicates_and_formats_strings(void **state) {
    (void)state;
    char *a = xstrdup("rank"), *b = xasprintf("%s-%03d", "gpu", 7);
    assert_string_equal(a, "rank");
    assert_string_equal(b, "gpu-007");
    free(a);
    free(b);
}

static void arena_pieces_are_zeroed_aligned_and_apart(void **state) {
    (void)state;
    struct arena a = {0};
    unsigned char *pieces[300];
    for (size_t i = 0; i < COUNT(pieces); i++) {
        size_t size = i * 7 % 1000 + 1;
        pieces[i] = arena_alloc(&a, size);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i % 250) + 1, size);
    }
    for (size_t i = 0; i < COUNT(pieces); i++)
        for (size_t k = 0; k < i * 7 % 1000 + 1; k++)
            assert_int_equal(pieces[i][k], i % 250 + 1);
    arena_free(&a);
}

static void arena_takes_pieces_larger_than_its_blocks(void **state) {
    (void)state;
    struct arena a = {0};
    char *small = arena_strdup(&a, "small");
    char *big = arena_alloc(&a, 1 << 20);
    memset(big, 1, 1 << 20);
    assert_string_equal(small, "small");
    assert_string_equal(arena_printf(&a, "%d%s", 12, "%"), "12%");
    arena_free(&a);
    assert_null(a.head);
    assert_string_equal(arena_strdup(&a, "again"), "again");
    arena_free(&a);
    arena_free(&a);
    arena_free(NULL);
}

static void arena_strndup_stops_at_length_and_at_nul(void **state) {
    (void)state;
    struct arena a = {0};
    assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
    assert_string_equal(arena_strndup(&a, "ab", 10), "ab");
    assert_string_equal(arena_strndup(&a, "", 0), "");
    arena_free(&a);
}

/* The request must not come back as a small block: the process ends by SIGABRT instead. */
static void assert_aborts(void (*ask)(void)) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        ask();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void ask_for_too_many_items(void) {
    size_t capacity = SIZE_MAX / 8;
    free(xgrow(NULL, 64, SIZE_MAX / 8, &capacity));
}
static void ask_for_an_endless_array(void) {
    size_t capacity = SIZE_MAX - 1;
    free(xgrow(NULL, 1, SIZE_MAX - 1, &capacity));
}
static void ask_an_arena_for_everything(void) {
    struct arena a = {0};
    arena_alloc(&a, SIZE_MAX - 4);
}

static void sizes_that_overflow_abort(void **state) {
    (void)state;
    assert_aborts(ask_for_too_many_items);
    assert_aborts(ask_for_an_endless_array);
    assert_aborts(ask_an_arena_for_everything);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_memory_for_size_zero_too),
        cmocka_unit_test(grows_by_doubling_and_keeps_the_items),
        cmocka_unit_test(duplicates_and_formats_strings),
        cmocka_unit_test(arena_pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(arena_takes_pieces_larger_than_its_blocks),
        cmocka_unit_test(arena_strndup_stops_at_length_and_at_nul),
        cmocka_unit_test(sizes_that_overflow_abort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
