/* Tables of results, for people and machines, and how they are printed: rows of writers.c, one file a format.
 * Not for what the figures mean. */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum column_kind { COLUMN_TEXT, COLUMN_NUMBER };
struct column {
    const char *key;   /* for json and csv, with its unit: "cost_usd_per_step" */
    const char *title; /* for people */
    enum column_kind kind;
    int spare; /* > 0: gives way on a narrow terminal, cut and then left out, the largest first */
};
struct cell {
    const char *text; /* for people; also the value of a text column */
    double number;    /* the value of a number column, base units; NaN = null */
};
struct table {
    const struct column *columns;
    size_t column_count;
    struct cell *cells;                     /* row by row */
    size_t cell_count, row_count, capacity; /* row_count: whole rows */
    struct arena arena;                     /* of the cells' texts */
};
void table_init(struct table *t, const struct column *columns, size_t column_count);
void table_text(struct table *t, const char *text); /* next cell; copied */
void table_number(struct table *t, double number, const char *text);
void table_number_exact(struct table *t, double number); /* people see all digits, too */
void table_free(struct table *t);

extern const char *const writer_names[]; /* "table", "json", "csv", "markdown", NULL */
bool writer_is_for_people(int format);   /* "table" and "markdown" */
void table_write(const struct table *t, int format, FILE *out);

#endif
