/* JSON over jansson: files with errors that name the place, typed fields, NaN as null. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both return a new reference, or NULL with "NAME: line L, column C: ..." in e. Duplicate keys and
 * trailing junk are errors, and so is a file over 256 MiB. */
json_t *json_parse(const char *name, const char *bytes, size_t length, struct err *e) MUST_CHECK;
json_t *json_read_file(const char *path, struct err *e) MUST_CHECK;

/* Required fields of object; errors name the field and what was found. Strings are borrowed. */
int json_get_string(const json_t *object, const char *key, const char **out, struct err *e) MUST_CHECK;
int json_get_number(const json_t *object, const char *key, double *out, struct err *e) MUST_CHECK;
int json_get_int(const json_t *object, const char *key, int64_t *out, struct err *e) MUST_CHECK;
int json_get_bool(const json_t *object, const char *key, bool *out, struct err *e) MUST_CHECK;

/* Optional fields: the default when absent or null; still an error when of another type. */
int json_opt_string(const json_t *object, const char *key, const char *def, const char **out,
                    struct err *e) MUST_CHECK;
int json_opt_number(const json_t *object, const char *key, double def, double *out, struct err *e) MUST_CHECK;

/* ERR_PARSE naming the first key of object that is not in keys (NULL-terminated), with the nearest. */
int json_check_keys(const json_t *object, const char *const *keys, struct err *e) MUST_CHECK;

/* A number, or null for NaN and infinities. New reference. */
json_t *json_number(double value);
/* The number inside, NaN for null or anything else. */
double json_as_number(const json_t *value);
/* A string, null for NULL; what is not UTF-8 (a path, a file under /proc) becomes '?'. New reference. */
json_t *json_text(const char *text);
/* An array of numbers; json_as_numbers returns a malloc'd array and its length (NULL when not an
 * array of numbers and nulls). */
json_t *json_numbers(const double *values, size_t count);
double *json_as_numbers(const json_t *array, size_t *count);

/* One line, key order kept, doubles with enough digits to read back the same. Caller frees. */
char *json_line(const json_t *value);

#endif
