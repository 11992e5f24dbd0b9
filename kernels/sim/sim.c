#include "kernels/sim/sim.h"

#include "base/mem.h"
#include "base/rng.h"
#include "kernels/operand_check.h"
#include "kernels/ref/ref.h"
#include "kernels/sim/scenario.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_BYTES       80e9
#define CACHE_BYTES        50e6
#define FIRST_CACHE_BYTES  262144.0
#define CLOCK_HZ           1.5e9
#define BANDWIDTH          3000e9 /* bytes per second */
#define GEMM_EFFICIENCY    0.8
#define MEMORY_EFFICIENCY  0.9
#define START_S            2e-6 /* of every kernel      */
#define LAUNCH_S           5e-6 /* of every submission  */
#define NOISE              0.003
#define SLOT_S             0.05 /* a disturbance lasts this long */
#define WRONG_RUN_ELEMENTS 16

/* Peak FLOP/s of multiply-adds; 0 = not a type of this device. */
static const double peaks[DTYPE_COUNT] = {
    [DTYPE_FP64] = 30e12,  [DTYPE_FP32] = 60e12,  [DTYPE_TF32] = 450e12,
    [DTYPE_BF16] = 900e12, [DTYPE_FP16] = 900e12, [DTYPE_INT8] = 1800e12,
};

struct device {
    struct scenario scenario;
    int index;
    double host_s; /* the virtual clock as the host sees it */
    double used_bytes;
    uint64_t enqueues;
};

/* What a buffer would hold. */
enum contents { CONTENTS_NONE, CONTENTS_FILLED, CONTENTS_COMPUTED, CONTENTS_UNKNOWN };
struct buffer {
    struct device *device;
    uint64_t size;
    enum contents contents;
    struct ref_filled filled;
    struct op op; /* CONTENTS_COMPUTED: of these inputs */
    struct ref_filled inputs[OP_MAX_OPERANDS];
    enum dtype out;
    bool wrong;
};

struct prepared {
    struct op op;
    size_t operand_count;
    struct buffer *buffers[OP_MAX_OPERANDS];
    enum dtype out;
    double compute_s, memory_s; /* of one execution, at the full clock */
    size_t part_count;          /* of a graph; 0 for an op */
    struct prepared *parts[];
};

struct queue {
    struct device *device;
    double busy_until_s;
    bool hung;
};
struct event {
    double at_s; /* NaN = not recorded */
};

static int sim_count(const struct backend_config *c, struct err *e) {
    struct scenario s;
    return scenario_parse(c->scenario, &s, e) ? 0 : (int)s.devices;
}

static int sim_open(const struct backend_config *c, int index, struct device **out, struct err *e) {
    struct scenario s;
    if (scenario_parse(c->scenario, &s, e))
        return -1;
    if (index < 0 || index >= (int)s.devices)
        return err_set(e, ERR_NO_DEVICE, "sim: device %d of %d", index, (int)s.devices);
    *out = xcalloc(1, sizeof **out);
    (*out)->scenario = s;
    (*out)->index = index;
    return 0;
}

static void sim_close(struct device *d) {
    free(d);
}

static int sim_describe(struct device *d, struct device_info *out, struct err *e) {
    (void)e;
    *out = (struct device_info){
        .name = "Simulated SIM-100",
        .is_gpu = true,
        .simulated = true,
        .memory_bytes = MEMORY_BYTES,
        .free_bytes = MEMORY_BYTES - d->used_bytes,
        .cache_bytes = CACHE_BYTES,
        .clock_hz = CLOCK_HZ,
        .units = 100,
    };
    return 0;
}

static bool throttled(const struct device *d, double at_s) {
    return d->scenario.clock < 1 && at_s >= d->scenario.after;
}

static void sim_telemetry(struct device *d, struct telemetry *out) {
    bool low = throttled(d, d->host_s);
    *out = (struct telemetry){
        .clock_hz = CLOCK_HZ * (low ? d->scenario.clock : 1),
        .power_w = low ? 350 : 500,
        .temperature_c = low ? 90 : 60,
        .throttled_s = low ? d->host_s - d->scenario.after : 0,
    };
}

static uint64_t sim_now_ns(struct device *d) {
    return (uint64_t)(d->host_s * 1e9);
}

static int sim_alloc(struct device *d, uint64_t size_bytes, struct buffer **out, struct err *e) {
    if ((double)size_bytes > MEMORY_BYTES - d->used_bytes)
        return err_set(e, ERR_DEVICE_MEMORY, "sim: %" PRIu64 " bytes wanted, %.0f free", size_bytes,
                       MEMORY_BYTES - d->used_bytes);
    d->used_bytes += (double)size_bytes;
    *out = xcalloc(1, sizeof **out);
    (*out)->device = d;
    (*out)->size = size_bytes;
    return 0;
}

static void sim_free(struct buffer *b) {
    if (b)
        b->device->used_bytes -= (double)b->size;
    free(b);
}

static int sim_fill(struct buffer *b, enum dtype t, enum fill how, uint64_t seed, struct err *e) {
    if (!ref_has_dtype(t))
        return err_set(e, ERR_DEVICE, "sim: cannot fill with %s", dtype_name(t));
    b->contents = CONTENTS_FILLED;
    b->filled = (struct ref_filled){t, how, seed};
    return 0;
}

static int sim_write(struct buffer *b, uint64_t offset, const void *from, uint64_t size, struct err *e) {
    (void)b, (void)offset, (void)from, (void)size;
    return err_set(e, ERR_DEVICE, "sim: has no memory to write to; use fill");
}

static double computed_at(const void *context, uint64_t index) {
    const struct buffer *b = context;
    struct ref_source sources[OP_MAX_OPERANDS];
    for (size_t i = 0; i < OP_MAX_OPERANDS; i++)
        sources[i] = (struct ref_source){ref_filled_at, &b->inputs[i]};
    struct ref_value v = ref_element(&b->op, sources, index);
    uint32_t draw[4];
    rng_philox(b->device->index, index / WRONG_RUN_ELEMENTS, draw);
    bool wrong = b->wrong && draw[0] < b->device->scenario.wrong * 0x1p32;
    return wrong ? v.want + 4 * v.bound + 1 : v.want;
}

static int sim_read(struct buffer *b, uint64_t offset, void *to, uint64_t size, struct err *e) {
    if (operand_check_range(b->size, offset, size, e))
        return err_wrap(e, "sim: read");
    if (b->contents == CONTENTS_UNKNOWN)
        return err_set(e, ERR_DEVICE, "sim: read: this output's inputs were not filled, so it is not known");
    if (b->contents == CONTENTS_NONE) {
        memset(to, 0, size);
        return 0;
    }
    bool computed = b->contents == CONTENTS_COMPUTED;
    struct ref_source source = {computed ? computed_at : ref_filled_at,
                                computed ? (const void *)b : &b->filled};
    enum dtype t = computed ? b->out : b->filled.dtype;
    uint64_t width = (uint64_t)dtype_bytes(t);
    if (offset % width || size % width)
        return err_set(e, ERR_DEVICE, "sim: read: offset and size must be whole elements of %s",
                       dtype_name(t));
    for (uint64_t i = 0; i < size / width; i++)
        ref_store(to, t, i, source.at(source.context, offset / width + i));
    return 0;
}

static bool sim_supports(struct device *d, const struct op *op, char *reason, size_t size) {
    (void)d;
    if (peaks[op->dtype] == 0 && op->kind != OP_CHASE) {
        snprintf(reason, size, "the simulated device has no %s", dtype_name(op->dtype));
        return false;
    }
    return op->kind == OP_FMA || ref_supports(op, reason, size);
}

/* Of one dependent access, by what the walk goes through. */
static double latency_s(const struct op *op) {
    double footprint_bytes = op_bytes(op);
    return footprint_bytes <= FIRST_CACHE_BYTES ? 20e-9 : footprint_bytes <= CACHE_BYTES ? 150e-9 : 400e-9;
}

static int sim_prepare(struct device *d, const struct op *op, struct buffer *const *buffers, size_t count,
                       struct prepared **out, struct err *e) {
    uint64_t sizes[OP_MAX_OPERANDS] = {0};
    char reason[ERR_TEXT_SIZE / 2];
    if (!sim_supports(d, op, reason, sizeof reason))
        return err_set(e, ERR_DEVICE, "sim: %s", reason);
    for (size_t i = 0; i < count && i < OP_MAX_OPERANDS; i++)
        sizes[i] = buffers[i]->size;
    if (operand_check_buffers(op, sizes, count, e))
        return err_wrap(e, "sim");
    for (size_t i = 0; i + 1 < count; i++)
        if (buffers[i] == buffers[count - 1])
            return err_set(e, ERR_DEVICE, "sim: an input cannot be the output too");
    struct op_operand operands[OP_MAX_OPERANDS];
    struct prepared *p = xcalloc(1, sizeof *p);
    double efficiency = op->kind == OP_FMA ? 1 : GEMM_EFFICIENCY;
    p->op = *op;
    p->operand_count = op_operands(op, operands);
    p->out = count ? operands[count - 1].dtype : op->dtype;
    p->compute_s = op_is_compute_bound(op) ? op_flop(op) / (peaks[op->dtype] * efficiency) : 0;
    p->memory_s = op->kind == OP_CHASE ? op_chase_accesses(op) * latency_s(op)
                                       : op_bytes(op) / (BANDWIDTH * MEMORY_EFFICIENCY);
    for (size_t i = 0; i < count; i++)
        p->buffers[i] = buffers[i];
    *out = p;
    return 0;
}

static void sim_release(struct prepared *p) {
    free(p);
}

static int sim_queue_open(struct device *d, struct queue **out, struct err *e) {
    (void)e;
    *out = xcalloc(1, sizeof **out);
    (*out)->device = d;
    return 0;
}

static void sim_queue_close(struct queue *q) {
    free(q);
}

static int sim_event_open(struct device *d, struct event **out, struct err *e) {
    (void)d, (void)e;
    *out = xmalloc(sizeof **out);
    (*out)->at_s = NAN;
    return 0;
}

static void sim_event_close(struct event *ev) {
    free(ev);
}

/* The moment at which q could begin something new. */
static double queue_free_s(const struct queue *q) {
    return fmax(q->busy_until_s, q->device->host_s);
}

static double op_s(const struct device *d, const struct prepared *p, double at_s) {
    double clock = throttled(d, at_s) ? d->scenario.clock : 1;
    return fmax(p->compute_s / (d->scenario.gemm * clock), p->memory_s / d->scenario.memory) + START_S;
}

/* How much longer than planned an enqueue takes that begins at at_s. */
static double luck(struct device *d, double at_s) {
    uint64_t draw = d->enqueues++, seed = (uint64_t)d->index;
    uint32_t bits[4];
    rng_philox(~seed, (uint64_t)(at_s / SLOT_S), bits);
    double times = bits[0] < d->scenario.share * 0x1p32 ? d->scenario.times : 1;
    return times * (1 + NOISE * rng_normal_at(seed, draw));
}

/* What executing p does to its output and, in some scenarios, to this process. */
static void take_effect(struct queue *q, const struct prepared *p, double at_s) {
    const struct scenario *s = &q->device->scenario;
    if (p->op.kind == OP_GEMM && (double)p->op.m == s->dead)
        kill(getpid(), SIGKILL);
    if (p->op.kind == OP_GEMM && (double)p->op.m == s->hung)
        q->hung = true;
    if (!p->operand_count)
        return;
    struct buffer *out = p->buffers[p->operand_count - 1];
    out->contents = CONTENTS_COMPUTED;
    out->op = p->op;
    out->out = p->out;
    out->wrong = s->wrong > 0 && at_s >= s->after;
    for (size_t i = 0; i + 1 < p->operand_count; i++) {
        out->inputs[i] = p->buffers[i]->filled;
        if (p->buffers[i]->contents != CONTENTS_FILLED)
            out->contents = CONTENTS_UNKNOWN;
    }
}

static int sim_enqueue(struct queue *q, struct prepared *p, uint64_t n, struct err *e) {
    (void)e;
    double start_s = queue_free_s(q), once_s = LAUNCH_S;
    struct prepared *const *parts = p->part_count ? p->parts : &p;
    size_t count = p->part_count ? p->part_count : 1;
    for (size_t i = 0; i < count; i++) {
        once_s += op_s(q->device, parts[i], start_s);
        take_effect(q, parts[i], start_s);
    }
    q->busy_until_s = start_s + (double)n * once_s * luck(q->device, start_s);
    return 0;
}

static int sim_record(struct queue *q, struct event *ev, struct err *e) {
    (void)e;
    ev->at_s = queue_free_s(q);
    return 0;
}

static int sim_wait(struct queue *q, struct event *ev, struct err *e) {
    if (isnan(ev->at_s))
        return err_set(e, ERR_DEVICE, "sim: wait for an event that was not recorded");
    q->busy_until_s = fmax(q->busy_until_s, ev->at_s);
    return 0;
}

static int sim_sync(struct queue *q, struct err *e) {
    (void)e;
    while (q->hung)
        pause();
    q->device->host_s = queue_free_s(q);
    return 0;
}

static int sim_elapsed(struct event *from, struct event *to, double *out_s, struct err *e) {
    if (isnan(from->at_s) || isnan(to->at_s))
        return err_set(e, ERR_DEVICE, "sim: elapsed between events that were not recorded");
    *out_s = to->at_s - from->at_s;
    return 0;
}

static int sim_capture(struct queue *q, struct prepared *const *ops, size_t count, struct prepared **out,
                       struct err *e) {
    (void)q;
    for (size_t i = 0; i < count; i++)
        if (ops[i]->part_count)
            return err_set(e, ERR_DEVICE, "sim: a graph cannot be captured into another");
    if (!count)
        return err_set(e, ERR_DEVICE, "sim: a graph needs at least one op");
    struct prepared *p = xcalloc(1, sizeof *p + count * sizeof(void *));
    for (size_t i = 0; i < count; i++)
        p->parts[i] = ops[i];
    p->part_count = count;
    *out = p;
    return 0;
}

const struct backend sim_backend = {
    .abi = BACKEND_ABI,
    .name = "sim",
    .summary = "a scripted device with a virtual clock, for tests and for learning the program",
    .count = sim_count,
    .open = sim_open,
    .close = sim_close,
    .describe = sim_describe,
    .telemetry = sim_telemetry,
    .now_ns = sim_now_ns,
    .alloc = sim_alloc,
    .free = sim_free,
    .fill = sim_fill,
    .write = sim_write,
    .read = sim_read,
    .supports = sim_supports,
    .prepare = sim_prepare,
    .release = sim_release,
    .queue_open = sim_queue_open,
    .queue_close = sim_queue_close,
    .event_open = sim_event_open,
    .event_close = sim_event_close,
    .enqueue = sim_enqueue,
    .record = sim_record,
    .wait = sim_wait,
    .sync = sim_sync,
    .elapsed = sim_elapsed,
    .capture = sim_capture,
};
