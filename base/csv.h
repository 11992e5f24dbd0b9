/* CSV as RFC 4180 has it, read in a stream: quoted fields, doubled quotes, line ends inside quotes,
 * LF and CRLF, a UTF-8 byte-order mark at the front. Fields are bytes; meaning is the caller's.
 * A quote inside a field that does not begin with one is a plain byte.
 * A NUL byte, an unclosed quote, text after a closing quote or a row over CSV_ROW_MAX is ERR_PARSE
 * with file and line. */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

enum { CSV_ROW_MAX = 1 << 20, CSV_COLUMNS_MAX = 4096 };

struct csv; /* handle */

/* name is used in messages and copied. csv_open_memory borrows bytes. NULL on failure. */
struct csv *csv_open(const char *path, struct err *e) MUST_CHECK;
struct csv *csv_open_memory(const char *name, const char *bytes, size_t length, struct err *e) MUST_CHECK;
void csv_close(struct csv *c);

/* Reads one row: 1 = row, 0 = end of file, -1 = error. Empty lines are passed over.
 * fields[0..*count) are NUL-terminated, borrowed until the next call. */
int csv_next(struct csv *c, char ***fields, size_t *count, struct err *e) MUST_CHECK;
/* Line where the last row began, from 1. */
size_t csv_line(const struct csv *c);
const char *csv_name(const struct csv *c);

/* The header row: csv_read_header reads it (ERR_PARSE when there is none, two columns have one name, there
 * are more than CSV_COLUMNS_MAX, or lines end in CR alone); csv_column gives a column's index or -1. Compared
 * without case. Header names stay valid until csv_close. */
int csv_read_header(struct csv *c, struct err *e) MUST_CHECK;
int csv_column(const struct csv *c, const char *name);
size_t csv_columns(const struct csv *c);
const char *csv_column_name(const struct csv *c, size_t index);

/* Writes one field, quoted only where needed. */
void csv_write_field(FILE *out, const char *field);

#endif
