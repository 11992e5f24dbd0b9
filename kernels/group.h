/* Ranks that act together. A rank needs a control plane, not a network: barrier, broadcast, gather,
 * abort over small messages. Data moves by other means (NCCL, MPI). Rows of one table: `local` (the
 * workers of one node over their supervisor's sockets), later `mpi` and `env`. */
#ifndef KERNELS_GROUP_H
#define KERNELS_GROUP_H

#include "base/err.h"

#include <stddef.h>

struct group {
    int rank, size;
    void *context;
    /* All of them: every rank calls in the same order; ERR_PEER when another rank left or aborted. */
    int (*barrier)(struct group *g, struct err *e);
    /* The bytes of root reach everyone. */
    int (*bcast)(struct group *g, void *bytes, size_t size, int root, struct err *e);
    /* `size` bytes of each rank, in rank order, into all (size x ranks bytes) on root. */
    int (*gather)(struct group *g, const void *bytes, size_t size, void *all, int root, struct err *e);
    /* Tells the others to give up; returns at once. */
    void (*abort)(struct group *g, const char *reason);
};

#endif
