/* Between supervisor.c (the plan, the record) and supervisor_case.c (one case on all ranks). */
#ifndef BENCH_SUPERVISOR_H
#define BENCH_SUPERVISOR_H

#include "bench/crew.h"
#include "bench/plan.h"

struct case_request {
    const struct bench_case *c;
    int attempt;
    uint64_t seed;
    double grace_s;
    uint64_t deadline_ns;     /* of the whole run, on the monotonic clock */
    const volatile int *stop; /* may be NULL                              */
};

enum { CASE_MAX_WARNINGS = 32, CASE_REASON_SIZE = 300 };
struct case_outcome {
    enum case_status status;
    char reason[CASE_REASON_SIZE];
    char warnings[CASE_MAX_WARNINGS][200];
    size_t warning_count;
    bool warmed_up;
    struct record_deviation deviation; /* of the rank where it is largest */
    size_t lost;                       /* workers                                                */
    bool interrupted;                  /* the stop flag was seen: the case stays without an end  */
};

/* Sends the case to every rank of the crew (all ready), carries their group messages, appends their samples
 * to the record, and kills whoever is silent beyond the case's seconds and grace. -1 only when the record
 * cannot be written. */
int supervisor_case(struct crew *crew, struct record_writer *writer, const struct case_request *r,
                    struct case_outcome *out, struct err *e) MUST_CHECK;

#endif
