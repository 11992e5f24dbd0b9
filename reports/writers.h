/* One writer a format: rows of writers.c. Each takes a whole table, writes it in the C locale and ends with
 * a newline. Numbers for machines are base units with all digits; texts are valid UTF-8 (table_text sees to
 * that). */
#ifndef REPORTS_WRITERS_H
#define REPORTS_WRITERS_H

#include "reports/table.h"

/* name, function, is it for people? */
#define WRITERS(X)                                                                                           \
    X("table", write_table, true)                                                                            \
    X("json", write_json, false)                                                                             \
    X("csv", write_csv, false)                                                                               \
    X("markdown", write_markdown, true)

#define WRITER_DECLARE(name, function, people) void function(const struct table *t, FILE *out);
WRITERS(WRITER_DECLARE)
#undef WRITER_DECLARE

/* The cell at row, column. */
static inline const struct cell *table_cell(const struct table *t, size_t row, size_t column) {
    return &t->cells[row * t->column_count + column];
}

#endif
