#include "kernels/chase.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

/* Then next(node at place) = node at place + 1 is one cycle through all of them. */
static void visits_every_node_once(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1000, 65536, 65537, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *seen = calloc(sizes[i], 1);
        for (uint64_t place = 0; place < sizes[i]; place++) {
            uint64_t node = chase_node(sizes[i], place);
            assert_true(node < sizes[i]);
            assert_false(seen[node]);
            seen[node] = 1;
        }
        free(seen);
    }
}

/* A random order puts the next node within 8 lines of the last with probability 16 / 65536: 16 of 65536 steps
 * on average, over 60 with a probability below 1e-15. An order that a prefetcher could follow has thousands.
 */
static void has_no_order_that_could_be_foreseen(void **state) {
    (void)state;
    enum { NODES = 65536 };
    int near = 0;
    long long last = 0;
    int repeated = 0;
    for (uint64_t place = 1; place < NODES; place++) {
        long long stride = (long long)chase_node(NODES, place) - (long long)chase_node(NODES, place - 1);
        near += llabs(stride) <= 8;
        repeated += stride == last;
        last = stride;
    }
    assert_in_range(near, 0, 60);
    assert_in_range(repeated, 0, 20); /* about one by chance */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_every_node_once),
        cmocka_unit_test(has_no_order_that_could_be_foreseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
