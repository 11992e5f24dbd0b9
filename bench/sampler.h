/* Telemetry of one case at 5 Hz or more. Where the host's clock runs, a thread takes the rows, also while one
 * sample lasts long; on a virtual clock they are taken between samples. Not a front door: see runner.c. */
#ifndef BENCH_SAMPLER_H
#define BENCH_SAMPLER_H

#include "bench/bench.h"

#include <pthread.h>

/* What one chunk can hold: ten minutes, and its line in the record stays under 1 MiB. */
enum { SAMPLER_ROWS = 4096 };

struct sampler {
    const struct runner *r;
    struct telemetry_row *rows, *taken; /* being filled; given out by the last sampler_take */
    size_t count;
    double last_s; /* when the last row was taken */
    uint64_t origin_ns;
    pthread_t thread;
    bool threaded; /* the thread runs: count, rows and stop are under the lock */
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

/* Takes the first row, at 0 s. sampler_close is due. */
void sampler_open(struct sampler *s, const struct runner *r);
/* From now on rows are taken; their times count from origin_ns. */
void sampler_start(struct sampler *s, uint64_t origin_ns);
/* Between samples, with the time since the origin: takes a row when no thread does and one is due. */
void sampler_tick(struct sampler *s, double t_s);
/* The rows since the last call, in the order of time; borrowed until the next call. */
size_t sampler_take(struct sampler *s, const struct telemetry_row **rows);
/* Ends the thread, and takes the last row. */
void sampler_stop(struct sampler *s, double t_s);
/* Safe on a zeroed sampler, and where it was not stopped. */
void sampler_close(struct sampler *s);

#endif
