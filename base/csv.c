#include "base/csv.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CSV_BLOCK_BYTES = 128 << 10 };

/* Where a field lies in the buffer. Offsets, because the buffer moves when it is filled up. */
struct span {
    size_t begin, end;
    bool doubled; /* has "" inside */
};

struct csv {
    char *name;
    int fd;            /* -1 when reading from memory */
    const char *bytes; /* what is left of the memory  */
    size_t bytes_left;
    bool ended; /* the source has no more */

    char *buffer; /* [at, filled) is not yet handed out; one byte beyond is kept for a NUL */
    size_t at, filled, capacity;

    struct span *spans;
    size_t span_count, span_capacity;
    char **fields;
    size_t field_capacity;
    size_t line, next_line; /* of the last row; of the next one */

    struct arena header_arena;
    char **header;
    size_t header_count;
};

/* How scanning a row came out. */
enum scan { SCAN_ROW, SCAN_MORE, SCAN_ERROR };

static struct csv *make(const char *name) {
    struct csv *c = xcalloc(1, sizeof *c);
    c->name = xstrdup(name);
    c->fd = -1;
    c->next_line = 1;
    c->capacity = CSV_BLOCK_BYTES;
    c->buffer = xmalloc(c->capacity + 1);
    return c;
}

static int read_some(struct csv *c, char *to, size_t size, size_t *got, struct err *e) {
    if (c->fd < 0) {
        *got = c->bytes_left < size ? c->bytes_left : size;
        if (*got)
            memcpy(to, c->bytes, *got);
        c->bytes += *got;
        c->bytes_left -= *got;
        return 0;
    }
    ssize_t n;
    do
        n = read(c->fd, to, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(e, ERR_IO, "%s: cannot read: %s", c->name, strerror(errno));
    *got = (size_t)n;
    return 0;
}

/* Brings more of the source behind what is not yet handed out. */
static int fill(struct csv *c, struct err *e) {
    if (c->at > 0) {
        memmove(c->buffer, c->buffer + c->at, c->filled - c->at);
        c->filled -= c->at;
        c->at = 0;
    }
    if (c->filled > CSV_ROW_MAX)
        return err_set(e, ERR_PARSE, "%s: line %zu: a row of more than %d bytes; is a quote left open?",
                       c->name, c->next_line, CSV_ROW_MAX);
    if (c->filled == c->capacity) {
        c->capacity *= 2;
        c->buffer = xrealloc(c->buffer, c->capacity + 1);
    }
    size_t got = 0;
    if (read_some(c, c->buffer + c->filled, c->capacity - c->filled, &got, e) != 0)
        return -1;
    c->filled += got;
    c->ended = got == 0;
    return 0;
}

static int skip_byte_order_mark(struct csv *c, struct err *e) {
    while (c->filled < 3 && !c->ended)
        if (fill(c, e) != 0)
            return -1;
    if (c->filled >= 3 && memcmp(c->buffer, "\xEF\xBB\xBF", 3) == 0)
        c->at = 3;
    return 0;
}

struct csv *csv_open(const char *path, struct err *e) {
    struct csv *c = make(path);
    c->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (c->fd < 0)
        err_set(e, ERR_NOT_FOUND, "%s: cannot open: %s", path, strerror(errno));
    if (c->fd < 0 || skip_byte_order_mark(c, e) != 0) {
        csv_close(c);
        return NULL;
    }
    return c;
}

struct csv *csv_open_memory(const char *name, const char *bytes, size_t length, struct err *e) {
    struct csv *c = make(name);
    c->bytes = bytes;
    c->bytes_left = length;
    if (skip_byte_order_mark(c, e) != 0) {
        csv_close(c);
        return NULL;
    }
    return c;
}

void csv_close(struct csv *c) {
    if (!c)
        return;
    if (c->fd >= 0)
        close(c->fd);
    arena_free(&c->header_arena);
    free(c->header);
    free(c->fields);
    free(c->spans);
    free(c->buffer);
    free(c->name);
    free(c);
}

static size_t count_lines(const char *from, const char *to) {
    size_t count = 0;
    while ((from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        count++;
        from++;
    }
    return count;
}

/* Line in the file of the byte at p, which lies in the row that begins at c->at. */
static size_t line_of(const struct csv *c, const char *p) {
    return c->next_line + count_lines(c->buffer + c->at, p);
}

static void add_span(struct csv *c, const char *begin, const char *end, bool doubled) {
    c->spans = xgrow(c->spans, sizeof *c->spans, c->span_count, &c->span_capacity);
    c->spans[c->span_count++] =
        (struct span){(size_t)(begin - c->buffer), (size_t)(end - c->buffer), doubled};
}

/* From behind an opening quote to behind the closing one. */
static enum scan scan_quoted(struct csv *c, const char **p, const char *limit, struct err *e) {
    const char *begin = *p;
    bool doubled = false;
    for (const char *q = begin; (q = memchr(q, '"', (size_t)(limit - q))) != NULL; q += 2) {
        if (q + 1 == limit && !c->ended)
            return SCAN_MORE;
        if (q + 1 < limit && q[1] == '"') {
            doubled = true;
            continue;
        }
        add_span(c, begin, q, doubled);
        *p = q + 1;
        return SCAN_ROW;
    }
    if (!c->ended)
        return SCAN_MORE;
    err_set(e, ERR_PARSE, "%s: line %zu: a quote is opened and never closed", c->name, line_of(c, begin));
    return SCAN_ERROR;
}

static enum scan scan_plain(struct csv *c, const char **p, const char *limit) {
    const char *begin = *p, *q = begin;
    while (q < limit && *q != ',' && *q != '\n')
        q++;
    if (q == limit && !c->ended)
        return SCAN_MORE;
    const char *end = q;
    if ((q == limit || *q == '\n') && end > begin && end[-1] == '\r')
        end--;
    add_span(c, begin, end, false);
    *p = q;
    return SCAN_ROW;
}

/* Finds the fields of the row at *p and leaves *p behind its line end. Nothing is written to the buffer,
 * so that the row can be scanned again when it turns out to be cut. */
static enum scan scan_row(struct csv *c, const char **p, struct err *e) {
    const char *limit = c->buffer + c->filled;
    c->span_count = 0;
    for (;;) {
        bool quoted = *p < limit && **p == '"';
        *p += quoted;
        enum scan s = quoted ? scan_quoted(c, p, limit, e) : scan_plain(c, p, limit);
        if (s != SCAN_ROW)
            return s;
        if (limit - *p < 2 && quoted && !c->ended)
            return SCAN_MORE;
        if (quoted && *p < limit && **p == '\r' && (*p + 1 == limit || (*p)[1] == '\n'))
            (*p)++;
        if (*p == limit)
            return SCAN_ROW;
        char after = *(*p)++;
        if (after == '\n')
            return SCAN_ROW;
        if (after != ',') {
            err_set(e, ERR_PARSE,
                    "%s: line %zu: text after a closing quote; double the quotes inside a field", c->name,
                    line_of(c, *p - 1));
            return SCAN_ERROR;
        }
    }
}

static void undouble(char *begin, size_t *length) {
    size_t to = 0;
    for (size_t from = 0; from < *length; from++) {
        begin[to++] = begin[from];
        from += begin[from] == '"';
    }
    *length = to;
}

/* Ends every field with a NUL, in place: the byte behind a field is always a separator, a quote or the
 * spare byte at the end of the buffer. */
static void cut_fields(struct csv *c) {
    if (c->field_capacity < c->span_count) {
        c->field_capacity = c->span_capacity;
        c->fields = xrealloc(c->fields, c->field_capacity * sizeof *c->fields);
    }
    for (size_t i = 0; i < c->span_count; i++) {
        const struct span *s = &c->spans[i];
        char *begin = c->buffer + s->begin;
        size_t length = s->end - s->begin;
        if (s->doubled)
            undouble(begin, &length);
        begin[length] = '\0';
        c->fields[i] = begin;
    }
}

static int check_row(const struct csv *c, const char *end, struct err *e) {
    const char *begin = c->buffer + c->at;
    if (end - begin > CSV_ROW_MAX)
        return err_set(e, ERR_PARSE, "%s: line %zu: a row of more than %d bytes; is a quote left open?",
                       c->name, c->next_line, CSV_ROW_MAX);
    const char *nul = memchr(begin, '\0', (size_t)(end - begin));
    if (nul)
        return err_set(e, ERR_PARSE, "%s: line %zu: a NUL byte; save the file as UTF-8 text", c->name,
                       line_of(c, nul));
    return 0;
}

/* Passes over empty lines; false at the end of the file. */
static int find_row(struct csv *c, bool *found, struct err *e) {
    for (;;) {
        const char *p = c->buffer + c->at, *limit = c->buffer + c->filled;
        bool cr = limit - p >= 2 && p[0] == '\r' && p[1] == '\n';
        if (p < limit && (cr || *p == '\n')) {
            c->at += 1 + cr;
            c->next_line++;
        } else if (limit - p >= 2 || (c->ended && p < limit)) {
            *found = true;
            return 0;
        } else if (c->ended) {
            *found = false;
            return 0;
        } else if (fill(c, e) != 0) {
            return -1;
        }
    }
}

int csv_next(struct csv *c, char ***fields, size_t *count, struct err *e) {
    bool found;
    if (find_row(c, &found, e) != 0)
        return -1;
    if (!found)
        return 0;
    const char *end;
    for (;;) {
        end = c->buffer + c->at;
        enum scan s = scan_row(c, &end, e);
        if (s == SCAN_ROW)
            break;
        if (s == SCAN_ERROR || fill(c, e) != 0)
            return -1;
    }
    if (check_row(c, end, e) != 0)
        return -1;
    c->line = c->next_line;
    c->next_line = line_of(c, end);
    c->at = (size_t)(end - c->buffer);
    cut_fields(c);
    *fields = c->fields;
    *count = c->span_count;
    return 1;
}

size_t csv_line(const struct csv *c) {
    return c->line;
}

const char *csv_name(const struct csv *c) {
    return c->name;
}

static const char *trimmed(struct arena *a, const char *text) {
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return arena_strndup(a, text, length);
}

int csv_read_header(struct csv *c, struct err *e) {
    char **fields;
    size_t count;
    int got = csv_next(c, &fields, &count, e);
    if (got < 0)
        return -1;
    if (got == 0)
        return err_set(e, ERR_PARSE, "%s: the file is empty; a header row is needed", c->name);
    if (count > CSV_COLUMNS_MAX)
        return err_set(e, ERR_PARSE, "%s: line %zu: %zu columns; no table here has more than %d", c->name,
                       c->line, count, CSV_COLUMNS_MAX);
    c->header = xcalloc(count, sizeof *c->header);
    for (size_t i = 0; i < count; i++) {
        const char *cr = strchr(fields[i], '\r');
        if (cr && cr[1] != '\n')
            return err_set(e, ERR_PARSE, "%s: line %zu: lines end in CR alone; save the file with LF or CRLF",
                           c->name, c->line);
        char *name = (char *)trimmed(&c->header_arena, fields[i]);
        if (*name && csv_column(c, name) >= 0)
            return err_set(e, ERR_PARSE, "%s: line %zu: two columns are named \"%.80s\"", c->name, c->line,
                           name);
        c->header[c->header_count++] = name;
    }
    return 0;
}

int csv_column(const struct csv *c, const char *name) {
    for (size_t i = 0; i < c->header_count; i++)
        if (text_equal_nocase(c->header[i], name))
            return (int)i;
    return -1;
}

size_t csv_columns(const struct csv *c) {
    return c->header_count;
}

const char *csv_column_name(const struct csv *c, size_t index) {
    return index < c->header_count ? c->header[index] : NULL;
}

void csv_write_field(FILE *out, const char *field) {
    size_t length = strlen(field);
    bool blank_end = length > 0 && (field[0] == ' ' || field[length - 1] == ' ');
    if (!blank_end && !strpbrk(field, ",\"\r\n")) {
        fputs(field, out);
        return;
    }
    fputc('"', out);
    for (const char *c = field; *c; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    fputc('"', out);
}
