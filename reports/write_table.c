#include "reports/writers.h"

#include "base/text.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { GAP = 2, NARROWEST = 8, SPARE_NARROWEST = 14, READABLE = 24 };

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

/* Of a line whose texts are cut to `text_most`. */
static size_t total_width(const struct table *t, const size_t *widths, size_t text_most) {
    size_t total = 0;

    for (size_t c = 0; c < t->column_count; c++) {
        bool cut = t->columns[c].kind == COLUMN_TEXT && widths[c] > text_most;

        total += widths[c] > 0 ? (cut ? text_most : widths[c]) + GAP : 0;
    }
    return total - GAP;
}

/* The column that gives way next: the largest `spare` among those still wider than `least`. */
static size_t *next_spare(const struct table *t, size_t *widths, size_t least, bool texts_only) {
    size_t best = t->column_count;

    for (size_t c = 0; c < t->column_count; c++) {
        const struct column *column = &t->columns[c];

        if (column->spare > 0 && widths[c] > least && (column->kind == COLUMN_TEXT || !texts_only) &&
            (best == t->column_count || column->spare > t->columns[best].spare)) {
            best = c;
        }
    }
    return best < t->column_count ? &widths[best] : NULL;
}

/* Spare texts are cut; spare columns are left out until the other texts keep a readable width; then the
 * widest text is cut until the line fits. Numbers that are shown are never cut. */
static void fit(const struct table *t, size_t *widths, size_t limit) {
    size_t *column;

    while (total_width(t, widths, SIZE_MAX) > limit &&
           (column = next_spare(t, widths, SPARE_NARROWEST, true))) {
        size_t over = total_width(t, widths, SIZE_MAX) - limit, room = *column - SPARE_NARROWEST;

        *column -= over < room ? over : room;
    }
    while (total_width(t, widths, READABLE) > limit && (column = next_spare(t, widths, 0, false))) {
        *column = 0;
    }
    for (size_t total = total_width(t, widths, SIZE_MAX); total > limit; total--) {
        column = NULL;
        for (size_t c = 0; c < t->column_count; c++) {
            if (t->columns[c].kind == COLUMN_TEXT && (!column || widths[c] > *column)) {
                column = &widths[c];
            }
        }
        if (!column || *column <= NARROWEST) {
            return;
        }
        (*column)--;
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

    if (width == 0) {
        return;
    }
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
