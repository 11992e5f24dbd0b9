#include "bench/group_local.h"

#include "bench/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* Ranks are threads with a socket each; the test itself is the supervisor. */
enum { RANKS = 3 };

struct rank;
typedef int act(struct rank *r);
struct rank {
    pthread_t thread;
    struct proc_channel near, far; /* near: the rank's end */
    struct group group;
    act *what;
    int result;
    struct err e;
    uint32_t sent, got[RANKS];
};

static void *run_rank(void *context) {
    struct rank *r = context;
    r->result = r->what(r);
    proc_channel_close(&r->near);
    return NULL;
}

static void take_line(struct hub *hub, int rank, const char *line) {
    struct err e;
    json_t *m = message_parse(line, &e);
    assert_non_null(m);
    if (strcmp(message_type(m), "sync") == 0) {
        hub_call(hub, rank, m);
    } else {
        assert_string_equal(message_type(m), "abort");
        (void)message_read_error(m, &e);
        hub_leave(hub, rank, e.text);
    }
    json_decref(m);
}

static void answer(struct hub *hub, struct rank *ranks) {
    struct err e;
    for (int i = 0; i < RANKS; i++)
        if (hub_waits(hub, i))
            assert_int_equal(message_send(&ranks[i].far, hub_answer(hub, i), &e), 0);
    hub_clear(hub);
}

static void serve(struct rank *ranks) {
    struct hub hub;
    struct err e;
    bool open[RANKS];
    int open_count = RANKS;
    hub_init(&hub, RANKS);
    memset(open, true, sizeof open);
    while (open_count > 0) {
        for (int i = 0; i < RANKS; i++) {
            char *line;
            int got = open[i] ? proc_receive(&ranks[i].far, &line, 0, &e) : 0;
            if (got > 0)
                take_line(&hub, i, line);
            if (got < 0) {
                open[i] = false;
                open_count--;
                if (open_count > 0)
                    hub_leave(&hub, i, "it ended");
            }
        }
        if (hub_ready(&hub))
            answer(&hub, ranks);
    }
    hub_free(&hub);
}

static void run_all(struct rank *ranks, act *const *acts) {
    for (int i = 0; i < RANKS; i++) {
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        ranks[i] = (struct rank){.near = proc_channel_make(ends[0]), .far = proc_channel_make(ends[1])};
        ranks[i].what = acts[i];
        ranks[i].sent = 0xabc00000u + (uint32_t)i;
    }
    for (int i = 0; i < RANKS; i++) {
        ranks[i].group = group_local_make(&ranks[i].near, i, RANKS);
        assert_int_equal(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
    }
    serve(ranks);
    for (int i = 0; i < RANKS; i++) {
        pthread_join(ranks[i].thread, NULL);
        proc_channel_close(&ranks[i].far);
    }
}

static void run_same(struct rank *ranks, act *what) {
    act *const acts[RANKS] = {what, what, what};
    run_all(ranks, acts);
}

static int meet_twice(struct rank *r) {
    int first = r->group.barrier(&r->group, &r->e);
    return first != 0 ? first : r->group.barrier(&r->group, &r->e);
}

static void lets_all_ranks_meet(void **state) {
    (void)state;
    struct rank ranks[RANKS];
    run_same(ranks, meet_twice);
    /* Whoever ends first may do so only after the second meeting, so nobody is left behind. */
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(ranks[i].result, 0);
}

static int hear_from_one(struct rank *r) {
    r->got[0] = r->sent;
    return r->group.bcast(&r->group, r->got, sizeof r->got[0], 1, &r->e) ||
           r->group.barrier(&r->group, &r->e);
}

static void gives_every_rank_the_bytes_of_the_root(void **state) {
    (void)state;
    struct rank ranks[RANKS];
    run_same(ranks, hear_from_one);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(ranks[i].result, 0);
        assert_int_equal(ranks[i].got[0], 0xabc00001u);
    }
}

static int collect_on_two(struct rank *r) {
    return r->group.gather(&r->group, &r->sent, sizeof r->sent, r->got, 2, &r->e) ||
           r->group.barrier(&r->group, &r->e);
}

static void collects_in_rank_order_on_the_root_only(void **state) {
    (void)state;
    struct rank ranks[RANKS];
    run_same(ranks, collect_on_two);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(ranks[i].result, 0);
        assert_int_equal(ranks[2].got[i], 0xabc00000u + i);
        assert_int_equal(ranks[0].got[i], 0);
    }
}

static int carry_much(struct rank *r) {
    unsigned char bytes[4096];
    memset(bytes, 0x5a + r->group.rank, sizeof bytes);
    int result = r->group.bcast(&r->group, bytes, sizeof bytes, 0, &r->e);
    r->got[0] = (uint32_t)bytes[0] << 8 | bytes[sizeof bytes - 1];
    return result || r->group.barrier(&r->group, &r->e);
}

static void carries_a_message_of_thousands_of_bytes(void **state) {
    (void)state;
    struct rank ranks[RANKS];
    run_same(ranks, carry_much);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(ranks[i].result, 0);
        assert_int_equal(ranks[i].got[0], 0x5a5a);
    }
}

static int meet(struct rank *r) {
    return r->group.barrier(&r->group, &r->e);
}

static int give_up(struct rank *r) {
    r->group.abort(&r->group, "no more fuel");
    return 0;
}

static void tells_the_waiting_ranks_who_aborted_and_why(void **state) {
    (void)state;
    struct rank ranks[RANKS];
    act *const acts[RANKS] = {meet, give_up, meet};
    run_all(ranks, acts);
    for (int i = 0; i < RANKS; i += 2) {
        assert_int_equal(ranks[i].result, -1);
        assert_int_equal(ranks[i].e.code, ERR_PEER);
        assert_non_null(strstr(ranks[i].e.text, "rank 1"));
        assert_non_null(strstr(ranks[i].e.text, "no more fuel"));
    }
}

static int leave(struct rank *r) {
    (void)r;
    return 0;
}

static void releases_the_waiting_ranks_when_one_leaves(void **state) {
    (void)state;
    struct rank ranks[RANKS];
    act *const acts[RANKS] = {leave, meet, meet};
    run_all(ranks, acts);
    for (int i = 1; i < RANKS; i++) {
        assert_int_equal(ranks[i].result, -1);
        assert_int_equal(ranks[i].e.code, ERR_PEER);
        assert_non_null(strstr(ranks[i].e.text, "rank 0"));
    }
}

static void breaks_when_ranks_call_different_things(void **state) {
    (void)state;
    struct rank ranks[RANKS];
    act *const acts[RANKS] = {meet, hear_from_one, meet};
    run_all(ranks, acts);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(ranks[i].result != 0, 1);
        assert_int_equal(ranks[i].e.code, ERR_PEER);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_all_ranks_meet),
        cmocka_unit_test(gives_every_rank_the_bytes_of_the_root),
        cmocka_unit_test(collects_in_rank_order_on_the_root_only),
        cmocka_unit_test(carries_a_message_of_thousands_of_bytes),
        cmocka_unit_test(tells_the_waiting_ranks_who_aborted_and_why),
        cmocka_unit_test(releases_the_waiting_ranks_when_one_leaves),
        cmocka_unit_test(breaks_when_ranks_call_different_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
