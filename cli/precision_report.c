#include "base/units.h"
#include "cli/diagnostics.h"
#include "cli/run_report.h"
#include "reports/record_view.h"
#include "reports/report.h"
#include "reports/table.h"

#include <math.h>
#include <string.h>

static const struct column columns[] = {
    {"shape", "shape", COLUMN_TEXT},         {"dtype", "format", COLUMN_TEXT},
    {"rate", "rate", COLUMN_NUMBER},         {"speed_up", "over fp32", COLUMN_NUMBER},
    {"rms_rel", "rms error", COLUMN_NUMBER}, {"max_rel", "max error", COLUMN_NUMBER},
    {"emulated", "note", COLUMN_TEXT},
};

static bool is_measured_gemm(const struct record *r, const struct record_case *c) {
    struct record_figure f;
    return c->op.kind == OP_GEMM && record_case_figure(r, c, &f);
}

static bool same_shape(const struct record *r, const struct record_case *a, const struct record_case *b) {
    struct op op = a->op;
    op.dtype = b->op.dtype;
    op.accumulate = b->op.accumulate;
    return is_measured_gemm(r, b) && op_equal(&op, &b->op);
}

/* The first case of c's shape in t, or in any other type than c's when t is DTYPE_COUNT. */
static const struct record_case *sibling(const struct record *r, const struct record_case *c, enum dtype t) {
    for (size_t i = 0; i < r->case_count; i++) {
        const struct record_case *other = &r->cases[i];
        bool fits = t == DTYPE_COUNT ? other->op.dtype != c->op.dtype : other->op.dtype == t;
        if (fits && same_shape(r, c, other))
            return other;
    }
    return NULL;
}

static void add_row(struct table *t, const struct record *r, const struct record_case *c) {
    struct record_figure own, wide = {.per_s = NAN};
    char text[UNITS_TEXT_SIZE], shape[OP_NAME_SIZE];
    const struct record_case *fp32 = sibling(r, c, DTYPE_FP32);
    record_case_figure(r, c, &own);
    if (fp32)
        record_case_figure(r, fp32, &wide);
    op_name(&c->op, shape);
    table_text(t, strchr(strchr(shape, '.') + 1, '.') + 1);
    table_text(t, dtype_name(c->op.dtype));
    table_number(t, own.per_s, run_report_rate(c->unit, own.per_s, text));
    units_print(text, sizeof text, "%.2f x", own.per_s / wide.per_s);
    table_number(t, own.per_s / wide.per_s, isnan(wide.per_s) ? "-" : text);
    const double errors[] = {c->deviation.rms_rel, c->deviation.max_rel};
    for (size_t i = 0; i < 2; i++) {
        units_print(text, sizeof text, "%.1e", errors[i]);
        table_number(t, errors[i], isnan(errors[i]) ? "-" : text);
    }
    table_text(t, record_case_is_emulated(r, c) ? "emulated" : "");
}

void precision_report_print(const struct record *r, int format, FILE *out) {
    struct table t;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < r->case_count; i++) {
        const struct record_case *first = &r->cases[i];
        if (!is_measured_gemm(r, first) || !sibling(r, first, DTYPE_COUNT))
            continue;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = same_shape(r, first, &r->cases[k]);
        for (int d = 0; d < DTYPE_COUNT && !seen; d++) {
            const struct record_case *c = sibling(r, first, (enum dtype)d);
            if (c)
                add_row(&t, r, c);
        }
    }
    if (t.row_count > 0) {
        fputs("number formats: error of sampled elements against the fp64 product of the unrounded inputs\n",
              out);
        table_write(&t, format, out);
    }
    table_free(&t);
}
