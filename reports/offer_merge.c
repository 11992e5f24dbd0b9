#include "reports/offer_merge.h"

#include "base/stats.h"
#include "reports/terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two sellers' price lists of one price differ by their rounding: AWS's own lists by 1e-7, its spot feed,
 * rounded to four decimals, by 1e-6. No real discount is that small. */
static const double same_price = 1e-5;

bool offers_same_price(double a, double b) {
    return fabs(a - b) <= same_price * fmax(fabs(a), fabs(b));
}

/* Bid floors that one catalogue stored as prices stand at 43 and 56 % of the lowest real price. */
static const double least_price_share = 0.6;

double offer_price_floor(const struct gpu_match *m) {
    double lowest = m->count > 0 ? INFINITY : NAN;

    for (size_t i = 0; i < m->count && !isnan(lowest); i++) {
        double rent = m->candidates[i]->figures[GPU_LOWEST_RENT].value;

        lowest = isnan(rent) ? NAN : fmin(lowest, rent);
    }
    return least_price_share * lowest;
}

static bool is_too_cheap(const struct offer *o) {
    return o->term == TERM_ON_DEMAND && o->device_count > 0 &&
           strcmp(o->price.per_hour.currency, "USD") == 0 &&
           o->price.per_hour.amount < offer_price_floor(&o->match) * (double)o->device_count;
}

/* ---- what must agree for two rows to be one offer ---- */

static int compare_numbers(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a > b) - (a < b);
}

static int compare_texts(const struct offer *a, const struct offer *b) {
    const char *const x[] = {a->provider, a->region,   a->sku,
                             a->device,   a->observed, a->price.per_hour.currency};
    const char *const y[] = {b->provider, b->region,   b->sku,
                             b->device,   b->observed, b->price.per_hour.currency};
    int order = 0;

    for (size_t i = 0; order == 0 && i < sizeof x / sizeof *x; i++) {
        order = x[i] == y[i] ? 0 : strcmp(x[i], y[i]);
    }
    return order;
}

static int compare_keys(const struct offer *a, const struct offer *b) {
    const double x[] = {(double)a->term, (double)a->device_count, a->gpu_memory_bytes, a->vcpus,
                        a->host_memory_bytes};
    const double y[] = {(double)b->term, (double)b->device_count, b->gpu_memory_bytes, b->vcpus,
                        b->host_memory_bytes};
    int order = compare_texts(a, b);

    for (size_t i = 0; order == 0 && i < sizeof x / sizeof *x; i++) {
        order = compare_numbers(x[i], y[i]);
    }
    return order;
}

static int compare_prices(const struct offer *a, const struct offer *b) {
    return compare_numbers(a->price.per_hour.amount, b->price.per_hour.amount);
}

/* By hash first: one comparison of numbers settles nearly every pair. */
static int compare_quotes(const void *left, const void *right) {
    const struct quote *a = *(const struct quote *const *)left, *b = *(const struct quote *const *)right;
    int order = (a->hash > b->hash) - (a->hash < b->hash);

    order = order != 0 ? order : compare_keys(&a->offer, &b->offer);
    order = order != 0 ? order : compare_prices(&a->offer, &b->offer);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static int compare_offers(const void *left, const void *right) {
    const struct offer *a = *(const struct offer *const *)left, *b = *(const struct offer *const *)right;
    int order = compare_keys(a, b);

    return order != 0 ? order : compare_prices(a, b);
}

/* ---- the offers that the file's quotes make ---- */

struct merger {
    struct arena *arena;
    struct quote **sorted;
    double *prices;     /* scratch, as long as sorted */
    struct quote *made; /* the merged offers */
    size_t made_count, made_capacity;
};

static void add_note(struct arena *a, struct offer *o, const char *note) {
    if (note[0]) {
        o->note = o->note[0] ? arena_printf(a, "%s; %s", o->note, note) : note;
    }
}

static void note_spot(struct merger *m, struct offer *o, struct quote *const *group, size_t count) {
    size_t at = 0, above = 0;

    for (size_t i = 0; i < count; i++) {
        at += group[i]->spot_at_on_demand;
        above += group[i]->spot_above_on_demand;
    }
    if (at > 0) {
        add_note(m->arena, o,
                 at == count ? "spot equals on-demand"
                             : arena_printf(m->arena, "spot equals on-demand in %zu of %zu rows", at, count));
    }
    if (above > 0) {
        add_note(m->arena, o,
                 above == count
                     ? "spot above on-demand"
                     : arena_printf(m->arena, "spot above on-demand in %zu of %zu rows", above, count));
    }
}

/* One offer for group[0..count), whose prices rise; it keeps the place and texts of the first row. */
static struct offer *make_offer(struct merger *m, struct quote *const *group, size_t count) {
    const struct quote *first = group[0];
    struct offer *o;

    for (size_t i = 1; i < count; i++) {
        first = group[i]->row < first->row ? group[i] : first;
    }
    m->made = xgrow(m->made, sizeof *m->made, m->made_count, &m->made_capacity);
    m->made[m->made_count] = *first;
    o = &m->made[m->made_count++].offer;
    o->merged = count;
    add_note(m->arena, o, first->identity->note);
    note_spot(m, o, group, count);
    if (o->implausible) {
        add_note(m->arena, o, "implausible price");
    }
    return o;
}

struct range_text {
    char low[32], high[32];
};

/* Of a group whose prices rise. */
static struct range_text price_range(struct quote *const *group, size_t count) {
    struct range_text r = {"", ""};

    money_format(group[0]->offer.price.per_hour, r.low);
    money_format(group[count - 1]->offer.price.per_hour, r.high);
    return r;
}

/* What can be interrupted has a price per zone: the median stands for the region, never the lowest, which is
 * the price of one zone at one moment. */
static void merge_by_median(struct merger *m, struct quote *const *group, size_t count) {
    struct offer *o = make_offer(m, group, count);
    struct range_text r;

    if (offers_same_price(group[0]->offer.price.per_hour.amount,
                          group[count - 1]->offer.price.per_hour.amount)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        m->prices[i] = group[i]->offer.price.per_hour.amount;
    }
    o->price.per_hour.amount = stats_median(m->prices, count);
    r = price_range(group, count);
    add_note(m->arena, o,
             arena_printf(m->arena, "median of %zu zones, %s to %s an hour: choose the zone", count, r.low,
                          r.high));
}

static void merge_equal(struct merger *m, struct quote *const *group, size_t count) {
    size_t before = m->made_count;
    struct range_text r = price_range(group, count);

    for (size_t i = 0, n; i < count; i += n) {
        double price = group[i]->offer.price.per_hour.amount;

        for (n = 1; i + n < count && offers_same_price(price, group[i + n]->offer.price.per_hour.amount);
             n++) {
        }
        make_offer(m, group + i, n);
    }
    for (size_t i = before; m->made_count - before > 1 && i < m->made_count; i++) {
        add_note(
            m->arena, &m->made[i].offer,
            arena_printf(m->arena, "%zu rows of this region ask %s to %s an hour", count, r.low, r.high));
    }
}

static void merge_file(struct merger *m, struct catalogue_file *f) {
    m->sorted = xcalloc(f->quote_count, sizeof(struct quote *));
    m->prices = xcalloc(f->quote_count, sizeof *m->prices);
    for (size_t i = 0; i < f->quote_count; i++) {
        struct quote *q = &f->quotes[i];

        q->offer.match = q->identity->match;
        q->offer.gpu_memory_bytes = q->identity->gpu_memory_bytes;
        /* the spot price of a row whose on-demand price is a mistake is one too */
        q->offer.implausible = is_too_cheap(&q->offer) || (i > 0 && f->quotes[i - 1].row == q->row &&
                                                           f->quotes[i - 1].offer.implausible);
        m->sorted[i] = q;
    }
    qsort(m->sorted, f->quote_count, sizeof(struct quote *), compare_quotes);
    for (size_t i = 0, n; i < f->quote_count; i += n) {
        const struct quote *first = m->sorted[i];

        for (n = 1; i + n < f->quote_count && m->sorted[i + n]->hash == first->hash &&
                    compare_keys(&m->sorted[i + n]->offer, &first->offer) == 0;
             n++) {
        }
        if (term_row(first->offer.term)->interruptible) {
            merge_by_median(m, m->sorted + i, n);
        } else {
            merge_equal(m, m->sorted + i, n);
        }
    }
}

/* ---- into the set ---- */

static int compare_rows(const void *left, const void *right) {
    const struct quote *a = left, *b = right;
    int order = (a->row > b->row) - (a->row < b->row);

    return order != 0 ? order : (a->offer.term > b->offer.term) - (a->offer.term < b->offer.term);
}

/* The offer of an earlier file that says the same; NULL when there is none. old is sorted. */
static struct offer *find_same(struct offer *const *old, size_t count, const struct offer *wanted) {
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_keys(old[middle], wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < count && compare_keys(old[low], wanted) == 0; low++) {
        if (offers_same_price(old[low]->price.per_hour.amount, wanted->price.per_hour.amount)) {
            return old[low];
        }
    }
    return NULL;
}

static size_t count_rows(const struct quote *quotes, size_t count) {
    size_t rows = 0;

    for (size_t i = 0; i < count; i++) {
        rows += i == 0 || quotes[i].row != quotes[i - 1].row;
    }
    return rows;
}

/* Sorts out the made offers that earlier files have already; what stays is in the file's order. */
static void absorb_known(struct merger *m, struct offer_set *set) {
    struct offer **old = xcalloc(set->count, sizeof(struct offer *));
    size_t stay = 0;

    for (size_t i = 0; i < set->count; i++) {
        old[i] = &set->offers[i];
    }
    qsort(old, set->count, sizeof(struct offer *), compare_offers);
    for (size_t i = 0; i < m->made_count; i++) {
        struct offer *same = find_same(old, set->count, &m->made[i].offer);

        if (same) {
            same->merged += m->made[i].offer.merged;
        } else {
            m->made[stay++] = m->made[i];
        }
    }
    m->made_count = stay;
    if (stay > 0) {
        qsort(m->made, stay, sizeof *m->made, compare_rows);
    }
    free(old);
}

static void append(struct offer_set *set, const struct merger *m, const struct catalogue_file *f) {
    for (size_t i = 0; i < m->made_count; i++) {
        set->offers = xgrow(set->offers, sizeof *set->offers, set->count, &set->capacity);
        set->offers[set->count++] = m->made[i].offer;
    }
    for (size_t i = 0; i < f->refusal_count; i++) {
        set->refusals =
            xgrow(set->refusals, sizeof *set->refusals, set->refusal_count, &set->refusal_capacity);
        set->refusals[set->refusal_count++] = f->refusals[i];
    }
    set->accounts = xgrow(set->accounts, sizeof *set->accounts, set->account_count, &set->account_capacity);
    set->accounts[set->account_count++] = f->account;
}

static const char *provider_of(const struct catalogue_file *f) {
    const char *provider = f->quote_count > 0 ? f->quotes[0].offer.provider : f->account.provider;

    for (size_t i = 0; i < f->quote_count; i++) {
        if (strcmp(f->quotes[i].offer.provider, provider) != 0) {
            return "several";
        }
    }
    return provider;
}

void offers_merge(struct offer_set *set, struct catalogue_file *f) {
    struct merger m = {.arena = f->arena};

    merge_file(&m, f);
    absorb_known(&m, set);
    f->account.provider = provider_of(f);
    f->account.rows_kept = count_rows(m.made, m.made_count);
    f->account.rows_merged = count_rows(f->quotes, f->quote_count) - f->account.rows_kept + f->rows_joined;
    f->account.offers = m.made_count;
    append(set, &m, f);
    free(m.sorted);
    free(m.prices);
    free(m.made);
}
