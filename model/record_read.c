#include "base/json.h"
#include "model/record.h"
#include "model/record_line.h"
#include "model/record_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct reader {
    struct record *out;
    json_t *index; /* id -> place in out->cases */
    size_t capacity;
    size_t end_line; /* 0 = no end line yet */
};

static const char *keep(struct reader *r, const char *text) {
    return arena_strdup(&r->out->arena, text);
}

/* ---- head ---- */

static int check_schema(const json_t *value, struct err *e) {
    int64_t schema;
    if (json_get_int(value, "schema", &schema, e) != 0)
        return -1;
    if (schema < 1 || schema > RECORD_SCHEMA)
        return err_set(e, ERR_PARSE, "schema %lld; this program reads 1 to %d: use a newer one",
                       (long long)schema, RECORD_SCHEMA);
    return 0;
}

static int read_devices(struct record *out, const json_t *value, struct err *e) {
    const json_t *devices = json_object_get(value, "devices"), *first = json_array_get(devices, 0);
    if (!json_is_array(devices))
        return err_set(e, ERR_PARSE, "devices: not an array");
    out->device_count = (int64_t)json_array_size(devices);
    out->device_name = "";
    out->device_memory_bytes = NAN;
    if (first && (json_get_string(first, "name", &out->device_name, e) != 0 ||
                  json_opt_number(first, "memory_bytes", NAN, &out->device_memory_bytes, e) != 0))
        return err_wrap(e, "devices");
    return 0;
}

static int read_offer(struct record *out, const json_t *offer, struct err *e) {
    out->offer_provider = out->offer_sku = out->offer_region = "";
    if (!offer || json_is_null(offer))
        return 0;
    if (json_opt_string(offer, "provider", "", &out->offer_provider, e) != 0 ||
        json_opt_string(offer, "sku", "", &out->offer_sku, e) != 0 ||
        json_opt_string(offer, "region", "", &out->offer_region, e) != 0)
        return err_wrap(e, "offer");
    return 0;
}

/* The strings are borrowed from the head, which the record keeps. */
static int read_head(struct reader *r, const struct record_line *line, struct err *e) {
    struct record *out = r->out;
    if (strcmp(line->kind, "head") != 0)
        return err_set(e, ERR_PARSE, "'%.40s' where the head of a record should be", line->kind);
    out->head = json_incref(line->value);
    if (check_schema(out->head, e) != 0 || json_get_string(out->head, "created", &out->created, e) != 0 ||
        json_get_string(out->head, "backend", &out->backend, e) != 0 ||
        json_get_bool(out->head, "simulated", &out->simulated, e) != 0 ||
        read_devices(out, out->head, e) != 0 || read_offer(out, json_object_get(out->head, "offer"), e) != 0)
        return -1;
    const json_t *host = json_object_get(out->head, "host");
    out->host_name = "";
    return json_is_object(host) ? json_opt_string(host, "hostname", "", &out->host_name, e) : 0;
}

/* ---- case ---- */

static void free_ranks(struct record_case *c) {
    for (size_t i = 0; i < c->rank_count; i++) {
        struct record_rank *k = &c->ranks[i];
        double *const arrays[] = {k->iterations,
                                  k->elapsed_s,
                                  k->start_s,
                                  k->telemetry.t_s,
                                  k->telemetry.clock_hz,
                                  k->telemetry.power_w,
                                  k->telemetry.temperature_c,
                                  k->telemetry.throttled_s};
        for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++)
            free(arrays[a]);
    }
    free(c->ranks);
    c->ranks = NULL;
    c->rank_count = 0;
}

static int read_attempt(const json_t *value, int *out, struct err *e) {
    int64_t attempt;
    if (json_get_int(value, "attempt", &attempt, e) != 0)
        return -1;
    if (attempt < 1 || attempt > 1000000)
        return err_set(e, ERR_PARSE, "attempt: %lld, not from 1 to 1000000", (long long)attempt);
    *out = (int)attempt;
    return 0;
}

static struct record_case *case_by_id(struct reader *r, const char *id) {
    const json_t *place = json_object_get(r->index, id);
    return place ? &r->out->cases[json_integer_value(place)] : NULL;
}

static struct record_case *new_case(struct reader *r, const char *id) {
    struct record *out = r->out;
    out->cases = xgrow(out->cases, sizeof *out->cases, out->case_count, &r->capacity);
    json_object_set_new(r->index, id, json_integer((json_int_t)out->case_count));
    struct record_case *c = &out->cases[out->case_count++];
    *c = (struct record_case){.id = keep(r, id)};
    return c;
}

static int read_case(struct reader *r, const struct record_line *line, struct err *e) {
    const char *id, *bench, *unit;
    struct record_case fresh = {.status = CASE_OPEN,
                                .reason = "",
                                .host = record_host_unknown(),
                                .deviation = record_deviation_from(NULL)};
    if (json_get_string(line->value, "id", &id, e) != 0 ||
        json_get_string(line->value, "bench", &bench, e) != 0 ||
        op_from_json(json_object_get(line->value, "op"), &fresh.op, e) != 0 ||
        read_attempt(line->value, &fresh.attempt, e) != 0)
        return -1;
    json_t *device = json_object_get(line->value, "device");
    if (device && !json_is_object(device))
        return err_set(e, ERR_PARSE, "device: not an object");
    struct record_case *c = case_by_id(r, id);
    if (c && fresh.attempt <= c->attempt)
        return err_set(e, ERR_PARSE, "%s: attempt %d after attempt %d", id, fresh.attempt, c->attempt);
    if (!c)
        c = new_case(r, id);
    free_ranks(c);
    json_decref(c->device);
    op_work(&fresh.op, &unit);
    fresh.id = c->id;
    fresh.bench = keep(r, bench);
    fresh.unit = keep(r, unit);
    fresh.device = json_incref(device);
    *c = fresh;
    return 0;
}

/* The case that a samples or done line is about, or NULL with *e set. *stale: a later attempt has begun, so
 * the line is of no more use. */
static struct record_case *find_attempt(struct reader *r, const json_t *value, bool *stale, struct err *e) {
    const char *id;
    int attempt = 0;
    *stale = false;
    if (json_get_string(value, "id", &id, e) != 0 || read_attempt(value, &attempt, e) != 0)
        return NULL;
    struct record_case *c = case_by_id(r, id);
    if (c && attempt <= c->attempt) {
        *stale = attempt < c->attempt;
        return c;
    }
    err_set(e, ERR_PARSE, "%s: no case line of attempt %d is before it", id, attempt);
    return NULL;
}

/* ---- samples ---- */

/* One array of a chunk. */
struct column {
    const char *key;
    size_t offset;
    bool positive;
};

static const struct column sample_columns[] = {
    {"iterations", offsetof(struct record_rank, iterations), true},
    {"elapsed_s", offsetof(struct record_rank, elapsed_s), true},
    {"start_s", offsetof(struct record_rank, start_s), false},
};
static const struct column telemetry_columns[] = {
    {"t_s", offsetof(struct record_telemetry, t_s), false},
    {"clock_hz", offsetof(struct record_telemetry, clock_hz), false},
    {"power_w", offsetof(struct record_telemetry, power_w), false},
    {"temperature_c", offsetof(struct record_telemetry, temperature_c), false},
    {"throttled_s", offsetof(struct record_telemetry, throttled_s), false},
};
enum {
    SAMPLE_COLUMNS = sizeof sample_columns / sizeof sample_columns[0],
    TELEMETRY_COLUMNS = sizeof telemetry_columns / sizeof telemetry_columns[0]
};

static size_t power_of_two_from(size_t n) {
    size_t power = 64;
    while (power < n)
        power *= 2;
    return power;
}

/* The room behind *to is always the power of two from its count. */
static void append(double **to, size_t count, const double *from, size_t n) {
    if (!*to || power_of_two_from(count + n) > power_of_two_from(count))
        *to = xrealloc(*to, power_of_two_from(count + n) * sizeof **to);
    memcpy(*to + count, from, n * sizeof *from);
}

/* Checks one array: as long as the first of its object, and positive where it must be. */
static int check_column(const struct column *c, const double *values, size_t n, size_t wanted,
                        struct err *e) {
    if (!values)
        return err_set(e, ERR_PARSE, "%s: not an array of numbers", c->key);
    if (n != wanted)
        return err_set(e, ERR_PARSE, "%s: %zu numbers where its neighbours have %zu", c->key, n, wanted);
    for (size_t i = 0; i < n && c->positive; i++)
        if (!(values[i] > 0))
            return err_set(e, ERR_PARSE, "%s: number %zu is not above zero", c->key, i + 1);
    return 0;
}

/* Appends the arrays of object to those in base; *count goes up only when all are good. */
static int append_columns(const json_t *object, const struct column *columns, size_t column_count, void *base,
                          size_t *count, struct err *e) {
    size_t wanted = json_array_size(json_object_get(object, columns[0].key));
    for (size_t i = 0; i < column_count; i++) {
        size_t n;
        double *values = json_as_numbers(json_object_get(object, columns[i].key), &n);
        int result = check_column(&columns[i], values, n, wanted, e);
        if (result == 0)
            append((double **)(void *)((char *)base + columns[i].offset), *count, values, n);
        free(values);
        if (result != 0)
            return -1;
    }
    *count += wanted;
    return 0;
}

static struct record_rank *rank_of(struct record_case *c, int rank) {
    for (size_t i = 0; i < c->rank_count; i++)
        if (c->ranks[i].rank == rank)
            return &c->ranks[i];
    c->ranks = xrealloc(c->ranks, (c->rank_count + 1) * sizeof *c->ranks);
    c->ranks[c->rank_count] = (struct record_rank){.rank = rank};
    return &c->ranks[c->rank_count++];
}

/* The rank that the chunk in value belongs to, or NULL with *e set. */
static struct record_rank *read_rank(struct record_case *c, const json_t *value, struct err *e) {
    int64_t number;
    double work;
    if (json_get_int(value, "rank", &number, e) != 0 ||
        json_get_number(value, "work_per_iteration", &work, e) != 0)
        return NULL;
    if (number < 0 || number > 65535) {
        err_set(e, ERR_PARSE, "rank: %lld, not from 0 to 65535", (long long)number);
        return NULL;
    }
    struct record_rank *rank = rank_of(c, (int)number);
    if (!(work > 0) || (rank->count > 0 && rank->work_per_iteration != work)) {
        err_set(e, ERR_PARSE, "work_per_iteration: %g, not above zero and the same in all chunks", work);
        return NULL;
    }
    rank->work_per_iteration = work;
    return rank;
}

static int read_samples(struct reader *r, const struct record_line *line, struct err *e) {
    bool stale;
    const char *unit;
    const json_t *value = line->value, *telemetry = json_object_get(value, "telemetry");
    struct record_case *c = find_attempt(r, value, &stale, e);
    if (!c || stale)
        return c ? 0 : -1;
    struct record_rank *rank = read_rank(c, value, e);
    if (!rank || json_get_string(value, "unit", &unit, e) != 0 ||
        append_columns(value, sample_columns, SAMPLE_COLUMNS, rank, &rank->count, e) != 0)
        return -1;
    if (strcmp(unit, c->unit) != 0)
        c->unit = keep(r, unit);
    if (telemetry && !json_is_null(telemetry) &&
        append_columns(telemetry, telemetry_columns, TELEMETRY_COLUMNS, &rank->telemetry,
                       &rank->telemetry.count, e) != 0)
        return err_wrap(e, "telemetry");
    return 0;
}

/* ---- done and end ---- */

static int read_status(const json_t *value, enum case_status *out, struct err *e) {
    const char *text;
    if (json_get_string(value, "status", &text, e) != 0)
        return -1;
    for (*out = CASE_MEASURED; *out < CASE_OPEN; (*out)++)
        if (strcmp(text, case_status_name(*out)) == 0)
            return 0;
    return err_set(e, ERR_PARSE, "status: '%.40s' is none of measured, not_tested, failed", text);
}

static int read_warnings(struct reader *r, const json_t *warnings, struct record_case *c, struct err *e) {
    size_t count = json_array_size(warnings);
    const char **texts = arena_alloc(&r->out->arena, count * sizeof *texts);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(warnings, i));
        if (!text)
            return err_set(e, ERR_PARSE, "warnings: number %zu is not a string", i + 1);
        texts[i] = keep(r, text);
    }
    c->warnings = texts;
    c->warning_count = count;
    return 0;
}

static int read_done(struct reader *r, const struct record_line *line, struct err *e) {
    bool stale;
    const char *reason;
    enum case_status status;
    struct record_case *c = find_attempt(r, line->value, &stale, e);
    if (!c || stale)
        return c ? 0 : -1;
    if (read_status(line->value, &status, e) != 0 ||
        json_opt_string(line->value, "reason", "", &reason, e) != 0 ||
        read_warnings(r, json_object_get(line->value, "warnings"), c, e) != 0)
        return -1;
    c->status = status;
    c->reason = keep(r, reason);
    c->deviation = record_deviation_from(json_object_get(line->value, "deviation"));
    c->warmed_up = json_is_true(json_object_get(line->value, "warmed_up"));
    c->host = record_host_read(&r->out->arena, json_object_get(line->value, "host"));
    return 0;
}

static int read_end(struct reader *r, const struct record_line *line, struct err *e) {
    const char *reason;
    if (json_opt_string(line->value, "reason", "", &reason, e) != 0)
        return -1;
    r->out->end_reason = keep(r, reason);
    r->end_line = line->number;
    return 0;
}

/* ---- the whole ---- */

static int read_line(struct reader *r, const struct record_line *line, struct err *e) {
    static const struct {
        const char *kind;
        int (*read)(struct reader *r, const struct record_line *line, struct err *e);
    } rows[] = {{"case", read_case}, {"samples", read_samples}, {"done", read_done}, {"end", read_end}};
    if (line->number == 1)
        return read_head(r, line, e);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(line->kind, rows[i].kind) == 0)
            return rows[i].read(r, line, e);
    return 0;
}

/* Every line that the chain vouches for. Lines behind the end line belong to nothing: broken there. */
static int read_lines(struct reader *r, struct record_scan *scan, struct err *e) {
    struct record_line line;
    int got;
    while ((got = record_scan_next(scan, &line, e)) == 1) {
        bool behind = r->end_line > 0;
        int result = behind ? 0 : read_line(r, &line, e);
        json_decref(line.value);
        if (result != 0)
            return err_wrap(e, "line %zu", line.number);
        if (behind)
            break;
    }
    if (got < 0)
        return -1;
    if (scan->headless)
        return err_set(e, ERR_UNFINISHED, "ends before its first line does: nothing was measured");
    if (!r->out->head)
        return err_set(e, ERR_PARSE, "line 1: no record of this program, or damaged");
    return 0;
}

static void settle_state(struct reader *r, const struct record_scan *scan) {
    struct record *out = r->out;
    bool behind = r->end_line > 0 && scan->number > r->end_line;
    out->torn_bytes = scan->torn_bytes;
    out->broken_line = scan->broken_line > 0 ? scan->broken_line : behind ? r->end_line + 1 : 0;
    out->state = out->broken_line > 0 ? RECORD_BROKEN : r->end_line > 0 ? RECORD_INTACT : RECORD_UNFINISHED;
}

/* Devices and pipes are not waited for: they may never end. */
static FILE *open_file(const char *path, struct err *e) {
    struct stat status;
    FILE *file = NULL;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        err_set(e, ERR_NOT_FOUND, "%s: not a regular file; name the record itself", path);
    else if (!(file = fopen(path, "rbe")))
        err_set(e, ERR_NOT_FOUND, "%s: cannot open: %s", path, strerror(errno));
    return file;
}

int record_read(const char *path, struct record *out, struct err *e) {
    struct record_scan scan;
    struct reader r = {.out = out};
    *out = (struct record){.end_reason = "", .device_memory_bytes = NAN};
    FILE *file = open_file(path, e);
    if (!file)
        return -1;
    record_scan_open(&scan, file);
    r.index = json_object();
    out->path = keep(&r, path);
    int result = read_lines(&r, &scan, e);
    if (result == 0) {
        settle_state(&r, &scan);
    } else {
        err_wrap(e, "%s", path);
        record_free(out);
    }
    json_decref(r.index);
    record_scan_close(&scan);
    return result;
}

void record_free(struct record *r) {
    if (!r)
        return;
    for (size_t i = 0; i < r->case_count; i++) {
        free_ranks(&r->cases[i]);
        json_decref(r->cases[i].device);
    }
    free(r->cases);
    json_decref(r->head);
    arena_free(&r->arena);
    *r = (struct record){0};
}
