/* Price catalogues. A layout is a row of catalogues.c: a name, its columns, and a function that turns one
 * row of text fields into quotes. Columns are found by their header (CSV) or key (JSON), never by place.
 * What is the same for every layout is done once: opening, recognising, counting rows, telling which GPU is
 * meant (offer_identity.h) and merging (offer_merge.h). */
#ifndef REPORTS_CATALOGUE_H
#define REPORTS_CATALOGUE_H

#include "reports/offer_identity.h"
#include "reports/report.h"

/* One offer as a row says it, in few bytes: a big file has a million. */
struct quote {
    struct identity *identity; /* what is rented; its match and memory are filled after the last row */
    const char *provider, *region, *observed, *note;
    double vcpus, host_memory_bytes;
    struct money per_hour;
    size_t line;
    size_t row;         /* of the file, from 0 */
    struct quote *next; /* of the same key: offer_merge.c */
    size_t merged;      /* rows whose offer this quote founds; 0 = it is part of another's */
    uint64_t hash;      /* of the place, the SKU and the term */
    enum term term;
    bool spot_at_on_demand; /* the spot price is the on-demand price */
    bool spot_above_on_demand;
    bool implausible;
};

/* What a row says beside its price; texts are copied. */
struct catalogue_row {
    size_t line;
    const char *provider, *region, *observed, *note;
    struct identity said;
    double vcpus, host_memory_bytes;
};

/* A row that prices only the GPUs or only the host of a machine: catalogue_split.h. */
struct catalogue_half {
    struct catalogue_row row;
    size_t place; /* row of the file, from 0 */
    const char *zone;
    double on_demand, spot; /* USD an hour; NaN */
    bool used;
};

/* A file while it is read. */
struct catalogue_file {
    const char *name;     /* in the set's arena */
    const char *provider; /* by the file's name */
    const char *observed; /* date for rows that have none; "" */
    const char *counted;  /* what a row's place counts: "line", "offer" */
    const char *row_note; /* what was odd about the present row's shape; "" */
    const char *region;   /* of the row before: rows of one region stand together */
    uint64_t place_hash;  /* of provider and region */
    const struct gpu_table *gpus;
    struct arena *arena; /* the set's */
    struct offer_account account;
    struct identities identities;
    struct quote *quotes;
    size_t quote_count, quote_capacity;
    struct offer_refusal *refusals;
    size_t refusal_count, refusal_capacity;
    struct catalogue_half *halves;
    size_t half_count, half_capacity;
    size_t rows_joined;  /* GPU rows that are part of their host's offers */
    size_t rows_surplus; /* rows with more fields than the header */
};

struct catalogue_column {
    const char *name;
    bool required;
};

enum { CATALOGUE_MAX_COLUMNS = 32 };

struct catalogue {
    const char *name;
    const struct catalogue_column *columns;
    size_t column_count;
    bool json;    /* may also come as {"offers": [...]} or a list of objects with these keys */
    bool trusted; /* device and memory are as the user stated them: see offer_identity.h */
    /* fields[i] is the text of columns[i], trimmed, "" where the file has none. Calls catalogue_quote for
     * each offer of the row; a row that gives none is refused: -1 with the column, what was found and the
     * mend in e. */
    int (*read_row)(struct catalogue_file *f, const char *const *fields, size_t line, struct err *e);
    void (*finish)(struct catalogue_file *f); /* after the last row; NULL = nothing to do */
};

extern const struct catalogue catalogue_own, catalogue_skypilot;

/* Reads path, or, when bytes is not NULL, bytes under that name. Fills everything of f but what the caller
 * set (name, provider, observed, gpus, arena). */
int catalogue_read(struct catalogue_file *f, const char *path, const char *bytes, size_t length,
                   struct err *e) MUST_CHECK;
void catalogue_file_free(struct catalogue_file *f);

/* ---- for read_row ---- */

/* Adds an offer of this row; borrowed until the next call. */
struct quote *catalogue_quote(struct catalogue_file *f, const struct catalogue_row *row, enum term term,
                              struct money per_hour);
/* text as a number of at least min, NaN when empty; the error names the column. */
int catalogue_number(const char *column, const char *text, double min, double *out, struct err *e) MUST_CHECK;
/* A size of memory in GiB, in bytes; NaN when empty. Sizes are named in GB and built in powers of two, by
 * card makers and clouds alike. */
int catalogue_memory(const char *column, const char *text, double *out_bytes, struct err *e) MUST_CHECK;
/* A price: as catalogue_number, above zero. */
int catalogue_price(const char *column, const char *text, double *out, struct err *e) MUST_CHECK;
/* A number of GPUs: 0 when empty; a fraction is an error (a slice is no whole GPU). */
int catalogue_count(const char *column, const char *text, int64_t *out, struct err *e) MUST_CHECK;

#endif
