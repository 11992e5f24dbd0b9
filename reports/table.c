#include "reports/table.h"

#include "base/units.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void table_init(struct table *t, const struct column *columns, size_t column_count) {
    memset(t, 0, sizeof *t);
    t->columns = columns;
    t->column_count = column_count;
}

static void add_cell(struct table *t, struct cell cell) {
    t->cells = xgrow(t->cells, sizeof *t->cells, t->cell_count, &t->capacity);
    t->cells[t->cell_count++] = cell;
    t->row_count = t->cell_count / t->column_count;
}

void table_text(struct table *t, const char *text) {
    add_cell(t, (struct cell){text ? utf8_clean(arena_strdup(&t->arena, text)) : "", NAN});
}

void table_number(struct table *t, double number, const char *text) {
    bool unknown = isnan(number) || !text;

    add_cell(t, (struct cell){unknown ? "-" : utf8_clean(arena_strdup(&t->arena, text)), number});
}

void table_number_exact(struct table *t, double number) {
    char text[UNITS_TEXT_SIZE];

    table_number(t, number, units_format_exact(number, text));
}

void table_free(struct table *t) {
    if (!t) {
        return;
    }
    free(t->cells);
    arena_free(&t->arena);
    memset(t, 0, sizeof *t);
}
