#include "reports/references.h"

#include "base/csv.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *unit;
    double factor;
} quantities[QUANTITY_COUNT] = {
    [QUANTITY_GEMM] = {"gemm", "TFLOP/s", 1e12},
    [QUANTITY_MEMBW] = {"membw", "GB/s", 1e9},
    [QUANTITY_ALLREDUCE_BUSBW] = {"allreduce_busbw", "GB/s", 1e9},
};

/* A data file with its columns found: rows are read by column number, whatever their order. */
enum { TABLE_MAX_COLUMNS = 10 };
struct table_reader {
    struct data_blob blob;
    struct csv *csv;
    const char *const *names;
    int columns[TABLE_MAX_COLUMNS];
    size_t count;
    char **fields;
};

static int reader_open(struct table_reader *t, const struct data *data, const char *file,
                       const char *const *names, struct err *e) {
    memset(t, 0, sizeof *t);
    t->names = names;
    if (data_load(data, file, &t->blob, e))
        return -1;
    t->csv = csv_open_memory(t->blob.name, t->blob.bytes, t->blob.length, e);
    if (!t->csv || csv_read_header(t->csv, e))
        return -1;
    for (; names[t->count]; t->count++) {
        t->columns[t->count] = csv_column(t->csv, names[t->count]);
        if (t->columns[t->count] < 0)
            return err_set(e, ERR_PARSE, "%s: column \"%s\" is missing", t->blob.name, names[t->count]);
    }
    return 0;
}

static void reader_close(struct table_reader *t) {
    csv_close(t->csv);
    data_release(&t->blob);
}

/* 1 = a row with all columns, 0 = end, -1 = error. */
static int reader_next(struct table_reader *t, struct err *e) {
    size_t count;
    int got = csv_next(t->csv, &t->fields, &count, e);
    if (got != 1)
        return got;
    for (size_t i = 0; i < t->count; i++)
        if ((size_t)t->columns[i] >= count)
            return err_set(e, ERR_PARSE, "%s:%zu: column \"%s\" is missing in a row of %zu fields",
                           csv_name(t->csv), csv_line(t->csv), t->names[i], count);
    return 1;
}

static const char *reader_field(const struct table_reader *t, size_t column) {
    return t->fields[t->columns[column]];
}

/* Whatever the parser of a word thinks: here it comes from a file. */
static int reader_wrap(const struct table_reader *t, size_t column, struct err *e) {
    e->code = ERR_PARSE;
    return err_wrap(e, "%s:%zu: column \"%s\"", csv_name(t->csv), csv_line(t->csv), t->names[column]);
}

static int reader_positive(const struct table_reader *t, size_t column, double *out, struct err *e) {
    if (units_parse_number(reader_field(t, column), out, e))
        return reader_wrap(t, column, e);
    if (!(*out > 0)) {
        err_set(e, ERR_PARSE, "must be above zero, found \"%s\"", reader_field(t, column));
        return reader_wrap(t, column, e);
    }
    return 0;
}

enum { R_GPU, R_QUANTITY, R_DTYPE, R_DEVICES, R_VALUE, R_UNIT, R_TOLERANCE, R_SOURCE, R_VERIFIED, R_NOTE };
static const char *const reference_columns[] = {
    "gpu", "quantity", "dtype", "devices", "value", "unit", "tolerance", "source", "verified", "note", NULL};

static int read_quantity(const struct table_reader *t, struct reference *row, struct err *e) {
    const char *name = reader_field(t, R_QUANTITY);
    size_t q = 0;
    while (q < QUANTITY_COUNT && strcmp(quantities[q].name, name) != 0)
        q++;
    if (q == QUANTITY_COUNT) {
        err_set(e, ERR_PARSE, "unknown quantity \"%s\" (gemm, membw, allreduce_busbw)", name);
        return reader_wrap(t, R_QUANTITY, e);
    }
    row->quantity = (enum quantity)q;
    if (strcmp(reader_field(t, R_UNIT), quantities[q].unit) != 0) {
        err_set(e, ERR_PARSE, "%s is given in %s, found \"%s\"", name, quantities[q].unit,
                reader_field(t, R_UNIT));
        return reader_wrap(t, R_UNIT, e);
    }
    row->dtype = DTYPE_COUNT;
    if (q == QUANTITY_GEMM && dtype_parse(reader_field(t, R_DTYPE), &row->dtype, e))
        return reader_wrap(t, R_DTYPE, e);
    return 0;
}

static int read_reference(const struct table_reader *t, struct arena *arena, struct reference *row,
                          struct err *e) {
    double devices;
    if (read_quantity(t, row, e) || reader_positive(t, R_DEVICES, &devices, e) ||
        reader_positive(t, R_VALUE, &row->value, e) || reader_positive(t, R_TOLERANCE, &row->tolerance, e))
        return -1;
    const char *verified = reader_field(t, R_VERIFIED);
    row->verified = strcmp(verified, "yes") == 0;
    if (!row->verified && strcmp(verified, "no") != 0) {
        err_set(e, ERR_PARSE, "must be yes or no, found \"%s\"", verified);
        return reader_wrap(t, R_VERIFIED, e);
    }
    if (!*reader_field(t, R_SOURCE)) {
        err_set(e, ERR_PARSE, "every figure needs its source");
        return reader_wrap(t, R_SOURCE, e);
    }
    row->value *= quantities[row->quantity].factor;
    row->devices = (int64_t)devices;
    row->gpu = arena_strdup(arena, reader_field(t, R_GPU));
    row->source = arena_strdup(arena, reader_field(t, R_SOURCE));
    row->note = arena_strdup(arena, reader_field(t, R_NOTE));
    return 0;
}

int references_load(const struct data *data, struct references *out, struct err *e) {
    struct table_reader t;
    memset(out, 0, sizeof *out);
    int got = reader_open(&t, data, "references.csv", reference_columns, e);
    while (got == 0 && (got = reader_next(&t, e)) == 1) {
        out->rows = xgrow(out->rows, sizeof *out->rows, out->count, &out->capacity);
        got = read_reference(&t, &out->arena, &out->rows[out->count], e);
        out->count += got == 0;
    }
    reader_close(&t);
    if (got < 0)
        references_free(out);
    return got;
}

void references_free(struct references *r) {
    if (!r)
        return;
    free(r->rows);
    arena_free(&r->arena);
    memset(r, 0, sizeof *r);
}

static enum dtype rate_class(enum dtype t) {
    return t == DTYPE_FP16 ? DTYPE_BF16 : t;
}

const struct reference *references_find(const struct references *r, const char *gpu, enum quantity q,
                                        enum dtype dtype, int64_t devices) {
    const struct reference *best = NULL;
    double best_distance = INFINITY;
    for (size_t i = 0; i < r->count; i++) {
        const struct reference *row = &r->rows[i];
        if (row->quantity != q || strcmp(row->gpu, gpu) != 0)
            continue;
        if (q == QUANTITY_GEMM && rate_class(row->dtype) != rate_class(dtype))
            continue;
        double distance = fabs(log((double)row->devices / (double)devices));
        if (distance < best_distance) {
            best = row;
            best_distance = distance;
        }
    }
    return best;
}

#define COMPONENT(name)                                                                                      \
    { #name, offsetof(struct uncertainty, name) }
static const struct {
    const char *name;
    size_t offset;
} components[] = {
    COMPONENT(between_run),
    COMPONENT(between_node),
    COMPONENT(between_provider),
    COMPONENT(reference_c),
    COMPONENT(datasheet_d),
    COMPONENT(interpolated),
    COMPONENT(few_samples),
    COMPONENT(step_jitter),
    COMPONENT(comm_nvlink_low),
    COMPONENT(comm_nvlink_high),
    COMPONENT(comm_pcie_low),
    COMPONENT(comm_pcie_high),
    COMPONENT(pcie_line_bytes_per_s),
    COMPONENT(spot_share_low),
    COMPONENT(spot_share_high),
    COMPONENT(kappa_compute),
    COMPONENT(kappa_comm),
    COMPONENT(price_tolerance),
    COMPONENT(checkpoint_bytes_per_s),
};
#undef COMPONENT
enum { COMPONENT_COUNT = sizeof components / sizeof components[0] };

static double *component_of(struct uncertainty *u, size_t index) {
    return (double *)(void *)((char *)u + components[index].offset);
}

enum { U_COMPONENT, U_VALUE, U_SOURCE };
static const char *const uncertainty_columns[] = {"component", "value", "source", NULL};

static int read_component(const struct table_reader *t, struct uncertainty *out, struct err *e) {
    const char *name = reader_field(t, U_COMPONENT);
    for (size_t i = 0; i < COMPONENT_COUNT; i++)
        if (strcmp(components[i].name, name) == 0)
            return reader_positive(t, U_VALUE, component_of(out, i), e);
    err_set(e, ERR_PARSE, "unknown component \"%s\"", name);
    return reader_wrap(t, U_COMPONENT, e);
}

int uncertainty_load(const struct data *data, struct uncertainty *out, struct err *e) {
    struct table_reader t;
    for (size_t i = 0; i < COMPONENT_COUNT; i++)
        *component_of(out, i) = NAN;
    int got = reader_open(&t, data, "uncertainty.csv", uncertainty_columns, e);
    while (got == 0 && (got = reader_next(&t, e)) == 1)
        got = read_component(&t, out, e);
    reader_close(&t);
    for (size_t i = 0; got == 0 && i < COMPONENT_COUNT; i++)
        if (isnan(*component_of(out, i)))
            got = err_set(e, ERR_PARSE, "uncertainty.csv: component \"%s\" is missing", components[i].name);
    return got;
}
