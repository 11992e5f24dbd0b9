#include "reports/writers.h"

#include "base/csv.h"
#include "base/units.h"

#include <math.h>

void write_csv(const struct table *t, FILE *out) {
    char number[UNITS_TEXT_SIZE];

    for (size_t c = 0; c < t->column_count; c++) {
        fputs(c > 0 ? "," : "", out);
        csv_write_field(out, t->columns[c].key);
    }
    fputc('\n', out);
    for (size_t i = 0; i < t->row_count * t->column_count; i++) {
        const struct cell *cell = &t->cells[i];
        size_t c = i % t->column_count;

        fputs(c > 0 ? "," : "", out);
        if (t->columns[c].kind == COLUMN_TEXT) {
            csv_write_field(out, cell->text);
        } else if (isfinite(cell->number)) {
            fputs(units_format_exact(cell->number, number), out);
        }
        fputs(c + 1 == t->column_count ? "\n" : "", out);
    }
}
