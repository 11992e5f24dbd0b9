#include "model/record_line.h"

#include "base/clock.h"
#include "base/json.h"

static void put(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

static void put_text(json_t *object, const char *key, const char *text) {
    put(object, key, json_text(text ? text : ""));
}

static void put_count(json_t *object, const char *key, size_t count) {
    put(object, key, json_integer((json_int_t)count));
}

static void put_numbers(json_t *object, const char *key, const double *values, size_t count) {
    json_t *array = values ? json_numbers(values, count) : json_array();
    while (json_array_size(array) < count)
        json_array_append_new(array, json_null());
    put(object, key, array);
}

/* jansson counts references in the value itself, so sharing one that is only looked at drops the const. */
static json_t *share(const json_t *value) {
    return json_incref((json_t *)value);
}

static json_t *share_or(const json_t *value, json_t *otherwise) {
    if (!value)
        return otherwise;
    json_decref(otherwise);
    return share(value);
}

json_t *record_device_body(const struct record_device_line *d) {
    json_t *body = json_object();
    put_text(body, "name", d->name);
    put(body, "memory_bytes", json_number(d->memory_bytes));
    put(body, "cache_bytes", json_number(d->cache_bytes));
    put(body, "units", json_integer(d->units));
    put(body, "clock_hz", json_number(d->clock_hz));
    put(body, "is_gpu", json_boolean(d->is_gpu));
    put(body, "facts", share_or(d->facts, json_object()));
    return body;
}

json_t *record_head_body(const struct record_head_line *h) {
    char created[CLOCK_TEXT_SIZE];
    json_t *body = json_object();
    put(body, "schema", json_integer(RECORD_SCHEMA));
    put(body, "method", json_integer(RECORD_METHOD));
    put_text(body, "program", h->program);
    put_text(body, "created", clock_wall_text(created));
    put_text(body, "backend", h->backend);
    put(body, "simulated", json_boolean(h->simulated));
    put(body, "devices", share_or(h->devices, json_array()));
    put(body, "host", share_or(h->host, json_object()));
    put(body, "settings", share_or(h->settings, json_object()));
    put(body, "offer", share_or(h->offer, json_null()));
    return body;
}

json_t *record_case_body(const struct record_case_line *c) {
    json_t *body = json_object();
    put_text(body, "id", c->id);
    put_text(body, "bench", c->bench);
    put(body, "op", op_to_json(c->op));
    put(body, "attempt", json_integer(c->attempt));
    put(body, "seconds", json_number(c->seconds));
    put(body, "mandatory", json_boolean(c->mandatory));
    if (c->device)
        put(body, "device", json_incref((json_t *)c->device));
    return body;
}

json_t *record_samples_body(const struct record_samples_line *s) {
    const struct record_telemetry *t = &s->telemetry;
    json_t *body = json_object(), *telemetry = json_object();
    put_text(body, "id", s->id);
    put(body, "attempt", json_integer(s->attempt));
    put(body, "rank", json_integer(s->rank));
    put(body, "work_per_iteration", json_number(s->work_per_iteration));
    put_text(body, "unit", s->unit);
    put_numbers(body, "start_s", s->start_s, s->count);
    put_numbers(body, "iterations", s->iterations, s->count);
    put_numbers(body, "elapsed_s", s->elapsed_s, s->count);
    put_numbers(telemetry, "t_s", t->t_s, t->count);
    put_numbers(telemetry, "clock_hz", t->clock_hz, t->count);
    put_numbers(telemetry, "power_w", t->power_w, t->count);
    put_numbers(telemetry, "temperature_c", t->temperature_c, t->count);
    put_numbers(telemetry, "throttled_s", t->throttled_s, t->count);
    put(body, "telemetry", telemetry);
    return body;
}

json_t *record_done_body(const struct record_done_line *d) {
    json_t *body = json_object(), *warnings = json_array();
    for (size_t i = 0; i < d->warning_count; i++)
        json_array_append_new(warnings, json_text(d->warnings[i]));
    put_text(body, "id", d->id);
    put(body, "attempt", json_integer(d->attempt));
    put_text(body, "status", case_status_name(d->status));
    put_text(body, "reason", d->reason);
    put(body, "warnings", warnings);
    put(body, "warmed_up", json_boolean(d->warmed_up));
    put(body, "host", d->host ? record_host_body(d->host) : json_null());
    if (d->deviation)
        put(body, "deviation", record_deviation_json(d->deviation));
    return body;
}

json_t *record_deviation_json(const struct record_deviation *d) {
    return json_pack("{s:o, s:o, s:o}", "max_rel", json_number(d->max_rel), "rms_rel",
                     json_number(d->rms_rel), "elements", json_number(d->elements));
}

struct record_deviation record_deviation_from(const json_t *value) {
    return (struct record_deviation){json_as_number(json_object_get(value, "max_rel")),
                                     json_as_number(json_object_get(value, "rms_rel")),
                                     json_as_number(json_object_get(value, "elements"))};
}

json_t *record_end_body(const struct record_end_line *n) {
    json_t *body = json_object();
    put_count(body, "cases", n->cases);
    put_count(body, "measured", n->measured);
    put_count(body, "not_tested", n->not_tested);
    put_count(body, "failed", n->failed);
    put_text(body, "reason", n->reason);
    return body;
}
