#include "base/mem.h"
#include "bench/group_local.h"
#include "bench/message.h"
#include "model/record_line.h"

#include <stdlib.h>
#include <string.h>

struct worker {
    struct proc_channel channel;
    const struct backend *backend;
    struct device *device;
    struct device_info info;
    cpu_set_t cpus;
    bool cpus_known;
};

/* Where a case's chunks go: to the supervisor, as bodies of record lines. */
struct relay {
    struct worker *worker;
    const struct message_case *m;
};

struct columns {
    double *values;
    size_t count;
};

/* Column `index` of `count` values each, in one block that relay_chunk frees. */
static double *column(struct columns *c, size_t index) {
    return c->values + index * c->count;
}

static json_t *chunk_body(const struct relay *relay, struct columns *s, struct columns *t,
                          const struct sample *samples, const struct telemetry_row *rows) {
    for (size_t i = 0; i < s->count; i++) {
        column(s, 0)[i] = samples[i].start_s;
        column(s, 1)[i] = samples[i].iterations;
        column(s, 2)[i] = samples[i].elapsed_s;
    }
    for (size_t i = 0; i < t->count; i++) {
        column(t, 0)[i] = rows[i].t_s;
        column(t, 1)[i] = rows[i].values.clock_hz;
        column(t, 2)[i] = rows[i].values.power_w;
        column(t, 3)[i] = rows[i].values.temperature_c;
        column(t, 4)[i] = rows[i].values.throttled_s;
    }
    struct record_samples_line line = {
        .id = relay->m->c.id,
        .attempt = relay->m->attempt,
        .rank = relay->m->rank,
        .count = s->count,
        .start_s = column(s, 0),
        .iterations = column(s, 1),
        .elapsed_s = column(s, 2),
        .telemetry = {t->count, column(t, 0), column(t, 1), column(t, 2), column(t, 3), column(t, 4)},
    };
    line.work_per_iteration = op_work(&relay->m->c.op, &line.unit);
    return record_samples_body(&line);
}

static int relay_chunk(void *context, const struct sample *samples, size_t count,
                       const struct telemetry_row *rows, size_t row_count, struct err *e) {
    struct relay *relay = context;
    struct columns s = {xmalloc(3 * count * sizeof(double)), count};
    struct columns t = {xmalloc(5 * row_count * sizeof(double) + 1), row_count};
    json_t *message =
        json_pack("{s:s, s:o}", "type", "samples", "body", chunk_body(relay, &s, &t, samples, rows));
    free(s.values);
    free(t.values);
    return message_send(&relay->worker->channel, message, e);
}

static int run_case(struct worker *w, const json_t *message, struct err *e) {
    struct message_case m;
    struct runner_result result;
    if (message_read_case(message, &m, e) != 0)
        return -1;
    struct group group = group_local_make(&w->channel, m.rank, m.size);
    struct relay relay = {w, &m};
    struct runner runner = {
        .backend = w->backend,
        .device = w->device,
        .info = w->info,
        .group = m.size > 1 ? &group : NULL,
        .cpus = w->cpus_known ? &w->cpus : NULL,
        .seed = m.seed,
        .goal = m.goal,
    };
    struct runner_sink sink = {&relay, relay_chunk};
    if (runner_run(&runner, &m.c, &sink, &result, e) != 0)
        return -1;
    return message_send(&w->channel, message_done(&result), e);
}

/* 1 = the supervisor is done with this worker. */
static int serve_one(struct worker *w, struct err *e) {
    char *line;
    struct err gone;
    if (proc_receive(&w->channel, &line, UINT64_MAX, &gone) != 1)
        return 1;
    json_t *message = message_parse(line, e);
    if (message == NULL)
        return -1;
    int result = strcmp(message_type(message), "case") == 0 ? run_case(w, message, e) : 1;
    json_decref(message);
    return result;
}

static int open_device(struct worker *w, const char *name, const struct backend_config *config, int index,
                       struct err *e) {
    w->backend = backend_find(name, e);
    if (w->backend == NULL)
        return -1;
    int count = w->backend->count(config, e);
    if (count <= index) {
        return count > 0 ? err_set(e, ERR_NO_DEVICE, "%s: there is no device %d, only %d", name, index, count)
                         : err_wrap(e, "%s: no device", name);
    }
    if (w->backend->open(config, index, &w->device, e) != 0 ||
        w->backend->describe(w->device, &w->info, e) != 0)
        return -1;
    return message_send(&w->channel, message_ready(&w->info, count), e);
}

int worker_main(const char *backend, const struct backend_config *config, int device, struct err *e) {
    struct worker w = {.channel = proc_channel_make(PROC_CHILD_FD)};
    /* Before the device is opened: its libraries pin this thread to one CPU. */
    w.cpus_known = sched_getaffinity(0, sizeof w.cpus, &w.cpus) == 0;
    int result = open_device(&w, backend, config, device, e);
    while (result == 0)
        result = serve_one(&w, e);
    if (result < 0) {
        struct err ignored;
        (void)!message_send(&w.channel, message_error("error", e), &ignored);
    }
    if (w.device != NULL)
        w.backend->close(w.device);
    proc_channel_close(&w.channel);
    return 0; /* what went wrong is the supervisor's to tell */
}
