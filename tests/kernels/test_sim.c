#include "rig.h"

#include "base/clock.h"
#include "kernels/sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The linker sends this program's allocations here (--wrap), so that they can be counted. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
static long allocations;

void *__wrap_malloc(size_t size) {
    allocations++;
    return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    allocations++;
    return __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) {
    allocations++;
    return __real_realloc(old, size);
}

static void assert_near(double got, double want, double relative) {
    if (!(fabs(got / want - 1) <= relative))
        fail_msg("%.9g is not within %g of %.9g", got, relative, want);
}

/* Mean device time of one execution: the noise of 400 enqueues (0.3 % each) is 0.015 %. */
static double mean_s(struct rig *r, const struct op *op) {
    struct rig_op o;
    double sum_s = 0;
    rig_prepare(r, op, FILL_NORMAL, &o);
    for (int i = 0; i < 400; i++)
        sum_s += rig_elapsed_s(r, o.prepared, 10);
    rig_release(r, &o);
    return sum_s / 4000;
}

static double now_s(struct rig *r) {
    return (double)r->backend->now_ns(r->device) * 1e-9;
}

/* From sim.h's figures, each with 2 us of start and 5 us of launch:
 *   GEMM 8192^3 fp32    2 x 8192^3 FLOP / 48e12     = 22.906 ms
 *   GEMM 8192^3 bf16    2 x 8192^3 FLOP / 720e12    =  1.5271 ms
 *   GEMM 8192x8192x1 fp32   4 (8192 + 8192 + 8192^2) bytes / 2.7e12 = 99.445 us, above FLOP / 48e12 = 2.8 us
 *   FMA 2^36 fp64       2^37 FLOP / 30e12           =  4.5813 ms
 *   triad 2^27 fp64     24 x 2^27 bytes / 2.7e12    =  1.19305 ms */
static void takes_the_time_that_its_rates_say(void **state) {
    (void)state;
    const struct {
        struct op op;
        double want_s;
    } rows[] = {
        {op_gemm(8192, 8192, 8192, DTYPE_FP32), 22.906e-3 + 7e-6},
        {op_gemm(8192, 8192, 8192, DTYPE_BF16), 1.5271e-3 + 7e-6},
        {op_gemm(8192, 8192, 1, DTYPE_FP32), 99.445e-6 + 7e-6},
        {op_elementwise(OP_FMA, INT64_C(1) << 36, DTYPE_FP64), 4.5813e-3 + 7e-6},
        {op_elementwise(OP_TRIAD, INT64_C(1) << 27, DTYPE_FP64), 1.19305e-3 + 7e-6},
    };
    struct rig r;
    rig_open(&r, "sim", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_near(mean_s(&r, &rows[i].op), rows[i].want_s, 0.001);
    rig_close(&r);
}

static void describes_itself_as_simulated(void **state) {
    (void)state;
    struct err e = {0};
    struct device_info info;
    struct rig r;
    rig_open(&r, "sim", NULL);
    assert_int_equal(r.backend->describe(r.device, &info, &e), 0);
    assert_true(info.simulated && info.is_gpu);
    assert_string_equal(info.name, "Simulated SIM-100");
    assert_true(info.memory_bytes == 80e9);
    rig_close(&r);
}

static void accounts_for_its_memory(void **state) {
    (void)state;
    struct err e = {0};
    struct device_info info;
    struct buffer *a, *b;
    struct rig r;
    rig_open(&r, "sim", NULL);
    assert_int_equal(r.backend->alloc(r.device, 80000000001, &a, &e), -1);
    assert_int_equal(e.code, ERR_DEVICE_MEMORY);
    assert_int_equal(r.backend->alloc(r.device, 50000000000, &a, &e), 0);
    assert_int_equal(r.backend->alloc(r.device, 50000000000, &b, &e), -1);
    assert_int_equal(r.backend->describe(r.device, &info, &e), 0);
    assert_true(info.free_bytes == 30e9);
    r.backend->free(a);
    assert_int_equal(r.backend->alloc(r.device, 50000000000, &b, &e), 0);
    r.backend->free(b);
    rig_close(&r);
}

/* Two GEMMs of 22.9 ms each: side by side they are done after one of them, with a wait after both. */
static void overlaps_two_queues_unless_they_wait(void **state) {
    (void)state;
    const double one_s = 22.906e-3;
    struct err e = {0};
    struct op op = op_gemm(8192, 8192, 8192, DTYPE_FP32);
    struct rig r;
    struct rig_op a, b;
    struct queue *second;
    rig_open(&r, "sim", NULL);
    rig_prepare(&r, &op, FILL_NORMAL, &a);
    rig_prepare(&r, &op, FILL_NORMAL, &b);
    assert_int_equal(r.backend->queue_open(r.device, &second, &e), 0);
    for (int ordered = 0; ordered < 2; ordered++) {
        double begin_s = now_s(&r), elapsed_s;
        assert_int_equal(r.backend->record(r.queue, r.from, &e), 0);
        assert_int_equal(r.backend->enqueue(r.queue, a.prepared, 1, &e), 0);
        assert_int_equal(r.backend->record(r.queue, r.to, &e), 0);
        if (ordered)
            assert_int_equal(r.backend->wait(second, r.to, &e), 0);
        assert_int_equal(r.backend->enqueue(second, b.prepared, 1, &e), 0);
        assert_int_equal(r.backend->record(second, r.to, &e), 0);
        assert_true(now_s(&r) == begin_s); /* the host has not waited yet */
        assert_int_equal(r.backend->sync(r.queue, &e), 0);
        assert_int_equal(r.backend->sync(second, &e), 0);
        assert_int_equal(r.backend->elapsed(r.from, r.to, &elapsed_s, &e), 0);
        assert_near(elapsed_s, ordered ? 2 * one_s : one_s, 0.02);
        assert_near(now_s(&r) - begin_s, ordered ? 2 * one_s : one_s, 0.02);
    }
    r.backend->queue_close(second);
    rig_release(&r, &a);
    rig_release(&r, &b);
    rig_close(&r);
}

/* Ten GEMMs of 64^3: 2 us of start each (their 11 ns of FLOP are lost in it). Eager 10 x 7 us, as a graph
 * 10 x 2 + 5 us. */
static void saves_the_launches_of_a_captured_graph(void **state) {
    (void)state;
    enum { PARTS = 10 };
    struct err e = {0};
    struct op op = op_gemm(64, 64, 64, DTYPE_FP32);
    struct rig r;
    struct rig_op parts[PARTS];
    struct prepared *list[PARTS], *graph;
    rig_open(&r, "sim", NULL);
    for (int i = 0; i < PARTS; i++) {
        rig_prepare(&r, &op, FILL_NORMAL, &parts[i]);
        list[i] = parts[i].prepared;
    }
    assert_int_equal(r.backend->capture(r.queue, list, PARTS, &graph, &e), 0);
    double graph_s = rig_elapsed_s(&r, graph, 1000) / 1000;
    assert_int_equal(rig_count_wrong(&r, &parts[9], 97), 0);
    double eager_s = 0;
    for (int i = 0; i < PARTS; i++)
        eager_s += rig_elapsed_s(&r, list[i], 1000) / 1000;
    assert_near(graph_s, 25e-6, 0.02);
    assert_near(eager_s, 70e-6, 0.02);
    assert_int_equal(r.backend->capture(r.queue, &graph, 1, &list[0], &e), -1);
    r.backend->release(graph);
    for (int i = 0; i < PARTS; i++)
        rig_release(&r, &parts[i]);
    rig_close(&r);
}

static void enqueues_without_allocating(void **state) {
    (void)state;
    enum { CALLS = 200000 };
    struct err e = {0};
    struct op op = op_gemm(512, 512, 512, DTYPE_FP32);
    struct rig r;
    struct rig_op o;
    rig_open(&r, "sim", NULL);
    rig_prepare(&r, &op, FILL_NORMAL, &o);
    long before = allocations;
    assert_true(before > 0); /* the count counts */
    uint64_t begin_ns = clock_monotonic_ns();
    for (int i = 0; i < CALLS; i++)
        if (r.backend->enqueue(r.queue, o.prepared, 1, &e) || r.backend->record(r.queue, r.to, &e))
            fail();
    double per_call_ns = (double)(clock_monotonic_ns() - begin_ns) / CALLS;
    assert_int_equal(allocations, before);
    print_message("enqueue and record on sim: %.0f ns\n", per_call_ns);
    rig_release(&r, &o);
    rig_close(&r);
}

static void admits_what_it_cannot_know(void **state) {
    (void)state;
    struct err e = {0};
    struct op op = op_elementwise(OP_COPY, 16, DTYPE_FP32);
    struct rig r;
    struct rig_op first, second;
    char bytes[64];
    rig_open(&r, "sim", NULL);
    rig_prepare(&r, &op, FILL_NORMAL, &first);
    rig_prepare(&r, &op, FILL_NORMAL, &second);
    assert_int_equal(r.backend->write(first.buffers[0], 0, bytes, 4, &e), -1);
    assert_int_equal(r.backend->read(first.buffers[0], 62, bytes, 4, &e), -1); /* past the end */
    assert_int_equal(r.backend->read(first.buffers[0], 2, bytes, 4, &e), -1);  /* half an element */
    rig_elapsed_s(&r, first.prepared, 1);
    r.backend->release(second.prepared);
    struct buffer *chain[] = {first.buffers[1], second.buffers[1]};
    assert_int_equal(r.backend->prepare(r.device, &op, chain, 2, &second.prepared, &e), 0);
    rig_elapsed_s(&r, second.prepared, 1);
    assert_int_equal(r.backend->read(chain[1], 0, bytes, 64, &e), -1);
    assert_non_null(strstr(e.text, "inputs were not filled"));
    rig_release(&r, &first);
    rig_release(&r, &second);
    rig_close(&r);
}

static void refuses_buffers_that_do_not_fit(void **state) {
    (void)state;
    struct err e = {0};
    struct op op = op_elementwise(OP_COPY, 16, DTYPE_FP32), longer = op_elementwise(OP_COPY, 17, DTYPE_FP32);
    struct rig r;
    struct rig_op o;
    struct prepared *p;
    rig_open(&r, "sim", NULL);
    rig_prepare(&r, &op, FILL_NORMAL, &o);
    assert_int_equal(r.backend->prepare(r.device, &longer, o.buffers, 2, &p, &e), -1);
    assert_non_null(strstr(e.text, "needs 68 bytes, its buffer has 64"));
    assert_int_equal(r.backend->prepare(r.device, &op, o.buffers, 1, &p, &e), -1);
    assert_non_null(strstr(e.text, "2 operands, given 1"));
    struct buffer *in_place[] = {o.buffers[0], o.buffers[0]};
    assert_int_equal(r.backend->prepare(r.device, &op, in_place, 2, &p, &e), -1);
    rig_release(&r, &o);
    rig_close(&r);
}

/* ---- scenarios ---- */

static void slow_runs_at_60_percent(void **state) {
    (void)state;
    struct op gemm = op_gemm(8192, 8192, 8192, DTYPE_FP32);
    struct op triad = op_elementwise(OP_TRIAD, INT64_C(1) << 27, DTYPE_FP64);
    struct rig healthy, slow;
    rig_open(&healthy, "sim", "healthy");
    rig_open(&slow, "sim", "slow");
    assert_near(mean_s(&slow, &gemm) / mean_s(&healthy, &gemm), 1 / 0.6, 0.002);
    assert_near(mean_s(&slow, &triad) / mean_s(&healthy, &triad), 1 / 0.6, 0.004);
    rig_close(&healthy);
    rig_close(&slow);
}

static void throttle_lowers_the_clock_after_20_s_and_says_so(void **state) {
    (void)state;
    struct op op = op_gemm(8192, 8192, 8192, DTYPE_FP32);
    struct telemetry t;
    struct rig r;
    struct rig_op o;
    rig_open(&r, "sim", "throttle");
    rig_prepare(&r, &op, FILL_NORMAL, &o);
    while (now_s(&r) < 19) {
        assert_near(rig_elapsed_s(&r, o.prepared, 10), 0.22906, 0.02);
        r.backend->telemetry(r.device, &t);
        assert_true(t.clock_hz == 1.5e9 && t.throttled_s == 0);
    }
    while (now_s(&r) < 20)
        rig_elapsed_s(&r, o.prepared, 10);
    double before_s = -1;
    for (int i = 0; i < 20; i++) {
        assert_near(rig_elapsed_s(&r, o.prepared, 10), 0.22906 / 0.7, 0.02);
        r.backend->telemetry(r.device, &t);
        assert_near(t.clock_hz, 1.05e9, 1e-9);
        assert_true(t.throttled_s > before_s);
        before_s = t.throttled_s;
    }
    assert_near(before_s, now_s(&r) - 20, 1e-6);
    rig_release(&r, &o);
    rig_close(&r);
}

/* Ten products take 28.7 ms, so a slot of 50 ms sees 1.74 of them begin, and a bad slot (3 %) one, which then
 * takes 143.5 ms: 0.03 / (0.03 + 0.97 x 1.74) = 1.75 % of 10000 are far, +- 13; 3.4 sigma are allowed. */
static void outliers_take_five_times_as_long(void **state) {
    (void)state;
    struct op op = op_gemm(4096, 4096, 4096, DTYPE_FP32);
    struct rig r;
    struct rig_op o;
    int far = 0;
    rig_open(&r, "sim", "outliers");
    rig_prepare(&r, &op, FILL_NORMAL, &o);
    for (int i = 0; i < 10000; i++) {
        double ratio = rig_elapsed_s(&r, o.prepared, 10) / (10 * (2.8633e-3 + 7e-6));
        far += ratio > 3;
        assert_near(ratio, ratio > 3 ? 5 : 1, 0.02);
    }
    assert_in_range(far, 130, 220);
    rig_release(&r, &o);
    rig_close(&r);
}

/* An eighth of 2^18 elements in runs of 16: 2048 +- 42 of 16384 runs. */
static void wrong_spoils_an_eighth_of_every_output_after_5_s(void **state) {
    (void)state;
    struct op op = op_elementwise(OP_TRIAD, 1 << 18, DTYPE_FP32),
              load = op_gemm(8192, 8192, 8192, DTYPE_FP32);
    struct rig r;
    struct rig_op o, gemm;
    rig_open(&r, "sim", "wrong");
    rig_prepare(&r, &op, FILL_NORMAL, &o);
    rig_prepare(&r, &load, FILL_NORMAL, &gemm);
    assert_int_equal(rig_wrong_elements(&r, &o, 1), 0);
    while (now_s(&r) < 5)
        rig_elapsed_s(&r, gemm.prepared, 10);
    uint64_t wrong = rig_wrong_elements(&r, &o, 1);
    assert_in_range(wrong, 16 * (2048 - 210), 16 * (2048 + 210));
    rig_release(&r, &o);
    rig_release(&r, &gemm);
    rig_close(&r);
}

/* Runs a GEMM with this m in a child process. Gives its wait status, or -1 if it had to be killed. */
static int status_of_child(const char *scenario, int64_t m) {
    pid_t child = fork();
    if (child == 0) {
        struct op op = op_gemm(m, 8, 8, DTYPE_FP32);
        struct rig r;
        struct rig_op o;
        rig_open(&r, "sim", scenario);
        rig_prepare(&r, &op, FILL_NORMAL, &o);
        rig_elapsed_s(&r, o.prepared, 1);
        _exit(0);
    }
    assert_true(child > 0);
    for (int i = 0; i < 100; i++) {
        int status;
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        clock_sleep_ns(10000000);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return -1;
}

static void dead_kills_the_process_at_one_shape_only(void **state) {
    (void)state;
    int status = status_of_child("dead", 1024);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = status_of_child("dead", 512);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void hung_never_returns_from_one_shape_only(void **state) {
    (void)state;
    assert_int_equal(status_of_child("hung", 1024), -1);
    assert_int_equal(status_of_child("hung", 512), 0);
}

static void counts_as_many_devices_as_the_scenario_says(void **state) {
    (void)state;
    struct err e = {0};
    struct backend_config c = {.scenario = "healthy:devices=8"};
    struct device *d;
    assert_int_equal(sim_backend.count(&c, &e), 8);
    assert_int_equal(sim_backend.open(&c, 7, &d, &e), 0);
    sim_backend.close(d);
    assert_int_equal(sim_backend.open(&c, 8, &d, &e), -1);
    assert_int_equal(e.code, ERR_NO_DEVICE);
    c.scenario = "unheard";
    assert_int_equal(sim_backend.count(&c, &e), 0);
    assert_int_equal(e.code, ERR_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_time_that_its_rates_say),
        cmocka_unit_test(describes_itself_as_simulated),
        cmocka_unit_test(accounts_for_its_memory),
        cmocka_unit_test(overlaps_two_queues_unless_they_wait),
        cmocka_unit_test(saves_the_launches_of_a_captured_graph),
        cmocka_unit_test(enqueues_without_allocating),
        cmocka_unit_test(admits_what_it_cannot_know),
        cmocka_unit_test(refuses_buffers_that_do_not_fit),
        cmocka_unit_test(slow_runs_at_60_percent),
        cmocka_unit_test(throttle_lowers_the_clock_after_20_s_and_says_so),
        cmocka_unit_test(outliers_take_five_times_as_long),
        cmocka_unit_test(wrong_spoils_an_eighth_of_every_output_after_5_s),
        cmocka_unit_test(dead_kills_the_process_at_one_shape_only),
        cmocka_unit_test(hung_never_returns_from_one_shape_only),
        cmocka_unit_test(counts_as_many_devices_as_the_scenario_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
