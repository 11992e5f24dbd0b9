/* Helpers that the benchmarks' plan functions share. Not a front door: see bench.h. */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include "bench/bench.h"

/* Adds the case BENCH/OP with r's seconds, unless the plan has it already. */
void plan_add_op(struct plan *p, const struct plan_request *r, const struct bench_case *c);
/* The dtype in which r's workload runs on r's device: the first of its precisions that the device
 * multiplies natively; fp32 on a CPU. An unknown GPU is taken to have the first. */
enum dtype plan_workload_dtype(const struct plan_request *r);

/* "MxNxK", each from 1 to 2^20. */
int plan_parse_shape(const char *text, int64_t out[3], struct err *e) MUST_CHECK;

/* One per benchmark file. */
int cache_plan(const struct plan_request *r, struct plan *out, struct err *e) MUST_CHECK;
int disk_plan(const struct plan_request *r, struct plan *out, struct err *e) MUST_CHECK;
int fma_plan(const struct plan_request *r, struct plan *out, struct err *e) MUST_CHECK;
int gemm_plan(const struct plan_request *r, struct plan *out, struct err *e) MUST_CHECK;
int membw_plan(const struct plan_request *r, struct plan *out, struct err *e) MUST_CHECK;
int precision_plan(const struct plan_request *r, struct plan *out, struct err *e) MUST_CHECK;

/* Seconds that tier t gives one case of this benchmark. */
double tier_case_seconds(enum tier t, const char *bench);
/* Gives the first case of a run the tier's heating time, and as many seconds more. */
void tier_heat(enum tier t, struct bench_case *first);

/* The peak once more at the end, when there is something to hold against it: other work may have slowed the
 * first calibration, and a peak that was never reached makes every rate look too good. */
void plan_recalibrate(struct plan *p);

#endif
