/* Which rate to expect of a device for an op, how sure that is, and what it rests on.
 *
 * Grades: A measured on this very offer (or machine), B measured on the same device model elsewhere,
 * C published achievable reference, D datasheet x the median achieved share of the GPU's family. Each rate
 * is asked in that order. Not for what a step makes of the rates: see rank_group.c.
 *
 * Assumptions, where a figure is missing: an ATTENTION without a measured case takes the time of its
 * unfused parts in a record, and the GEMM rate in grades C and D; a memory-bound op moves its bytes at
 * the bandwidth of the triad.
 *
 * A rate's source is a row of `sources`: rates of one source move together (common random numbers). */
#ifndef REPORTS_EVIDENCE_H
#define REPORTS_EVIDENCE_H

#include "reports/references.h"
#include "reports/report.h"

#include <stdbool.h>
#include <stddef.h>

struct evidence_source {
    const char *id;   /* "reference/H100-SXM5-80GB/gemm/bf16": names the random numbers */
    const char *text; /* "GEMM reference of H100-SXM5-80GB"                              */
};

/* A record with its rates worked out once. */
struct evidence_case {
    const struct record_case *test;
    double per_s;      /* of the slowest rank    */
    double sigma;      /* relative, within the run; NaN = too few samples to say */
    const char *doubt; /* as in struct rate */
};
struct evidence_record {
    const struct record *record;
    const char *name;      /* file name, for people */
    const struct gpu *gpu; /* NULL: a CPU, or a GPU that the table does not know */
    bool is_gpu;
    const char *refused; /* why it is no evidence; "" = it is */
    struct evidence_case *cases;
    size_t case_count;
    const struct record_case **left_out; /* above the peak: no evidence */
    size_t left_out_count;
};

/* Everything that rates are read from. Open with evidence_open; borrows the request. */
struct evidence_base {
    struct arena arena;
    const struct gpu_table *gpus;
    struct references references;
    struct uncertainty uncertainty;
    struct evidence_record *records;
    size_t record_count;
    struct evidence_source *sources;
    size_t source_count, source_capacity;
};
int evidence_open(struct evidence_base *b, const struct rank_request *r, struct err *e) MUST_CHECK;
void evidence_close(struct evidence_base *b);

/* Whose rates are asked for. */
struct evidence_subject {
    const struct evidence_record *record; /* NULL = none */
    enum evidence grade;                  /* of the record: A or B */
    bool own;                             /* the machine that the record was made on */
    const struct gpu *gpu;                /* NULL = a CPU or unknown GPU             */
};

/* Does the record's head name this offer? A region that it leaves out fits all. */
bool evidence_made_on(const struct record *r, const struct offer *o);
/* True when the offer says what its device is and the record was certainly made on another one: not the
 * device that was offered, so no evidence for it. */
bool evidence_contradicts(const struct evidence_record *r, const struct offer *o);
/* The latest usable record made on this offer (grade A), else on the same GPU model (B), else none. */
struct evidence_subject evidence_of_offer(const struct evidence_base *b, const struct offer *offer);

struct rate {
    double per_s;  /* FLOP/s or bytes/s */
    double sigma;  /* relative          */
    size_t source; /* row of sources    */
    enum evidence grade;
    bool unverified, interpolated;
    const char *doubt; /* of a measurement: "unsteady", "wide", "few samples"; "" = none */
};
/* False when no grade has a figure, or where evidence_above_peak has a case. */
bool evidence_rate(struct evidence_base *b, const struct evidence_subject *s, const struct op *op,
                   struct rate *out);
/* The case of the subject's own record (grade A) that would have answered and is above the peak. No table
 * stands in for it: the device may not be what it says. NULL = there is none. */
const struct record_case *evidence_above_peak(const struct evidence_subject *s, const struct op *op);
/* Bus bandwidth of an all-reduce over n devices of one node; *assumed when it comes from the line rate. */
bool evidence_busbw(struct evidence_base *b, const struct evidence_subject *s, int64_t devices,
                    struct rate *out, bool *assumed);

/* True when the subject computes in t: natively on a GPU; fp32 on a CPU, and below that what its record
 * shows measured. */
bool evidence_has_precision(const struct evidence_subject *s, enum dtype t);

#endif
