#include "reports/rank_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this probability that the leader is cheaper, a row is not told apart from it. */
static const double told_apart = 0.95;

double rank_half_width(const struct rank_group *g) {
    return (g->step.high - g->step.low) / (2 * g->step.mid);
}

/* ---- order ---- */

enum section { SECTION_ON_DEMAND, SECTION_SPOT, SECTION_UNPRICED };

static enum section section_of(const struct ranked *r) {
    if (isnan(r->row.cost.mid))
        return SECTION_UNPRICED;
    return r->row.term == TERM_SPOT ? SECTION_SPOT : SECTION_ON_DEMAND;
}

/* By section, then cost; equal costs by label, so that the order never depends on the files' order. */
static int compare_rows(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    enum section sa = section_of(a), sb = section_of(b);
    if (sa != sb)
        return sa < sb ? -1 : 1;
    double ca = sa == SECTION_UNPRICED ? a->row.step_s.mid : a->row.cost.mid;
    double cb = sa == SECTION_UNPRICED ? b->row.step_s.mid : b->row.cost.mid;
    if (ca != cb)
        return ca < cb ? -1 : 1;
    return strcmp(a->row.label, b->row.label);
}

/* ---- ties ---- */

static double billed_s(const struct rank_work *w, const struct ranked *r, size_t draw) {
    return r->group->step_s[draw] * (r->row.term == TERM_SPOT ? w->goodput[draw] : 1);
}

/* A difference within the catalogues' rounding counts half. */
static double p_cheaper(const struct rank_work *w, const struct ranked *leader, const struct ranked *row) {
    double tolerance = w->base.uncertainty.price_tolerance, wins = 0;
    for (size_t d = 0; d < w->draws; d++) {
        double a = leader->row.price.per_hour.amount * billed_s(w, leader, d);
        double b = row->row.price.per_hour.amount * billed_s(w, row, d);
        wins += fabs(a - b) <= tolerance * b ? 0.5 : a < b;
    }
    return wins / (double)w->draws;
}

/* The cheapest row without a number leads the next group and takes all later rows along that are not told
 * apart from it: so whoever shares number 1 may be the cheapest. */
static void find_ties_of(struct rank_work *w, size_t begin, size_t end, size_t *tie) {
    for (size_t lead = begin; lead < end; lead++) {
        if (w->rows[lead].row.tie)
            continue;
        w->rows[lead].row.tie = ++*tie;
        if (lead > begin)
            w->rows[lead].row.p_leader = p_cheaper(w, &w->rows[begin], &w->rows[lead]);
        for (size_t i = lead + 1; i < end; i++) {
            if (w->rows[i].row.tie)
                continue;
            double p = p_cheaper(w, &w->rows[lead], &w->rows[i]);
            if (!(p < told_apart))
                continue;
            w->rows[i].row.tie = *tie;
            w->rows[i].row.p_leader = p;
        }
    }
}

static void find_ties(struct rank_work *w) {
    size_t tie = 0;
    for (size_t begin = 0, end; begin < w->row_count; begin = end) {
        for (end = begin + 1; end < w->row_count && section_of(&w->rows[end]) == section_of(&w->rows[begin]);)
            end++;
        if (section_of(&w->rows[begin]) != SECTION_UNPRICED)
            find_ties_of(w, begin, end, &tie);
    }
}

/* ---- break-even ---- */

static void find_break_even(struct rank_work *w) {
    const struct ranked *leaders[] = {NULL, NULL};
    for (size_t i = w->row_count; i-- > 0;)
        if (section_of(&w->rows[i]) != SECTION_UNPRICED)
            leaders[section_of(&w->rows[i])] = &w->rows[i];
    for (size_t i = 0; i < w->row_count; i++) {
        struct rank_row *row = &w->rows[i].row;
        const struct ranked *leader = leaders[section_of(&w->rows[i]) == SECTION_SPOT ? 1 : 0];
        double billed_mid_s = row->step_s.mid * (row->goodput_low + row->goodput_high) / 2;
        row->break_even_per_hour = leader ? leader->row.cost.mid * 3600 / billed_mid_s : NAN;
    }
}

void rank_order(struct rank_work *w) {
    if (w->row_count > 0)
        qsort(w->rows, w->row_count, sizeof *w->rows, compare_rows);
    find_ties(w);
    find_break_even(w);
}
