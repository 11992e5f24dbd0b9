#include "reports/writers.h"

#include "base/text.h"
#include "reports/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { GAP = 2, NARROWEST = 8 };

/* $COLUMNS, else what a terminal says of itself; a file or a pipe has all the room there is. */
static size_t line_width(FILE *out) {
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    unsigned long width = text ? strtoul(text, &end, 10) : 0;
    struct winsize size;

    if (width > 0 && width < 100000 && *end == '\0') {
        return width;
    }
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : SIZE_MAX;
}

static void measure(const struct table *t, size_t *widths) {
    for (size_t c = 0; c < t->column_count; c++) {
        widths[c] = text_width(t->columns[c].title);
    }
    for (size_t i = 0; i < t->row_count * t->column_count; i++) {
        size_t width = text_width(t->cells[i].text);
        size_t *column = &widths[i % t->column_count];

        *column = width > *column ? width : *column;
    }
}

/* Takes from the widest text column until the row fits; numbers are never cut, and no column goes. */
static void fit(const struct table *t, size_t *widths, size_t limit) {
    size_t total = GAP * (t->column_count - 1);

    for (size_t c = 0; c < t->column_count; c++) {
        total += widths[c];
    }
    for (; total > limit; total--) {
        size_t *widest = NULL;

        for (size_t c = 0; c < t->column_count; c++) {
            if (t->columns[c].kind == COLUMN_TEXT && (!widest || widths[c] > *widest)) {
                widest = &widths[c];
            }
        }
        if (!widest || *widest <= NARROWEST) {
            return;
        }
        (*widest)--;
    }
}

static void put_spaces(FILE *out, size_t count) {
    fprintf(out, "%*s", (int)count, "");
}

static void put_cut(FILE *out, const char *text, size_t width) {
    size_t length = strlen(text);
    size_t used = 0;

    for (size_t i = 0; i + 1 < width && used < length; i++) {
        size_t n = utf8_sequence(text + used, length - used);

        used += n > 0 ? n : 1;
    }
    fwrite(text, 1, used, out);
    fputs("…", out);
}

/* Spaces are held back until something follows them, so that no line ends in them. */
static void put_cell(FILE *out, const char *text, size_t width, bool right, size_t *held) {
    size_t shown = text_width(text);
    size_t pad = shown < width ? width - shown : 0;

    *held += right ? pad : 0;
    if (*text) {
        put_spaces(out, *held);
        *held = 0;
    }
    if (shown > width) {
        put_cut(out, text, width);
    } else {
        fputs(text, out);
    }
    *held += GAP + (right ? 0 : pad);
}

void write_table(const struct table *t, FILE *out) {
    size_t columns = t->column_count;
    size_t *widths = xcalloc(columns, sizeof *widths);
    size_t held = 0;

    measure(t, widths);
    fit(t, widths, line_width(out));
    for (size_t c = 0; c < columns; c++) {
        put_cell(out, t->columns[c].title, widths[c], t->columns[c].kind == COLUMN_NUMBER, &held);
    }
    fputc('\n', out);
    held = 0;
    for (size_t i = 0; i < t->row_count * columns; i++) {
        size_t c = i % columns;

        put_cell(out, t->cells[i].text, widths[c], t->columns[c].kind == COLUMN_NUMBER, &held);
        if (c + 1 == columns) {
            fputc('\n', out);
            held = 0;
        }
    }
    free(widths);
}
