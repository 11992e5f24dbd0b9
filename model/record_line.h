/* The JSON members of each line of a record, in this one place. The builders here make a line's body for
 * record_append, which puts "kind" and "prev" in front; record_read.c takes the same members apart.
 * Not for reading records: see record.h.
 *
 * head     schema, method   integers: RECORD_SCHEMA, RECORD_METHOD
 *          program          string: name, version, revision
 *          created          string: UTC, "2026-11-30T08:15:00Z"
 *          backend          string;  simulated: boolean
 *          devices          array of {name, memory_bytes, cache_bytes, units, clock_hz, is_gpu,
 *                           facts: {key: string}}
 *          host             object; "hostname" is read, the rest is kept as it is
 *          settings         object: the options as given
 *          offer            {provider, sku, region} or null
 * case     id, bench        strings;  op: object (op_to_json);  attempt: integer from 1
 *          seconds          number: the case's budget;  mandatory: boolean
 *          device           as in the head's devices, of a case that ran on none of them (a disk); optional
 * samples  id, attempt      of the case line before it;  rank: integer from 0
 *          work_per_iteration, unit   number, "FLOP", "OP", "B" or "access"
 *          start_s, iterations, elapsed_s   arrays of one length; the last two above zero
 *          telemetry        {t_s, clock_hz, power_w, temperature_c, throttled_s}: arrays of one length;
 *                           t_s counts from the same moment as start_s
 * done     id, attempt      of the case line before it
 *          status           "measured", "not_tested" or "failed";  reason: string, "" when measured
 *          warnings         array of strings;  warmed_up: boolean
 *          host             object of record_host.h, or null
 *          deviation        {max_rel, rms_rel, elements}: numbers or null; optional: struct record_deviation
 * end      cases, measured, not_tested, failed   integers;  reason: string, "" when the plan was done
 *
 * Readers pass over members that they do not know. A number that is not known is null. */
#ifndef MODEL_RECORD_LINE_H
#define MODEL_RECORD_LINE_H

#include "model/record.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct record_device_line {
    const char *name;
    double memory_bytes, cache_bytes, clock_hz; /* NaN = not known */
    int units;
    bool is_gpu;
    const json_t *facts; /* {key: string}; NULL = none */
};

struct record_head_line {
    const char *program, *backend;
    bool simulated;
    const json_t *devices;  /* array of record_device_body */
    const json_t *host;     /* NULL = {}                   */
    const json_t *settings; /* NULL = {}                   */
    const json_t *offer;    /* NULL = null                 */
};

struct record_case_line {
    const char *id, *bench;
    const struct op *op;
    int attempt;
    double seconds;
    bool mandatory;
    const json_t *device; /* record_device_body; NULL = left out */
};

struct record_samples_line {
    const char *id;
    int attempt, rank;
    double work_per_iteration;
    const char *unit;
    size_t count;
    const double *start_s, *iterations, *elapsed_s;
    struct record_telemetry telemetry; /* arrays borrowed; a NULL array is written as nulls */
};

struct record_done_line {
    const char *id;
    int attempt;
    enum case_status status; /* not CASE_OPEN */
    const char *reason;      /* NULL = ""     */
    const char *const *warnings;
    size_t warning_count;
    bool warmed_up;
    const struct record_host *host;           /* NULL = null */
    const struct record_deviation *deviation; /* NULL = left out */
};

struct record_end_line {
    size_t cases, measured, not_tested, failed;
    const char *reason; /* why the run ended early; NULL or "" = it did not */
};

/* Each gives a new reference and copies what it is shown (JSON arguments get one reference more). Text
 * that is no UTF-8 is written with '?' for each bad byte. The head's time is now. */
json_t *record_device_body(const struct record_device_line *d);
json_t *record_head_body(const struct record_head_line *h);
json_t *record_case_body(const struct record_case_line *c);
json_t *record_samples_body(const struct record_samples_line *s);
json_t *record_done_body(const struct record_done_line *d);
json_t *record_end_body(const struct record_end_line *n);

json_t *record_deviation_json(const struct record_deviation *d);
/* All NaN where value is none. */
struct record_deviation record_deviation_from(const json_t *value);

#endif
