#include "kernels/sim/scenario.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct scenario_row rows[] = {
    {"healthy", "", "nothing goes wrong"},
    {"slow", "gemm=0.6,memory=0.6", "GEMM and memory run at a part of their rate"},
    {"throttle", "after=20,clock=0.7", "the clock falls after some seconds, as telemetry shows"},
    {"outliers", "share=0.03,times=5", "some batches take several times as long"},
    {"wrong", "wrong=0.125,after=5", "a part of every output is wrong after some seconds"},
    {"dead", "dead=1024", "the worker is killed by the GEMM with this m"},
    {"hung", "hung=1024", "the GEMM with this m never ends"},
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* Every parameter: where it goes, its range, and its value where a row does not set it. */
struct parameter {
    const char *name;
    size_t offset;
    double neutral, min, max;
    bool whole;
};
#define PARAMETER(name, neutral, min, max, whole)                                                            \
    { #name, offsetof(struct scenario, name), neutral, min, max, whole }
static const struct parameter parameters[] = {
    PARAMETER(devices, 1, 1, 1024, true),    PARAMETER(gemm, 1, 0.001, 1.5, false),
    PARAMETER(memory, 1, 0.001, 1.5, false), PARAMETER(after, 0, 0, 1e9, false),
    PARAMETER(clock, 1, 0.001, 1, false),    PARAMETER(share, 0, 0, 1, false),
    PARAMETER(times, 1, 0.001, 1e6, false),  PARAMETER(wrong, 0, 0, 1, false),
    PARAMETER(dead, 0, 0, 1e12, true),       PARAMETER(hung, 0, 0, 1e12, true),
};
#undef PARAMETER
enum { PARAMETER_COUNT = sizeof parameters / sizeof parameters[0] };

const struct scenario_row *scenario_at(size_t index) {
    return index < ROW_COUNT ? &rows[index] : NULL;
}

static double *field(struct scenario *s, const struct parameter *p) {
    return (void *)((char *)s + p->offset);
}

/* A row's parameter list doubles as the set of what a user may change; devices suits any row. */
static bool row_has(const struct scenario_row *row, const char *name) {
    char key[32];
    snprintf(key, sizeof key, ",%s=", name);
    char list[128];
    snprintf(list, sizeof list, ",devices=,%s", row->parameters);
    return strstr(list, key) != NULL;
}

static int set_one(const struct scenario_row *row, const char *piece, struct scenario *out, struct err *e) {
    const char *equals = strchr(piece, '=');
    for (size_t i = 0; equals && i < PARAMETER_COUNT; i++) {
        const struct parameter *p = &parameters[i];
        size_t length = strlen(p->name);
        if (length != (size_t)(equals - piece) || strncmp(p->name, piece, length) != 0 ||
            !row_has(row, p->name))
            continue;
        double value;
        if (units_parse_number(equals + 1, &value, e))
            return err_wrap(e, "scenario %s: %s", row->name, p->name);
        if (value < p->min || value > p->max || (p->whole && value != floor(value)))
            return err_set(e, ERR_USAGE, "scenario %s: %s must be %sfrom %g to %g, not %g", row->name,
                           p->name, p->whole ? "a whole number " : "", p->min, p->max, value);
        *field(out, p) = value;
        return 0;
    }
    return err_set(e, ERR_USAGE, "scenario %s: no parameter \"%s\"; it takes devices=1%s%s", row->name, piece,
                   *row->parameters ? "," : "", row->parameters);
}

static int set_list(const struct scenario_row *row, const char *list, struct scenario *out, struct err *e) {
    char piece[64];
    while (*list) {
        size_t length = strcspn(list, ",");
        snprintf(piece, sizeof piece, "%.*s", (int)(length < sizeof piece ? length : sizeof piece - 1), list);
        if (set_one(row, piece, out, e))
            return -1;
        list += length + (list[length] == ',');
    }
    return 0;
}

static const struct scenario_row *find_row(const char *name, size_t length, struct err *e) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strlen(rows[i].name) == length && !strncmp(rows[i].name, name, length))
            return &rows[i];
    struct text known = {0};
    for (size_t i = 0; i < ROW_COUNT; i++)
        text_printf(&known, "%s%s", i ? ", " : "", rows[i].name);
    err_set(e, ERR_USAGE, "no scenario \"%.*s\"; there are %s", (int)length, name, text_get(&known));
    text_free(&known);
    return NULL;
}

int scenario_parse(const char *text, struct scenario *out, struct err *e) {
    if (!text)
        text = rows[0].name;
    size_t length = strcspn(text, ":");
    const struct scenario_row *row = find_row(text, length, e);
    if (!row)
        return -1;
    for (size_t i = 0; i < PARAMETER_COUNT; i++)
        *field(out, &parameters[i]) = parameters[i].neutral;
    if (set_list(row, row->parameters, out, e))
        return -1;
    return text[length] ? set_list(row, text + length + 1, out, e) : 0;
}
