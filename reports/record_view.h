/* A record as evidence: its rates, worked out once, and which of them answers for an op. */
#ifndef REPORTS_RECORD_VIEW_H
#define REPORTS_RECORD_VIEW_H

#include "reports/evidence.h"

/* Fills *out from *record (borrowed); pieces come from the arena. out->refused says why it is no evidence. */
void record_view_make(struct arena *arena, const struct gpu_table *gpus, const struct record *record,
                      bool allow_simulated, struct evidence_record *out);

struct record_figure {
    double per_s, sigma; /* FLOP/s or bytes/s; relative, within the run: NaN = too few samples to say */
    bool interpolated;
    const char *doubt; /* "throttled", "contaminated", "unsteady", "wide", "few samples" or "" */
};
/* The op's own case; else, compute-bound: the nearest shape of the same kind and dtype, in log FLOP
 * (interpolated: adds that sigma); ATTENTION: its unfused parts; else the bandwidth of the triad. */
bool record_view_rate(const struct evidence_record *r, const struct op *op, double interpolated_sigma,
                      struct record_figure *out);
/* Bus bandwidth from the largest measured all-reduce. */
bool record_view_allreduce(const struct evidence_record *r, struct record_figure *out);
/* The case that would have answered for this op, left out because it is above the peak; NULL = there is none.
 */
const struct record_case *record_view_left_out(const struct evidence_record *r, const struct op *op);
/* True when a GEMM in t was measured. */
bool record_view_has_gemm(const struct evidence_record *r, enum dtype t);

/* Is the device of this record a GPU? As the head line says. */
bool record_is_gpu(const struct record *r);
/* Which GPU, by the driver's name and memory; NULL for a CPU, an unknown or an ambiguous one. */
const struct gpu *record_gpu(const struct record *r, const struct gpu_table *gpus);
/* The rate of the slowest rank, its relative within-run sigma. False when nothing was measured. */
bool record_case_figure(const struct record *r, const struct record_case *c, struct record_figure *out);

/* A rank that ran above 102 % of the peak: an error of measurement, or a device that is not what it says. */
struct record_excess {
    int rank;
    double ratio;   /* rate / peak */
    const char *of; /* "the datasheet's peak" ... */
};
/* Products and streams of a known GPU are held against its datasheet, a CPU's products against the peak that
 * this run calibrated. True, and the first such rank in *out, when a rate is above that. */
bool record_case_above_peak(const struct record *r, const struct gpu *gpu, const struct record_case *c,
                            struct record_excess *out);
/* True of a GEMM in a number format that the device's record says it emulates: its rate is none of hardware,
 * so it is no evidence. */
bool record_case_is_emulated(const struct record *r, const struct record_case *c);
/* A fact of the record's first device; "" = it has none of that name. */
const char *record_fact(const struct record *r, const char *key);
/* COPY, SCALE, ADD, TRIAD. */
bool record_is_stream(const struct op *op);

#endif
