#include "bench/message.h"

#include "base/json.h"
#include "model/record_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int message_send(struct proc_channel *channel, json_t *message, struct err *e) {
    char *line = json_line(message);
    json_decref(message);
    int result = proc_send(channel, line, e);
    free(line);
    return result;
}

const char *message_type(const json_t *message) {
    const char *type = json_string_value(json_object_get(message, "type"));
    return type != NULL ? type : "";
}

json_t *message_parse(const char *line, struct err *e) {
    json_t *message = json_parse("message", line, strlen(line), e);
    if (message != NULL && message_type(message)[0] == '\0') {
        (void)err_set(e, ERR_PEER, "message without a type: %.80s", line);
        json_decref(message);
        return NULL;
    }
    return message;
}

static void copy_text(char *out, size_t size, const char *text) {
    snprintf(out, size, "%s", text != NULL ? text : "");
}

json_t *message_ready(const struct device_info *info, int count) {
    json_t *facts = json_array();
    for (size_t i = 0; i < info->fact_count; i++) {
        json_array_append_new(
            facts, json_pack("[o, o]", json_text(info->facts[i].key), json_text(info->facts[i].value)));
    }
    return json_pack("{s:s, s:i, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:i, s:o}", "type", "ready", "count",
                     count, "name", json_text(info->name), "is_gpu", info->is_gpu, "simulated",
                     info->simulated, "memory_bytes", json_number(info->memory_bytes), "free_bytes",
                     json_number(info->free_bytes), "cache_bytes", json_number(info->cache_bytes), "clock_hz",
                     json_number(info->clock_hz), "units", info->units, "facts", facts);
}

static int read_facts(const json_t *facts, struct device_info *info) {
    const size_t limit = sizeof info->facts / sizeof info->facts[0];
    size_t index;
    json_t *pair;
    json_array_foreach(facts, index, pair) {
        if (index == limit)
            break;
        struct device_fact *fact = &info->facts[info->fact_count++];
        copy_text(fact->key, sizeof fact->key, json_string_value(json_array_get(pair, 0)));
        copy_text(fact->value, sizeof fact->value, json_string_value(json_array_get(pair, 1)));
    }
    return 0;
}

int message_read_ready(const json_t *message, struct device_info *info, int *count, struct err *e) {
    *info = (struct device_info){0};
    const char *name;
    int64_t devices, units;
    if (json_get_string(message, "name", &name, e) != 0 ||
        json_get_bool(message, "is_gpu", &info->is_gpu, e) != 0 ||
        json_get_bool(message, "simulated", &info->simulated, e) != 0 ||
        json_get_int(message, "units", &units, e) != 0 || json_get_int(message, "count", &devices, e) != 0)
        return -1;
    copy_text(info->name, sizeof info->name, name);
    info->memory_bytes = json_as_number(json_object_get(message, "memory_bytes"));
    info->free_bytes = json_as_number(json_object_get(message, "free_bytes"));
    info->cache_bytes = json_as_number(json_object_get(message, "cache_bytes"));
    info->clock_hz = json_as_number(json_object_get(message, "clock_hz"));
    info->units = (int)units;
    *count = (int)devices;
    return read_facts(json_object_get(message, "facts"), info);
}

json_t *message_case(const struct message_case *m) {
    return json_pack("{s:s, s:s, s:s, s:o, s:f, s:f, s:b, s:b, s:i, s:i, s:i, s:I, s:f}", "type", "case",
                     "id", m->c.id, "bench", m->c.bench, "op", op_to_json(&m->c.op), "seconds", m->c.seconds,
                     "heat_s", m->c.heat_s, "mandatory", m->c.mandatory, "rotate", m->c.rotate, "attempt",
                     m->attempt, "rank", m->rank, "size", m->size, "seed", (json_int_t)m->seed, "goal",
                     m->goal);
}

int message_read_case(const json_t *message, struct message_case *out, struct err *e) {
    *out = (struct message_case){0};
    const char *id;
    int64_t attempt, rank, size, seed;
    if (json_get_string(message, "id", &id, e) != 0 ||
        json_get_string(message, "bench", &out->c.bench, e) != 0 ||
        op_from_json(json_object_get(message, "op"), &out->c.op, e) != 0 ||
        json_get_number(message, "seconds", &out->c.seconds, e) != 0 ||
        json_get_number(message, "heat_s", &out->c.heat_s, e) != 0 ||
        json_get_bool(message, "mandatory", &out->c.mandatory, e) != 0 ||
        json_get_bool(message, "rotate", &out->c.rotate, e) != 0 ||
        json_get_int(message, "attempt", &attempt, e) != 0 || json_get_int(message, "rank", &rank, e) != 0 ||
        json_get_int(message, "size", &size, e) != 0 || json_get_int(message, "seed", &seed, e) != 0)
        return -1;
    copy_text(out->c.id, sizeof out->c.id, id);
    out->attempt = (int)attempt;
    out->rank = (int)rank;
    out->size = (int)size;
    out->seed = (uint64_t)seed;
    return json_get_number(message, "goal", &out->goal, e);
}

json_t *message_done(const struct runner_result *result) {
    json_t *warnings = json_array();
    for (size_t i = 0; i < result->warning_count; i++)
        json_array_append_new(warnings, json_text(result->warnings[i]));
    return json_pack("{s:s, s:i, s:o, s:o, s:b, s:o}", "type", "done", "status", (int)result->status,
                     "reason", json_text(result->reason), "warnings", warnings, "warmed_up",
                     result->warmed_up, "deviation", record_deviation_json(&result->deviation));
}

int message_read_done(const json_t *message, struct runner_result *out, struct err *e) {
    *out = (struct runner_result){0};
    int64_t status;
    const char *reason;
    if (json_get_int(message, "status", &status, e) != 0 ||
        json_get_string(message, "reason", &reason, e) != 0 ||
        json_get_bool(message, "warmed_up", &out->warmed_up, e) != 0)
        return -1;
    if (status < CASE_MEASURED || status >= CASE_OPEN)
        return err_set(e, ERR_PEER, "message done: no such status %lld", (long long)status);
    out->status = (enum case_status)status;
    out->deviation = record_deviation_from(json_object_get(message, "deviation"));
    copy_text(out->reason, sizeof out->reason, reason);
    size_t index;
    json_t *warning;
    json_array_foreach(json_object_get(message, "warnings"), index, warning) {
        if (index < RUNNER_MAX_WARNINGS) {
            copy_text(out->warnings[out->warning_count++], sizeof out->warnings[0],
                      json_string_value(warning));
        }
    }
    return 0;
}

json_t *message_error(const char *type, const struct err *e) {
    return json_pack("{s:s, s:i, s:o}", "type", type, "code", (int)e->code, "text", json_text(e->text));
}

int message_read_error(const json_t *message, struct err *e) {
    json_int_t code = json_integer_value(json_object_get(message, "code"));
    const char *text = json_string_value(json_object_get(message, "text"));
    bool known = code > ERR_NONE && code < ERR_CODE_COUNT;
    return err_set(e, known ? (enum err_code)code : ERR_PEER, "%s", text != NULL ? text : "no reason given");
}
