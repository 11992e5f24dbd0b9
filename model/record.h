/* The record: what leaves a measured node. JSON Lines of five kinds,
 *
 *   head     schema, method version, program, time, host, devices, settings, the offer it was made on
 *   case     what is about to be measured (id, bench, op, attempt)
 *   samples  a chunk of raw samples of one rank (at most 10 s and 1 MiB), with telemetry
 *   done     status, reason, warnings of the case
 *   end      counts
 *
 * Every line carries in "prev" the SHA-256 (hex) of the previous line's bytes without its newline; the
 * first carries 64 zeros. So a record can be watched while it grows, resumed (a torn last line is cut)
 * and verified. The chain shows damage, not forgery: whoever rewrites the whole file rewrites the hashes.
 *
 * Only raw samples are stored: rates, medians and verdicts are computed when read. Unknown numbers are
 * null, never 0. */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include "base/err.h"
#include "base/mem.h"
#include "base/series.h"
#include "model/op.h"
#include "model/record_host.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_SCHEMA = 1, RECORD_METHOD = 1, RECORD_LINE_MAX = 1 << 20 };

/* ---- writing: append only, one line at a time, each flushed to the disk (fsync) ---- */

struct record_writer; /* handle */

/* A new record at path; ERR_USAGE when the file is there already, unless it is empty or holds only the torn
 * beginning of a head. The file is locked (flock): a second writer gets ERR_IO. */
struct record_writer *record_create(const char *path, struct err *e) MUST_CHECK;
/* Continues an unfinished record: verifies the chain, cuts a torn last line (its bytes in *cut_bytes).
 * A record with an end line, broken before its last line, or of another method is ERR_PARSE; one that ends
 * before its head does is ERR_UNFINISHED: record_create begins it anew. */
struct record_writer *record_continue(const char *path, uint64_t *cut_bytes, struct err *e) MUST_CHECK;
/* Appends {"kind": kind, "prev": ..., members of body}; record_line.h makes bodies. Borrows body. A line over
 * RECORD_LINE_MAX is ERR_USAGE. What could not be written whole is cut off again. */
int record_append(struct record_writer *w, const char *kind, const json_t *body, struct err *e) MUST_CHECK;
void record_close(struct record_writer *w);

/* ---- reading ---- */

enum record_state { RECORD_INTACT, RECORD_UNFINISHED, RECORD_BROKEN };
enum case_status { CASE_MEASURED, CASE_NOT_TESTED, CASE_FAILED, CASE_OPEN /* no done line */ };

/* How far a product is from that of its unrounded inputs: sampled elements of C, each against the sum in
 * extended precision of the products of the fp64 normals that its inputs were rounded (int8: scaled and
 * rounded) from. So the rounding of the inputs is part of it. Both relative to the root mean square of the
 * exact elements. NaN = not known: no GEMM, or a record that is older. */
struct record_deviation {
    double max_rel, rms_rel;
    double elements; /* how many were compared */
};

/* Telemetry of a rank over a case: rows of numbers at their time; NaN = not known. */
struct record_telemetry {
    size_t count;
    double *t_s, *clock_hz, *power_w, *temperature_c, *throttled_s;
};

struct record_rank {
    int rank;
    double work_per_iteration; /* FLOP or bytes */
    size_t count;
    double *iterations; /* executions in the sample                     */
    double *elapsed_s;  /* device time of the sample                    */
    double *start_s;    /* when it began, from the case's first sample  */
    struct record_telemetry telemetry;
};

struct record_case {
    const char *id, *bench;
    struct op op;
    const char *unit; /* as op_work has it */
    json_t
        *device; /* when it ran on none of the head's: {name, ..., facts: {key: string}}; NULL = on those */
    int attempt;
    enum case_status status;
    const char *reason; /* "" when measured */
    const char **warnings;
    size_t warning_count;
    bool warmed_up; /* warm-up reached two windows within 1 % */
    struct record_host host;
    struct record_deviation deviation;
    struct record_rank *ranks;
    size_t rank_count;
};

struct record {
    struct arena arena;
    const char *path;
    json_t *head;
    const char *created, *backend, *device_name, *host_name;
    bool simulated;
    const char *offer_provider, *offer_sku, *offer_region; /* "" when the record names none */
    double device_memory_bytes;
    int64_t device_count;
    struct record_case *cases; /* the last attempt of each, in order of first appearance */
    size_t case_count;
    enum record_state state;
    size_t broken_line; /* valid when RECORD_BROKEN */
    uint64_t torn_bytes;
    const char *end_reason; /* why the run ended early, "" if it did not */
};

/* Reads and verifies, in memory bounded by one line and what is kept. A broken chain is not an error here:
 * state and broken_line say so, and lines before the break are kept. Nothing vouches for the last line; when
 * the last but one does not fit it, that one is named. A torn last line (torn_bytes) is left out.
 * ERR_NOT_FOUND when there is no regular file to read; ERR_PARSE when the file is no record, of a newer
 * schema, or says what cannot be, naming file and line; ERR_UNFINISHED when it ends before its head does. On
 * failure *out needs no record_free. */
int record_read(const char *path, struct record *out, struct err *e) MUST_CHECK;
void record_free(struct record *r);

const struct record_case *record_find_case(const struct record *r, const char *id);
const char *case_status_name(enum case_status s);

/* Headline of one rank: total work / total time with the interval of series_judge on time per unit of
 * work. */
struct record_rate {
    double rate;                /* work per second                                             */
    double low, high;           /* 95 % interval; NaN under 5 samples, or when it is too wide  */
    double p5, median, p95, cv; /* diagnostics, of the samples' own rates                      */
    double shift;               /* relative size of the step that stands out most              */
    enum series_state state;
};
struct record_rate record_rank_rate(const struct record_rank *r);

#endif
