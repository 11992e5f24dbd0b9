#include "reports/rank_parts.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this probability that the leader is cheaper, a row is not told apart from it. */
static const double told_apart = 0.95;

double rank_half_width(const struct rank_group *g) {
    return (g->step.high - g->step.low) / (2 * g->step.mid);
}

/* ---- who can reach the first RANK_RESOLVED ---- */

static double bound(const struct rank_work *w, const struct rank_entry *n, bool most) {
    const struct rank_group *g = &w->groups[n->group];
    enum term term = rank_entry_term(n);
    return rank_entry_price(w, n) * (most ? g->most_s : g->least_s)[term];
}

/* The k-th smallest of x, k from 0 (Hoare's selection); x is reordered. */
static double select_kth(double *x, size_t n, size_t k) {
    size_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = x[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i >= j)
                break;
            double swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return x[k];
}

/* In every draw at least RANK_RESOLVED rows of the section cost no more than this. */
static double reach(const struct rank_work *w, size_t begin, size_t end) {
    size_t count = end - begin;
    if (count <= RANK_RESOLVED)
        return INFINITY;
    double *most = xmalloc(count * sizeof *most);
    for (size_t i = 0; i < count; i++)
        most[i] = bound(w, &w->entries[begin + i], true);
    double kth = select_kth(most, count, RANK_RESOLVED - 1);
    free(most);
    return kth;
}

/* ---- ties ---- */

struct ties {
    struct rank_work *work;
    struct rank_entry **rows; /* of a section, those that can reach, by cost */
    size_t count;
    double *ratios; /* scratch, one per draw */
    double *
        *apart; /* of each leader's group, for each group: see told_apart_from; NULL, NaN = not asked yet */
};

/* Billed seconds of one section differ between rows by the group alone: interruptions strike all alike. */
static double ratio(const struct rank_group *lead, const struct rank_group *row, size_t draw) {
    return lead->step_s[draw] / row->step_s[draw];
}

/* P(the leader is cheaper) over the draws; a difference within the catalogues' rounding counts half. */
static double p_cheaper(const struct rank_work *w, const struct rank_entry *lead,
                        const struct rank_entry *row) {
    double tolerance = w->base.uncertainty.price_tolerance, wins = 0;
    double a_price = rank_entry_price(w, lead), b_price = rank_entry_price(w, row);
    for (size_t d = 0; d < w->draws; d++) {
        double a = a_price * w->groups[lead->group].step_s[d], b = b_price * w->groups[row->group].step_s[d];
        wins += fabs(a - b) <= tolerance * b ? 0.5 : a < b;
    }
    return wins / (double)w->draws;
}

/* A row of this group at more than so many times the leader's price is told apart for certain: enough draws
 * have the leader cheaper by more than the rounding. */
static double told_apart_from(struct ties *t, uint32_t lead, uint32_t group) {
    struct rank_work *w = t->work;
    if (!t->apart[lead]) {
        t->apart[lead] = arena_alloc(&w->base.arena, w->group_count * sizeof(double));
        for (size_t g = 0; g < w->group_count; g++)
            t->apart[lead][g] = NAN;
    }
    double *apart = &t->apart[lead][group];
    if (isnan(*apart)) {
        size_t needed = (size_t)ceil(told_apart * (double)w->draws);
        for (size_t d = 0; d < w->draws; d++)
            t->ratios[d] = ratio(&w->groups[lead], &w->groups[group], d);
        double kth = select_kth(t->ratios, w->draws, needed > 0 ? needed - 1 : 0);
        *apart = kth / (1 - w->base.uncertainty.price_tolerance) * (1 + 1e-12);
    }
    return *apart;
}

/* The leader takes all later rows along that are not told apart from it. */
static void follow(struct ties *t, size_t lead_at, uint32_t tie) {
    struct rank_work *w = t->work;
    struct rank_entry *lead = t->rows[lead_at];
    double price = rank_entry_price(w, lead);
    lead->tie = tie;
    if (lead_at > 0)
        lead->p_leader = p_cheaper(w, t->rows[0], lead);
    for (size_t i = lead_at + 1; i < t->count; i++) {
        struct rank_entry *row = t->rows[i];
        if (row->tie || rank_entry_price(w, row) > price * told_apart_from(t, lead->group, row->group))
            continue;
        double p = p_cheaper(w, lead, row);
        if (!(p < told_apart))
            continue;
        row->tie = tie;
        row->p_leader = p;
    }
}

/* The cheapest row without a number leads the next group: so whoever shares number 1 may be the cheapest. */
static void number_section(struct ties *t, size_t begin, size_t end, uint32_t *tie) {
    struct rank_work *w = t->work;
    double limit = reach(w, begin, end);
    t->count = 0;
    for (size_t i = begin; i < end; i++)
        if (bound(w, &w->entries[i], false) <= limit)
            t->rows[t->count++] = &w->entries[i];
    for (size_t i = 0; i < t->count && t->rows[i] < &w->entries[begin + RANK_RESOLVED]; i++)
        if (!t->rows[i]->tie)
            follow(t, i, ++*tie);
}

void rank_ties(struct rank_work *w) {
    struct ties t = {.work = w,
                     .rows = xmalloc((w->entry_count + 1) * sizeof(struct rank_entry *)),
                     .ratios = xmalloc((w->draws + 1) * sizeof(double)),
                     .apart = xcalloc(w->group_count + 1, sizeof(double *))};
    uint32_t tie = 0;
    number_section(&t, 0, w->section_end[0], &tie);
    number_section(&t, w->section_end[0], w->section_end[1], &tie);
    free(t.rows);
    free(t.ratios);
    free(t.apart);
}
