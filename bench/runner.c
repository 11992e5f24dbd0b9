#include "base/clock.h"
#include "base/mem.h"
#include "base/series.h"
#include "base/units.h"
#include "bench/operands.h"
#include "bench/sampler.h"
#include "kernels/group.h"
#include "kernels/ref/ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double sample_s = 0.05;           /* least device time of a sample ...                 */
static const double sample_resolutions = 1000; /* ... also in steps of the clock                     */
static const double sample_margin = 1.1;       /* so that a sample a little faster is not too short */
static const double warm_agreement = 0.01;
static const double warm_cap_s = 2, warm_cap_share = 0.2;
static const double chunk_most_s = 10;
enum { CHUNK_SAMPLES = 4096 };
static const double iterations_max = 1e12;

/* What a step says: go on, or the case is over and its status set. -1 is the device's failure. */
enum { GO_ON = 0, CASE_OVER = 1 };
enum { WARNING_SIZE = sizeof((struct runner_result *)0)->warnings[0] };

struct run {
    const struct runner *r;
    const struct bench_case *c;
    const struct runner_sink *sink;
    struct runner_result *out;
    struct operands operands;
    struct queue *queue;
    struct event *from, *to;
    size_t next_set;
    double iterations; /* a batch; whole */
    uint64_t begin_ns, first_ns;
    struct sample *samples;
    double *times_s; /* of one iteration, for the stopping rule */
    size_t count, sample_capacity, time_capacity, flushed;
    double chunk_s; /* when the open chunk began */
    struct sampler sampler;
};

static uint64_t now_ns(const struct run *run) {
    const struct backend *b = run->r->backend;
    return b->now_ns != NULL ? b->now_ns(run->r->device) : clock_monotonic_ns();
}

static double seconds_since(const struct run *run, uint64_t then_ns) {
    return (double)(now_ns(run) - then_ns) * 1e-9;
}

static int case_over(struct run *run, enum case_status status, const char *reason) {
    snprintf(run->out->reason, sizeof run->out->reason, "%.239s", reason);
    run->out->status = status;
    return CASE_OVER;
}

/* Where the next warning is to be written, of WARNING_SIZE bytes. */
static char *next_warning(struct run *run) {
    size_t *count = &run->out->warning_count;
    return run->out->warnings[*count < RUNNER_MAX_WARNINGS ? (*count)++ : RUNNER_MAX_WARNINGS - 1];
}

static void warn_small_operands(struct run *run) {
    const struct operands *o = &run->operands;
    double bytes = o->set_bytes * (double)o->count, cache_bytes = run->r->info.cache_bytes;
    char have[UNITS_TEXT_SIZE], cache[UNITS_TEXT_SIZE];
    if (run->c->rotate && bytes > 0 && bytes <= 4 * cache_bytes)
        snprintf(next_warning(run), WARNING_SIZE,
                 "operands of %s are under 4 x the last-level cache of %s: the cache flatters this",
                 units_format_bytes(bytes, have), units_format_bytes(cache_bytes, cache));
}

static int prepare(struct run *run, struct err *e) {
    const struct backend *b = run->r->backend;
    char why[200] = "";
    if (!b->supports(run->r->device, &run->c->op, why, sizeof why))
        return case_over(run, CASE_NOT_TESTED, why);
    struct op_operand ignored[OP_MAX_OPERANDS];
    if (op_operands(&run->c->op, ignored) > 0 && !ref_supports(&run->c->op, why, sizeof why))
        return case_over(run, CASE_NOT_TESTED, why);
    if (operands_open(&run->operands, run->r, run->c, e) != 0)
        return e->code == ERR_DEVICE_MEMORY ? case_over(run, CASE_NOT_TESTED, e->text) : -1;
    warn_small_operands(run);
    if (b->queue_open(run->r->device, &run->queue, e) != 0 ||
        b->event_open(run->r->device, &run->from, e) != 0)
        return -1;
    return b->event_open(run->r->device, &run->to, e);
}

/* What the backend itself has to say of how it came about. */
static void remark(struct run *run) {
    const struct backend *b = run->r->backend;
    char text[WARNING_SIZE] = "";
    if (b->remark != NULL)
        b->remark(run->operands.sets[0].prepared, text, sizeof text);
    if (text[0] != '\0')
        snprintf(next_warning(run), WARNING_SIZE, "%s", text);
}

/* The timed region: nothing here allocates, reads a clock or formats text. */
static int batch(struct run *run, double iterations, double *elapsed_s, struct err *e) {
    const struct backend *b = run->r->backend;
    const struct operands *o = &run->operands;
    uint64_t n = (uint64_t)iterations;
    if (b->record(run->queue, run->from, e) != 0)
        return -1;
    if (o->count == 1) {
        if (b->enqueue(run->queue, o->sets[0].prepared, n, e) != 0)
            return -1;
    } else {
        for (uint64_t i = 0; i < n; i++) {
            if (b->enqueue(run->queue, o->sets[run->next_set].prepared, 1, e) != 0)
                return -1;
            run->next_set = run->next_set + 1 < o->count ? run->next_set + 1 : 0;
        }
    }
    if (b->record(run->queue, run->to, e) != 0 || b->sync(run->queue, e) != 0)
        return -1;
    return b->elapsed(run->from, run->to, elapsed_s, e);
}

/* The set that was executed last: its output is fresh. */
static size_t last_set(const struct run *run) {
    return run->next_set > 0 ? run->next_set - 1 : run->operands.count - 1;
}

static int verify(struct run *run, uint64_t salt, struct err *e) {
    char reason[sizeof run->out->reason];
    int wrong = operands_verify(&run->operands, last_set(run), salt, reason, sizeof reason, e);
    return wrong > 0 ? case_over(run, CASE_FAILED, reason) : wrong;
}

static double batch_least_s(const struct run *run) {
    if (run->r->backend->now_ns != NULL)
        return sample_s;
    return fmax(sample_s, sample_resolutions * (double)clock_resolution_ns() * 1e-9);
}

/* More iterations for a batch that took elapsed_s and was too short; at most 100 times as many, because
 * the first batches are mostly overhead. */
static double more_iterations(double iterations, double elapsed_s, double least_s) {
    double factor = elapsed_s > 0 ? sample_margin * least_s / elapsed_s : 100;
    return ceil(iterations * fmin(100, fmax(factor, sample_margin)));
}

/* Finds the number of iterations of a batch, and goes on until two windows in a row agree: warm-up and
 * calibration are one, because only a warm device can be calibrated. */
static int warm_up(struct run *run, double per_iteration_s, struct err *e) {
    double least_s = batch_least_s(run);
    /* However short the case, two windows must fit. */
    double heat_s = run->c->heat_s;
    double cap_s =
        heat_s + fmax(fmin(warm_cap_s, warm_cap_share * (run->c->seconds - heat_s)), 2.5 * least_s);
    double last_s = per_iteration_s >= least_s ? per_iteration_s : NAN;
    run->iterations = 1;
    for (;;) {
        double elapsed_s;
        if (batch(run, run->iterations, &elapsed_s, e) != 0)
            return -1;
        if (elapsed_s < least_s) {
            run->iterations = more_iterations(run->iterations, elapsed_s, least_s);
            if (run->iterations > iterations_max)
                return case_over(run, CASE_FAILED, "the device's clock stands still: no work takes any time");
            continue;
        }
        double window_s = elapsed_s / run->iterations;
        double spent_s = seconds_since(run, run->begin_ns);
        run->out->warmed_up = spent_s >= heat_s && fabs(window_s - last_s) <= warm_agreement * last_s;
        last_s = window_s;
        if (run->out->warmed_up || spent_s >= cap_s)
            break;
    }
    run->iterations = fmax(1, ceil(sample_margin * least_s / last_s));
    if (!run->out->warmed_up)
        snprintf(next_warning(run), WARNING_SIZE, "warm-up not steady after %.2f s",
                 seconds_since(run, run->begin_ns));
    return GO_ON;
}

static int flush(struct run *run, struct err *e) {
    size_t fresh = run->count - run->flushed;
    if (fresh == 0)
        return 0;
    const struct telemetry_row *rows;
    size_t row_count = sampler_take(&run->sampler, &rows);
    int result = run->sink->chunk(run->sink->context, run->samples + run->flushed, fresh, rows, row_count, e);
    run->flushed = run->count;
    return result;
}

static int take_sample(struct run *run, struct err *e) {
    run->samples = xgrow(run->samples, sizeof *run->samples, run->count, &run->sample_capacity);
    run->times_s = xgrow(run->times_s, sizeof *run->times_s, run->count, &run->time_capacity);
    uint64_t start_ns = now_ns(run);
    double elapsed_s;
    if (run->count == 0) {
        run->first_ns = start_ns;
        sampler_start(&run->sampler, start_ns);
    }
    if (batch(run, run->iterations, &elapsed_s, e) != 0)
        return -1;
    double start_s = (double)(start_ns - run->first_ns) * 1e-9;
    run->samples[run->count] = (struct sample){start_s, run->iterations, elapsed_s};
    run->times_s[run->count] = elapsed_s / run->iterations;
    run->count++;
    return 0;
}

static bool steady_enough(const struct run *run) {
    return series_is_look(run->count) &&
           series_judge(run->times_s, run->count, run->r->goal).state == SERIES_STEADY;
}

static int sample(struct run *run, struct err *e) {
    struct group *g = run->r->group;
    if (g != NULL && g->barrier(g, e) != 0)
        return case_over(run, CASE_FAILED, e->text);
    sampler_open(&run->sampler, run->r);
    for (;;) {
        double before_s = seconds_since(run, run->begin_ns);
        if (take_sample(run, e) != 0)
            return -1;
        double now_s = seconds_since(run, run->first_ns);
        double spent_s = seconds_since(run, run->begin_ns);
        double next_s = spent_s - before_s; /* the next sample takes about as long as this one */
        sampler_tick(&run->sampler, now_s);
        if (steady_enough(run) || spent_s + next_s > run->c->seconds)
            break;
        bool full = run->count - run->flushed >= CHUNK_SAMPLES;
        if (full || now_s - run->chunk_s + next_s > chunk_most_s) {
            if (flush(run, e) != 0)
                return -1;
            run->chunk_s = now_s;
        }
    }
    sampler_stop(&run->sampler, seconds_since(run, run->first_ns));
    return flush(run, e);
}

static void clean_up(struct run *run) {
    const struct backend *b = run->r->backend;
    sampler_close(&run->sampler);
    if (run->from != NULL)
        b->event_close(run->from);
    if (run->to != NULL)
        b->event_close(run->to);
    if (run->queue != NULL)
        b->queue_close(run->queue);
    operands_close(&run->operands);
    free(run->samples);
    free(run->times_s);
}

static int measure(struct run *run, struct err *e) {
    double first_s;
    int result = prepare(run, e);
    if (result != GO_ON)
        return result;
    if (batch(run, 1, &first_s, e) != 0)
        return -1;
    if ((result = verify(run, run->r->seed, e)) != GO_ON)
        return result;
    run->begin_ns = now_ns(run);
    if ((result = warm_up(run, first_s, e)) != GO_ON || (result = sample(run, e)) != GO_ON)
        return result;
    remark(run);
    if ((result = verify(run, run->r->seed + 1, e)) != GO_ON)
        return result;
    return operands_deviation(&run->operands, last_set(run), run->r->seed + 2, &run->out->deviation, e);
}

int runner_run(const struct runner *r, const struct bench_case *c, const struct runner_sink *sink,
               struct runner_result *out, struct err *e) {
    struct run run = {.r = r, .c = c, .sink = sink, .out = out};
    *out = (struct runner_result){.status = CASE_MEASURED, .deviation = {NAN, NAN, NAN}};
    int result = measure(&run, e);
    clean_up(&run);
    return result < 0 ? -1 : 0;
}
