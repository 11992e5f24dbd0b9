#include "base/cgroup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kernels/operand_check.h"
#include "kernels/ref/ref.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The oracle as a backend: whole ops over small buffers, one element at a time, on the calling thread.
 * Every queue is synchronous. */
struct device {
    int index;
};
struct buffer {
    uint64_t size;
    unsigned char *bytes;
};
struct prepared {
    struct op op;
    struct op_operand operands[OP_MAX_OPERANDS];
    struct buffer *buffers[OP_MAX_OPERANDS];
    size_t count;
};
struct queue {
    struct device *device;
};
struct event {
    uint64_t at_ns; /* 0 = not recorded */
};

static int ref_count(const struct backend_config *c, struct err *e) {
    (void)c, (void)e;
    return 1;
}

static int ref_open(const struct backend_config *c, int index, struct device **out, struct err *e) {
    (void)c;
    if (index != 0)
        return err_set(e, ERR_NO_DEVICE, "ref: there is only device 0, not %d", index);
    *out = xcalloc(1, sizeof **out);
    return 0;
}

static void ref_close(struct device *d) {
    free(d);
}

static int ref_describe(struct device *d, struct device_info *out, struct err *e) {
    (void)d, (void)e;
    struct cgroup_limits limits = cgroup_read("");
    *out = (struct device_info){
        .name = "reference",
        .memory_bytes = (double)limits.memory_bytes,
        .free_bytes = (double)limits.memory_available_bytes,
        .cache_bytes = NAN,
        .clock_hz = NAN,
        .units = 1,
    };
    return 0;
}

static void ref_telemetry(struct device *d, struct telemetry *out) {
    (void)d;
    *out = (struct telemetry){NAN, NAN, NAN, NAN};
}

static int ref_alloc(struct device *d, uint64_t size_bytes, struct buffer **out, struct err *e) {
    (void)d;
    struct buffer *b = xmalloc(sizeof *b);
    b->size = size_bytes;
    b->bytes = calloc(size_bytes ? size_bytes : 1, 1);
    if (!b->bytes) {
        free(b);
        return err_set(e, ERR_DEVICE_MEMORY, "ref: no memory for %" PRIu64 " bytes", size_bytes);
    }
    *out = b;
    return 0;
}

static void ref_free(struct buffer *b) {
    if (b)
        free(b->bytes);
    free(b);
}

static int ref_fill(struct buffer *b, enum dtype t, enum fill how, uint64_t seed, struct err *e) {
    if (!ref_has_dtype(t))
        return err_set(e, ERR_DEVICE, "ref: cannot fill with %s", dtype_name(t));
    struct ref_filled filled = {t, how, seed};
    uint64_t count = b->size / (uint64_t)dtype_bytes(t);
    for (uint64_t i = 0; i < count; i++)
        ref_store(b->bytes, t, i, ref_filled_at(&filled, i));
    return 0;
}

static int ref_write(struct buffer *b, uint64_t offset, const void *from, uint64_t size, struct err *e) {
    if (operand_check_range(b->size, offset, size, e))
        return err_wrap(e, "ref: write");
    memcpy(b->bytes + offset, from, size);
    return 0;
}

static int ref_read(struct buffer *b, uint64_t offset, void *to, uint64_t size, struct err *e) {
    if (operand_check_range(b->size, offset, size, e))
        return err_wrap(e, "ref: read");
    memcpy(to, b->bytes + offset, size);
    return 0;
}

static bool ref_supports_op(struct device *d, const struct op *op, char *reason, size_t size) {
    (void)d;
    return ref_supports(op, reason, size);
}

static int ref_prepare(struct device *d, const struct op *op, struct buffer *const *buffers, size_t count,
                       struct prepared **out, struct err *e) {
    (void)d;
    uint64_t sizes[OP_MAX_OPERANDS] = {0};
    char reason[ERR_TEXT_SIZE / 2];
    if (!ref_supports(op, reason, sizeof reason))
        return err_set(e, ERR_DEVICE, "ref: %s", reason);
    for (size_t i = 0; i < count && i < OP_MAX_OPERANDS; i++)
        sizes[i] = buffers[i]->size;
    if (operand_check_buffers(op, sizes, count, e))
        return err_wrap(e, "ref");
    struct prepared *p = xcalloc(1, sizeof *p);
    p->op = *op;
    p->count = op_operands(op, p->operands);
    for (size_t i = 0; i < count; i++)
        p->buffers[i] = buffers[i];
    *out = p;
    return 0;
}

static void ref_release(struct prepared *p) {
    free(p);
}

static int ref_queue_open(struct device *d, struct queue **out, struct err *e) {
    (void)e;
    *out = xmalloc(sizeof **out);
    (*out)->device = d;
    return 0;
}

static void ref_queue_close(struct queue *q) {
    free(q);
}

static int ref_event_open(struct device *d, struct event **out, struct err *e) {
    (void)d, (void)e;
    *out = xcalloc(1, sizeof **out);
    return 0;
}

static void ref_event_close(struct event *ev) {
    free(ev);
}

static void execute(const struct prepared *p) {
    size_t last = p->count - 1;
    struct ref_array arrays[OP_MAX_OPERANDS];
    struct ref_source sources[OP_MAX_OPERANDS];
    for (size_t i = 0; i < last; i++) {
        arrays[i] = (struct ref_array){p->operands[i].dtype, p->buffers[i]->bytes};
        sources[i] = (struct ref_source){ref_array_at, &arrays[i]};
    }
    for (int64_t i = 0; i < p->operands[last].elements; i++)
        ref_store(p->buffers[last]->bytes, p->operands[last].dtype, (uint64_t)i,
                  ref_element(&p->op, sources, (uint64_t)i).want);
}

static int ref_enqueue(struct queue *q, struct prepared *p, uint64_t n, struct err *e) {
    (void)q, (void)e;
    for (uint64_t i = 0; i < n; i++)
        execute(p);
    return 0;
}

static int ref_record(struct queue *q, struct event *ev, struct err *e) {
    (void)q, (void)e;
    ev->at_ns = clock_monotonic_ns();
    return 0;
}

static int ref_wait(struct queue *q, struct event *ev, struct err *e) {
    (void)q;
    return ev->at_ns ? 0 : err_set(e, ERR_DEVICE, "ref: wait for an event that was not recorded");
}

static int ref_sync(struct queue *q, struct err *e) {
    (void)q, (void)e;
    return 0;
}

static int ref_elapsed(struct event *from, struct event *to, double *out_s, struct err *e) {
    if (!from->at_ns || !to->at_ns)
        return err_set(e, ERR_DEVICE, "ref: elapsed between events that were not recorded");
    *out_s = ((double)to->at_ns - (double)from->at_ns) * 1e-9;
    return 0;
}

const struct backend ref_backend = {
    .abi = BACKEND_ABI,
    .name = "ref",
    .summary = "plain double loops, one thread: what the other backends are compared with",
    .count = ref_count,
    .open = ref_open,
    .close = ref_close,
    .describe = ref_describe,
    .telemetry = ref_telemetry,
    .alloc = ref_alloc,
    .free = ref_free,
    .fill = ref_fill,
    .write = ref_write,
    .read = ref_read,
    .supports = ref_supports_op,
    .prepare = ref_prepare,
    .release = ref_release,
    .queue_open = ref_queue_open,
    .queue_close = ref_queue_close,
    .event_open = ref_event_open,
    .event_close = ref_event_close,
    .enqueue = ref_enqueue,
    .record = ref_record,
    .wait = ref_wait,
    .sync = ref_sync,
    .elapsed = ref_elapsed,
};
