#include "kernels/chase.h"
#include "kernels/cpu/cpu.h"

/* A node's line holds the address of the next one; its place in memory is its number. */
static unsigned char *line_of(const struct prepared *p, uint64_t node) {
    return p->operands[0] + node * OP_CHASE_LINE;
}

void cpu_chase_prepare(struct prepared *p) {
    uint64_t nodes = (uint64_t)p->op.elements;
    uint64_t first = chase_node(nodes, 0), node = first;
    for (uint64_t place = 1; place <= nodes; place++) {
        uint64_t next = place < nodes ? chase_node(nodes, place) : first;
        *(void **)(void *)line_of(p, node) = line_of(p, next);
        node = next;
    }
}

/* On one thread: latency is that of one. */
void cpu_run_chase(const struct prepared *p) {
    void *at = line_of(p, chase_node((uint64_t)p->op.elements, 0));
    for (uint64_t left = (uint64_t)op_chase_accesses(&p->op); left > 0; left--)
        at = *(void **)at;
    *(int32_t *)(void *)p->operands[1] = (int32_t)(((unsigned char *)at - p->operands[0]) / OP_CHASE_LINE);
}
