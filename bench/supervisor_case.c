#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "bench/group_local.h"
#include "bench/supervisor.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stop flag set by a signal is seen after this time at the latest. */
enum { POLL_MS = 100 };
/* A handler's answer when the record cannot be written. */
enum { RECORD_LOST = 1 };
/* Half-width of the interval at which a case is done: +-1 %. */
static const double goal = 0.01;

struct running {
    struct crew *crew;
    struct record_writer *writer;
    const struct case_request *r;
    struct case_outcome *out;
    struct hub hub;
    bool *pending; /* ranks that have not ended yet */
    int pending_count;
    struct pollfd *polls;
    uint64_t deadline_ns;
    bool decided; /* a rank ended badly: the first to do so names the cause */
};

/* The first bad end decides: what follows (a broken barrier) is its consequence. */
static void decide(struct running *g, int rank, enum case_status status, const char *reason) {
    if (!g->decided) {
        g->decided = true;
        g->out->status = status;
        snprintf(g->out->reason, sizeof g->out->reason, "rank %d: %.280s", rank, reason);
    }
}

static void end_rank(struct running *g, int rank) {
    g->pending[rank] = false;
    g->pending_count--;
}

/* cause NULL: it died by itself. */
static void lose(struct running *g, int rank, const char *cause) {
    char text[240];
    crew_lose(g->crew, rank, cause, text, sizeof text);
    g->out->lost++;
    decide(g, rank, CASE_FAILED, text);
    hub_leave(&g->hub, rank, text);
    end_rank(g, rank);
}

static void add_warning(struct running *g, int rank, const char *text) {
    if (g->out->warning_count == CASE_MAX_WARNINGS)
        return;
    char *warning = g->out->warnings[g->out->warning_count++];
    if (g->crew->size > 1)
        snprintf(warning, sizeof g->out->warnings[0], "rank %d: %s", rank, text);
    else
        snprintf(warning, sizeof g->out->warnings[0], "%s", text);
}

static int take_done(struct running *g, int rank, const json_t *message, struct err *e) {
    struct runner_result result;
    if (message_read_done(message, &result, e) != 0)
        return -1;
    for (size_t i = 0; i < result.warning_count; i++)
        add_warning(g, rank, result.warnings[i]);
    if (isnan(g->out->deviation.rms_rel) || result.deviation.rms_rel > g->out->deviation.rms_rel)
        g->out->deviation = result.deviation;
    g->out->warmed_up = g->out->warmed_up && result.warmed_up;
    if (result.status != CASE_MEASURED) {
        decide(g, rank, result.status, result.reason);
        hub_leave(&g->hub, rank, result.reason);
    }
    end_rank(g, rank);
    return 0;
}

static int take_samples(struct running *g, int rank, const json_t *message, struct err *e) {
    (void)rank;
    return record_append(g->writer, "samples", json_object_get(message, "body"), e) == 0 ? 0 : RECORD_LOST;
}

static int take_sync(struct running *g, int rank, const json_t *message, struct err *e) {
    (void)e;
    hub_call(&g->hub, rank, message);
    return 0;
}

static int take_abort(struct running *g, int rank, const json_t *message, struct err *e) {
    (void)message_read_error(message, e);
    hub_leave(&g->hub, rank, e->text);
    return 0;
}

/* The device or its library failed: whatever that left behind ends with the worker. */
static int take_error(struct running *g, int rank, const json_t *message, struct err *e) {
    (void)g, (void)rank;
    return message_read_error(message, e);
}

/* take: 0; -1 = the worker must be given up, and why; RECORD_LOST. */
static const struct handler {
    const char *type;
    int (*take)(struct running *g, int rank, const json_t *message, struct err *e);
} handlers[] = {
    {"samples", take_samples}, {"done", take_done},   {"sync", take_sync},
    {"abort", take_abort},     {"error", take_error},
};

static int handle(struct running *g, int rank, const char *line, struct err *e) {
    json_t *message = message_parse(line, e);
    if (message == NULL)
        return -1;
    const struct handler *found = NULL;
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++)
        if (strcmp(handlers[i].type, message_type(message)) == 0)
            found = &handlers[i];
    int result = found != NULL ? found->take(g, rank, message, e)
                               : err_set(e, ERR_PEER, "sent a message '%s'", message_type(message));
    json_decref(message);
    return result;
}

/* Takes all that this rank has sent so far. */
static int drain(struct running *g, int rank, struct err *e) {
    while (g->pending[rank]) {
        char *line;
        int got = proc_receive(&g->crew->ranks[rank].proc.channel, &line, 0, e);
        if (got == 0)
            return 0;
        int result = got < 0 ? -1 : handle(g, rank, line, e);
        if (result == RECORD_LOST)
            return -1;
        if (result < 0)
            lose(g, rank, got < 0 ? NULL : e->text);
    }
    return 0;
}

static void answer_hub(struct running *g) {
    struct err ignored; /* a rank that cannot be told is seen to be gone by the next drain */
    if (!hub_ready(&g->hub))
        return;
    for (int i = 0; i < g->crew->size; i++) {
        if (hub_waits(&g->hub, i)) {
            struct proc_channel *channel = &g->crew->ranks[i].proc.channel;
            (void)!message_send(channel, hub_answer(&g->hub, i), &ignored);
        }
    }
    hub_clear(&g->hub);
}

static bool any_outside_hub(const struct running *g) {
    for (int i = 0; i < g->crew->size; i++)
        if (g->pending[i] && !hub_waits(&g->hub, i))
            return true;
    return false;
}

/* Ranks that wait for the silent one are not to blame: they are told, and get the grace once more. */
static void pass_deadline(struct running *g, uint64_t now_ns) {
    char text[80], time[UNITS_TEXT_SIZE];
    bool run_over = now_ns >= g->r->deadline_ns;
    bool spare = !run_over && any_outside_hub(g);
    units_format_duration(g->r->c->seconds + g->r->grace_s, time);
    snprintf(text, sizeof text, "no answer for %s; killed", time);
    for (int i = 0; i < g->crew->size; i++) {
        if (!g->pending[i] || (spare && hub_waits(&g->hub, i)))
            continue;
        if (run_over)
            decide(g, i, CASE_NOT_TESTED, "the deadline of the run passed before this case was done");
        lose(g, i, text);
    }
    g->deadline_ns = now_ns + (uint64_t)(g->r->grace_s * 1e9);
}

static void wait_for_news(struct running *g, uint64_t now_ns) {
    nfds_t count = 0;
    for (int i = 0; i < g->crew->size; i++)
        if (g->pending[i])
            g->polls[count++] = (struct pollfd){g->crew->ranks[i].proc.channel.fd, POLLIN, 0};
    uint64_t left_ms = (g->deadline_ns - now_ns) / 1000000 + 1;
    poll(g->polls, count, left_ms < POLL_MS ? (int)left_ms : POLL_MS);
}

static int pump(struct running *g, struct err *e) {
    while (g->pending_count > 0) {
        for (int i = 0; i < g->crew->size; i++)
            if (drain(g, i, e) != 0)
                return -1;
        answer_hub(g);
        /* A worker that the same signal killed is no failure of its case: the flag is looked at after. */
        if (g->r->stop != NULL && *g->r->stop) {
            g->out->interrupted = true;
            return 0;
        }
        uint64_t now_ns = clock_monotonic_ns();
        if (now_ns >= g->deadline_ns)
            pass_deadline(g, now_ns);
        else if (g->pending_count > 0)
            wait_for_news(g, now_ns);
    }
    return 0;
}

static void send_case(struct running *g) {
    struct message_case m = {
        .c = *g->r->c,
        .attempt = g->r->attempt,
        .size = g->crew->size,
        .seed = g->r->seed,
        .goal = goal,
    };
    struct err ignored;
    for (m.rank = 0; m.rank < g->crew->size; m.rank++) {
        g->pending[m.rank] = true;
        g->pending_count++;
        if (message_send(&g->crew->ranks[m.rank].proc.channel, message_case(&m), &ignored) != 0)
            lose(g, m.rank, NULL);
    }
}

int supervisor_case(struct crew *crew, struct record_writer *writer, const struct case_request *r,
                    struct case_outcome *out, struct err *e) {
    *out = (struct case_outcome){.status = CASE_MEASURED, .warmed_up = true, .deviation = {NAN, NAN, NAN}};
    struct running g = {.crew = crew, .writer = writer, .r = r, .out = out};
    hub_init(&g.hub, crew->size);
    g.pending = xcalloc((size_t)crew->size, sizeof *g.pending);
    g.polls = xcalloc((size_t)crew->size, sizeof *g.polls);
    uint64_t case_ns = clock_monotonic_ns() + (uint64_t)((r->c->seconds + r->grace_s) * 1e9);
    g.deadline_ns = case_ns < r->deadline_ns ? case_ns : r->deadline_ns;
    send_case(&g);
    int result = pump(&g, e);
    hub_free(&g.hub);
    free(g.pending);
    free(g.polls);
    return result;
}
