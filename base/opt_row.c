#include "base/opt_row.h"

#include "base/json.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *field_of(const struct opt *row, void *fields) {
    return (char *)fields + row->offset;
}

static void format_limit(const struct opt *row, double limit, char *out) {
    if (row->type == OPT_SIZE)
        units_format_bytes(limit, out);
    else if (row->type == OPT_DURATION)
        units_print(out, UNITS_TEXT_SIZE, "%.12g s", limit);
    else
        units_format_exact(limit, out);
}

static int check_range(const struct opt *row, double value, const char *text, struct err *e) {
    if ((row->min == 0 && row->max == 0) || (value >= row->min && value <= row->max))
        return 0;
    char min[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];
    format_limit(row, row->min, min);
    format_limit(row, row->max, max);
    if (row->max == INFINITY)
        return err_set(e, ERR_USAGE, "%s is out of range; give %s or more", text, min);
    if (row->min == -INFINITY)
        return err_set(e, ERR_USAGE, "%s is out of range; give %s or less", text, max);
    return err_set(e, ERR_USAGE, "%s is out of range; give %s to %s", text, min, max);
}

static int set_int(const struct opt *row, void *field, const char *text, struct err *e) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end)
        return err_set(e, ERR_USAGE, "\"%.60s\" is not a whole number", text);
    /* LLONG_MIN means "not given". */
    if (errno == ERANGE || value == OPT_INT_NONE)
        return err_set(e, ERR_USAGE, "%.60s is too large for a whole number", text);
    *(long long *)field = value;
    return check_range(row, (double)value, text, e);
}

static int set_number(const struct opt *row, void *field, const char *text, struct err *e) {
    double *value = field;
    return units_parse_number(text, value, e) != 0 ? -1 : check_range(row, *value, text, e);
}

static int set_duration(const struct opt *row, void *field, const char *text, struct err *e) {
    double *value_s = field;
    return units_parse_duration(text, value_s, e) != 0 ? -1 : check_range(row, *value_s, text, e);
}

static int set_size(const struct opt *row, void *field, const char *text, struct err *e) {
    uint64_t bytes;
    if (units_parse_size(text, &bytes, e) != 0)
        return -1;
    *(unsigned long long *)field = bytes;
    return check_range(row, (double)bytes, text, e);
}

static int set_string(const struct opt *row, void *field, const char *text, struct err *e) {
    (void)row;
    (void)e;
    *(const char **)field = text;
    return 0;
}

static int set_list(const struct opt *row, void *field, const char *text, struct err *e) {
    (void)e;
    struct opt_list *list = field;
    if (list->count == 1 && list->items[0] == row->def)
        list->count = 0;
    opt_list_add(list, text);
    return 0;
}

static size_t count_choices(const struct opt *row) {
    size_t count = 0;
    while (row->choices[count])
        count++;
    return count;
}

void opt_row_add_choices(struct text *t, const struct opt *row) {
    for (size_t i = 0; row->choices[i]; i++)
        text_printf(t, "%s%s", i ? ", " : "", row->choices[i]);
}

static int set_choice(const struct opt *row, void *field, const char *text, struct err *e) {
    size_t count = count_choices(row);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(row->choices[i], text) == 0) {
            *(int *)field = (int)i;
            return 0;
        }
    }
    struct text choices = {0};
    opt_row_add_choices(&choices, row);
    const char *nearest = text_nearest(text, row->choices, count);
    if (nearest)
        err_set(e, ERR_USAGE, "unknown value \"%.60s\"; did you mean \"%s\"? (%s)", text, nearest,
                text_get(&choices));
    else
        err_set(e, ERR_USAGE, "unknown value \"%.60s\"; give one of %s", text, text_get(&choices));
    text_free(&choices);
    return -1;
}

static int set_flag(const struct opt *row, void *field, const char *text, struct err *e) {
    (void)row;
    bool on = strcmp(text, "true") == 0;
    if (!on && strcmp(text, "false") != 0)
        return err_set(e, ERR_USAGE, "\"%.60s\" is neither true nor false", text);
    *(bool *)field = on;
    return 0;
}

/* ---- what each type does ---- */

static void clear_flag(void *field) {
    *(bool *)field = false;
}
static void clear_int(void *field) {
    *(long long *)field = OPT_INT_NONE;
}
static void clear_number(void *field) {
    *(double *)field = NAN;
}
static void clear_string(void *field) {
    *(const char **)field = NULL;
}
static void clear_list(void *field) {
    *(struct opt_list *)field = (struct opt_list){0};
}
static void clear_size(void *field) {
    *(unsigned long long *)field = OPT_SIZE_NONE;
}
static void clear_choice(void *field) {
    *(int *)field = -1;
}

static json_t *flag_to_json(const struct opt *row, const void *field) {
    (void)row;
    return json_boolean(*(const bool *)field);
}
static json_t *int_to_json(const struct opt *row, const void *field) {
    (void)row;
    long long value = *(const long long *)field;
    return value == OPT_INT_NONE ? json_null() : json_integer(value);
}
static json_t *number_to_json(const struct opt *row, const void *field) {
    (void)row;
    return json_number(*(const double *)field);
}
static json_t *string_to_json(const struct opt *row, const void *field) {
    (void)row;
    return json_text(*(const char *const *)field);
}
static json_t *list_to_json(const struct opt *row, const void *field) {
    (void)row;
    const struct opt_list *list = field;
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(array, json_text(list->items[i]));
    return array;
}
static json_t *size_to_json(const struct opt *row, const void *field) {
    (void)row;
    unsigned long long bytes = *(const unsigned long long *)field;
    return bytes == OPT_SIZE_NONE ? json_null() : json_integer((json_int_t)bytes);
}
static json_t *choice_to_json(const struct opt *row, const void *field) {
    int index = *(const int *)field;
    return index < 0 ? json_null() : json_string(row->choices[index]);
}

struct type {
    const char *value_name; /* when the row has none */
    void (*clear)(void *field);
    int (*set)(const struct opt *row, void *field, const char *text, struct err *e);
    json_t *(*to_json)(const struct opt *row, const void *field);
};

static const struct type types[] = {
    [OPT_FLAG] = {"", clear_flag, set_flag, flag_to_json},
    [OPT_INT] = {"N", clear_int, set_int, int_to_json},
    [OPT_NUMBER] = {"X", clear_number, set_number, number_to_json},
    [OPT_STRING] = {"TEXT", clear_string, set_string, string_to_json},
    [OPT_LIST] = {"TEXT", clear_list, set_list, list_to_json},
    [OPT_SIZE] = {"SIZE", clear_size, set_size, size_to_json},
    [OPT_DURATION] = {"TIME", clear_number, set_duration, number_to_json},
    [OPT_CHOICE] = {"WORD", clear_choice, set_choice, choice_to_json},
};

const char *opt_row_value_name(const struct opt *row) {
    return row->value_name ? row->value_name : types[row->type].value_name;
}

void opt_row_clear(const struct opt *row, void *fields) {
    types[row->type].clear(field_of(row, fields));
}

int opt_row_set(const struct opt *row, void *fields, const char *text, struct err *e) {
    if (types[row->type].set(row, field_of(row, fields), text, e) == 0)
        return 0;
    e->code = ERR_USAGE;
    return err_wrap(e, "--%s", row->name);
}

json_t *opt_row_to_json(const struct opt *row, const void *fields) {
    return types[row->type].to_json(row, (const char *)fields + row->offset);
}

static int wrong_setting(const struct opt *row, const char *wanted, struct err *e) {
    return err_set(e, ERR_PARSE, "setting \"%s\": must be %s", row->key, wanted);
}

static int list_from_json(const struct opt *row, const json_t *value, struct opt_list *list, struct err *e) {
    if (!json_is_array(value))
        return wrong_setting(row, "an array of strings", e);
    list->count = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *item = json_string_value(json_array_get(value, i));
        if (!item)
            return wrong_setting(row, "an array of strings", e);
        opt_list_add(list, item);
    }
    return 0;
}

static int bad_setting(const struct opt *row, struct err *e) {
    e->code = ERR_PARSE;
    return err_wrap(e, "setting \"%s\"", row->key);
}

static int text_from_json(const struct opt *row, const json_t *value, void *field, struct err *e) {
    const char *text = json_string_value(value);
    if (!text)
        return wrong_setting(row, "a string", e);
    return types[row->type].set(row, field, text, e) == 0 ? 0 : bad_setting(row, e);
}

static int number_from_json(const struct opt *row, const json_t *value, void *field, struct err *e) {
    char text[UNITS_TEXT_SIZE];
    if (!json_is_number(value))
        return wrong_setting(row, "a number", e);
    if (row->type == OPT_NUMBER || row->type == OPT_DURATION) {
        double number = json_number_value(value);
        *(double *)field = number;
        units_format_exact(number, text);
        return check_range(row, number, text, e) == 0 ? 0 : bad_setting(row, e);
    }
    if (!json_is_integer(value) || (row->type == OPT_SIZE && json_integer_value(value) < 0))
        return wrong_setting(row, row->type == OPT_SIZE ? "a number of bytes" : "a whole number", e);
    snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    return types[row->type].set(row, field, text, e) == 0 ? 0 : bad_setting(row, e);
}

int opt_row_from_json(const struct opt *row, const json_t *value, void *fields, struct err *e) {
    void *field = field_of(row, fields);
    if (row->type == OPT_LIST)
        return list_from_json(row, value, field, e);
    if (json_is_null(value) && row->def)
        return wrong_setting(row, "given", e);
    if (json_is_null(value)) {
        types[row->type].clear(field);
        return 0;
    }
    if (row->type == OPT_STRING || row->type == OPT_CHOICE)
        return text_from_json(row, value, field, e);
    if (row->type != OPT_FLAG)
        return number_from_json(row, value, field, e);
    if (!json_is_boolean(value))
        return wrong_setting(row, "true or false", e);
    *(bool *)field = json_is_true(value);
    return 0;
}
