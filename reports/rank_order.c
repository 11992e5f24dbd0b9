#include "reports/rank_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum section { SECTION_ON_DEMAND, SECTION_SPOT, SECTION_UNPRICED, SECTION_COUNT };

/* What is sorted: small, and its comparison touches nothing else until two costs are equal. */
struct key {
    double cost; /* seconds per step where there is no price */
    uint32_t section, index;
};

/* qsort knows no context. */
struct sorted {
    struct key key;
    const struct rank_work *work;
};

static enum section section_of(const struct rank_entry *n) {
    if (isnan(n->cost))
        return SECTION_UNPRICED;
    return rank_entry_term(n) == TERM_SPOT ? SECTION_SPOT : SECTION_ON_DEMAND;
}

/* By section, then cost. */
static int compare_keys(const void *left, const void *right) {
    const struct key *a = left, *b = right;
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

static int compare_sorted(const void *left, const void *right) {
    const struct sorted *a = left, *b = right;
    return rank_entry_compare_labels(a->work, &a->work->entries[a->key.index],
                                     &b->work->entries[b->key.index]);
}

/* Equal costs go by label, so that the order never depends on the files' order. */
static void sort_equals(const struct rank_work *w, struct key *keys, size_t count) {
    struct sorted *equal = xmalloc(count * sizeof *equal);
    for (size_t i = 0; i < count; i++)
        equal[i] = (struct sorted){keys[i], w};
    qsort(equal, count, sizeof *equal, compare_sorted);
    for (size_t i = 0; i < count; i++)
        keys[i] = equal[i].key;
    free(equal);
}

static void sort_keys(const struct rank_work *w, struct key *keys) {
    qsort(keys, w->entry_count, sizeof *keys, compare_keys);
    for (size_t begin = 0, end; begin < w->entry_count; begin = end) {
        end = begin + 1;
        while (end < w->entry_count && compare_keys(&keys[begin], &keys[end]) == 0)
            end++;
        if (end > begin + 1)
            sort_equals(w, &keys[begin], end - begin);
    }
}

static void price_entry(const struct rank_work *w, struct rank_entry *n) {
    const struct rank_group *g = &w->groups[n->group];
    double billed_s = (rank_entry_term(n) == TERM_SPOT ? g->billed_spot : g->step).mid;
    n->cost = rank_entry_price(w, n) / 3600 * billed_s;
}

void rank_order(struct rank_work *w) {
    size_t in_section[SECTION_COUNT] = {0};
    if (w->entry_count == 0)
        return;
    struct key *keys = xmalloc(w->entry_count * sizeof *keys);
    for (size_t i = 0; i < w->entry_count; i++) {
        struct rank_entry *n = &w->entries[i];
        price_entry(w, n);
        enum section section = section_of(n);
        in_section[section]++;
        keys[i] = (struct key){.cost = section == SECTION_UNPRICED ? w->groups[n->group].step.mid : n->cost,
                               .section = section,
                               .index = (uint32_t)i};
    }
    sort_keys(w, keys);
    struct rank_entry *ordered = xmalloc(w->entry_count * sizeof *ordered);
    for (size_t i = 0; i < w->entry_count; i++)
        ordered[i] = w->entries[keys[i].index];
    free(w->entries);
    free(keys);
    w->entries = ordered;
    w->entry_capacity = w->entry_count;
    for (size_t s = 0, end = 0; s < SECTION_COUNT; s++)
        w->section_end[s] = end += in_section[s];
}
