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

static bool is_too_cheap(const struct quote *q) {
    return q->term == TERM_ON_DEMAND && q->identity->count > 0 && strcmp(q->per_hour.currency, "USD") == 0 &&
           q->per_hour.amount < offer_price_floor(&q->identity->match) * (double)q->identity->count;
}

/* ---- what must agree for two rows to be one offer ---- */

static int compare_numbers(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a > b) - (a < b);
}

enum { KEY_TEXTS = 6, KEY_NUMBERS = 5 };

struct key {
    const char *texts[KEY_TEXTS];
    double numbers[KEY_NUMBERS];
};

static struct key key_of_quote(const struct quote *q) {
    const struct identity *id = q->identity;

    return (struct key){
        {q->provider, q->region, id->sku, id->device, q->observed, q->per_hour.currency},
        {q->term, (double)id->count, id->gpu_memory_bytes, q->vcpus, q->host_memory_bytes},
    };
}

static struct key key_of_offer(const struct offer *o) {
    return (struct key){
        {o->provider, o->region, o->sku, o->device, o->observed, o->price.per_hour.currency},
        {o->term, (double)o->device_count, o->gpu_memory_bytes, o->vcpus, o->host_memory_bytes},
    };
}

static int compare_keys(const struct key *a, const struct key *b) {
    int order = 0;

    for (size_t i = 0; order == 0 && i < KEY_TEXTS; i++) {
        order = a->texts[i] == b->texts[i] ? 0 : strcmp(a->texts[i], b->texts[i]);
    }
    for (size_t i = 0; order == 0 && i < KEY_NUMBERS; i++) {
        order = compare_numbers(a->numbers[i], b->numbers[i]);
    }
    return order;
}

static bool same_key(const struct quote *a, const struct quote *b) {
    struct key x, y;

    if (a->hash != b->hash) {
        return false;
    }
    x = key_of_quote(a);
    y = key_of_quote(b);
    return compare_keys(&x, &y) == 0;
}

static int compare_offers(const void *left, const void *right) {
    const struct offer *a = *(const struct offer *const *)left, *b = *(const struct offer *const *)right;
    struct key x = key_of_offer(a), y = key_of_offer(b);
    int order = compare_keys(&x, &y);

    return order != 0 ? order : compare_numbers(a->price.per_hour.amount, b->price.per_hour.amount);
}

static int compare_rows(const void *left, const void *right) {
    const struct quote *a = left, *b = right;
    int order = (a->row > b->row) - (a->row < b->row);

    return order != 0 ? order : (a->term > b->term) - (a->term < b->term);
}

static int compare_prices(const void *left, const void *right) {
    const struct quote *a = *(const struct quote *const *)left, *b = *(const struct quote *const *)right;
    int order = compare_numbers(a->per_hour.amount, b->per_hour.amount);

    return order != 0 ? order : (a > b) - (a < b); /* they stand in the file's order */
}

/* ---- the offers that the file's quotes make ---- */

struct merger {
    struct arena *arena;
    struct quote **group; /* scratch: what is one offer to a buyer */
    double *prices;       /* scratch */
};

static void add_note(struct arena *a, struct quote *q, const char *note) {
    if (note[0]) {
        q->note = q->note[0] ? arena_printf(a, "%s; %s", q->note, note) : note;
    }
}

static void note_spot(struct merger *m, struct quote *q, struct quote *const *group, size_t count) {
    size_t at = 0, above = 0;

    for (size_t i = 0; i < count; i++) {
        at += group[i]->spot_at_on_demand;
        above += group[i]->spot_above_on_demand;
    }
    if (at > 0) {
        add_note(m->arena, q,
                 at == count ? "spot equals on-demand"
                             : arena_printf(m->arena, "spot equals on-demand in %zu of %zu rows", at, count));
    }
    if (above > 0) {
        add_note(m->arena, q,
                 above == count
                     ? "spot above on-demand"
                     : arena_printf(m->arena, "spot above on-demand in %zu of %zu rows", above, count));
    }
}

/* The first row of group[0..count) founds the offer of them all. */
static struct quote *found_offer(struct merger *m, struct quote *const *group, size_t count) {
    struct quote *first = group[0];

    for (size_t i = 1; i < count; i++) {
        first = group[i] < first ? group[i] : first;
    }
    first->merged = count;
    add_note(m->arena, first, first->identity->note);
    note_spot(m, first, group, count);
    if (first->implausible) {
        add_note(m->arena, first, "implausible price");
    }
    return first;
}

struct range_text {
    char low[32], high[32];
};

/* Of a group whose prices rise. */
static struct range_text price_range(struct quote *const *group, size_t count) {
    struct range_text r = {"", ""};

    money_format(group[0]->per_hour, r.low);
    money_format(group[count - 1]->per_hour, r.high);
    return r;
}

/* What can be interrupted has a price per zone: the median stands for the region, never the lowest, which is
 * the price of one zone at one moment. */
static void merge_by_median(struct merger *m, struct quote *const *group, size_t count) {
    struct quote *first = found_offer(m, group, count);
    struct range_text r;

    if (offers_same_price(group[0]->per_hour.amount, group[count - 1]->per_hour.amount)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        m->prices[i] = group[i]->per_hour.amount;
    }
    r = price_range(group, count);
    first->per_hour.amount = stats_median(m->prices, count);
    add_note(m->arena, first,
             arena_printf(m->arena, "median of %zu zones, %s to %s an hour: choose the zone", count, r.low,
                          r.high));
}

static void merge_equal(struct merger *m, struct quote *const *group, size_t count) {
    size_t made = 0;
    struct range_text r;

    for (size_t i = 0, n; i < count; i += n) {
        double price = group[i]->per_hour.amount;

        for (n = 1; i + n < count && offers_same_price(price, group[i + n]->per_hour.amount); n++) {
        }
        found_offer(m, group + i, n);
        made++;
    }
    if (made < 2) {
        return;
    }
    r = price_range(group, count);
    for (size_t i = 0; i < count; i++) {
        if (group[i]->merged > 0) {
            add_note(
                m->arena, group[i],
                arena_printf(m->arena, "%zu rows of this region ask %s to %s an hour", count, r.low, r.high));
        }
    }
}

/* Rows in the file's order; only a layout that joins rows leaves them out of it. */
static void order_rows(struct catalogue_file *f) {
    for (size_t i = 1; i < f->quote_count; i++) {
        if (compare_rows(&f->quotes[i - 1], &f->quotes[i]) > 0) {
            qsort(f->quotes, f->quote_count, sizeof *f->quotes, compare_rows);
            return;
        }
    }
}

/* Chains the quotes of one key behind the first of them. */
struct chains {
    struct quote **slots; /* open addressing: the firsts; NULL = free */
    size_t mask;
};

static void chain(const struct chains *c, struct quote *q) {
    size_t at = q->hash & c->mask;

    while (c->slots[at] && !same_key(c->slots[at], q)) {
        at = (at + 1) & c->mask;
    }
    if (c->slots[at]) {
        q->next = c->slots[at]->next;
        c->slots[at]->next = q;
    } else {
        c->slots[at] = q;
    }
}

static struct chains make_chains(struct catalogue_file *f) {
    struct chains c = {.mask = 1};

    while (c.mask < 2 * f->quote_count) {
        c.mask = 2 * c.mask + 1;
    }
    c.slots = xcalloc(c.mask + 1, sizeof(struct quote *));
    for (size_t i = 0; i < f->quote_count; i++) {
        chain(&c, &f->quotes[i]);
    }
    return c;
}

static void merge_chain(struct merger *m, struct quote *head) {
    size_t count = 0;

    for (struct quote *q = head; q; q = q->next) {
        m->group[count++] = q;
    }
    if (count > 1) {
        qsort(m->group, count, sizeof(struct quote *), compare_prices);
    }
    if (term_row(head->term)->interruptible) {
        merge_by_median(m, m->group, count);
    } else {
        merge_equal(m, m->group, count);
    }
}

static void merge_file(struct merger *m, struct catalogue_file *f) {
    struct chains c;

    order_rows(f);
    c = make_chains(f);
    for (size_t i = 0; i < f->quote_count; i++) {
        struct quote *q = &f->quotes[i];

        /* the spot price of a row whose on-demand price is a mistake is one too */
        q->implausible = is_too_cheap(q) || (i > 0 && q[-1].row == q->row && q[-1].implausible);
    }
    for (size_t i = 0; i <= c.mask; i++) {
        if (c.slots[i]) {
            merge_chain(m, c.slots[i]);
        }
    }
    free(c.slots);
}

/* ---- into the set ---- */

static struct offer make_offer(const struct catalogue_file *f, const struct quote *q) {
    return (struct offer){
        .provider = q->provider,
        .region = q->region,
        .sku = q->identity->sku,
        .device = q->identity->device,
        .match = &q->identity->match,
        .device_count = q->identity->count,
        .gpu_memory_bytes = q->identity->gpu_memory_bytes,
        .vcpus = q->vcpus,
        .host_memory_bytes = q->host_memory_bytes,
        .term = q->term,
        .price = {q->per_hour},
        .observed = q->observed,
        .file = f->name,
        .line = q->line,
        .merged = q->merged,
        .note = q->note,
        .implausible = q->implausible,
    };
}

/* The offers of earlier files. */
struct known {
    struct offer **sorted;
    size_t count;
};

static struct known sort_known(struct offer_set *set) {
    struct known k = {xcalloc(set->count, sizeof(struct offer *)), set->count};

    for (size_t i = 0; i < set->count; i++) {
        k.sorted[i] = &set->offers[i];
    }
    qsort(k.sorted, k.count, sizeof(struct offer *), compare_offers);
    return k;
}

/* The offer of an earlier file that says the same; NULL when there is none. */
static struct offer *find_same(const struct known *old, const struct quote *wanted) {
    struct key key = key_of_quote(wanted), other;
    size_t low = 0, high = old->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        other = key_of_offer(old->sorted[middle]);
        if (compare_keys(&other, &key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < old->count; low++) {
        other = key_of_offer(old->sorted[low]);
        if (compare_keys(&other, &key) != 0) {
            return NULL;
        }
        if (offers_same_price(old->sorted[low]->price.per_hour.amount, wanted->per_hour.amount)) {
            return old->sorted[low];
        }
    }
    return NULL;
}

/* Room for so many more: what points into the set stays good while they are added. */
static void reserve(struct offer_set *set, size_t more) {
    if (set->count + more > set->capacity) {
        set->capacity = set->count + more;
        set->offers = xrealloc(set->offers, set->capacity * sizeof *set->offers);
    }
}

/* Adds the offers that no earlier file has, in the file's order, and counts them and the rows that found
 * them. */
static void add_offers(struct offer_set *set, struct catalogue_file *f) {
    const struct quote *last = NULL;
    struct known old;
    size_t made = 0;

    for (size_t i = 0; i < f->quote_count; i++) {
        made += f->quotes[i].merged > 0;
    }
    reserve(set, made);
    old = sort_known(set);
    for (size_t i = 0; i < f->quote_count; i++) {
        const struct quote *q = &f->quotes[i];
        struct offer *same = q->merged > 0 ? find_same(&old, q) : NULL;

        if (same) {
            same->merged += q->merged;
        } else if (q->merged > 0) {
            set->offers[set->count++] = make_offer(f, q);
            f->account.offers++;
            f->account.rows_kept += !last || last->row != q->row;
            last = q;
        }
    }
    free(old.sorted);
}

static void add_account(struct offer_set *set, const struct catalogue_file *f) {
    for (size_t i = 0; i < f->refusal_count; i++) {
        set->refusals =
            xgrow(set->refusals, sizeof *set->refusals, set->refusal_count, &set->refusal_capacity);
        set->refusals[set->refusal_count++] = f->refusals[i];
    }
    set->accounts = xgrow(set->accounts, sizeof *set->accounts, set->account_count, &set->account_capacity);
    set->accounts[set->account_count++] = f->account;
}

static size_t count_rows(const struct catalogue_file *f) {
    size_t rows = 0;

    for (size_t i = 0; i < f->quote_count; i++) {
        rows += i == 0 || f->quotes[i].row != f->quotes[i - 1].row;
    }
    return rows;
}

static const char *provider_of(const struct catalogue_file *f) {
    const char *provider = f->quote_count > 0 ? f->quotes[0].provider : f->account.provider;

    for (size_t i = 0; i < f->quote_count; i++) {
        if (f->quotes[i].provider != provider && strcmp(f->quotes[i].provider, provider) != 0) {
            return "several";
        }
    }
    return provider;
}

void offers_merge(struct offer_set *set, struct catalogue_file *f) {
    struct merger m = {
        .arena = f->arena,
        .group = xcalloc(f->quote_count, sizeof(struct quote *)),
        .prices = xcalloc(f->quote_count, sizeof *m.prices),
    };

    merge_file(&m, f);
    add_offers(set, f);
    f->account.provider = provider_of(f);
    f->account.rows_merged = count_rows(f) - f->account.rows_kept + f->rows_joined;
    add_account(set, f);
    free(m.group);
    free(m.prices);
}
