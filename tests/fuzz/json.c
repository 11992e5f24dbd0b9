/* base/json: a document is the same from memory and from a file, is written as one line that reads back the
 * same, and its typed fields agree with each other. */
#include "tests/fuzz/fuzz.h"

#include "base/json.h"

#include <math.h>

/* In one line, which reads back as the same value. */
static void check_line(const json_t *value) {
    struct err e = {0};
    char *line = json_line(value);
    json_t *again = json_parse("line", line, strlen(line), &e);
    HOLDS(!strpbrk(line, "\n\r"), "%s", line);
    HOLDS(again && json_equal(value, again), "%s: %s", line, e.text);
    char *second = json_line(again);
    HOLDS(strcmp(line, second) == 0, "%s became %s", line, second);
    free(second);
    json_decref(again);
    free(line);
}

static void check_numbers(const json_t *array) {
    size_t count;
    double *values = json_as_numbers(array, &count);
    bool numbers = json_is_array(array);
    for (size_t i = 0; numbers && i < json_array_size(array); i++)
        numbers = json_is_number(json_array_get(array, i)) || json_is_null(json_array_get(array, i));
    HOLDS((values != NULL) == numbers && count == (numbers ? json_array_size(array) : 0), "%zu numbers",
          count);
    json_t *back = values ? json_numbers(values, count) : NULL;
    for (size_t i = 0; i < count; i++) {
        double got = json_as_number(json_array_get(back, i));
        HOLDS(isnan(values[i]) ? json_is_null(json_array_get(array, i)) && isnan(got) : got == values[i],
              "number %zu: %.17g and %.17g", i, values[i], got);
    }
    json_decref(back);
    free(values);
}

/* What each getter says of the field; of another type it is an error that names the field. */
static void check_field(const json_t *object, const char *key, const json_t *value) {
    struct err e[6] = {0};
    const char *string = NULL, *or_string = NULL;
    double number = NAN, or_number = NAN;
    int64_t whole = 0;
    bool truth = false;
    const int got[] = {
        json_get_string(object, key, &string, &e[0]),
        json_get_number(object, key, &number, &e[1]),
        json_get_int(object, key, &whole, &e[2]),
        json_get_bool(object, key, &truth, &e[3]),
        json_opt_string(object, key, "x", &or_string, &e[4]),
        json_opt_number(object, key, 7, &or_number, &e[5]),
    };
    for (size_t i = 0; i < sizeof got / sizeof got[0]; i++)
        if (got[i] != 0)
            fuzz_check_error(&e[i], ERR_PARSE);
    HOLDS((got[0] == 0) == json_is_string(value), "%s", key);
    HOLDS((got[1] == 0) == json_is_number(value), "%s", key);
    HOLDS((got[3] == 0) == json_is_boolean(value), "%s", key);
    HOLDS(got[1] != 0 || isfinite(number), "%g", number);
    HOLDS(got[2] != 0 || (got[1] == 0 && (double)whole == number), "%lld and %g", (long long)whole, number);
    HOLDS(!json_is_integer(value) || got[2] == 0, "%s", key);
    HOLDS((got[4] == 0) == (got[0] == 0 || json_is_null(value)), "%s", key);
    HOLDS((got[5] == 0) == (got[1] == 0 || json_is_null(value)), "%s", key);
    HOLDS(!json_is_null(value) || (strcmp(or_string, "x") == 0 && or_number == 7), "%s", key);
}

static void check_object(json_t *object) {
    struct err e = {0};
    const char *key;
    json_t *value;
    size_t count = 0;
    const char **keys = xcalloc(json_object_size(object) + 1, sizeof *keys);
    json_object_foreach(object, key, value) {
        check_field(object, key, value);
        keys[count++] = key;
    }
    HOLDS(json_check_keys(object, keys, &e) == 0, "%s", e.text);
    if (count > 0) {
        keys[count - 1] = NULL;
        HOLDS(json_check_keys(object, keys, &e) != 0, "a key too many is taken");
        fuzz_check_error(&e, ERR_PARSE);
    }
    free(keys);
}

/* Any text becomes a string; UTF-8 stays what it is. */
static void check_text(const char *text) {
    json_t *plain = json_string(text), *value = json_text(text);
    HOLDS(json_is_string(value), "no string of \"%s\"", text);
    HOLDS(!plain || json_equal(plain, value), "\"%s\" became \"%s\"", text, json_string_value(value));
    json_decref(plain);
    json_decref(value);
}

static void walk(json_t *value) {
    const char *key;
    json_t *item;
    size_t i;
    check_numbers(value);
    if (json_is_object(value))
        check_object(value);
    json_object_foreach(value, key, item) {
        walk(item);
    }
    json_array_foreach(value, i, item) {
        walk(item);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct err e = {0}, e_file = {0};
    struct fuzz_file file = fuzz_file_open(bytes, size);
    char *text = fuzz_text(bytes, size);
    json_t *value = json_parse(file.path, size > 0 ? (const char *)bytes : "", size, &e);
    json_t *of_file = json_read_file(file.path, &e_file);
    HOLDS(!value == !of_file && strcmp(e.text, e_file.text) == 0, "memory: %s; file: %s", e.text,
          e_file.text);
    HOLDS(!value || json_equal(value, of_file), "the file says something else");
    if (value) {
        check_line(value);
        walk(value);
    } else {
        fuzz_check_error(&e, ERR_PARSE);
        HOLDS(strncmp(e.text, file.path, strlen(file.path)) == 0 && strstr(e.text, ": line "), "%s", e.text);
    }
    check_text(text);
    json_decref(of_file);
    json_decref(value);
    free(text);
    fuzz_file_close(&file);
    return 0;
}
