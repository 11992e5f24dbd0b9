/* Runs of the supervisor on the simulator, for its tests. A test program that includes this is its own
 * worker: main must begin with sim_run_is_worker. */
#ifndef TESTS_BENCH_SIM_RUN_H
#define TESTS_BENCH_SIM_RUN_H

#include "bench/bench.h"

#include <stdbool.h>

/* Cases that come before those of the request: the peak, in fp32 and fp64. */
enum { PEAKS = 2 };

/* True when this process was started as a worker, and has done its work. */
bool sim_run_is_worker(int argc, char **argv);

/* A request for gemm cases of these shapes in bf16 on the simulator, 0.2 s each with 0.5 s of grace. The
 * rest is at hand to be changed. settings, host are made once and owned by the request. */
struct run_request sim_run_request(const char *scenario, const char *path, const char *const *shapes,
                                   size_t count);
void sim_run_free(struct run_request *r);

/* A path that is not there, in a temporary folder of this process; borrowed until the next call. */
const char *sim_run_path(const char *name);

#endif
