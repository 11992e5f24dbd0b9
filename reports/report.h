/* Front door of reports/: what a record means and what a step costs. Plain C without GPU, clock or
 * network: everything here is a function of records, offers and the data tables. */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include "base/err.h"
#include "base/mem.h"
#include "base/money.h"
#include "model/gpu.h"
#include "model/job.h"
#include "model/layout.h"
#include "model/record.h"
#include "model/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- offers ---- */

/* Price terms are rows of terms.c: how a term turns a price into a billed node-hour, and whether it can be
 * interrupted. */
enum term { TERM_ON_DEMAND, TERM_SPOT, TERM_COUNT };
const char *term_name(enum term t); /* "on-demand", "spot" */

struct offer {
    const char *provider, *region, *sku;
    const char *device;            /* as the catalogue writes it; "" = no accelerator    */
    const struct gpu_match *match; /* what that can be, one for many offers; never NULL */
    int64_t device_count;          /* per node                                          */
    double gpu_memory_bytes;       /* per GPU as the catalogue says; NaN                */
    double vcpus, host_memory_bytes;
    enum term term;
    bool implausible;     /* too cheap to be a price: offer_merge.h */
    struct price price;   /* per node-hour */
    const char *observed; /* date of the price, "" = not said */
    const char *file;
    size_t line;
    size_t merged;    /* rows that this one stands for (zones of one region, duplicates) */
    const char *note; /* what was odd about the row, "" = nothing */
};

/* What became of each row of one file: read = kept + merged + refused. A row may give two offers
 * (on-demand and spot): those are counted in offers. */
struct offer_account {
    const char *file, *format, *provider;
    const char *ignored; /* columns that were not read, "A, B"; "" = none */
    size_t rows_read, rows_kept, rows_merged, rows_refused, offers;
};
struct offer_refusal {
    const char *file;
    size_t line;         /* CSV; in JSON the offer's place in the list, from 1 */
    const char *counted; /* by what line counts: "line" or "offer" */
    const char *reason;
};
struct offer_set {
    struct arena arena;
    struct offer *offers;
    size_t count, capacity;
    struct offer_account *accounts;
    size_t account_count, account_capacity;
    struct offer_refusal *refusals;
    size_t refusal_count, refusal_capacity;
};

/* Adds a file; the layout is recognised by its header or keys (rows of catalogues.c). A file that is no
 * catalogue is an error; a bad row is a refusal and the rest is read. */
int offers_read(struct offer_set *set, const struct gpu_table *gpus, const char *path,
                struct err *e) MUST_CHECK;
/* The example extracts that come with the program. */
int offers_read_examples(struct offer_set *set, const struct gpu_table *gpus, const struct data *data,
                         struct err *e) MUST_CHECK;
/* These files; the examples when count is 0. */
int offers_read_files(struct offer_set *set, const struct gpu_table *gpus, const struct data *data,
                      const char *const *paths, size_t count, struct err *e) MUST_CHECK;
void offers_free(struct offer_set *set);

/* ---- ranking ---- */

enum evidence { EVIDENCE_A, EVIDENCE_B, EVIDENCE_C, EVIDENCE_D };

struct rank_request {
    const struct workload *workload;
    const struct offer_set *offers;
    const struct gpu_table *gpus;
    const struct data *data;
    const struct record *records;
    size_t record_count;
    struct price own_price; /* of the machine that records without an offer were made on; NaN = unknown */
    const char *currency;   /* rank offers in this one; NULL = that of most offers */
    const struct job *job;  /* rows that surely break its deadline or budget go; NULL = none */
    bool allow_simulated, accept_implausible;
    /* spot: writing a checkpoint (NaN: its bytes at an assumed rate); getting going again */
    double checkpoint_s, restart_s;
    uint64_t seed;
    size_t draws;
};

/* Only rows that some draw puts among the first so many of their section (on-demand, spot) are resampled
 * against each other, and only those that stand there by their point value lead a tie. */
enum { RANK_RESOLVED = 200 };

struct rank_interval {
    double low, mid, high; /* 90 % */
};

struct rank_row {
    const struct offer *offer;   /* NULL for this machine */
    const struct record *record; /* its evidence, if a record is */
    const struct gpu *gpu;       /* NULL for a CPU              */
    const char *label;           /* "aws p4d.24xlarge us-east-1", "this machine" */
    enum term term;
    struct price price;
    struct layout layout;
    struct layout_memory memory;
    enum evidence evidence; /* of the rates that most of the step's seconds rest on */
    bool unverified;        /* rests on a figure no vendor page confirms */
    bool comm_assumed;      /* all-reduce from the line rate, not measured */
    bool interpolated;      /* takes a rate from another shape of its record */
    /* seconds per step, additive: they sum to step_s.mid */
    double compute_s, memory_s, optimizer_s, exposed_comm_s, bubble_s, straggler_s;
    struct rank_interval step_s, cost; /* cost: per step, in the price's currency; NaN without price */
    double goodput_low, goodput_high;  /* spot: factor on cost by the stated interruption range; else 1 */
    double cost_per_mega;              /* per 10^6 of the workload's units: tokens, images */
    double p_leader; /* P(the leader of its group is cheaper); of a leader: P(the section's first row is) */
    size_t tie;      /* rows of one number are not told apart from its first row; 0: see RANK_RESOLVED */
    double break_even_per_hour; /* node-hour price at which it costs what the leader costs */
    const char *dominant;       /* largest source of its uncertainty */
};

struct rank_reason {
    const char *reason;
    size_t offers;
};
struct rank_next {
    const char *text; /* what to measure next, with minutes and price */
};

struct ranking {
    struct rank_work *work; /* rows in their compact form; see ranking_row */
    size_t count;           /* on-demand by cost; then spot by cost; rows without price last */
    size_t on_demand, spot, unpriced;
    size_t *own, own_count;                 /* which rows are this machine's, one for each record of it */
    double spot_share_low, spot_share_high; /* of spot nodes, reclaimed in a month: the stated range */
    double checkpoint_s;                    /* as used */
    struct rank_reason *not_ranked;
    size_t not_ranked_count;
    struct rank_next *next;
    size_t next_count;
};

/* The request must outlive the ranking. */
int rank_offers(const struct rank_request *r, struct ranking *out, struct err *e) MUST_CHECK;
void ranking_free(struct ranking *r);
/* Row i in full; its texts live as long as the ranking. */
struct rank_row ranking_row(const struct ranking *r, size_t i);

/* ---- findings: rows of findings.c, each a detector over one record ---- */

struct finding {
    const char *id;      /* "throttled", "wrong_result", "blas_core" ... */
    const char *case_id; /* "" = the whole record */
    const char *text;    /* the evidence and the mend, one line */
};
struct findings {
    struct arena arena;
    struct finding *items;
    size_t count, capacity;
};
int findings_read(const struct record *r, const struct gpu_table *gpus, const struct data *data,
                  struct findings *out, struct err *e) MUST_CHECK;
void findings_free(struct findings *f);
/* FLOP/s of the fastest sample of this run's register-only loop: a peak is no mean. NaN without one. */
double findings_calibrated_peak(const struct record *r, enum dtype t);

#endif
