#include "reports/rank_parts.h"

#include "base/rng.h"
#include "base/stats.h"
#include "reports/goodput.h"

#include <math.h>
#include <stdlib.h>

static const double low_p = 0.05, high_p = 0.95;

/* ---- what interruptions cost ---- */

static double goodput_at(const struct rank_work *w, double share_per_month) {
    return goodput_factor(w->checkpoint_s, w->request->restart_s,
                          goodput_interruption_mean_s(share_per_month));
}

void rank_draw_goodput(struct rank_work *w) {
    w->goodput_low = goodput_at(w, w->base.uncertainty.spot_share_low);
    w->goodput_high = goodput_at(w, w->base.uncertainty.spot_share_high);
    w->goodput = arena_alloc(&w->base.arena, w->draws * sizeof *w->goodput);
    struct rng rng = rng_make(rng_seed_from(w->request->seed, "spot interruptions"));
    for (size_t d = 0; d < w->draws; d++)
        w->goodput[d] = w->goodput_low + rng_uniform(&rng) * (w->goodput_high - w->goodput_low);
}

/* ---- step times ---- */

/* z of one draw is a row: a standard normal for each source. */
static double *draw_sources(const struct rank_work *w) {
    size_t sources = w->base.source_count;
    double *z = xmalloc((w->draws * sources + 1) * sizeof *z);
    for (size_t s = 0; s < sources; s++) {
        struct rng rng = rng_make(rng_seed_from(w->request->seed, w->base.sources[s].id));
        for (size_t d = 0; d < w->draws; d++)
            z[d * sources + s] = rng_normal(&rng);
    }
    return z;
}

static double class_factor(const struct rank_class *c, const double *z) {
    double factor = c->count == 0;
    for (size_t i = 0; i < c->count; i++)
        factor += c->items[i].share * exp(c->items[i].sigma * z[c->items[i].source]);
    return factor;
}

static double step_at(const struct rank_group *g, const double *z) {
    struct step_factors f = {.compute = class_factor(&g->classes[RANK_COMPUTE], z),
                             .memory = class_factor(&g->classes[RANK_MEMORY], z),
                             .comm = class_factor(&g->classes[RANK_COMM], z)};
    struct step_times t;
    step_evaluate(&g->model, &f, &t);
    return t.total_s;
}

/* The source whose move from -1 to +1 sigma, alone, moves the step most. z is all zeros here and after. */
static void find_dominant(const struct rank_work *w, struct rank_group *g, double *z) {
    g->dominant = "nothing that is stated";
    for (size_t c = 0; c < RANK_CLASS_COUNT; c++)
        for (size_t i = 0; i < g->classes[c].count; i++) {
            size_t source = g->classes[c].items[i].source;
            z[source] = 1;
            double high_s = step_at(g, z);
            z[source] = -1;
            double sigma = (high_s - step_at(g, z)) / (2 * g->times.total_s);
            z[source] = 0;
            if (sigma > g->dominant_sigma) {
                g->dominant_sigma = sigma;
                g->dominant = w->base.sources[source].text;
                g->dominant_class = (int)c;
                g->dominant_grade = g->classes[c].items[i].grade;
            }
        }
}

static struct rank_interval interval_of(const double *x, size_t n, double mid) {
    return (struct rank_interval){
        .low = stats_quantile(x, n, low_p), .mid = mid, .high = stats_quantile(x, n, high_p)};
}

static void find_bounds(const double *x, size_t n, double *least, double *most) {
    *least = *most = x[0];
    for (size_t i = 1; i < n; i++) {
        *least = fmin(*least, x[i]);
        *most = fmax(*most, x[i]);
    }
}

static void draw_group(struct rank_work *w, struct rank_group *g, const double *z, double *scratch) {
    struct step_factors means = {1, 1, 1};
    step_evaluate(&g->model, &means, &g->times);
    g->step_s = arena_alloc(&w->base.arena, w->draws * sizeof *g->step_s);
    for (size_t d = 0; d < w->draws; d++) {
        g->step_s[d] = step_at(g, &z[d * w->base.source_count]);
        scratch[d] = g->step_s[d] * w->goodput[d];
    }
    find_bounds(g->step_s, w->draws, &g->least_s[TERM_ON_DEMAND], &g->most_s[TERM_ON_DEMAND]);
    find_bounds(scratch, w->draws, &g->least_s[TERM_SPOT], &g->most_s[TERM_SPOT]);
    g->step = interval_of(g->step_s, w->draws, g->times.total_s);
    g->billed_spot =
        interval_of(scratch, w->draws, g->times.total_s * (w->goodput_low + w->goodput_high) / 2);
}

void rank_draw_groups(struct rank_work *w) {
    double *z = draw_sources(w);
    double *scratch = xmalloc(w->draws * sizeof *scratch);
    double *zero = xcalloc(w->base.source_count + 1, sizeof *zero);
    for (size_t i = 0; i < w->group_count; i++)
        if (!*w->groups[i].reason) {
            draw_group(w, &w->groups[i], z, scratch);
            find_dominant(w, &w->groups[i], zero);
        }
    free(z);
    free(scratch);
    free(zero);
}
