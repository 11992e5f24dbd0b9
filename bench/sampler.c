#include "bench/sampler.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

static const uint64_t ns_per_s = 1000000000;
static const double every_s = 0.15; /* with samples of 50 ms between: 5 rows a second */

static void take_row(struct sampler *s, double t_s) {
    struct telemetry_row row = {t_s, {NAN, NAN, NAN, NAN}};
    s->r->backend->telemetry(s->r->device, &row.values);
    pthread_mutex_lock(&s->lock);
    if (s->count < SAMPLER_ROWS)
        s->rows[s->count++] = row;
    pthread_mutex_unlock(&s->lock);
    s->last_s = t_s;
}

/* False when the thread is to end. */
static bool await_next(struct sampler *s) {
    uint64_t due_ns = clock_monotonic_ns() + (uint64_t)(every_s * (double)ns_per_s);
    struct timespec due = {(time_t)(due_ns / ns_per_s), (long)(due_ns % ns_per_s)};
    int timed_out = 0;
    pthread_mutex_lock(&s->lock);
    while (!s->stop && !timed_out)
        timed_out = pthread_cond_timedwait(&s->wake, &s->lock, &due);
    bool stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return !stop;
}

static void *work(void *context) {
    struct sampler *s = context;
    while (await_next(s))
        take_row(s, (double)(clock_monotonic_ns() - s->origin_ns) * 1e-9);
    return NULL;
}

void sampler_open(struct sampler *s, const struct runner *r) {
    pthread_condattr_t monotonic;
    *s = (struct sampler){.r = r};
    s->rows = xmalloc(SAMPLER_ROWS * sizeof *s->rows);
    s->taken = xmalloc(SAMPLER_ROWS * sizeof *s->taken);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    take_row(s, 0);
}

void sampler_start(struct sampler *s, uint64_t origin_ns) {
    s->origin_ns = origin_ns;
    if (s->r->backend->now_ns != NULL)
        return;
    /* Without a thread (a limit of the container) rows between samples are better than none. */
    s->threaded = pthread_create(&s->thread, NULL, work, s) == 0;
    if (s->threaded && s->r->cpus != NULL)
        pthread_setaffinity_np(s->thread, sizeof *s->r->cpus, s->r->cpus);
}

void sampler_tick(struct sampler *s, double t_s) {
    if (!s->threaded && t_s - s->last_s >= every_s)
        take_row(s, t_s);
}

size_t sampler_take(struct sampler *s, const struct telemetry_row **rows) {
    pthread_mutex_lock(&s->lock);
    struct telemetry_row *filled = s->rows;
    size_t count = s->count;
    s->rows = s->taken;
    s->taken = filled;
    s->count = 0;
    pthread_mutex_unlock(&s->lock);
    *rows = filled;
    return count;
}

static void end_thread(struct sampler *s) {
    if (!s->threaded)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    s->threaded = false;
}

void sampler_stop(struct sampler *s, double t_s) {
    end_thread(s);
    take_row(s, t_s);
}

void sampler_close(struct sampler *s) {
    if (s->r == NULL)
        return;
    end_thread(s);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s->rows);
    free(s->taken);
    *s = (struct sampler){0};
}
