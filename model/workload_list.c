/* Lists of products as CSV. */
#include "model/workload_parts.h"

#include "base/csv.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_M, LIST_N, LIST_K, LIST_BATCH, LIST_COUNT, LIST_DTYPE, LIST_PHASE, LIST_COLUMNS };
static const char *const list_columns[LIST_COLUMNS] = {"m", "n", "k", "batch", "count", "dtype", "phase"};

static int read_size(struct csv *c, int column, const char *text, double limit, int64_t *out, struct err *e) {
    char *end;
    errno = 0;
    long long value = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : 0;
    if (value < 1 || errno || *end || (double)value > limit)
        return err_set(e, ERR_PARSE, "line %zu: column %s: '%s' is not a whole number from 1 to %.0f",
                       csv_line(c), list_columns[column], text, limit);
    *out = value;
    return 0;
}

/* The field of a column, or its default. */
static const char *list_field(struct csv *c, char **fields, int column, const char *def) {
    int at = csv_column(c, list_columns[column]);
    return at >= 0 && *fields[at] ? fields[at] : def;
}

/* One format for the whole list; without the column the device's own choice. */
static int read_dtype(struct csv *c, char **fields, struct workload *out, struct err *e) {
    static const enum dtype usual[] = {DTYPE_BF16, DTYPE_FP16, DTYPE_FP32};
    int at = csv_column(c, list_columns[LIST_DTYPE]);
    enum dtype t;
    if (at < 0) {
        memcpy(out->precisions, usual, sizeof usual);
        out->precision_count = sizeof usual / sizeof usual[0];
        return 0;
    }
    if (dtype_parse(fields[at], &t, e) != 0) {
        e->code = ERR_PARSE; /* here the word comes from a file */
        return err_wrap(e, "line %zu: column dtype", csv_line(c));
    }
    if (out->precision_count > 0 && out->precisions[0] != t)
        return err_set(e, ERR_PARSE, "line %zu: column dtype: %s after %s; split the list, one format each",
                       csv_line(c), dtype_name(t), dtype_name(out->precisions[0]));
    out->precisions[0] = t;
    out->precision_count = 1;
    return 0;
}

static int read_list_row(struct csv *c, char **fields, struct workload *out, struct err *e) {
    static const char *const phases[] = {"forward", "backward", NULL};
    int64_t sizes[LIST_DTYPE];
    for (int i = 0; i < LIST_DTYPE; i++)
        if (read_size(c, i, list_field(c, fields, i, i <= LIST_K ? "" : "1"), i == LIST_COUNT ? 1e9 : 1 << 24,
                      &sizes[i], e) != 0)
            return -1;
    if (read_dtype(c, fields, out, e) != 0)
        return -1;
    int phase = workload_find_word(list_field(c, fields, LIST_PHASE, "forward"), phases, e);
    if (phase < 0)
        return err_wrap(e, "line %zu: column phase", csv_line(c));
    struct step_op item = {.op = op_gemm(sizes[LIST_M], sizes[LIST_N], sizes[LIST_K], out->precisions[0]),
                           .phase = phase ? STEP_BACKWARD : STEP_FORWARD,
                           .count = (double)sizes[LIST_COUNT]};
    item.op.batch = sizes[LIST_BATCH];
    if (!(op_bytes(&item.op) < ldexp(1.0, 46)))
        return err_set(e, ERR_PARSE, "line %zu: its operands take %.3g bytes; the limit is 2^46", csv_line(c),
                       op_bytes(&item.op));
    step_ops_add(&out->gemms, &item);
    return 0;
}

static int read_list_header(struct csv *c, struct err *e) {
    if (csv_read_header(c, e) != 0)
        return -1;
    for (size_t i = 0; i < csv_columns(c); i++) {
        size_t known = 0;
        while (known < LIST_COLUMNS && !text_equal_nocase(csv_column_name(c, i), list_columns[known]))
            known++;
        if (known == LIST_COLUMNS)
            return err_set(e, ERR_PARSE,
                           "line 1: unknown column '%s'; want m,n,k and any of batch,dtype,count,phase",
                           csv_column_name(c, i));
    }
    for (int i = 0; i <= LIST_K; i++)
        if (csv_column(c, list_columns[i]) < 0)
            return err_set(e, ERR_PARSE,
                           "line 1: no column %s; want m,n,k and any of batch,dtype,count,phase",
                           list_columns[i]);
    return 0;
}

static int read_list(struct csv *c, struct workload *out, struct err *e) {
    char **fields;
    size_t count;
    int more;
    if (read_list_header(c, e) != 0)
        return -1;
    while ((more = csv_next(c, &fields, &count, e)) > 0) {
        if (count != csv_columns(c))
            return err_set(e, ERR_PARSE, "line %zu: %zu fields, but the header has %zu", csv_line(c), count,
                           csv_columns(c));
        if (read_list_row(c, fields, out, e) != 0)
            return -1;
    }
    if (more < 0)
        return -1;
    if (out->gemms.count == 0)
        return err_set(e, ERR_PARSE, "no products: want rows under the header m,n,k");
    const char *slash = strrchr(csv_name(c), '/'), *stem = slash ? slash + 1 : csv_name(c);
    out->kind = WORKLOAD_GEMMS;
    out->name = arena_strndup(&out->arena, stem, strcspn(stem, "."));
    out->title = arena_printf(&out->arena, "matrix products of a list, rows: %zu", out->gemms.count);
    out->source = arena_strdup(&out->arena, csv_name(c));
    out->global_batch = out->max_micro_batch = 1;
    return 0;
}

int workload_read_list(const char *path, struct workload *out, struct err *e) {
    struct csv *c = csv_open(path, e);
    if (!c)
        return -1;
    int status = read_list(c, out, e);
    if (status != 0 && !strstr(e->text, path))
        err_wrap(e, "%s", path);
    csv_close(c);
    return status;
}
