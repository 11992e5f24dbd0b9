#include "reports/rank_parts.h"
#include "reports/terms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_DRAWS = 1000 };

static struct rank_interval scaled(const struct rank_interval *i, double factor) {
    return (struct rank_interval){.low = i->low * factor, .mid = i->mid * factor, .high = i->high * factor};
}

static void row_add(struct rank_work *w, const struct rank_row *row, size_t group) {
    if (*w->groups[group].reason) {
        rank_reason_add(w, w->groups[group].reason);
        return;
    }
    w->rows = xgrow(w->rows, sizeof *w->rows, w->row_count, &w->row_capacity);
    w->rows[w->row_count] = (struct ranked){.row = *row, .group_index = group};
    w->row_count++;
}

static void row_fill(const struct rank_work *w, struct ranked *r) {
    struct rank_row *row = &r->row;
    const struct rank_group *g = r->group = &w->groups[r->group_index];
    bool spot = row->term == TERM_SPOT;
    const struct rank_interval *billed = spot ? &g->billed_spot : &g->step;
    row->record = g->subject.record ? g->subject.record->record : NULL;
    row->gpu = g->subject.gpu;
    row->layout = g->layout;
    row->memory = g->memory;
    row->evidence = g->grade;
    row->unverified = g->unverified;
    row->comm_assumed = g->comm_assumed;
    row->interpolated = g->interpolated;
    row->compute_s = g->times.compute_s;
    row->memory_s = g->times.memory_s;
    row->optimizer_s = g->times.optimizer_s;
    row->exposed_comm_s = g->times.exposed_comm_s;
    row->bubble_s = g->times.bubble_s;
    row->straggler_s = g->times.straggler_s;
    row->step_s = g->step;
    row->cost = scaled(billed, row->price.per_hour.amount / 3600);
    row->p_leader = NAN;
    row->goodput_low = spot ? w->goodput_low : 1;
    row->goodput_high = spot ? w->goodput_high : 1;
    row->cost_per_mega = row->cost.mid / workload_units_per_step(w->request->workload) * 1e6;
    /* sigma of a uniform: range / sqrt(12), relative to its middle */
    double goodput_sigma =
        (row->goodput_high - row->goodput_low) / sqrt(3) / (row->goodput_high + row->goodput_low);
    row->dominant = goodput_sigma > g->dominant_sigma ? "interruptions of spot nodes" : g->dominant;
}

/* ---- who takes part ---- */

static void add_offer(struct rank_work *w, const struct offer *o) {
    struct evidence_subject s = evidence_of_offer(&w->base, o);
    const char *reason = rank_offer_reason(w, o, &s);
    if (reason) {
        rank_reason_add(w, reason);
        return;
    }
    struct rank_row row = {.offer = o, .term = o->term, .price = term_node_hour(o)};
    /* Vast leaves the city empty: ", CA, NA" */
    const char *region = o->region + strspn(o->region, ", ");
    row.label = arena_printf(w->arena, "%s %s%s%s", o->provider, o->sku, *region ? " " : "", region);
    row_add(w, &row, rank_group_of(w, &s, s.gpu ? o->device_count : s.record->record->device_count));
}

/* What is wrong with a record that names an offer; NULL = nothing. */
static const char *offer_doubt(const struct rank_work *w, const struct evidence_record *r) {
    const struct offer_set *set = w->request->offers;
    const char *doubt = arena_printf(w->arena, "record of %s %s: no such offer in the catalogues",
                                     r->record->offer_provider, r->record->offer_sku);
    for (size_t i = 0; i < set->count; i++) {
        const struct offer *o = &set->offers[i];
        if (!evidence_made_on(r->record, o))
            continue;
        if (!evidence_contradicts(r, o))
            return NULL;
        doubt = arena_printf(w->arena,
                             "record of %s %s: made on %s, but the offer says %s: wrong device, not used",
                             o->provider, o->sku, r->record->device_name, o->device);
    }
    return doubt;
}

static size_t count_own(const struct rank_work *w) {
    size_t count = 0;
    for (size_t i = 0; i < w->base.record_count; i++)
        count += !*w->base.records[i].refused && !*w->base.records[i].record->offer_provider;
    return count;
}

static void add_record(struct rank_work *w, const struct evidence_record *r, bool several) {
    if (*r->refused) {
        rank_reason_add(w, r->refused);
        return;
    }
    if (*r->record->offer_provider) {
        const char *doubt = offer_doubt(w, r);
        if (doubt)
            rank_reason_add(w, doubt);
        return;
    }
    struct evidence_subject s = {.record = r, .grade = EVIDENCE_A, .own = true, .gpu = r->gpu};
    struct rank_row row = {.term = TERM_ON_DEMAND, .price = w->request->own_price};
    if (isnan(row.price.per_hour.amount)) /* its break-even price is in the currency of the ranking */
        memcpy(row.price.per_hour.currency, w->currency, sizeof w->currency);
    row.label = several ? arena_printf(w->arena, "this machine (%s)", r->name) : "this machine";
    size_t group = rank_group_of(w, &s, r->record->device_count);
    const char *reason = w->groups[group].reason;
    if (*reason)
        rank_reason_add(w, arena_printf(w->arena, "%s: %s", row.label, reason));
    else
        row_add(w, &row, group);
}

/* The one asked for, else that of most offers: amounts of two currencies are never mixed. */
static void choose_currency(struct rank_work *w) {
    const struct offer_set *set = w->request->offers;
    size_t best = 0;
    if (w->request->currency) {
        snprintf(w->currency, sizeof w->currency, "%s", w->request->currency);
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        const char *currency = set->offers[i].price.per_hour.currency;
        size_t same = 0;
        if (strcmp(currency, w->currency) == 0)
            continue;
        for (size_t k = i; k < set->count; k++)
            same += strcmp(set->offers[k].price.per_hour.currency, currency) == 0;
        if (same > best) {
            best = same;
            memcpy(w->currency, currency, sizeof w->currency);
        }
    }
}

static int check_own_price(struct rank_work *w, struct err *e) {
    const struct money *p = &w->request->own_price.per_hour;
    if (!isnan(p->amount) && *w->currency && strcmp(p->currency, w->currency) != 0)
        return err_set(e, ERR_USAGE, "--price: is in %s and the offers are in %s; give it in %s", p->currency,
                       w->currency, w->currency);
    return 0;
}

/* ---- the result ---- */

static void hand_over(struct rank_work *w, struct ranking *out) {
    out->spot_share_low = w->base.uncertainty.spot_share_low;
    out->spot_share_high = w->base.uncertainty.spot_share_high;
    out->rows = arena_alloc(w->arena, (w->row_count + 1) * sizeof *out->rows);
    for (size_t i = 0; i < w->row_count; i++) {
        const struct rank_row *row = &w->rows[i].row;
        out->rows[out->count++] = *row;
        out->unpriced += isnan(row->cost.mid);
        out->spot += !isnan(row->cost.mid) && row->term == TERM_SPOT;
        out->on_demand += !isnan(row->cost.mid) && row->term != TERM_SPOT;
    }
    out->not_ranked = arena_alloc(w->arena, (w->reason_count + 1) * sizeof *out->not_ranked);
    for (size_t i = 0; i < w->reason_count; i++)
        out->not_ranked[out->not_ranked_count++] = w->reasons[i];
}

/* Texts that rows borrow must outlive the evidence: they are copied into the ranking. */
static void keep_texts(struct rank_work *w) {
    for (size_t i = 0; i < w->group_count; i++)
        if (w->groups[i].dominant)
            w->groups[i].dominant = arena_strdup(w->arena, w->groups[i].dominant);
}

static int compare_reasons(const void *left, const void *right) {
    const struct rank_reason *a = left, *b = right;
    if (a->offers != b->offers)
        return a->offers > b->offers ? -1 : 1;
    return strcmp(a->reason, b->reason);
}

int rank_offers(const struct rank_request *r, struct ranking *out, struct err *e) {
    memset(out, 0, sizeof *out);
    struct rank_work w = {.request = r, .arena = &out->arena, .draws = r->draws ? r->draws : DEFAULT_DRAWS};
    int result = evidence_open(&w.base, r, e);
    if (result)
        return result;
    choose_currency(&w);
    for (size_t i = 0; i < r->offers->count; i++)
        add_offer(&w, &r->offers->offers[i]);
    result = check_own_price(&w, e);
    if (result)
        goto out;
    size_t own = count_own(&w);
    for (size_t i = 0; i < w.base.record_count; i++)
        add_record(&w, &w.base.records[i], own > 1);
    rank_draw_goodput(&w);
    rank_draw_groups(&w);
    keep_texts(&w);
    for (size_t i = 0; i < w.row_count; i++)
        row_fill(&w, &w.rows[i]);
    rank_order(&w);
    if (w.reason_count > 0)
        qsort(w.reasons, w.reason_count, sizeof *w.reasons, compare_reasons);
    hand_over(&w, out);
    rank_next_lines(&w, out);
out:
    free(w.groups);
    free(w.rows);
    free(w.reasons);
    evidence_close(&w.base);
    if (result)
        ranking_free(out);
    return result;
}

void ranking_free(struct ranking *r) {
    if (!r)
        return;
    arena_free(&r->arena);
    memset(r, 0, sizeof *r);
}
