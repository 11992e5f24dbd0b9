/* Workers of another backend than the run's own: started when the plan reaches their first case, ended when
 * another folder's comes or the run is over. Where they cannot start, only their cases are not tested. */
#ifndef BENCH_SUPERVISOR_SIDE_H
#define BENCH_SUPERVISOR_SIDE_H

#include "bench/crew.h"

struct side {
    struct crew crew;
    const char *backend, *folder; /* of the crew; NULL = none yet                            */
    char refused[300];            /* why there is none for this folder; "" = there is one    */
};

/* The crew for c (c->backend is not NULL), ready; NULL with the reason in side->refused. */
struct crew *side_crew(struct side *side, const struct bench_case *c, uint64_t deadline_ns,
                       const volatile int *stop);
/* Ends the workers, and takes away what one that was killed left in its folder. */
void side_close(struct side *side);

#endif
