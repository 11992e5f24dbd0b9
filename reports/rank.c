#include "reports/rank_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_DRAWS = 1000 };

static void entry_add(struct rank_work *w, const struct offer *offer, size_t group) {
    if (*w->groups[group].reason) {
        rank_reason_add(w, 1, w->groups[group].reason);
        return;
    }
    w->entries = xgrow(w->entries, sizeof *w->entries, w->entry_count, &w->entry_capacity);
    w->entries[w->entry_count++] =
        (struct rank_entry){.offer = offer, .group = (uint32_t)group, .p_leader = NAN};
}

/* ---- who takes part ---- */

static void add_offer(struct rank_work *w, const struct offer *o) {
    struct evidence_subject s = evidence_of_offer(&w->base, o);
    const char *reason = rank_offer_reason(w, o, &s);
    if (reason) {
        rank_reason_add(w, 1, reason);
        return;
    }
    entry_add(w, o, rank_group_of(w, &s, s.gpu ? o->device_count : s.record->record->device_count));
}

/* What is wrong with a record that names an offer; NULL = nothing. */
static const char *offer_doubt(struct rank_work *w, const struct evidence_record *r) {
    const struct offer_set *set = w->request->offers;
    const char *doubt = arena_printf(&w->arena, "record of %s %s: no such offer in the catalogues",
                                     r->record->offer_provider, r->record->offer_sku);
    for (size_t i = 0; i < set->count; i++) {
        const struct offer *o = &set->offers[i];
        if (!evidence_made_on(r->record, o))
            continue;
        if (!evidence_contradicts(r, o))
            return NULL;
        doubt = arena_printf(&w->arena,
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
        rank_reason_add(w, 1, r->refused);
        return;
    }
    if (*r->record->offer_provider) {
        const char *doubt = offer_doubt(w, r);
        if (doubt)
            rank_reason_add(w, 1, doubt);
        return;
    }
    struct evidence_subject s = {.record = r, .grade = EVIDENCE_A, .own = true, .gpu = r->gpu};
    size_t group = rank_group_of(w, &s, r->record->device_count);
    struct rank_group *g = &w->groups[group];
    g->label = several ? arena_printf(&w->arena, "this machine (%s)", r->name) : "this machine";
    if (*g->reason)
        rank_reason_add(w, 1, arena_printf(&w->arena, "%s: %s", g->label, g->reason));
    else
        entry_add(w, NULL, group);
}

/* The one asked for, else that of most offers (the first of them by name): amounts of two currencies are
 * never mixed. */
static void choose_currency(struct rank_work *w) {
    const struct offer_set *set = w->request->offers;
    struct currency_count {
        char name[4];
        size_t offers;
    } *counts = NULL;
    size_t count = 0, capacity = 0, last = 0, best = 0;
    if (w->request->currency) {
        snprintf(w->currency, sizeof w->currency, "%s", w->request->currency);
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        const char *name = set->offers[i].price.per_hour.currency;
        if (count == 0 || strcmp(counts[last].name, name) != 0) {
            for (last = 0; last < count && strcmp(counts[last].name, name) != 0;)
                last++;
            if (last == count) {
                counts = xgrow(counts, sizeof *counts, count, &capacity);
                counts[count++] = (struct currency_count){0};
                memcpy(counts[last].name, name, sizeof counts[last].name);
            }
        }
        counts[last].offers++;
    }
    for (size_t i = 1; i < count; i++)
        if (counts[i].offers > counts[best].offers)
            best = i;
    if (count > 0)
        memcpy(w->currency, counts[best].name, sizeof w->currency);
    free(counts);
}

static int check_money(struct rank_work *w, struct err *e) {
    const struct money *p = &w->request->own_price.per_hour;
    const struct job *job = w->request->job;
    if (job && !isnan(job->budget.amount) && *w->currency && strcmp(job->budget.currency, w->currency) != 0)
        return err_set(e, ERR_USAGE,
                       "%s: budget: is in %s and the offers are ranked in %s; --currency %s ranks those",
                       job->path, job->budget.currency, w->currency, job->budget.currency);
    if (!isnan(p->amount) && *w->currency && strcmp(p->currency, w->currency) != 0)
        return err_set(e, ERR_USAGE, "--price: is in %s and the offers are in %s; give it in %s", p->currency,
                       w->currency, w->currency);
    return 0;
}

/* ---- the result ---- */

static void hand_over(struct rank_work *w, struct ranking *out) {
    out->spot_share_low = w->base.uncertainty.spot_share_low;
    out->spot_share_high = w->base.uncertainty.spot_share_high;
    out->checkpoint_s = w->checkpoint_s;
    out->count = w->entry_count;
    out->on_demand = w->section_end[0];
    out->spot = w->section_end[1] - w->section_end[0];
    out->unpriced = w->section_end[2] - w->section_end[1];
    out->own = arena_alloc(&w->arena, (w->base.record_count + 1) * sizeof *out->own);
    for (size_t i = 0; i < w->entry_count; i++)
        if (!w->entries[i].offer)
            out->own[out->own_count++] = i;
    out->not_ranked = w->reasons;
    out->not_ranked_count = w->reason_count;
}

static int compare_reasons(const void *left, const void *right) {
    const struct rank_reason *a = left, *b = right;
    if (a->offers != b->offers)
        return a->offers > b->offers ? -1 : 1;
    return strcmp(a->reason, b->reason);
}

static int rank(struct rank_work *w, struct err *e) {
    const struct rank_request *r = w->request;
    if (evidence_open(&w->base, r, e))
        return -1;
    w->checkpoint_s = isnan(r->checkpoint_s)
                          ? r->workload->checkpoint_bytes / w->base.uncertainty.checkpoint_bytes_per_s
                          : r->checkpoint_s;
    choose_currency(w);
    for (size_t i = 0; i < r->offers->count; i++)
        add_offer(w, &r->offers->offers[i]);
    if (check_money(w, e))
        return -1;
    size_t own = count_own(w);
    for (size_t i = 0; i < w->base.record_count; i++)
        add_record(w, &w->base.records[i], own > 1);
    rank_draw_goodput(w);
    rank_draw_groups(w);
    rank_limits(w);
    rank_order(w);
    rank_ties(w);
    if (w->reason_count > 0)
        qsort(w->reasons, w->reason_count, sizeof *w->reasons, compare_reasons);
    return 0;
}

int rank_offers(const struct rank_request *r, struct ranking *out, struct err *e) {
    *out = (struct ranking){.work = xcalloc(1, sizeof *out->work)};
    out->work->request = r;
    out->work->draws = r->draws ? r->draws : DEFAULT_DRAWS;
    if (rank(out->work, e)) {
        ranking_free(out);
        return -1;
    }
    hand_over(out->work, out);
    rank_next_lines(out->work, out);
    return 0;
}

void ranking_free(struct ranking *r) {
    if (!r)
        return;
    if (r->work) {
        evidence_close(&r->work->base);
        arena_free(&r->work->arena);
        free(r->work->groups);
        free(r->work->group_slots);
        free(r->work->entries);
        free(r->work->reasons);
        free(r->work);
    }
    *r = (struct ranking){0};
}
