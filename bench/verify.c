#include "bench/operands.h"

#include "base/rng.h"
#include "kernels/ref/ref.h"

#include <stdio.h>

enum { STRATA = 64, CORNERS = 4, ELEMENT_BYTES_MAX = 8 };

struct check {
    const struct operands *operands;
    struct buffer *output;
    const struct op_operand *shape;
    struct ref_filled filled[OP_MAX_OPERANDS];
    struct ref_source inputs[OP_MAX_OPERANDS];
    uint64_t checked, wrong;
    uint64_t first_index;
    double first_got;
    struct ref_value first_want;
};

static int check_element(struct check *c, uint64_t index, struct err *e) {
    unsigned char raw[ELEMENT_BYTES_MAX];
    uint64_t size = (uint64_t)dtype_bytes(c->shape->dtype);
    if (c->operands->backend->read(c->output, index * size, raw, size, e) != 0)
        return -1;
    double got = ref_load(raw, c->shape->dtype, 0);
    struct ref_value value = ref_element(&c->operands->op, c->inputs, index);
    c->checked++;
    if (!ref_accepts(value, got) && c->wrong++ == 0) {
        c->first_index = index;
        c->first_got = got;
        c->first_want = value;
    }
    return 0;
}

static int check_corners(struct check *c, struct err *e) {
    const struct op *op = &c->operands->op;
    uint64_t last = (uint64_t)c->shape->elements - 1;
    uint64_t corners[CORNERS] = {0, last, last, last};
    if (op->kind == OP_GEMM) {
        corners[2] = (uint64_t)op->n - 1;
        corners[3] = last - ((uint64_t)op->n - 1);
    }
    for (int i = 0; i < CORNERS; i++)
        if (check_element(c, corners[i], e) != 0)
            return -1;
    return 0;
}

/* One random element of each of 64 equal stretches: a wrong tile or a missing tail cannot hide. */
static int check_strata(struct check *c, uint64_t salt, struct err *e) {
    struct rng random = rng_make(salt);
    double elements = (double)c->shape->elements;
    for (int i = 0; i < STRATA; i++) {
        uint64_t index = (uint64_t)((i + rng_uniform(&random)) / STRATA * elements);
        if (index >= (uint64_t)c->shape->elements)
            index = (uint64_t)c->shape->elements - 1;
        if (check_element(c, index, e) != 0)
            return -1;
    }
    return 0;
}

static void bind(struct check *c, const struct operands *o, size_t set) {
    c->operands = o;
    size_t inputs = 0;
    for (size_t i = 0; i < o->shape_count; i++) {
        if (o->shapes[i].output) {
            c->shape = &o->shapes[i];
            c->output = o->sets[set].buffers[i];
        } else if (!o->shapes[i].scratch) {
            c->filled[inputs] = (struct ref_filled){o->shapes[i].dtype, FILL_NORMAL, o->seeds[i]};
            c->inputs[inputs] = (struct ref_source){ref_filled_at, &c->filled[inputs]};
            inputs++;
        }
    }
}

int operands_verify(const struct operands *o, size_t set, uint64_t salt, char *reason, size_t size,
                    struct err *e) {
    struct check c = {0};
    bind(&c, o, set);
    if (c.shape == NULL)
        return 0;
    if (check_corners(&c, e) != 0 || check_strata(&c, salt, e) != 0)
        return -1;
    if (c.wrong == 0)
        return 0;
    snprintf(reason, size,
             "wrong result: %llu of %llu sampled elements; %s[%llu] is %.9g where %.9g +- %.2g is right",
             (unsigned long long)c.wrong, (unsigned long long)c.checked, c.shape->name,
             (unsigned long long)c.first_index, c.first_got, c.first_want.want, c.first_want.bound);
    return 1;
}
