/* A catalogue as JSON: {"offers": [...]} or a bare list of objects. */
#include "reports/catalogue_parts.h"

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "base/utf8.h"

#include <string.h>

static bool json_has(const void *names, const char *name) {
    return json_object_get(names, name) != NULL;
}

/* The value as text in the arena; NULL when it is no text or number. */
static const char *value_text(struct arena *a, const json_t *value) {
    char number[UNITS_TEXT_SIZE];

    if (!value || json_is_null(value)) {
        return "";
    }
    if (json_is_string(value)) {
        return catalogue_trim(utf8_clean(arena_strdup(a, json_string_value(value))));
    }
    if (json_is_number(value)) {
        return arena_strdup(a, units_format_exact(json_number_value(value), number));
    }
    return NULL;
}

static void read_json_row(struct catalogue_file *f, const struct catalogue *layout, json_t *object,
                          json_t *ignored) {
    const char *fields[CATALOGUE_MAX_COLUMNS];
    struct arena scratch = {0};
    size_t place = ++f->account.rows_read;
    const char *key;
    json_t *value;

    f->row_note = "";
    if (!json_is_object(object)) {
        catalogue_refuse(f, place, "no object; write {\"provider\": ..., \"price\": ...}");
        return;
    }
    json_object_foreach(object, key, value) {
        if (!catalogue_has_column(layout, key)) {
            json_object_set_new(ignored, key, json_null());
        }
    }
    for (size_t c = 0; c < layout->column_count; c++) {
        fields[c] = value_text(&scratch, json_object_get(object, layout->columns[c].name));
        if (!fields[c]) {
            catalogue_refuse(
                f, place,
                arena_printf(&scratch, "%s: neither text nor a number; write one", layout->columns[c].name));
            goto out;
        }
    }
    catalogue_read_row(f, layout, fields, place);
out:
    arena_free(&scratch);
}

static json_t *first_object(const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (json_is_object(json_array_get(list, i))) {
            return json_array_get(list, i);
        }
    }
    return NULL;
}

/* An empty list is a catalogue of our own without offers. */
static const struct catalogue *recognise_json(struct catalogue_file *f, const json_t *list, struct err *e) {
    json_t *first = first_object(list);
    const struct catalogue *layout =
        json_array_size(list) > 0 ? catalogue_recognise(json_has, first) : &catalogue_own;
    struct text keys = {0};
    const char *key;
    json_t *value;

    if (!layout || !layout->json) {
        json_object_foreach(first, key, value) {
            catalogue_add_name(&keys, key);
        }
        catalogue_not_recognised(f, &keys, e);
        layout = NULL;
    }
    text_free(&keys);
    return layout;
}

static int read_json_list(struct catalogue_file *f, const json_t *list, struct err *e) {
    const struct catalogue *layout = recognise_json(f, list, e);
    json_t *ignored = json_object();
    struct text names = {0};
    const char *key;
    json_t *value;

    for (size_t i = 0; layout && i < json_array_size(list); i++) {
        read_json_row(f, layout, json_array_get(list, i), ignored);
    }
    json_object_foreach(ignored, key, value) {
        catalogue_add_name(&names, key);
    }
    if (layout) {
        f->account.format = layout->name;
        f->account.ignored = arena_strdup(f->arena, text_get(&names));
        identities_resolve(&f->identities, f->arena, f->gpus, layout->trusted);
    }
    text_free(&names);
    json_decref(ignored);
    return layout ? 0 : -1;
}

int catalogue_read_json(struct catalogue_file *f, const char *path, const char *bytes, size_t length,
                        struct err *e) {
    json_t *root = bytes ? json_parse(f->name, bytes, length, e) : json_read_file(path, e);
    const json_t *list = json_is_object(root) ? json_object_get(root, "offers") : root;
    int result = -1;

    if (!root) {
        return -1;
    }
    if (json_is_array(list)) {
        result = read_json_list(f, list, e);
    } else {
        err_set(e, ERR_PARSE, "%s: no list of offers; write {\"offers\": [...]} or a list", f->name);
    }
    json_decref(root);
    return result;
}
