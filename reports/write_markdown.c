#include "reports/writers.h"

/* A bar or a backslash in a cell would end it (GitHub Flavored Markdown, tables extension); line ends
 * are spaces already. */
static void put_escaped(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '|' || *text == '\\') {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

void write_markdown(const struct table *t, FILE *out) {
    for (size_t c = 0; c < t->column_count; c++) {
        fputs("| ", out);
        put_escaped(out, t->columns[c].title);
        fputc(' ', out);
    }
    fputs("|\n", out);
    for (size_t c = 0; c < t->column_count; c++) {
        fputs(t->columns[c].kind == COLUMN_NUMBER ? "| ---: " : "| --- ", out);
    }
    fputs("|\n", out);
    for (size_t row = 0; row < t->row_count; row++) {
        for (size_t c = 0; c < t->column_count; c++) {
            fputs("| ", out);
            put_escaped(out, table_cell(t, row, c)->text);
            fputc(' ', out);
        }
        fputs("|\n", out);
    }
}
