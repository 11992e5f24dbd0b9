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

static const char *keep(struct arena *a, const char *text) {
    return text[0] ? arena_strdup(a, text) : "";
}

/* Rows of one provider and region stand together in most files: their text is stored once. */
static bool keep_if_new(struct arena *a, const char **kept, const char *text) {
    if (*kept && (*kept == text || strcmp(*kept, text) == 0)) {
        return false;
    }
    *kept = keep(a, text);
    return true;
}

static void keep_place(struct catalogue_file *f, const char *provider, const char *region) {
    bool new_provider = keep_if_new(f->arena, &f->provider, provider);

    if (keep_if_new(f->arena, &f->region, region) || new_provider) {
        f->place_hash = identity_hash(IDENTITY_HASH_START, f->provider, strlen(f->provider) + 1);
        f->place_hash = identity_hash(f->place_hash, f->region, strlen(f->region) + 1);
    }
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
    keep_place(f, row->provider, row->region);
    *q = (struct quote){
        .identity = identity_intern(&f->identities, f->arena, &row->said),
        .provider = f->provider,
        .region = f->region,
        .observed = row->observed[0] ? keep(f->arena, row->observed) : f->observed,
        .note = join_notes(f->arena, row->note, f->row_note),
        .vcpus = row->vcpus,
        .host_memory_bytes = row->host_memory_bytes,
        .per_hour = per_hour,
        .line = row->line,
        .row = f->account.rows_read - 1,
        .term = term,
    };
    q->hash = identity_hash(f->place_hash ^ q->identity->sku_hash, &q->term, sizeof q->term);
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
