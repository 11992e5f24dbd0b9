/* Between catalogues.c (the table of layouts) and the file formats that any layout may come in. */
#ifndef REPORTS_CATALOGUE_PARTS_H
#define REPORTS_CATALOGUE_PARTS_H

#include "base/text.h"
#include "reports/catalogue.h"

/* Each reads path, or bytes when not NULL, row by row into f. */
int catalogue_read_csv(struct catalogue_file *f, const char *path, const char *bytes, size_t length,
                       struct err *e) MUST_CHECK;
int catalogue_read_json(struct catalogue_file *f, const char *path, const char *bytes, size_t length,
                        struct err *e) MUST_CHECK;

/* The layout with most of its required columns among names; NULL when none has enough. */
typedef bool (*catalogue_has_name)(const void *names, const char *name);
const struct catalogue *catalogue_recognise(catalogue_has_name has, const void *names);
/* The error for a file of no known layout, with what names it has. Always -1. */
int catalogue_not_recognised(const struct catalogue_file *f, const struct text *found, struct err *e);
bool catalogue_has_column(const struct catalogue *layout, const char *name);

/* Hands a row to the layout; when that fails, the row is refused. */
void catalogue_read_row(struct catalogue_file *f, const struct catalogue *layout, const char *const *fields,
                        size_t line);
void catalogue_refuse(struct catalogue_file *f, size_t line, const char *reason);

/* Appends a name of the file to a list, cleaned; a long list ends in "...". */
void catalogue_add_name(struct text *list, const char *name);
/* Without white space at both ends; cut in place. */
char *catalogue_trim(char *text);

#endif
