/* Command-line options as rows of a table. The same rows drive parsing, --help, validation, the
 * settings stored in a record and the table in the README (a test compares).
 *
 * Every option has a default written as the user would write it, or NULL for "not given"; there is no
 * silent default. A word that no row knows, a bad unit or a value out of range is ERR_USAGE, naming
 * the option, the range and the nearest match. */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include "base/err.h"

#include <jansson.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>

enum opt_type {
    OPT_FLAG,     /* bool; takes no value                                              */
    OPT_INT,      /* long long                                                         */
    OPT_NUMBER,   /* double                                                            */
    OPT_STRING,   /* const char *, borrowed from argv or the row; NULL = not given      */
    OPT_LIST,     /* struct opt_list; may be repeated, and takes several words at once */
    OPT_SIZE,     /* unsigned long long, bytes ("64MiB")                               */
    OPT_DURATION, /* double, seconds ("90s", "15m")                                    */
    OPT_CHOICE,   /* int, index into choices                                           */
};

struct opt_list {
    const char **items; /* owned array of borrowed strings */
    size_t count, capacity;
};

struct opt {
    const char *name; /* without the dashes: "tier" is --tier                    */
    char letter;      /* 'q' for -q; 0 = none                                    */
    const char *key;  /* its name in the record's settings; NULL = not recorded  */
    enum opt_type type;
    size_t offset;              /* offsetof(struct x_options, field)            */
    const char *def;            /* default as text; NULL = not given              */
    double min, max;            /* inclusive, in base units; both 0 = unbounded */
    const char *const *choices; /* NULL-terminated                              */
    const char *value_name;     /* "FILE", "TIME" in the help                   */
    const char *help;
};

struct opt_table {
    const char *usage;   /* "stepcost rank [OPTION]..." */
    const char *summary; /* one sentence                */
    const struct opt *rows;
    size_t count;
};

/* What a row without a default leaves in its field when the option is not given: false, OPT_INT_NONE, NaN,
 * NULL, an empty list, OPT_SIZE_NONE, NaN, -1. */
#define OPT_INT_NONE  LLONG_MIN
#define OPT_SIZE_NONE ULLONG_MAX

/* How words are read: `--name value` or `--name=value`; a list takes all words up to the next option
 * (`--offers a.csv b.csv`), or one after '='. The last of repeated options counts; lists add up. A
 * value that begins with a dash and is no number needs the '=' form.
 *
 * Fills every field that a row of table names with its default, then with the words of argv[1..].
 * Words after "--", and bare words, go to `rest` (NULL: a bare word is an error). *help is set when
 * --help or -h was seen; the fields then hold their defaults. Free lists with opt_free; after an error
 * they are empty. */
int opt_parse(const struct opt_table *table, int argc, char **argv, void *fields, struct opt_list *rest,
              int *help, struct err *e) MUST_CHECK;
void opt_free(const struct opt_table *table, void *fields);

/* Appends a borrowed item. */
void opt_list_add(struct opt_list *list, const char *item);
void opt_list_free(struct opt_list *list);

void opt_print_help(FILE *out, const struct opt_table *table);
/* The rows as a Markdown table: the README's copy is compared with this. */
void opt_print_markdown(FILE *out, const struct opt_table *table);

/* Settings of a record: every row with a key as {key: value in base units}. New reference. */
json_t *opt_to_json(const struct opt_table *table, const void *fields);
/* The other way, for --resume: takes each keyed row's value from settings where present. Strings are
 * borrowed from settings. */
int opt_from_json(const struct opt_table *table, const json_t *settings, void *fields,
                  struct err *e) MUST_CHECK;

#endif
