#include "model/job.h"

#include "base/json.h"
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- figures ---- */

static const struct job_figure {
    const char *key;
    size_t offset;
    double min, max, unit;
    bool whole;
} figures[] = {
    {"global_batch", offsetof(struct job, global_batch), 1, 1e9, 1, true},
    {"steps", offsetof(struct job, steps), 1, 1e12, 1, true},
    {"tokens", offsetof(struct job, tokens), 1, 1e18, 1, false},
    {"samples", offsetof(struct job, samples), 1, 1e18, 1, false},
    {"dataset_GB", offsetof(struct job, dataset_bytes), 0, 1e9, 1e9, false},
    {"checkpoint_GB", offsetof(struct job, checkpoint_bytes), 0, 1e9, 1e9, false},
};
enum { FIGURE_COUNT = sizeof figures / sizeof figures[0] };

static const char *const keys[] = {"workload",     "steps",      "tokens",     "samples",
                                   "global_batch", "dataset_GB", "dataset_at", "checkpoint_GB",
                                   "deadline",     "budget",     "currency",   NULL};

static int read_figures(const json_t *top, struct job *out, struct err *e) {
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        const struct job_figure *row = &figures[i];
        double value;
        if (json_opt_number(top, row->key, NAN, &value, e))
            return -1;
        if (!isnan(value) && !(value >= row->min && value <= row->max))
            return err_set(e, ERR_PARSE, "%s: %g is not between %g and %g", row->key, value, row->min,
                           row->max);
        if (row->whole && !isnan(value) && value != floor(value))
            return err_set(e, ERR_PARSE, "%s: %g is no whole number", row->key, value);
        *(double *)(void *)((char *)out + row->offset) = value * row->unit;
    }
    if (!isnan(out->steps) + !isnan(out->tokens) + !isnan(out->samples) > 1)
        return err_set(e, ERR_PARSE,
                       "steps, tokens, samples: each says how long the run is; give one of them");
    return 0;
}

/* ---- time and money ---- */

static int read_deadline(const json_t *top, struct job *out, struct err *e) {
    const char *text;
    out->deadline_s = NAN;
    if (json_opt_string(top, "deadline", NULL, &text, e))
        return -1;
    if (text && units_parse_duration(text, &out->deadline_s, e))
        return err_wrap(e, "deadline");
    if (text && !(out->deadline_s > 0))
        return err_set(e, ERR_PARSE, "deadline: \"%s\" is over before it begins; give a time as in \"72h\"",
                       text);
    return 0;
}

static bool is_currency(const char *text) {
    return strlen(text) == 3 && isupper((unsigned char)text[0]) && isupper((unsigned char)text[1]) &&
           isupper((unsigned char)text[2]);
}

static int read_money(const json_t *top, struct job *out, struct err *e) {
    const char *budget, *currency;
    out->budget = money_unknown();
    if (json_opt_string(top, "budget", NULL, &budget, e) ||
        json_opt_string(top, "currency", "", &currency, e))
        return -1;
    if (*currency && !is_currency(currency))
        return err_set(e, ERR_PARSE, "currency: \"%s\" is no ISO 4217 code (USD, EUR, CNY)", currency);
    if (budget && money_parse(budget, &out->budget, e))
        return err_wrap(e, "budget");
    if (budget && !(out->budget.amount > 0))
        return err_set(e, ERR_PARSE, "budget: \"%s\" buys nothing; give an amount above zero or leave it out",
                       budget);
    if (budget && *currency && strcmp(out->budget.currency, currency) != 0)
        return err_set(e, ERR_PARSE, "budget: is in %s and currency is %s; give both in one",
                       out->budget.currency, currency);
    out->currency = arena_strdup(&out->arena, *currency || !budget ? currency : out->budget.currency);
    return 0;
}

/* ---- the file ---- */

/* A workload file is looked for beside the job, wherever the command is started. */
static const char *resolve(struct arena *arena, const char *path, const char *name) {
    const char *dot = strrchr(name, '.'), *slash = strrchr(path, '/');
    bool is_path = dot && (strcmp(dot, ".json") == 0 || strcmp(dot, ".csv") == 0);
    if (!is_path || name[0] == '/' || !slash)
        return arena_strdup(arena, name);
    return arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name);
}

static int read_job(const json_t *top, struct job *out, struct err *e) {
    const char *workload, *at;
    if (!json_is_object(top))
        return err_set(e, ERR_PARSE,
                       "not an object; a job is {\"workload\": \"gpt2-124m\", \"steps\": 1000}");
    if (json_check_keys(top, keys, e) || json_get_string(top, "workload", &workload, e) ||
        json_opt_string(top, "dataset_at", "", &at, e) || read_figures(top, out, e) ||
        read_deadline(top, out, e) || read_money(top, out, e))
        return -1;
    if (!*workload)
        return err_set(e, ERR_PARSE, "workload: empty; stepcost list shows the names");
    out->workload = resolve(&out->arena, out->path, workload);
    out->dataset_at = arena_strdup(&out->arena, at);
    return 0;
}

int job_load(const char *path, struct job *out, struct err *e) {
    *out = (struct job){0};
    json_t *top = json_read_file(path, e);
    if (!top)
        return -1;
    out->path = arena_strdup(&out->arena, path);
    int result = read_job(top, out, e);
    if (result) {
        e->code = ERR_PARSE; /* whatever word was wrong, it comes from a file */
        (void)err_wrap(e, "%s", path);
        job_free(out);
    }
    json_decref(top);
    return result;
}

void job_free(struct job *j) {
    if (!j)
        return;
    arena_free(&j->arena);
    *j = (struct job){0};
}

/* ---- what it asks for ---- */

int job_load_workload(const struct job *j, const char *name, const struct data *data, struct workload *out,
                      struct err *e) {
    if (workload_load(data, name ? name : j->workload, out, e))
        return name ? -1 : err_wrap(e, "%s", j->path);
    if (!j)
        return 0;
    if (!isnan(j->global_batch))
        out->global_batch = (int64_t)j->global_batch;
    if (!isnan(j->dataset_bytes))
        out->dataset_bytes = j->dataset_bytes;
    if (!isnan(j->checkpoint_bytes))
        out->checkpoint_bytes = j->checkpoint_bytes;
    return 0;
}

double job_steps(const struct job *j, const struct workload *w) {
    if (!isnan(j->steps))
        return j->steps;
    if (!isnan(j->tokens))
        return ceil(j->tokens / workload_tokens_per_step(w));
    return ceil(j->samples / (double)w->global_batch);
}
