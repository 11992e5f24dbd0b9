#include "bench/crew.h"

#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opening a device takes seconds at most; a driver that is starting up takes a minute. */
static const uint64_t open_patience_ns = 120 * UINT64_C(1000000000);
/* A dying worker closes its socket before it can be reaped. */
static const uint64_t exit_patience_ns = 500 * UINT64_C(1000000);
static const uint64_t poll_step_ns = 1000000;
static const uint64_t stop_look_ns = 100 * UINT64_C(1000000);

static int start(struct crew *crew, int rank, struct err *e) {
    const struct backend_config *config = &crew->config;
    /* One word each: a value may begin with a dash. */
    char *backend = xasprintf("--backend=%s", crew->backend);
    char *device = xasprintf("--device=%d", rank);
    char *threads = xasprintf("--threads=%d", config->threads);
    const char *name = config->scenario != NULL ? "scenario" : "folder";
    const char *value = config->scenario != NULL ? config->scenario : config->folder;
    char *chosen = value != NULL ? xasprintf("--%s=%s", name, value) : NULL;
    const char *argv[] = {"stepcost", "worker", backend, device, threads, chosen, NULL};
    int result = proc_start_self(&crew->ranks[rank].proc, (char *const *)(void *)argv, e);
    free(backend);
    free(device);
    free(threads);
    free(chosen);
    return result;
}

/* What a worker says first: ready, or why it cannot be. */
static int read_first(struct crew *crew, int rank, const char *line, int *count, struct err *e) {
    json_t *message = message_parse(line, e);
    if (message == NULL)
        return -1;
    int result = strcmp(message_type(message), "ready") == 0
                     ? message_read_ready(message, &crew->ranks[rank].info, count, e)
                     : message_read_error(message, e);
    json_decref(message);
    return result;
}

/* As proc_receive, but looks at the stop flag from time to time. */
static int receive_first(struct crew *crew, int rank, char **line, uint64_t deadline_ns, struct err *e) {
    for (;;) {
        uint64_t now_ns = clock_monotonic_ns();
        uint64_t look_ns = now_ns + stop_look_ns < deadline_ns ? now_ns + stop_look_ns : deadline_ns;
        int got = proc_receive(&crew->ranks[rank].proc.channel, line, look_ns, e);
        bool stopped = crew->stop != NULL && *crew->stop;
        if (got != 0 || stopped || now_ns >= deadline_ns)
            return got;
    }
}

static int await_ready(struct crew *crew, int rank, uint64_t deadline_ns, int *count, struct err *e) {
    struct crew_rank *r = &crew->ranks[rank];
    char *line, cause[ERR_TEXT_SIZE / 2];
    uint64_t limit_ns = clock_monotonic_ns() + open_patience_ns;
    int got = receive_first(crew, rank, &line, limit_ns < deadline_ns ? limit_ns : deadline_ns, e);
    if (got == 1 && read_first(crew, rank, line, count, e) == 0) {
        r->ready = true;
        return 0;
    }
    /* A wrong option is the user's to mend; all else means that there is no device to measure. */
    bool usage = got == 1 && err_exit_status(e->code) == err_exit_status(ERR_USAGE);
    enum err_code code = usage ? e->code : ERR_NO_DEVICE;
    const char *known = got == 1 ? e->text : got == 0 ? "no answer; killed" : NULL;
    crew_lose(crew, rank, known, cause, sizeof cause);
    return err_set(e, code, "%s device %d cannot be opened: %s", crew->backend, rank, cause);
}

int crew_open(struct crew *crew, int64_t devices, struct err *e) {
    crew->size = 1;
    crew->ranks = xcalloc(1, sizeof *crew->ranks);
    int count = 0;
    if (start(crew, 0, e) != 0 || await_ready(crew, 0, UINT64_MAX, &count, e) != 0)
        return -1;
    if (devices > count) {
        return err_set(e, ERR_NO_DEVICE, "%s: %" PRId64 " devices wanted, there are %d", crew->backend,
                       devices, count);
    }
    int size = devices > 0 ? (int)devices : count;
    crew->ranks = xrealloc(crew->ranks, (size_t)size * sizeof *crew->ranks);
    while (crew->size < size)
        crew->ranks[crew->size++] = (struct crew_rank){0};
    return crew_restore(crew, UINT64_MAX, e);
}

int crew_restore(struct crew *crew, uint64_t deadline_ns, struct err *e) {
    char ignored[120];
    /* One that died between cases cost none of them. */
    for (int i = 0; i < crew->size; i++)
        if (crew->ranks[i].ready && proc_poll_exit(&crew->ranks[i].proc))
            crew_lose(crew, i, NULL, ignored, sizeof ignored);
    for (int i = 0; i < crew->size; i++)
        if (!crew->ranks[i].ready && start(crew, i, e) != 0)
            return -1;
    for (int i = 0; i < crew->size; i++) {
        int count;
        if (!crew->ranks[i].ready && await_ready(crew, i, deadline_ns, &count, e) != 0)
            return -1;
    }
    return 0;
}

/* True when the worker has ended by itself within this time. */
static bool ends_within(struct proc *p, uint64_t patience_ns) {
    uint64_t deadline_ns = clock_monotonic_ns() + patience_ns;
    while (!proc_poll_exit(p)) {
        if (clock_monotonic_ns() >= deadline_ns)
            return false;
        clock_sleep_ns(poll_step_ns);
    }
    return true;
}

void crew_lose(struct crew *crew, int rank, const char *cause, char *out, size_t size) {
    struct crew_rank *r = &crew->ranks[rank];
    char how[120] = "closed its channel; killed";
    if (cause == NULL && ends_within(&r->proc, exit_patience_ns) && r->proc.exited)
        proc_describe_exit(r->proc.status, how, sizeof how);
    proc_kill(&r->proc);
    r->ready = false;
    if (cause != NULL)
        snprintf(out, size, "%s", cause);
    else
        snprintf(out, size, "worker %s", how);
}

void crew_close(struct crew *crew) {
    struct err ignored; /* whoever cannot be told is killed below */
    for (int i = 0; i < crew->size; i++)
        if (crew->ranks[i].ready)
            (void)!message_send(&crew->ranks[i].proc.channel, json_pack("{s:s}", "type", "quit"), &ignored);
    for (int i = 0; i < crew->size; i++) {
        if (crew->ranks[i].ready)
            ends_within(&crew->ranks[i].proc, exit_patience_ns);
        proc_kill(&crew->ranks[i].proc);
    }
    free(crew->ranks);
    *crew = (struct crew){0};
}
