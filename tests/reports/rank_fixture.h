/* What the tests of rank*.c share: a world of a few offers and the rows that come of it. */
#ifndef TESTS_REPORTS_RANK_FIXTURE_H
#define TESTS_REPORTS_RANK_FIXTURE_H

#include "tests/reports/fixture.h"

/* ---- a world of a few offers ---- */

enum { MAX_OFFERS = 300 };

struct world {
    struct gpu_table gpus;
    struct workload workload;
    struct offer offers[MAX_OFFERS];
    struct gpu_match matches[MAX_OFFERS]; /* of the offers */
    struct offer_set set;
    struct record records[2];
    struct rank_request request;
    struct ranking ranking;
    struct rank_row *rows; /* all of the ranking's, in full */
};

/* A transformer small enough for arithmetic by hand. */
static const struct workload toy_workload = {.name = "toy",
                                             .layers = 2,
                                             .hidden = 64,
                                             .heads = 4,
                                             .ffn = 256,
                                             .vocab = 1000,
                                             .vocab_padded = 1024,
                                             .sequence = 32,
                                             .parameters = 170000,
                                             .lookup_parameters = 2048,
                                             .global_batch = 8,
                                             .max_micro_batch = 8,
                                             .precisions = {DTYPE_BF16, DTYPE_FP16, DTYPE_FP32},
                                             .precision_count = 3};

static inline void open_world(struct world *w) {
    struct err e;
    memset(w, 0, sizeof *w);
    assert_ok(gpu_table_load(&toy_data, &w->gpus, &e), &e);
    w->workload = toy_workload;
    w->set.offers = w->offers;
    w->request = (struct rank_request){.workload = &w->workload,
                                       .offers = &w->set,
                                       .gpus = &w->gpus,
                                       .data = &toy_data,
                                       .records = w->records,
                                       .own_price = {money_unknown()},
                                       .checkpoint_s = 60,
                                       .restart_s = 600,
                                       .seed = 1};
}

static inline void close_world(struct world *w) {
    ranking_free(&w->ranking);
    free(w->rows);
    gpu_table_free(&w->gpus);
    for (size_t i = 0; i < w->request.record_count; i++)
        record_free(&w->records[i]);
}

static inline struct offer *add_offer(struct world *w, const char *sku, const char *gpu,
                                      double usd_per_hour) {
    struct gpu_match *match = &w->matches[w->set.count];
    struct offer *o = &w->offers[w->set.count++];
    *match = (struct gpu_match){.candidates = {gpu_by_name(&w->gpus, gpu)}};
    match->count = match->candidates[0] != NULL;
    *o = (struct offer){.provider = "acme",
                        .region = "",
                        .sku = sku,
                        .device = gpu,
                        .match = match,
                        .device_count = 1,
                        .term = TERM_ON_DEMAND,
                        .price = {money_make(usd_per_hour, "USD")}};
    return o;
}

static inline void rank(struct world *w) {
    struct err e;
    ranking_free(&w->ranking);
    assert_ok(rank_offers(&w->request, &w->ranking, &e), &e);
    free(w->rows);
    w->rows = xcalloc(w->ranking.count + 1, sizeof *w->rows);
    for (size_t i = 0; i < w->ranking.count; i++)
        w->rows[i] = ranking_row(&w->ranking, i);
}

static inline const struct rank_row *row_of(const struct world *w, const char *label) {
    for (size_t i = 0; i < w->ranking.count; i++)
        if (strcmp(w->rows[i].label, label) == 0)
            return &w->rows[i];
    fail_msg("no row \"%s\"", label);
    return NULL;
}

static inline void assert_reason(const struct world *w, const char *piece, size_t offers) {
    for (size_t i = 0; i < w->ranking.not_ranked_count; i++)
        if (strstr(w->ranking.not_ranked[i].reason, piece)) {
            assert_int_equal(w->ranking.not_ranked[i].offers, offers);
            return;
        }
    fail_msg("no reason says \"%s\"", piece);
}

static inline bool next_says(const struct world *w, const char *piece) {
    for (size_t i = 0; i < w->ranking.next_count; i++)
        if (strstr(w->ranking.next[i].text, piece))
            return true;
    return false;
}

static inline double doubled_late(size_t i, size_t n) {
    return i < n / 2 ? 1 : 2;
}

/* A GEMM rate of `rate` for every shape of the workload (the nearest is taken), 100 GB/s of memory. */
static inline void write_cpu_on(struct record *out, double rate, const char *sku, bool unsteady,
                                const struct record_host *host) {
    struct fixture_case cases[] = {
        {.id = "g", .op = op_gemm(256, 256, 256, DTYPE_FP32), .rate = rate},
        {.id = "t", .op = op_elementwise(OP_TRIAD, 1 << 24, DTYPE_FP64), .rate = 1e11},
    };
    cases[0].slowdown = unsteady ? doubled_late : NULL;
    cases[0].host = host;
    struct fixture_record f = {.device = "a CPU",
                               .memory_bytes = 4e9,
                               .provider = sku ? "acme" : NULL,
                               .sku = sku,
                               .cases = cases,
                               .case_count = COUNT(cases)};
    fixture_write(&f, out);
}

static inline void write_cpu(struct record *out, double rate, const char *sku, bool unsteady) {
    write_cpu_on(out, rate, sku, unsteady, NULL);
}

#endif
