#include "bench/supervisor.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/host_load.h"
#include "bench/identity.h"
#include "bench/supervisor_side.h"
#include "model/record_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Workers lost in cases that follow each other: after that the machine, not the case, is at fault. */
enum { LOSSES_IN_A_ROW = 3 };

struct supervisor {
    const struct run_request *r;
    struct run_summary *summary;
    struct crew crew;
    struct side side; /* for cases with a backend of their own */
    struct plan plan;
    struct record_writer *writer;
    struct record old; /* --resume: the record as it was found */
    uint64_t deadline_ns;
    size_t losses_in_a_row;
    char given_up[CASE_REASON_SIZE]; /* why the rest is not tested; "" = going on */
    double left_s;
};

static void say(const struct supervisor *s, size_t done, const char *text, bool notice) {
    struct run_progress p = {
        .done = done, .total = s->plan.count, .left_s = s->left_s, .text = text, .notice = notice};
    if (s->r->say != NULL)
        s->r->say(s->r->say_context, &p);
}

static bool stopped(const struct supervisor *s) {
    return s->r->stop != NULL && *s->r->stop;
}

/* ---- the plan ---- */

static int plan_bench(struct supervisor *s, const struct plan_request *request, const char *name,
                      struct err *e) {
    const struct bench *b = bench_find(name);
    if (b == NULL)
        return err_set(e, ERR_USAGE, "no benchmark '%s'", name);
    struct plan_request own = *request;
    own.seconds = own.seconds > 0 ? own.seconds : tier_case_seconds(s->r->tier, name);
    return b->plan(&own, &s->plan, e);
}

/* The peak comes first, named or not: every rate is held against it. */
static int plan_benches(struct supervisor *s, const struct plan_request *request, struct err *e) {
    if (plan_bench(s, request, "fma", e) != 0)
        return -1;
    for (size_t i = 0; i < s->r->bench_count; i++)
        if (plan_bench(s, request, s->r->benches[i], e) != 0)
            return -1;
    tier_heat(s->r->tier, &s->plan.cases[0]);
    return 0;
}

static int make_plan(struct supervisor *s, struct err *e) {
    struct plan_request request = s->r->plan;
    request.device = &s->crew.ranks[0].info;
    request.devices = s->crew.size;
    int result =
        s->r->bench_count > 0 ? plan_benches(s, &request, e) : tier_plan(s->r->tier, &request, &s->plan, e);
    s->left_s = plan_seconds(&s->plan);
    s->summary->planned = s->plan.count;
    return result;
}

/* ---- the record's frame ---- */

static json_t *device_body(const struct device_info *info) {
    json_t *facts = json_object();
    for (size_t i = 0; i < info->fact_count; i++)
        json_object_set_new(facts, info->facts[i].key, json_string(info->facts[i].value));
    struct record_device_line line = {
        .name = info->name,
        .memory_bytes = info->memory_bytes,
        .cache_bytes = info->cache_bytes,
        .clock_hz = info->clock_hz,
        .units = info->units,
        .is_gpu = info->is_gpu,
        .facts = facts,
    };
    json_t *body = record_device_body(&line);
    json_decref(facts);
    return body;
}

static int write_head(struct supervisor *s, struct err *e) {
    json_t *devices = json_array();
    for (int i = 0; i < s->crew.size; i++)
        json_array_append_new(devices, device_body(&s->crew.ranks[i].info));
    struct record_head_line line = {
        .program = "stepcost " STEPCOST_VERSION " (" STEPCOST_REVISION ")",
        .backend = s->r->backend,
        .simulated = s->crew.ranks[0].info.simulated,
        .devices = devices,
        .host = s->r->host,
        .settings = s->r->settings,
        .offer = s->r->offer,
    };
    json_t *body = record_head_body(&line);
    int result = record_append(s->writer, "head", body, e);
    json_decref(body);
    json_decref(devices);
    return result;
}

/* side: the worker that is not of the head's devices, or NULL. */
static int write_case(struct supervisor *s, const struct bench_case *c, int attempt, const struct crew *side,
                      struct err *e) {
    json_t *device = side != NULL ? device_body(&side->ranks[0].info) : NULL;
    struct record_case_line line = {c->id, c->bench, &c->op, attempt, c->seconds, c->mandatory, device};
    json_t *body = record_case_body(&line);
    int result = record_append(s->writer, "case", body, e);
    json_decref(body);
    json_decref(device);
    return result;
}

static size_t *counter(struct run_summary *summary, enum case_status status) {
    return status == CASE_MEASURED     ? &summary->measured
           : status == CASE_NOT_TESTED ? &summary->not_tested
                                       : &summary->failed;
}

static int write_done(struct supervisor *s, const struct bench_case *c, int attempt,
                      const struct case_outcome *outcome, const struct record_host *host, struct err *e) {
    const char *warnings[CASE_MAX_WARNINGS];
    for (size_t i = 0; i < outcome->warning_count; i++)
        warnings[i] = outcome->warnings[i];
    struct record_done_line line = {c->id,
                                    attempt,
                                    outcome->status,
                                    outcome->reason,
                                    warnings,
                                    outcome->warning_count,
                                    outcome->warmed_up,
                                    host,
                                    isnan(outcome->deviation.rms_rel) ? NULL : &outcome->deviation};
    json_t *body = record_done_body(&line);
    int result = record_append(s->writer, "done", body, e);
    json_decref(body);
    (*counter(s->summary, outcome->status))++;
    return result;
}

static int write_end(struct supervisor *s, struct err *e) {
    const struct run_summary *sum = s->summary;
    struct record_end_line line = {sum->planned, sum->measured, sum->not_tested, sum->failed, s->given_up};
    json_t *body = record_end_body(&line);
    int result = record_append(s->writer, "end", body, e);
    json_decref(body);
    s->summary->finished = result == 0;
    return result;
}

/* ---- resume ---- */

static const struct bench_case *planned_case(const struct supervisor *s, const char *id) {
    for (size_t i = 0; i < s->plan.count; i++)
        if (strcmp(s->plan.cases[i].id, id) == 0)
            return &s->plan.cases[i];
    return NULL;
}

/* Samples of two machines or two plans must not end up in one record. */
static int check_same_run(struct supervisor *s, struct err *e) {
    const struct record *old = &s->old;
    const struct device_info *info = &s->crew.ranks[0].info;
    const char *path = s->r->record_path;
    if (strcmp(old->backend, s->r->backend) != 0) {
        return err_set(e, ERR_USAGE, "%s was made with backend %s, not %s; start a new record", path,
                       old->backend, s->r->backend);
    }
    if (strcmp(old->device_name, info->name) != 0 || old->device_count != s->crew.size) {
        return err_set(e, ERR_USAGE, "%s was made on %lld x %s, this is %d x %s; start a new record", path,
                       (long long)old->device_count, old->device_name, s->crew.size, info->name);
    }
    const char *differs = identity_difference(json_object_get(old->head, "host"), s->r->host);
    if (differs != NULL)
        return err_set(e, ERR_USAGE,
                       "%s was made on another machine (host.identity.%s differs); start a new record", path,
                       differs);
    for (size_t i = 0; i < old->case_count; i++) {
        const struct bench_case *c = planned_case(s, old->cases[i].id);
        if (c == NULL || !op_equal(&c->op, &old->cases[i].op)) {
            return err_set(e, ERR_USAGE,
                           "%s: case %s is not in the plan that its settings make now (another version of "
                           "stepcost?); start a new record",
                           path, old->cases[i].id);
        }
        if (old->cases[i].status != CASE_OPEN)
            s->left_s -= c->seconds;
    }
    return 0;
}

/* The device has rested since the first case: what comes first now heats it again. */
static void heat_again(struct supervisor *s) {
    size_t first = 0;
    while (first < s->plan.count) {
        const struct record_case *old = record_find_case(&s->old, s->plan.cases[first].id);
        if (old == NULL || old->status == CASE_OPEN)
            break;
        first++;
    }
    if (first > 0 && first < s->plan.count) {
        tier_heat(s->r->tier, &s->plan.cases[first]);
        s->left_s += s->plan.cases[first].heat_s;
    }
}

static int open_record(struct supervisor *s, struct err *e) {
    const char *path = s->r->record_path;
    if (!s->r->resume) {
        s->writer = record_create(path, e);
        return s->writer != NULL ? write_head(s, e) : -1;
    }
    s->writer = record_continue(path, &s->summary->cut_bytes, e);
    if (s->writer == NULL || record_read(path, &s->old, e) != 0)
        return -1;
    if (s->summary->cut_bytes > 0) {
        char text[80];
        snprintf(text, sizeof text, "a torn last line of %" PRIu64 " bytes was cut", s->summary->cut_bytes);
        say(s, 0, text, true);
    }
    if (check_same_run(s, e) != 0)
        return -1;
    heat_again(s);
    return 0;
}

/* ---- the cases ---- */

static int not_tested(struct supervisor *s, const struct bench_case *c, int attempt, const char *reason,
                      struct err *e) {
    struct case_outcome outcome = {.status = CASE_NOT_TESTED};
    snprintf(outcome.reason, sizeof outcome.reason, "%s", reason);
    return write_case(s, c, attempt, NULL, e) != 0 ? -1 : write_done(s, c, attempt, &outcome, NULL, e);
}

/* Is there time for it, and somebody to run it? When not, the reason is in given_up. */
static bool can_run(struct supervisor *s, const struct bench_case *c) {
    struct err e;
    uint64_t needed_ns = clock_monotonic_ns() + (uint64_t)(c->seconds * 1e9);
    if (s->given_up[0] == '\0' && needed_ns > s->deadline_ns)
        snprintf(s->given_up, sizeof s->given_up, "deadline: no time was left for it");
    if (c->backend != NULL)
        return s->given_up[0] == '\0';
    if (s->given_up[0] == '\0' && crew_restore(&s->crew, s->deadline_ns, &e) != 0)
        snprintf(s->given_up, sizeof s->given_up, "a lost worker could not be replaced: %.240s", e.text);
    return s->given_up[0] == '\0';
}

static void count_losses(struct supervisor *s, size_t index, const struct case_outcome *outcome) {
    if (outcome->lost == 0) {
        s->losses_in_a_row = 0;
        return;
    }
    char text[CASE_REASON_SIZE + 130];
    snprintf(text, sizeof text, "%.120s: %s", s->plan.cases[index].id, outcome->reason);
    say(s, index, text, true);
    if (s->plan.cases[index].backend == NULL && ++s->losses_in_a_row >= LOSSES_IN_A_ROW) {
        snprintf(s->given_up, sizeof s->given_up,
                 "given up: %d cases in a row cost a worker, the last one %.220s", LOSSES_IN_A_ROW,
                 outcome->reason);
    }
}

/* What the host did meanwhile goes with it; a simulated device has no host. */
static int measure_case(struct supervisor *s, struct crew *crew, const struct case_request *request,
                        struct case_outcome *outcome, struct err *e) {
    struct host_load before, after;
    struct arena names = {0};
    host_load_read("", &before);
    int result = supervisor_case(crew, s->writer, request, outcome, e);
    host_load_read("", &after);
    struct record_host host = host_load_between(&before, &after, &names);
    if (result == 0 && !outcome->interrupted) {
        bool simulated = crew->ranks[0].info.simulated;
        result = write_done(s, request->c, request->attempt, outcome, simulated ? NULL : &host, e);
    }
    host_load_free(&before);
    host_load_free(&after);
    arena_free(&names);
    return result;
}

/* 1 = stopped in the middle: the case stays open. */
static int run_case(struct supervisor *s, size_t index, int attempt, struct err *e) {
    const struct bench_case *c = &s->plan.cases[index];
    struct case_outcome outcome;
    if (!can_run(s, c))
        return stopped(s) ? 1 : not_tested(s, c, attempt, s->given_up, e);
    struct crew *side = c->backend != NULL ? side_crew(&s->side, c, s->deadline_ns, s->r->stop) : NULL;
    if (c->backend != NULL && side == NULL)
        return stopped(s) ? 1 : not_tested(s, c, attempt, s->side.refused, e);
    struct case_request request = {
        .c = c,
        .attempt = attempt,
        .seed = s->r->seed,
        .grace_s = s->r->grace_s,
        .deadline_ns = s->deadline_ns,
        .stop = s->r->stop,
    };
    say(s, index, c->id, false);
    struct crew *crew = side != NULL ? side : &s->crew;
    if (write_case(s, c, attempt, side, e) != 0 || measure_case(s, crew, &request, &outcome, e) != 0)
        return -1;
    if (outcome.interrupted)
        return 1;
    count_losses(s, index, &outcome);
    return 0;
}

static int run_plan(struct supervisor *s, struct err *e) {
    for (size_t i = 0; i < s->plan.count; i++) {
        const struct bench_case *c = &s->plan.cases[i];
        const struct record_case *old = record_find_case(&s->old, c->id);
        if (old != NULL && old->status != CASE_OPEN) {
            s->summary->resumed++;
            (*counter(s->summary, old->status))++;
            continue;
        }
        int result = stopped(s) ? 1 : run_case(s, i, old != NULL ? old->attempt + 1 : 1, e);
        if (result != 0)
            return result;
        s->left_s -= c->seconds;
    }
    return 0;
}

/* A tier keeps its promise however slow the machine; cases or times of the user's own have no limit. */
static double time_limit_s(const struct run_request *r) {
    bool own = r->bench_count > 0 || r->plan.seconds > 0;
    return r->deadline_s > 0 ? r->deadline_s : own ? NAN : tier_seconds(r->tier);
}

int supervisor_run(const struct run_request *r, struct run_summary *out, struct err *e) {
    struct supervisor s = {.r = r, .summary = out, .deadline_ns = UINT64_MAX};
    int result = -1;
    *out = (struct run_summary){0};
    double limit_s = time_limit_s(r);
    if (limit_s > 0)
        s.deadline_ns = clock_monotonic_ns() + (uint64_t)(limit_s * 1e9);
    s.crew = (struct crew){.backend = r->backend, .config = r->config, .stop = r->stop};
    if (crew_open(&s.crew, r->plan.devices, e) != 0 || make_plan(&s, e) != 0 || open_record(&s, e) != 0)
        goto out;
    say(&s, 0, s.crew.ranks[0].info.name, false);
    result = run_plan(&s, e);
    if (result == 0) {
        result = write_end(&s, e);
    } else if (result > 0) {
        /* No end line: such a record can be resumed. */
        say(&s, 0, "interrupted; what is finished is in the record, --resume does the rest", true);
        result = 0;
    }
out:
    crew_close(&s.crew);
    side_close(&s.side);
    record_close(s.writer);
    record_free(&s.old);
    plan_free(&s.plan);
    return result;
}
