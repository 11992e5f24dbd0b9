#include "reports/writers.h"

#include "base/json.h"

#include <stdlib.h>

static json_t *row_object(const struct table *t, size_t row) {
    json_t *object = json_object();

    for (size_t c = 0; c < t->column_count; c++) {
        const struct cell *cell = table_cell(t, row, c);
        json_t *value =
            t->columns[c].kind == COLUMN_TEXT ? json_string(cell->text) : json_number(cell->number);

        json_object_set_new(object, t->columns[c].key, value);
    }
    return object;
}

/* Row by row, so that a long table is never held twice. */
void write_json(const struct table *t, FILE *out) {
    fputc('[', out);
    for (size_t row = 0; row < t->row_count; row++) {
        json_t *object = row_object(t, row);
        char *line = json_line(object);

        fprintf(out, "%s\n %s", row > 0 ? "," : "", line);
        free(line);
        json_decref(object);
    }
    fputs(t->row_count > 0 ? "\n]\n" : "]\n", out);
}
