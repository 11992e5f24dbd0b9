#include "bench/operands.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

static const double cache_multiple = 4;
static const double free_share = 0.25;
static const double sets_max = 4096;

static size_t wanted_sets(const struct operands *o, const struct runner *r, const struct bench_case *c) {
    if (!c->rotate || o->set_bytes <= 0 || !(r->info.cache_bytes > 0))
        return 1;
    double sets = floor(cache_multiple * r->info.cache_bytes / o->set_bytes) + 1;
    if (r->info.free_bytes > 0)
        sets = fmin(sets, floor(free_share * r->info.free_bytes / o->set_bytes));
    return (size_t)fmax(1, fmin(sets, sets_max));
}

static int open_set(struct operands *o, struct operand_set *set, struct err *e) {
    const struct backend *b = o->backend;
    for (size_t i = 0; i < o->shape_count; i++) {
        const struct op_operand *shape = &o->shapes[i];
        if (b->alloc(o->device, op_operand_bytes(shape), &set->buffers[i], e) != 0)
            return -1;
        enum fill how = shape->output || shape->scratch ? FILL_ZERO : FILL_NORMAL;
        if (b->fill(set->buffers[i], shape->dtype, how, o->seeds[i], e) != 0)
            return -1;
    }
    return b->prepare(o->device, &o->op, set->buffers, o->shape_count, &set->prepared, e);
}

int operands_open(struct operands *o, const struct runner *r, const struct bench_case *c, struct err *e) {
    *o = (struct operands){.backend = r->backend, .device = r->device, .op = c->op};
    o->shape_count = op_operands(&c->op, o->shapes);
    char name[OP_NAME_SIZE];
    uint64_t seed = rng_seed_from(r->seed, op_name(&c->op, name));
    for (size_t i = 0; i < o->shape_count; i++) {
        o->seeds[i] = rng_seed_from(seed, o->shapes[i].name);
        o->set_bytes += (double)op_operand_bytes(&o->shapes[i]);
    }
    size_t wanted = wanted_sets(o, r, c);
    o->sets = xcalloc(wanted, sizeof *o->sets);
    while (o->count < wanted) {
        o->count++; /* counted first, so that a half-made set is closed too */
        if (open_set(o, &o->sets[o->count - 1], e) != 0)
            return -1;
    }
    return 0;
}

void operands_close(struct operands *o) {
    for (size_t s = 0; s < o->count; s++) {
        if (o->sets[s].prepared != NULL)
            o->backend->release(o->sets[s].prepared);
        for (size_t i = 0; i < o->shape_count; i++)
            if (o->sets[s].buffers[i] != NULL)
                o->backend->free(o->sets[s].buffers[i]);
    }
    free(o->sets);
    *o = (struct operands){0};
}
