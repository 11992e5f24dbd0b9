#include "reports/rank_parts.h"
#include "reports/terms.h"

#include <math.h>
#include <string.h>

enum term rank_entry_term(const struct rank_entry *n) {
    return n->offer ? n->offer->term : TERM_ON_DEMAND;
}

static struct price price_of(const struct rank_work *w, const struct rank_entry *n) {
    struct price price = n->offer ? term_node_hour(n->offer) : w->request->own_price;
    if (isnan(price.per_hour.amount)) /* its break-even price is in the currency of the ranking */
        memcpy(price.per_hour.currency, w->currency, sizeof w->currency);
    return price;
}

double rank_entry_price(const struct rank_work *w, const struct rank_entry *n) {
    return price_of(w, n).per_hour.amount;
}

/* Vast leaves the city empty: ", CA, NA" */
static const char *region_of(const struct offer *o) {
    return o->region + strspn(o->region, ", ");
}

const char *rank_entry_label(struct rank_work *w, const struct rank_entry *n) {
    const struct offer *o = n->offer;
    if (!o)
        return w->groups[n->group].label;
    const char *region = region_of(o);
    return arena_printf(&w->arena, "%s %s%s%s", o->provider, o->sku, *region ? " " : "", region);
}

int rank_entry_compare_labels(const struct rank_work *w, const struct rank_entry *a,
                              const struct rank_entry *b) {
    if (!a->offer || !b->offer)
        return strcmp(a->offer ? a->offer->provider : w->groups[a->group].label,
                      b->offer ? b->offer->provider : w->groups[b->group].label);
    int order = strcmp(a->offer->provider, b->offer->provider);
    if (order == 0)
        order = strcmp(a->offer->sku, b->offer->sku);
    return order ? order : strcmp(region_of(a->offer), region_of(b->offer));
}

/* The price at which it would cost what its section's first row costs. Rows without a price are held against
 * the on-demand rows. */
static double break_even(const struct rank_work *w, const struct rank_entry *n, double billed_mid_s) {
    bool spot = !isnan(n->cost) && rank_entry_term(n) == TERM_SPOT;
    size_t first = spot ? w->section_end[0] : 0;
    return first < w->section_end[spot] ? w->entries[first].cost * 3600 / billed_mid_s : NAN;
}

static struct rank_interval scaled(const struct rank_interval *i, double factor) {
    return (struct rank_interval){.low = i->low * factor, .mid = i->mid * factor, .high = i->high * factor};
}

static void add_group(const struct rank_group *g, struct rank_row *out) {
    out->record = g->subject.record ? g->subject.record->record : NULL;
    out->gpu = g->subject.gpu;
    out->layout = g->layout;
    out->memory = g->memory;
    out->evidence = g->grade;
    out->unverified = g->unverified;
    out->comm_assumed = g->comm_assumed;
    out->interpolated = g->interpolated;
    out->compute_s = g->times.compute_s;
    out->memory_s = g->times.memory_s;
    out->optimizer_s = g->times.optimizer_s;
    out->exposed_comm_s = g->times.exposed_comm_s;
    out->straggler_s = g->times.straggler_s;
    out->step_s = g->step;
}

void rank_entry_figures(const struct rank_work *w, const struct rank_entry *n, struct rank_row *out) {
    const struct rank_group *g = &w->groups[n->group];
    bool spot = rank_entry_term(n) == TERM_SPOT;
    *out = (struct rank_row){.offer = n->offer,
                             .term = rank_entry_term(n),
                             .price = price_of(w, n),
                             .tie = n->tie,
                             .p_leader = n->p_leader,
                             .goodput_low = spot ? w->goodput_low : 1,
                             .goodput_high = spot ? w->goodput_high : 1};
    add_group(g, out);
    out->cost = scaled(spot ? &g->billed_spot : &g->step, out->price.per_hour.amount / 3600);
    out->cost_per_mtok = out->cost.mid / workload_tokens_per_step(w->request->workload) * 1e6;
    out->break_even_per_hour = break_even(w, n, (spot ? g->billed_spot : g->step).mid);
}

void rank_entry_row(struct rank_work *w, const struct rank_entry *n, struct rank_row *out) {
    const struct rank_group *g = &w->groups[n->group];
    rank_entry_figures(w, n, out);
    out->label = rank_entry_label(w, n);
    /* sigma of a uniform: range / sqrt(12), relative to its middle */
    double goodput_sigma =
        (out->goodput_high - out->goodput_low) / sqrt(3) / (out->goodput_high + out->goodput_low);
    out->dominant = goodput_sigma > g->dominant_sigma ? "interruptions of spot nodes" : g->dominant;
}

struct rank_row ranking_row(const struct ranking *r, size_t i) {
    struct rank_row row;
    rank_entry_row(r->work, &r->work->entries[i], &row);
    return row;
}
