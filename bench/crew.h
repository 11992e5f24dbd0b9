/* The workers of one run, one a device: started, replaced, given up. Opens no device itself. */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

#include "bench/bench.h"
#include "bench/message.h"

struct crew_rank {
    struct proc proc;
    bool ready; /* has opened its device, and was not lost since */
    struct device_info info;
};
struct crew {
    const char *backend;
    struct backend_config config;
    const volatile int *stop; /* no more waiting once it is set; NULL = none */
    struct crew_rank *ranks;
    int size;
};

/* Starts a worker for each of the first `devices` devices (0 = all there are) and waits until each has
 * opened its own; backend, config and stop are set before. ERR_NO_DEVICE names the device and the cause.
 * crew_close is due in any case. */
int crew_open(struct crew *crew, int64_t devices, struct err *e) MUST_CHECK;
void crew_close(struct crew *crew);
/* Replaces every worker that was lost. deadline_ns: on the monotonic clock. */
int crew_restore(struct crew *crew, uint64_t deadline_ns, struct err *e) MUST_CHECK;
/* Ends this worker, which is gone or no longer to be trusted. Into out: the cause as given, or, when that
 * is NULL, how it died by itself. */
void crew_lose(struct crew *crew, int rank, const char *cause, char *out, size_t size);

#endif
