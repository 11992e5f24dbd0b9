/* The random cycle that an OP_CHASE walks: place 0, 1, ... nodes - 1 and round again. The node at a place is
 * a keyed bijection of the place (a Feistel network over the next even number of bits, walked until it falls
 * within the nodes), so the cycle is a single one by construction, whatever the number of nodes, and the
 * oracle knows any place of it without a table. The order is the same in every run. */
#ifndef KERNELS_CHASE_H
#define KERNELS_CHASE_H

#include <stdint.h>

enum { CHASE_MAX_NODES = 1 << 30 };

/* nodes from 1 to CHASE_MAX_NODES; place < nodes. */
uint64_t chase_node(uint64_t nodes, uint64_t place);

#endif
