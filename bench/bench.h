/* Front door of bench/: how work is timed.
 *
 * A benchmark is a row that turns a request into cases; a case is one op measured on every device of the
 * node. The supervisor owns the plan, the deadlines and the record and opens no device library; workers
 * (one process a device) run cases through the runner. What a worker breaks costs its case only. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/err.h"
#include "kernels/backend.h"
#include "model/record.h"
#include "model/workload.h"

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- plan ---- */

struct bench_case {
    char id[OP_NAME_SIZE +
            32]; /* the op's name; "@2" behind it in a second round, "@end" behind the last calibration */
    const char *bench;
    struct op op;
    double seconds;               /* its share of the time: warm-up and samples         */
    double heat_s;                /* of these, under load before the first sample       */
    bool mandatory;               /* an acceptance without it is not one                */
    bool rotate;                  /* operands rotate over more than 4 x the last cache  */
    const char *backend, *folder; /* of a worker of its own (supervisor_side.h); NULL = the run's */
};

struct plan {
    struct bench_case *cases;
    size_t count, capacity;
};
void plan_add(struct plan *p, const struct bench_case *c);
double plan_seconds(const struct plan *p);
void plan_free(struct plan *p);

struct plan_request {
    const struct device_info *device;
    int64_t devices;                 /* 0 = all there are                                                */
    const struct workload *workload; /* NULL = none                                   */
    const char *const *shapes;       /* "MxNxK", or empty                             */
    size_t shape_count;
    const enum dtype *dtypes; /* empty = the benchmark's own choice for the device     */
    size_t dtype_count;
    double seconds;           /* per case; 0 or NaN = as the tier has it                          */
    const char *const *disks; /* folders to measure, or empty                           */
    size_t disk_count;
    double disk_bytes; /* most that may be written to each                              */
};

struct bench {
    const char *name, *summary;
    int (*plan)(const struct plan_request *r, struct plan *out, struct err *e);
};
/* Rows of benches.c; NULL past the last, or when there is no such name. */
const struct bench *bench_at(size_t index);
const struct bench *bench_find(const char *name);

/* ---- tiers: rows of tiers.c ---- */

enum tier { TIER_SMOKE, TIER_ACCEPT, TIER_SOAK, TIER_COUNT };
extern const char *const tier_names[]; /* NULL-terminated */
/* The cases of a tier, mandatory ones first, their seconds summing to at most the tier's. */
int tier_plan(enum tier t, const struct plan_request *r, struct plan *out, struct err *e) MUST_CHECK;
double tier_seconds(enum tier t);

/* ---- runner: one case on one device ---- */

struct runner {
    const struct backend *backend;
    struct device *device;
    struct device_info info;
    struct group *group; /* barrier before sampling; NULL = alone */
    const cpu_set_t
        *cpus; /* for the telemetry thread: the device may have pinned its caller; NULL = caller's */
    uint64_t seed;
    double goal; /* relative half-width to stop at: 0.01 */
};

struct sample {
    double start_s, iterations, elapsed_s;
};
struct telemetry_row {
    double t_s;
    struct telemetry values;
};
/* Takes chunks of samples as they come (at most 10 s each). */
struct runner_sink {
    void *context;
    int (*chunk)(void *context, const struct sample *samples, size_t count,
                 const struct telemetry_row *telemetry, size_t telemetry_count, struct err *e);
};

enum { RUNNER_MAX_WARNINGS = 8 };
struct runner_result {
    enum case_status status;
    char reason[240];
    char warnings[RUNNER_MAX_WARNINGS][160];
    size_t warning_count;
    bool warmed_up;
    struct record_deviation deviation;
};

/* verify -> warm up -> calibrate -> sample -> stop -> verify again (docs/method.md). An op that cannot
 * run here is CASE_NOT_TESTED, a wrong result CASE_FAILED: both return 0. -1 only when the device or the
 * sink failed, so that the worker must end. */
int runner_run(const struct runner *r, const struct bench_case *c, const struct runner_sink *sink,
               struct runner_result *out, struct err *e) MUST_CHECK;

/* ---- supervisor and worker ---- */

/* Told before the first case (done = 0, text says what is about to happen), before each case, and when
 * something is worth a person's eye (a worker lost). */
struct run_progress {
    size_t done, total; /* cases            */
    double left_s;      /* expected, to the end */
    const char *text;   /* one line         */
    bool notice;        /* not just progress */
};

struct run_request {
    const char *backend;
    struct backend_config config;
    enum tier tier;
    const char *const *benches; /* names; empty = the tier's own cases */
    size_t bench_count;
    struct plan_request plan; /* device is filled in by the supervisor */
    const char *record_path;
    bool resume;
    double deadline_s; /* hard limit of the whole run; NaN = the tier's own                      */
    double grace_s;    /* beyond its seconds before a silent worker is killed          */
    uint64_t seed;
    json_t *settings; /* borrowed: the options as given, for the head line            */
    json_t *host;     /* borrowed: inventory of the host, for the head line           */
    json_t *offer;    /* borrowed: {"provider","sku","region"} or NULL                */
    void (*say)(void *context, const struct run_progress *p); /* NULL = silent */
    void *say_context;
    const volatile int *stop; /* set by a signal handler: end in order */
};

struct run_summary {
    size_t planned, measured, not_tested, failed, resumed;
    uint64_t cut_bytes; /* torn last line that --resume removed */
    bool finished;      /* an end line was written              */
};

/* -1: the run could not begin or the record could not be written. Device trouble is in the record. */
int supervisor_run(const struct run_request *r, struct run_summary *out, struct err *e) MUST_CHECK;
/* The other side: `stepcost worker`, on PROC_CHILD_FD until told to stop. */
int worker_main(const char *backend, const struct backend_config *config, int device,
                struct err *e) MUST_CHECK;

/* The host as it stands (inventory.c): CPU, memory, kernel, limits, clock source, other load. New ref. */
json_t *inventory_read(const char *root);
/* NVIDIA hardware by PCI vendor or device files, driver or not; counts and the driver's version. */
struct nvidia_presence {
    int devices;
    char driver[32];
};
struct nvidia_presence inventory_nvidia(const char *root);

#endif
