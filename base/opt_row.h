/* One row of an option table and its value in the options struct: what opt.c builds on. Not for other
 * files: they use opt.h. `fields` is the options struct; row->offset finds the field. */
#ifndef BASE_OPT_ROW_H
#define BASE_OPT_ROW_H

#include "base/opt.h"
#include "base/text.h"

/* "FILE"; the type's own word where the row has none, "" for a flag. */
const char *opt_row_value_name(const struct opt *row);
/* "smoke, accept, soak" */
void opt_row_add_choices(struct text *t, const struct opt *row);

/* The value of an option that is not given (see opt.h). Reads nothing: the field may be uninitialised. */
void opt_row_clear(const struct opt *row, void *fields);
/* From a word; a list takes it as one more item, and its first item replaces the default. */
int opt_row_set(const struct opt *row, void *fields, const char *text, struct err *e) MUST_CHECK;

json_t *opt_row_to_json(const struct opt *row, const void *fields);
int opt_row_from_json(const struct opt *row, const json_t *value, void *fields, struct err *e) MUST_CHECK;

#endif
