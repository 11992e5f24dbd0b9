#include "base/json.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Read whole into memory, so a wrong path (a disk image, a log) is refused before it hurts. */
enum { JSON_FILE_MAX = 256 << 20 };

/* What to do about the errors that people meet most. */
static const char *mend_of(const json_error_t *error) {
    static const struct {
        enum json_error_code code;
        const char *mend;
    } mends[] = {
        {json_error_premature_end_of_input, "; the file is cut off: write or fetch it again"},
        {json_error_invalid_utf8, "; it is not UTF-8: convert it, as by iconv -f GB18030 -t UTF-8"},
        {json_error_numeric_overflow, "; no such number can be held: correct it"},
        {json_error_duplicate_key, "; keep one of the two"},
        {json_error_invalid_syntax, "; JSON has no comments, no NaN, and no comma after the last item"},
    };
    for (size_t i = 0; i < sizeof mends / sizeof *mends; i++)
        if (json_error_code(error) == mends[i].code)
            return mends[i].mend;
    return "";
}

json_t *json_parse(const char *name, const char *bytes, size_t length, struct err *e) {
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (length >= 3 && memcmp(bytes, byte_order_mark, 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    json_error_t error;
    json_t *value = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    if (!value)
        err_set(e, ERR_PARSE, "%s: line %d, column %d: %s%s", name, error.line, error.column, error.text,
                mend_of(&error));
    return value;
}

static int too_large(const char *path, struct err *e) {
    return err_set(e, ERR_PARSE, "%s: larger than %d MiB: not a file of this program", path,
                   JSON_FILE_MAX >> 20);
}

static int read_all(FILE *in, const char *path, struct text *out, struct err *e) {
    char block[1 << 16];
    size_t count;
    struct stat info;
    if (fstat(fileno(in), &info) == 0 && info.st_size > JSON_FILE_MAX)
        return too_large(path, e);
    while ((count = fread(block, 1, sizeof block, in)) > 0) {
        text_add_bytes(out, block, count);
        if (out->length > JSON_FILE_MAX)
            return too_large(path, e); /* a pipe tells no size */
    }
    if (ferror(in))
        return err_set(e, errno == EISDIR ? ERR_NOT_FOUND : ERR_IO, "%s: cannot read: %s", path,
                       strerror(errno));
    return 0;
}

json_t *json_read_file(const char *path, struct err *e) {
    FILE *in = fopen(path, "rbe");
    if (!in) {
        err_set(e, ERR_NOT_FOUND, "%s: cannot open: %s", path, strerror(errno));
        return NULL;
    }
    struct text all = {0};
    json_t *value = NULL;
    if (read_all(in, path, &all, e) == 0)
        value = json_parse(path, text_get(&all), all.length, e);
    text_free(&all);
    fclose(in);
    return value;
}

static const char *type_name(const json_t *value) {
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    return value ? names[json_typeof(value)] : "missing";
}

static int wrong_type(const char *key, const char *wanted, const json_t *found, struct err *e) {
    if (!found)
        return err_set(e, ERR_PARSE, "field \"%s\" is missing; it must be %s", key, wanted);
    if (json_is_string(found))
        return err_set(e, ERR_PARSE, "field \"%s\" must be %s, found \"%.80s\"", key, wanted,
                       json_string_value(found));
    return err_set(e, ERR_PARSE, "field \"%s\" must be %s, found %s", key, wanted, type_name(found));
}

int json_get_string(const json_t *object, const char *key, const char **out, struct err *e) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return wrong_type(key, "a string", value, e);
    *out = json_string_value(value);
    return 0;
}

int json_get_number(const json_t *object, const char *key, double *out, struct err *e) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        return wrong_type(key, "a number", value, e);
    *out = json_number_value(value);
    return 0;
}

int json_get_int(const json_t *object, const char *key, int64_t *out, struct err *e) {
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return 0;
    }
    /* 1e6 is a whole number too, as far as a double can tell it from its neighbours. */
    double real = json_is_real(value) ? json_real_value(value) : NAN;
    if (!json_is_real(value) || real != floor(real) || fabs(real) > 0x1p53)
        return wrong_type(key, "a whole number", value, e);
    *out = (int64_t)real;
    return 0;
}

int json_get_bool(const json_t *object, const char *key, bool *out, struct err *e) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        return wrong_type(key, "true or false", value, e);
    *out = json_is_true(value);
    return 0;
}

static bool absent(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return !value || json_is_null(value);
}

int json_opt_string(const json_t *object, const char *key, const char *def, const char **out, struct err *e) {
    *out = def;
    return absent(object, key) ? 0 : json_get_string(object, key, out, e);
}

int json_opt_number(const json_t *object, const char *key, double def, double *out, struct err *e) {
    *out = def;
    return absent(object, key) ? 0 : json_get_number(object, key, out, e);
}

int json_check_keys(const json_t *object, const char *const *keys, struct err *e) {
    size_t count = 0;
    while (keys[count])
        count++;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (i < count && strcmp(keys[i], key) != 0)
            i++;
        if (i < count)
            continue;
        const char *nearest = text_nearest(key, keys, count);
        if (nearest)
            return err_set(e, ERR_PARSE, "unknown field \"%.80s\"; did you mean \"%s\"?", key, nearest);
        return err_set(e, ERR_PARSE, "unknown field \"%.80s\"; remove it", key);
    }
    return 0;
}

json_t *json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

double json_as_number(const json_t *value) {
    return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *json_text(const char *text) {
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    if (value)
        return value;
    char *ascii = xstrdup(text);
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(ascii);
    free(ascii);
    return value;
}

json_t *json_numbers(const double *values, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_number(values[i]));
    return array;
}

double *json_as_numbers(const json_t *array, size_t *count) {
    *count = 0;
    if (!json_is_array(array))
        return NULL;
    size_t n = json_array_size(array);
    double *values = xmalloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        if (!json_is_number(item) && !json_is_null(item)) {
            free(values);
            return NULL;
        }
        values[i] = json_as_number(item);
    }
    *count = n;
    return values;
}

char *json_line(const json_t *value) {
    char *line = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!line)
        xmalloc(SIZE_MAX); /* jansson's only way to fail here is memory: does not return */
    return line;
}
