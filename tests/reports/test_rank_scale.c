/* Many offers: what bounds leave out must be what resampling of every row would have left out. Looks at the
 * draws themselves (rank_parts.h), so that the check is made from other loops than the program's. */
#include "tests/reports/rank_fixture.h"

#include "base/rng.h"
#include "reports/rank_parts.h"

#include <stdlib.h>

enum { OFFERS = 4000, DRAWS = 200 };

static const char *const gpus[] = {"ALPHA-16GB", "BETA-16GB", "EPSILON-16GB"};

/* Prices over a factor of three: many rows are near the first 200, and most are far. */
static struct offer *make_offers(struct world *w) {
    struct offer *offers = xcalloc(OFFERS, sizeof *offers);
    struct rng rng = rng_make(11);
    w->request.draws = DRAWS;
    w->set.offers = offers;
    for (size_t i = 0; i < OFFERS; i++) {
        struct gpu_match *match = &w->matches[i % COUNT(gpus)];
        *match = (struct gpu_match){.candidates = {gpu_by_name(&w->gpus, gpus[i % COUNT(gpus)])}, .count = 1};
        offers[i] = (struct offer){.provider = "acme",
                                   .sku = "s",
                                   .region = xasprintf("r%zu", i),
                                   .device = match->candidates[0]->name,
                                   .match = match,
                                   .device_count = 1 + (int64_t)(i / 7 % 2),
                                   .term = i % 3 ? TERM_ON_DEMAND : TERM_SPOT,
                                   .price = {money_make(1 + 2 * rng_uniform(&rng), "USD")}};
    }
    w->set.count = OFFERS;
    return offers;
}

static void free_offers(struct offer *offers) {
    for (size_t i = 0; i < OFFERS; i++)
        free((void *)(uintptr_t)offers[i].region);
    free(offers);
}

static double billed(const struct rank_work *w, const struct rank_entry *n, size_t draw) {
    double seconds = w->groups[n->group].step_s[draw];
    return rank_entry_price(w, n) * seconds * (n->offer->term == TERM_SPOT ? w->goodput[draw] : 1);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* reaches[i]: some draw has row i among the first 200 of its section. */
static void find_who_reaches(const struct rank_work *w, size_t begin, size_t end, bool *reaches) {
    size_t count = end - begin;
    double *sorted = xmalloc(count * sizeof *sorted);
    for (size_t d = 0; d < w->draws; d++) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = billed(w, &w->entries[begin + i], d);
        qsort(sorted, count, sizeof *sorted, compare_doubles);
        for (size_t i = 0; i < count; i++)
            reaches[begin + i] |= billed(w, &w->entries[begin + i], d) <= sorted[RANK_RESOLVED - 1];
    }
    free(sorted);
}

/* Every row against every leader of the first 200, draw by draw. */
static void number_all(const struct rank_work *w, size_t begin, size_t end, size_t *number, size_t *tie) {
    double tolerance = w->base.uncertainty.price_tolerance;
    for (size_t lead = begin; lead < begin + RANK_RESOLVED; lead++) {
        if (number[lead])
            continue;
        number[lead] = ++*tie;
        for (size_t i = lead + 1; i < end; i++) {
            double wins = 0;
            for (size_t d = 0; d < w->draws && !number[i]; d++) {
                double a = billed(w, &w->entries[lead], d), b = billed(w, &w->entries[i], d);
                wins += fabs(a - b) <= tolerance * b ? 0.5 : a < b;
            }
            if (!number[i] && wins / (double)w->draws < 0.95)
                number[i] = *tie;
        }
    }
}

static void bounds_leave_out_only_rows_that_no_draw_puts_among_the_first_200(void **state) {
    struct world w;
    bool reaches[OFFERS] = {false};
    size_t number[OFFERS] = {0}, tie = 0, left_out = 0, beyond = 0;
    (void)state;
    open_world(&w);
    struct offer *offers = make_offers(&w);
    rank(&w);
    const struct rank_work *work = w.ranking.work;
    assert_int_equal(w.ranking.count, OFFERS);
    find_who_reaches(work, 0, work->section_end[0], reaches);
    find_who_reaches(work, work->section_end[0], work->section_end[1], reaches);
    number_all(work, 0, work->section_end[0], number, &tie);
    number_all(work, work->section_end[0], work->section_end[1], number, &tie);
    for (size_t i = 0; i < OFFERS; i++) {
        if (w.rows[i].tie == 0)
            assert_true(number[i] == 0 || !reaches[i]);
        else
            assert_int_equal(w.rows[i].tie, number[i]);
        left_out += w.rows[i].tie == 0;
        beyond += reaches[i] && i - (i < w.ranking.on_demand ? 0 : w.ranking.on_demand) >= RANK_RESOLVED;
    }
    assert_true(left_out > OFFERS / 2); /* the bounds do leave out */
    assert_true(beyond > 100);          /* and more rows than the first 200 can reach */
    close_world(&w);
    free_offers(offers);
}

static void every_row_has_its_value_and_bounds(void **state) {
    struct world w;
    (void)state;
    open_world(&w);
    struct offer *offers = make_offers(&w);
    rank(&w);
    for (size_t i = 0; i < OFFERS; i++) {
        const struct rank_row *r = &w.rows[i];
        assert_true(r->cost.low < r->cost.mid && r->cost.mid < r->cost.high);
        assert_true(r->break_even_per_hour <= r->price.per_hour.amount * (1 + 1e-12));
        if (i > 0 && i != w.ranking.on_demand)
            assert_true(w.rows[i - 1].cost.mid <= r->cost.mid);
    }
    close_world(&w);
    free_offers(offers);
}

/* Equal prices go by their names: the order of the files is not seen. */
static void the_order_of_many_offers_is_not_that_of_the_files(void **state) {
    struct world w;
    (void)state;
    open_world(&w);
    struct offer *offers = make_offers(&w);
    for (size_t i = 0; i < OFFERS; i++)
        offers[i].price.per_hour.amount = 1 + (double)(i % 5);
    rank(&w);
    char **labels = xcalloc(OFFERS, sizeof *labels);
    for (size_t i = 0; i < OFFERS; i++)
        labels[i] = xstrdup(w.rows[i].label);
    for (size_t i = 0; i < OFFERS / 2; i++) {
        struct offer swap = offers[i];
        offers[i] = offers[OFFERS - 1 - i];
        offers[OFFERS - 1 - i] = swap;
    }
    rank(&w);
    for (size_t i = 0; i < OFFERS; i++) {
        assert_string_equal(w.rows[i].label, labels[i]);
        free(labels[i]);
    }
    free(labels);
    close_world(&w);
    free_offers(offers);
}

static void the_currency_of_most_offers_is_found_among_mixed_ones(void **state) {
    struct world w;
    size_t euros = 0;
    (void)state;
    open_world(&w);
    struct offer *offers = make_offers(&w);
    for (size_t i = 0; i < OFFERS; i++) {
        bool euro = i % 5 == 1 || i % 5 == 3;
        memcpy(offers[i].price.per_hour.currency,
               euro         ? "EUR"
               : i % 5 == 4 ? "CNY"
               : i % 5 == 0 ? "GBP"
                            : "USD",
               4);
        euros += euro;
    }
    rank(&w);
    assert_int_equal(w.ranking.count, euros);
    assert_string_equal(w.rows[0].price.per_hour.currency, "EUR");
    close_world(&w);
    free_offers(offers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_leave_out_only_rows_that_no_draw_puts_among_the_first_200),
        cmocka_unit_test(every_row_has_its_value_and_bounds),
        cmocka_unit_test(the_order_of_many_offers_is_not_that_of_the_files),
        cmocka_unit_test(the_currency_of_most_offers_is_found_among_mixed_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
