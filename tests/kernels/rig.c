#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != 0)                                                                                     \
            fail_msg("%s: %s", #call, e.text);                                                               \
    } while (0)

void rig_open(struct rig *r, const char *backend, const char *scenario) {
    struct err e = {0};
    struct backend_config config = {.scenario = scenario};
    r->backend = backend_find(backend, &e);
    if (!r->backend)
        fail_msg("%s", e.text);
    OK(r->backend->open(&config, 0, &r->device, &e));
    OK(r->backend->queue_open(r->device, &r->queue, &e));
    OK(r->backend->event_open(r->device, &r->from, &e));
    OK(r->backend->event_open(r->device, &r->to, &e));
}

void rig_close(struct rig *r) {
    r->backend->event_close(r->from);
    r->backend->event_close(r->to);
    r->backend->queue_close(r->queue);
    r->backend->close(r->device);
}

void rig_prepare(struct rig *r, const struct op *op, enum fill how, struct rig_op *out) {
    struct err e = {0};
    *out = (struct rig_op){.op = *op};
    out->count = op_operands(op, out->operands);
    for (size_t i = 0; i < out->count; i++) {
        const struct op_operand *o = &out->operands[i];
        uint64_t size = (uint64_t)((double)o->elements * dtype_bytes(o->dtype));
        out->filled[i] = (struct ref_filled){o->dtype, o->output ? FILL_ZERO : how, 100 + i};
        out->sources[i] = (struct ref_source){ref_filled_at, &out->filled[i]};
        OK(r->backend->alloc(r->device, size, &out->buffers[i], &e));
        OK(r->backend->fill(out->buffers[i], o->dtype, out->filled[i].how, 100 + i, &e));
    }
    OK(r->backend->prepare(r->device, op, out->buffers, out->count, &out->prepared, &e));
}

void rig_release(struct rig *r, struct rig_op *o) {
    r->backend->release(o->prepared);
    for (size_t i = 0; i < o->count; i++)
        r->backend->free(o->buffers[i]);
}

double rig_elapsed_s(struct rig *r, struct prepared *p, uint64_t n) {
    struct err e = {0};
    double elapsed_s;
    OK(r->backend->record(r->queue, r->from, &e));
    OK(r->backend->enqueue(r->queue, p, n, &e));
    OK(r->backend->record(r->queue, r->to, &e));
    OK(r->backend->sync(r->queue, &e));
    OK(r->backend->elapsed(r->from, r->to, &elapsed_s, &e));
    return elapsed_s;
}

/* Element by element: sim works out only what is read. */
uint64_t rig_count_wrong(struct rig *r, const struct rig_op *o, uint64_t stride) {
    struct err e = {0};
    const struct op_operand *out = &o->operands[o->count - 1];
    uint64_t width = (uint64_t)dtype_bytes(out->dtype), wrong = 0;
    unsigned char raw[8];
    for (uint64_t i = 0; i < (uint64_t)out->elements; i += stride) {
        OK(r->backend->read(o->buffers[o->count - 1], i * width, raw, width, &e));
        wrong += !ref_accepts(ref_element(&o->op, o->sources, i), ref_load(raw, out->dtype, 0));
    }
    return wrong;
}

uint64_t rig_wrong_elements(struct rig *r, const struct rig_op *o, uint64_t stride) {
    rig_elapsed_s(r, o->prepared, 1);
    return rig_count_wrong(r, o, stride);
}
