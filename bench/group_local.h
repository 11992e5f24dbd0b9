/* Row `local` of the groups: ranks are the workers of one node, and their supervisor carries the
 * messages. The worker's end is a struct group over its channel; the supervisor's end is a hub, which
 * knows no sockets: it takes what a rank sent and gives what to answer. */
#ifndef BENCH_GROUP_LOCAL_H
#define BENCH_GROUP_LOCAL_H

#include "base/proc.h"
#include "kernels/group.h"

#include <jansson.h>
#include <stdbool.h>

/* g->context is the channel, borrowed. Nothing to free. */
struct group group_local_make(struct proc_channel *channel, int rank, int size);

struct hub_seat {
    json_t *call; /* the sync message this rank waits with; NULL = it does not wait */
};
struct hub {
    int size;
    struct hub_seat *seats;
    bool broken; /* a rank left or aborted: nobody waits any more */
    char reason[256];
};

void hub_init(struct hub *h, int size);
void hub_free(struct hub *h);
/* A rank waits with this sync message (a reference is kept). Unlike calls break the hub. */
void hub_call(struct hub *h, int rank, const json_t *message);
/* A rank is gone, done or has aborted: whoever waits, or comes to wait, is told the reason. */
void hub_leave(struct hub *h, int rank, const char *reason);
bool hub_waits(const struct hub *h, int rank);
/* True when those who wait can be answered: all are there, or the hub is broken. */
bool hub_ready(const struct hub *h);
/* The answer to this rank, which waits; new reference. All answers are to be taken before hub_clear. */
json_t *hub_answer(const struct hub *h, int rank);
/* Nobody waits any more. */
void hub_clear(struct hub *h);

#endif
