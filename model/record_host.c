#include "model/record_host.h"

#include "base/json.h"
#include "model/record.h"

#include <math.h>

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    {"window_s", offsetof(struct record_host, window_s)},
    {"cpus", offsetof(struct record_host, cpus)},
    {"others_cpu_s", offsetof(struct record_host, others_cpu_s)},
    {"kernel_cpu_s", offsetof(struct record_host, kernel_cpu_s)},
    {"steal_s", offsetof(struct record_host, steal_s)},
    {"quota_periods", offsetof(struct record_host, quota_periods)},
    {"quota_throttled_periods", offsetof(struct record_host, quota_throttled_periods)},
    {"quota_throttled_s", offsetof(struct record_host, quota_throttled_s)},
    {"thermal_throttled_s", offsetof(struct record_host, thermal_throttled_s)},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

struct record_host record_host_unknown(void) {
    return (struct record_host){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, ""};
}

json_t *record_host_body(const struct record_host *h) {
    json_t *body = json_object();
    for (size_t i = 0; i < NUMBERS; i++)
        json_object_set_new(
            body, numbers[i].key,
            json_number(*(const double *)(const void *)((const char *)h + numbers[i].offset)));
    json_object_set_new(body, "busiest", json_text(h->busiest));
    return body;
}

struct record_host record_host_read(struct arena *arena, const json_t *body) {
    struct record_host h = record_host_unknown();
    for (size_t i = 0; i < NUMBERS; i++)
        *(double *)(void *)((char *)&h + numbers[i].offset) =
            json_as_number(json_object_get(body, numbers[i].key));
    const char *busiest = json_string_value(json_object_get(body, "busiest"));
    h.busiest = busiest ? arena_strdup(arena, busiest) : "";
    return h;
}

/* Rows and samples are both in the order of time. A sample on a host's clock lasts as long as on the
 * device's. */
size_t record_throttled_samples(const struct record_rank *r, bool *mark) {
    const struct record_telemetry *t = &r->telemetry;
    size_t count = 0, row = 0;
    for (size_t i = 0; i < r->count; i++) {
        double begin_s = r->start_s[i], end_s = begin_s + r->elapsed_s[i];
        bool throttled = false;
        while (row + 1 < t->count && t->t_s[row + 1] <= begin_s)
            row++;
        for (size_t k = row; k + 1 < t->count && t->t_s[k] < end_s; k++)
            throttled = throttled || t->throttled_s[k + 1] > t->throttled_s[k];
        count += throttled;
        if (mark)
            mark[i] = throttled;
    }
    return count;
}

double record_throttled_s(const struct record_rank *r) {
    const struct record_telemetry *t = &r->telemetry;
    return t->count >= 2 ? t->throttled_s[t->count - 1] - t->throttled_s[0] : NAN;
}
