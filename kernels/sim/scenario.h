/* What the simulated device plays: rows of a table, chosen by name, with parameters.
 *
 *   "throttle"   "throttle:after=20,clock=0.7"   "healthy:devices=8"
 *
 * A parameter must be one that the row lists (devices: any row). Times are virtual, from the opening of
 * the device, so a replaced worker begins at 0 again.
 *
 * dead and hung strike at every execution of a GEMM with that m, and at nothing else: the worker that
 * replaces the lost one gets through the other cases. */
#ifndef KERNELS_SIM_SCENARIO_H
#define KERNELS_SIM_SCENARIO_H

#include "base/err.h"

#include <stddef.h>

struct scenario {
    double devices; /* how many there are                                                  */
    double gemm;    /* rate of GEMM and FMA, as a factor of the healthy one                */
    double memory;  /* rate of memory, likewise                                            */
    double after;   /* seconds after which clock or wrong take effect                      */
    double clock;   /* clock from then on, as a factor; GEMM and FMA follow, memory does not */
    double share;   /* share of enqueues that take `times` as long                         */
    double times;
    double wrong; /* share of an output's elements that come out wrong, in runs of 16      */
    double dead;  /* m of the GEMM at which the process gets SIGKILL; 0 = none             */
    double hung;  /* m of the GEMM after which sync never returns; 0 = none                */
};

/* text as in the examples; NULL is "healthy". ERR_USAGE names what is wrong and what there is. */
int scenario_parse(const char *text, struct scenario *out, struct err *e) MUST_CHECK;

/* The rows, for --help and lists; NULL past the last. */
struct scenario_row {
    const char *name, *parameters, *summary;
};
const struct scenario_row *scenario_at(size_t index);

#endif
