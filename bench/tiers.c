#include "bench/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const tier_names[] = {"smoke", "accept", "soak", NULL};

/* total_s is what the tier promises; cases_s what its cases may take, the rest being set-up and
 * verification. heat_s comes before the first case, once: a cold device is faster than it will stay. */
static const struct tier_time {
    double total_s, cases_s, heat_s;
    bool repeat;
} times[TIER_COUNT] = {
    [TIER_SMOKE] = {120, 95, 0, false},
    [TIER_ACCEPT] = {900, 800, 30, false},
    [TIER_SOAK] = {7200, 6900, 30, true},
};

/* In this order; the peak is calibrated before anything is held against it. */
static const struct tier_row {
    const char *bench;
    double seconds[TIER_COUNT]; /* per case */
    enum tier from;             /* the first tier that has it */
} rows[] = {
    {"fma", {2, 10, 10}},
    {"membw", {3, 30, 30}},
    {"gemm", {3, 30, 30}},
    {"precision", {2, 10, 10}},
    {"cache", {0.3, 0.3, 0.3}, TIER_ACCEPT},
    {"disk", {4, 4, 4}, TIER_ACCEPT},
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

double tier_seconds(enum tier t) {
    return times[t].total_s;
}

double tier_case_seconds(enum tier t, const char *bench) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].bench, bench) == 0)
            return rows[i].seconds[t];
    return NAN;
}

/* Keeps the order within each half. */
static void mandatory_first(struct plan *p) {
    struct plan sorted = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < p->count; i++)
            if (p->cases[i].mandatory == (pass == 0))
                plan_add(&sorted, &p->cases[i]);
    }
    plan_free(p);
    *p = sorted;
}

static void scale_to(struct plan *p, double limit_s) {
    double sum_s = plan_seconds(p);
    for (size_t i = 0; sum_s > limit_s && i < p->count; i++)
        p->cases[i].seconds *= limit_s / sum_s;
}

/* A soak is the same round again and again, for as long as whole rounds fit. */
static void repeat_rounds(struct plan *p, double limit_s) {
    size_t round_count = p->count;
    double round_s = plan_seconds(p);
    for (unsigned round = 2; round_count > 0 && round * round_s <= limit_s; round++) {
        for (size_t i = 0; i < round_count; i++) {
            struct bench_case c = p->cases[i];
            size_t length = strlen(c.id);
            snprintf(c.id + length, sizeof c.id - length, "@%u", round);
            plan_add(p, &c);
        }
    }
}

void tier_heat(enum tier t, struct bench_case *first) {
    first->heat_s = times[t].heat_s;
    first->seconds += times[t].heat_s;
}

int tier_plan(enum tier t, const struct plan_request *r, struct plan *out, struct err *e) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (t < rows[i].from)
            continue;
        struct plan_request row = *r;
        row.seconds = r->seconds > 0 ? r->seconds : rows[i].seconds[t];
        if (bench_find(rows[i].bench)->plan(&row, out, e) != 0)
            return -1;
    }
    double limit_s = times[t].cases_s - times[t].heat_s;
    mandatory_first(out);
    plan_recalibrate(out);
    scale_to(out, limit_s);
    if (times[t].repeat)
        repeat_rounds(out, limit_s);
    tier_heat(t, &out->cases[0]);
    return 0;
}
