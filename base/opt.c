#include "base/opt.h"

#include "base/mem.h"
#include "base/opt_row.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_WIDTH = 99, HELP_COLUMN_MAX = 30, NAME_SIZE = 64 };

/* ---- lists ---- */

void opt_list_add(struct opt_list *list, const char *item) {
    list->items = xgrow(list->items, sizeof *list->items, list->count, &list->capacity);
    list->items[list->count++] = item;
}

void opt_list_free(struct opt_list *list) {
    if (!list)
        return;
    free(list->items);
    *list = (struct opt_list){0};
}

void opt_free(const struct opt_table *table, void *fields) {
    for (size_t i = 0; fields && i < table->count; i++)
        if (table->rows[i].type == OPT_LIST)
            opt_list_free((struct opt_list *)(void *)((char *)fields + table->rows[i].offset));
}

/* ---- the words ---- */

/* "-1" and "-" are values. */
static bool is_option(const char *word) {
    return word[0] == '-' && word[1] && !strchr("0123456789.", word[1]);
}

struct parse {
    const struct opt_table *table;
    int argc;
    char **argv;
    int at; /* next word */
    void *fields;
    struct opt_list *rest;
};

/* A name that the user may have meant, with its dashes. */
static int unknown_option(const struct opt_table *table, const char *word, int length, struct err *e) {
    const char **names = xcalloc(table->count + 1, sizeof *names);
    for (size_t i = 0; i < table->count; i++)
        names[i] = table->rows[i].name;
    names[table->count] = "help";
    char name[NAME_SIZE];
    int skip = (int)strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", length - skip, word + skip);
    const char *nearest = text_nearest(name, names, table->count + 1);
    free(names);
    if (nearest)
        return err_set(e, ERR_USAGE, "%.*s: unknown option; did you mean --%s?", length, word, nearest);
    return err_set(e, ERR_USAGE, "%.*s: unknown option; --help lists the options", length, word);
}

static const struct opt *find_row(const struct opt_table *table, const char *word, size_t length) {
    bool is_letter = length == 2 && word[1] != '-';
    for (size_t i = 0; i < table->count; i++) {
        const struct opt *row = &table->rows[i];
        if (is_letter ? row->letter == word[1]
                      : length == strlen(row->name) + 2 && strncmp(word, "--", 2) == 0 &&
                            memcmp(word + 2, row->name, length - 2) == 0)
            return row;
    }
    return NULL;
}

static int missing_value(const struct opt *row, struct err *e) {
    return err_set(e, ERR_USAGE, "--%s: a value is missing; write --%s %s", row->name, row->name,
                   opt_row_value_name(row));
}

static bool value_follows(const struct parse *p) {
    return p->at < p->argc && !is_option(p->argv[p->at]);
}

static int take_option(struct parse *p, const char *word, struct err *e) {
    size_t length = strcspn(word, "=");
    const struct opt *row = find_row(p->table, word, length);
    if (!row)
        return unknown_option(p->table, word, (int)length, e);
    if (row->type == OPT_FLAG && word[length])
        return err_set(e, ERR_USAGE, "--%s: takes no value; found \"%.60s\"", row->name, word + length + 1);
    if (row->type == OPT_FLAG)
        return opt_row_set(row, p->fields, "true", e);
    if (word[length])
        return opt_row_set(row, p->fields, word + length + 1, e);
    if (!value_follows(p))
        return missing_value(row, e);
    do
        if (opt_row_set(row, p->fields, p->argv[p->at++], e) != 0)
            return -1;
    while (row->type == OPT_LIST && value_follows(p));
    return 0;
}

static int take_bare(struct parse *p, const char *word, struct err *e) {
    if (!p->rest)
        return err_set(e, ERR_USAGE, "%.60s: not an option; this command takes no bare words (see --help)",
                       word);
    opt_list_add(p->rest, word);
    return 0;
}

static int take_words(struct parse *p, struct err *e) {
    bool options = true;
    while (p->at < p->argc) {
        const char *word = p->argv[p->at++];
        int result = 0;
        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (options && is_option(word))
            result = take_option(p, word, e);
        else
            result = take_bare(p, word, e);
        if (result != 0)
            return -1;
    }
    return 0;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int set_defaults(const struct opt_table *table, void *fields, struct err *e) {
    for (size_t i = 0; i < table->count; i++)
        opt_row_clear(&table->rows[i], fields);
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].def && opt_row_set(&table->rows[i], fields, table->rows[i].def, e) != 0)
            return -1;
    return 0;
}

int opt_parse(const struct opt_table *table, int argc, char **argv, void *fields, struct opt_list *rest,
              int *help, struct err *e) {
    struct parse p = {table, argc, argv, 1, fields, rest};
    *help = 0;
    if (rest)
        *rest = (struct opt_list){0};
    int result = set_defaults(table, fields, e);
    if (result == 0 && asks_for_help(argc, argv))
        *help = 1;
    else if (result == 0)
        result = take_words(&p, e);
    if (result != 0) {
        opt_free(table, fields);
        opt_list_free(rest);
    }
    return result;
}

/* ---- settings ---- */

json_t *opt_to_json(const struct opt_table *table, const void *fields) {
    json_t *settings = json_object();
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].key)
            json_object_set_new(settings, table->rows[i].key, opt_row_to_json(&table->rows[i], fields));
    return settings;
}

int opt_from_json(const struct opt_table *table, const json_t *settings, void *fields, struct err *e) {
    for (size_t i = 0; i < table->count; i++) {
        const struct opt *row = &table->rows[i];
        const json_t *value = row->key ? json_object_get(settings, row->key) : NULL;
        if (value && opt_row_from_json(row, value, fields, e) != 0)
            return -1;
    }
    return 0;
}

/* ---- help ---- */

static void spell(struct text *t, const struct opt *row) {
    if (row->letter)
        text_printf(t, "-%c, ", row->letter);
    text_printf(t, "--%s", row->name);
    if (row->type != OPT_FLAG)
        text_printf(t, " %s%s", opt_row_value_name(row), row->type == OPT_LIST ? "..." : "");
}

/* "help text (smoke, accept, soak; default smoke)" */
static void explain(struct text *t, const struct opt *row) {
    bool has_default = row->def && row->type != OPT_FLAG;
    text_add(t, row->help);
    if (!row->choices && !has_default)
        return;
    text_add(t, " (");
    if (row->choices)
        opt_row_add_choices(t, row);
    if (has_default)
        text_printf(t, "%sdefault %s", row->choices ? "; " : "", row->def);
    text_add(t, ")");
}

static void print_wrapped(FILE *out, const char *words, size_t indent, size_t column) {
    for (;;) {
        words += strspn(words, " ");
        if (!*words)
            break;
        int length = (int)strcspn(words, " ");
        if (column > indent && column + 1 + (size_t)length > HELP_WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        column += (size_t)fprintf(out, "%s%.*s", column > indent ? " " : "", length, words);
        words += length;
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const char *left, const char *right, size_t indent) {
    size_t width = 2 + text_width(left);
    fprintf(out, "  %s", left);
    if (width + 2 > indent)
        fprintf(out, "\n%*s", (int)indent, "");
    else
        fprintf(out, "%*s", (int)(indent - width), "");
    print_wrapped(out, right, indent, indent);
}

void opt_print_help(FILE *out, const struct opt_table *table) {
    static const char help_row[] = "-h, --help";
    struct text left = {0}, right = {0};
    size_t widest = sizeof help_row - 1;
    for (size_t i = 0; i < table->count; i++) {
        text_clear(&left);
        spell(&left, &table->rows[i]);
        size_t width = text_width(text_get(&left));
        if (width > widest && width <= HELP_COLUMN_MAX)
            widest = width;
    }
    fprintf(out, "usage: %s\n\n", table->usage);
    print_wrapped(out, table->summary, 0, 0);
    fputs("\noptions:\n", out);
    for (size_t i = 0; i < table->count; i++) {
        text_clear(&left);
        text_clear(&right);
        spell(&left, &table->rows[i]);
        explain(&right, &table->rows[i]);
        print_row(out, text_get(&left), text_get(&right), widest + 4);
    }
    print_row(out, help_row, "print this help and exit", widest + 4);
    text_free(&left);
    text_free(&right);
}

/* A '|' would end the cell. */
static void print_cell(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

void opt_print_markdown(FILE *out, const struct opt_table *table) {
    struct text cell = {0};
    fputs("| option | meaning |\n|---|---|\n", out);
    for (size_t i = 0; i < table->count; i++) {
        text_clear(&cell);
        spell(&cell, &table->rows[i]);
        fputs("| `", out);
        print_cell(out, text_get(&cell));
        text_clear(&cell);
        explain(&cell, &table->rows[i]);
        fputs("` | ", out);
        print_cell(out, text_get(&cell));
        fputs(" |\n", out);
    }
    text_free(&cell);
}
