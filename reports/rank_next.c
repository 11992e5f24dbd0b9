#include "reports/rank_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEXT_MAX = 3, ACCEPT_MINUTES = 15 /* the accept tier's seconds: docs/method.md */ };

/* A device model of the top tie, and what measuring one machine of it would take out. */
struct candidate {
    const struct rank_entry *first, *rent; /* the cheapest step, the cheapest hour */
    const char *label;                     /* of first */
    size_t rows;
    double gain;
};

static const char *const replaced[] = {
    [EVIDENCE_A] = "measurement of this offer",
    [EVIDENCE_B] = "measurement made elsewhere",
    [EVIDENCE_C] = "published reference",
    [EVIDENCE_D] = "datasheet estimate",
};

static const char *const measurements[RANK_CLASS_COUNT] = {
    [RANK_COMPUTE] = "a GEMM measurement",
    [RANK_MEMORY] = "a memory bandwidth measurement",
    [RANK_COMM] = "an all-reduce measurement",
};

/* What the step's largest doubt rests on. */
static const char *basis_of(const struct rank_group *g) {
    if (g->dominant_class == RANK_COMM && g->comm_assumed)
        return "line-rate assumption";
    return replaced[g->dominant_grade];
}

static void next_add(struct ranking *out, const char *text) {
    if (out->next_count < NEXT_MAX)
        out->next[out->next_count++].text = text;
}

/* What measuring this row would bring; the command only where this version can do it. */
static const char *measure_line(struct rank_work *w, const struct rank_entry *r, const char *why) {
    const struct rank_group *g = &w->groups[r->group];
    char price[32];
    bool can = rank_can_measure(&g->subject);
    return arena_printf(
        &w->arena, "%s of %s (%s, %d min, %s) would replace a +-%.0f %% %s (%s); %s",
        measurements[g->dominant_class], g->subject.gpu ? g->subject.gpu->name : "that machine",
        rank_entry_label(w, r), ACCEPT_MINUTES,
        money_format(money_make(rank_entry_price(w, r) * ACCEPT_MINUTES / 60.0, w->currency), price),
        100 * rank_half_width(g), basis_of(g), why,
        can ? "there, run `stepcost run --tier accept`"
            : "this version cannot measure GPUs: put a figure you trust into references.csv (--data DIR)");
}

static bool same_device(const struct rank_work *w, const struct rank_entry *a, const struct rank_entry *b) {
    const struct gpu *gpu = w->groups[a->group].subject.gpu;
    return a->group == b->group || (gpu && gpu == w->groups[b->group].subject.gpu);
}

static bool in_top_tie(const struct rank_work *w, size_t i) {
    return w->entries[i].tie == w->entries[0].tie;
}

/* The leader's share of the doubt is in every comparison, another model's only in its own rows. */
static size_t collect(struct rank_work *w, size_t rows, size_t tied, struct candidate *out) {
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        const struct rank_entry *r = &w->entries[i];
        size_t c = 0;
        if (!in_top_tie(w, i))
            continue;
        while (c < count && !same_device(w, out[c].first, r))
            c++;
        if (c == count)
            out[count++] = (struct candidate){.first = r, .rent = r, .label = rank_entry_label(w, r)};
        out[c].rows++;
        if (rank_entry_price(w, r) < rank_entry_price(w, out[c].rent))
            out[c].rent = r;
    }
    for (size_t c = 0; c < count; c++) {
        double width = rank_half_width(&w->groups[out[c].first->group]);
        out[c].gain = width * width * (double)(c == 0 ? tied - out[0].rows : out[c].rows);
    }
    return count;
}

static int compare_gain(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return strcmp(a->label, b->label);
}

static void split_tie(struct rank_work *w, size_t rows, size_t tied, struct ranking *out) {
    struct candidate *c = xcalloc(tied, sizeof *c);
    size_t count = collect(w, rows, tied, c);
    if (count == 1)
        next_add(out, arena_printf(&w->arena,
                                   "the %zu rows of the top tie are one device model at nearly one price: "
                                   "choose by region or terms, no measurement of the model splits them",
                                   tied));
    qsort(c, count, sizeof *c, compare_gain);
    for (size_t i = 0; i < count && count > 1; i++) {
        const struct rank_entry *r = c[i].rent;
        if (w->groups[r->group].dominant_grade == EVIDENCE_A || !r->offer)
            continue;
        char why[80];
        snprintf(why, sizeof why, "%zu of the %zu tied rows", c[i].rows, tied);
        next_add(out, measure_line(w, r, why));
    }
    if (out->next_count == 0)
        next_add(out,
                 "the tied rows are measured already: only longer runs (`--tier soak`) or a better price "
                 "split them");
    free(c);
}

static void confirm_leader(struct rank_work *w, struct ranking *out) {
    const struct rank_entry *r = &w->entries[0];
    if (!r->offer) {
        next_add(out, "this machine is the cheapest row and told apart from the rest: nothing to split");
        return;
    }
    if (w->groups[r->group].dominant_grade == EVIDENCE_A) {
        next_add(out,
                 arena_printf(&w->arena,
                              "%s is measured and told apart from the rest: run `stepcost run --tier "
                              "accept` on it in another hour before signing, machines of one offer differ",
                              rank_entry_label(w, r)));
        return;
    }
    next_add(out, measure_line(w, r, "it leads by itself: confirm it before signing"));
}

/* Of this machine, and of a rented one that was measured. */
static void own_lines(struct rank_work *w, struct ranking *out) {
    for (size_t i = 0; i < w->entry_count; i++) {
        const struct rank_entry *r = &w->entries[i];
        const struct rank_group *g = &w->groups[r->group];
        bool rented = g->grade == EVIDENCE_A && rank_entry_term(r) == TERM_ON_DEMAND;
        if ((!r->offer || rented) && *g->doubt)
            next_add(out,
                     arena_printf(&w->arena,
                                  "measurements of %s are in doubt (%s; most of it: %s): stop other work on "
                                  "it and run `stepcost run --tier accept` (%d min)",
                                  rank_entry_label(w, r), g->doubt, g->dominant, ACCEPT_MINUTES));
    }
}

void rank_next_lines(struct rank_work *w, struct ranking *out) {
    size_t tied = 0;
    out->next = arena_alloc(&w->arena, NEXT_MAX * sizeof *out->next);
    for (size_t i = 0; i < out->on_demand; i++)
        tied += in_top_tie(w, i);
    own_lines(w, out);
    if (tied > 1)
        split_tie(w, out->on_demand, tied, out);
    else if (tied == 1)
        confirm_leader(w, out);
    if (out->count == 0)
        next_add(out, "nothing is ranked; the reasons below say what is missing");
}
