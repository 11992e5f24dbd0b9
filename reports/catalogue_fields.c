#include "reports/catalogue.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int catalogue_number(const char *column, const char *text, double min, double *out, struct err *e) {
    *out = NAN;
    if (!text[0]) {
        return 0;
    }
    if (units_parse_number(text, out, e) != 0) {
        return err_set(e, ERR_PARSE,
                       "%s: \"%.40s\" is no number; write digits and a point, or leave it empty", column,
                       text);
    }
    if (*out < min) {
        return err_set(e, ERR_PARSE, "%s: \"%.40s\" is below %g; correct it, or leave it empty", column, text,
                       min);
    }
    return 0;
}

int catalogue_memory(const char *column, const char *text, double *out_bytes, struct err *e) {
    if (catalogue_number(column, text, 0, out_bytes, e) != 0) {
        return -1;
    }
    *out_bytes *= 0x1p30;
    if (*out_bytes > 0x1p63) {
        return err_set(e, ERR_PARSE, "%s: \"%.40s\" is more than 2^63 bytes; correct it, or leave it empty",
                       column, text);
    }
    return 0;
}

int catalogue_price(const char *column, const char *text, double *out, struct err *e) {
    if (catalogue_number(column, text, -INFINITY, out, e) != 0) {
        return -1;
    }
    if (!money_is_price(*out)) {
        return err_set(e, ERR_PARSE,
                       "%s: \"%.40s\" is no price; zero is never free here, leave out what is "
                       "not offered",
                       column, text);
    }
    return 0;
}

int catalogue_count(const char *column, const char *text, int64_t *out, struct err *e) {
    double count;

    if (catalogue_number(column, text, 0, &count, e) != 0) {
        return -1;
    }
    if (isnan(count)) {
        count = 0;
    }
    if (count > 0 && count < 1) {
        return err_set(e, ERR_PARSE, "%s: \"%.40s\" is a slice of a GPU; only whole GPUs are compared",
                       column, text);
    }
    if (count > 1e6 || fabs(count - floor(count)) > 0) {
        return err_set(e, ERR_PARSE, "%s: \"%.40s\" is no number of GPUs; write a whole number", column,
                       text);
    }
    *out = (int64_t)count;
    return 0;
}

static uint64_t hash_text(uint64_t h, const char *text) {
    return identity_hash(h, text, strlen(text) + 1);
}

static uint64_t quote_hash(const struct offer *o) {
    uint64_t h = hash_text(IDENTITY_HASH_START, o->provider);

    h = hash_text(h, o->region);
    h = hash_text(h, o->sku);
    return identity_hash(h, &o->term, sizeof o->term);
}

static const char *keep(struct arena *a, const char *text) {
    return text[0] ? arena_strdup(a, text) : "";
}

/* Rows of one provider and region stand together in most files: their text is stored once. */
static const char *keep_if_new(struct arena *a, const char *text, const char *before) {
    return before && strcmp(text, before) == 0 ? before : keep(a, text);
}

static const char *join_notes(struct arena *a, const char *first, const char *second) {
    if (!first[0] || !second[0]) {
        return first[0] ? keep(a, first) : keep(a, second);
    }
    return arena_printf(a, "%s; %s", keep(a, first), second);
}

struct quote *catalogue_quote(struct catalogue_file *f, const struct catalogue_row *row, enum term term,
                              struct money per_hour) {
    struct quote *q;

    f->quotes = xgrow(f->quotes, sizeof *f->quotes, f->quote_count, &f->quote_capacity);
    q = &f->quotes[f->quote_count++];
    memset(q, 0, sizeof *q);
    f->provider = keep_if_new(f->arena, row->provider, f->provider);
    f->region = keep_if_new(f->arena, row->region, f->region);
    q->identity = identity_intern(&f->identities, f->arena, &row->said);
    q->row = f->account.rows_read - 1;
    q->offer = (struct offer){
        .provider = f->provider,
        .region = f->region,
        .sku = q->identity->sku,
        .device = q->identity->device,
        .device_count = row->said.count,
        .gpu_memory_bytes = NAN,
        .vcpus = row->vcpus,
        .host_memory_bytes = row->host_memory_bytes,
        .term = term,
        .price = {per_hour},
        .observed = row->observed[0] ? keep(f->arena, row->observed) : f->observed,
        .file = f->name,
        .line = row->line,
        .merged = 1,
        .note = join_notes(f->arena, row->note, f->row_note),
    };
    q->hash = quote_hash(&q->offer);
    return q;
}

void catalogue_file_free(struct catalogue_file *f) {
    if (!f) {
        return;
    }
    free(f->quotes);
    free(f->refusals);
    free(f->halves);
    identities_free(&f->identities);
    memset(f, 0, sizeof *f);
}
