/* base/csv: a file, the same bytes in memory and the same bytes further back in the stream give the same
 * rows; every field lies in the bytes, in order; and what is written is read back. */
#include "tests/fuzz/fuzz.h"

#include "base/csv.h"
#include "base/text.h"

/* The reader's block: rows that lie across its end are read in two parts. */
enum { BLOCK_BYTES = 128 << 10 };

/* All rows as one text, each field with its length in front so that no two tables look alike; what ended
 * them, as csv_next has it. */
static int list_rows(struct csv *c, size_t lines_in_front, struct text *out, struct err *e) {
    char **fields;
    size_t count, last = 0;
    int got;
    while ((got = csv_next(c, &fields, &count, e)) == 1) {
        HOLDS(count > 0 && csv_line(c) > last, "%zu fields, line %zu after %zu", count, csv_line(c), last);
        last = csv_line(c);
        text_printf(out, "line %zu:", csv_line(c) - lines_in_front);
        for (size_t i = 0; i < count; i++)
            text_printf(out, " %zu \"%s\"", strlen(fields[i]), fields[i]);
        text_add(out, "\n");
    }
    if (got == 0)
        return 0;
    fuzz_check_error(e, ERR_PARSE);
    HOLDS(strncmp(e->text, csv_name(c), strlen(csv_name(c))) == 0 && strstr(e->text, ": line "), "%s",
          e->text);
    return got;
}

static struct csv *open_good(struct csv *c, const struct err *e) {
    HOLDS(c != NULL, "cannot open: %s", e->text);
    return c;
}

static void check_sources(const char *bytes, size_t size) {
    struct err e = {0}, e_memory = {0};
    struct text of_file = {0}, of_memory = {0};
    struct fuzz_file file = fuzz_file_open(bytes, size);
    struct csv *c = open_good(csv_open(file.path, &e), &e);
    int got = list_rows(c, 0, &of_file, &e);
    csv_close(c);
    c = open_good(csv_open_memory(file.path, bytes, size, &e_memory), &e_memory);
    HOLDS(list_rows(c, 0, &of_memory, &e_memory) == got, "%s, %s", e.text, e_memory.text);
    csv_close(c);
    HOLDS(strcmp(text_get(&of_file), text_get(&of_memory)) == 0, "file:\n%s\nmemory:\n%s", text_get(&of_file),
          text_get(&of_memory));
    HOLDS(strcmp(e.text, e_memory.text) == 0, "file: %s; memory: %s", e.text, e_memory.text);
    text_free(&of_file);
    text_free(&of_memory);
    fuzz_file_close(&file);
}

/* One long row stands in front, so that the block ends in the middle of the input. In quotes, which are found
 * quickest. */
static void check_shifted(const char *bytes, size_t size) {
    struct err e = {0};
    struct text plain = {0}, shifted = {0};
    char **fields;
    size_t count, front = BLOCK_BYTES - size / 2;
    if (size > BLOCK_BYTES / 2 || (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0))
        return; /* a byte-order mark is one only in front */
    char *longer = xmalloc(front + size);
    memset(longer, 'x', front);
    longer[0] = longer[front - 2] = '"';
    longer[front - 1] = '\n';
    memcpy(longer + front, bytes, size);
    struct csv *c = open_good(csv_open_memory("x", bytes, size, &e), &e);
    int got = list_rows(c, 0, &plain, &e);
    csv_close(c);
    c = open_good(csv_open_memory("x", longer, front + size, &e), &e);
    HOLDS(csv_next(c, &fields, &count, &e) == 1 && count == 1 && strlen(fields[0]) == front - 3, "%s",
          e.text);
    HOLDS(list_rows(c, 1, &shifted, &e) == got, "behind a row: %s", e.text);
    csv_close(c);
    HOLDS(strcmp(text_get(&plain), text_get(&shifted)) == 0, "in front:\n%s\nbehind:\n%s", text_get(&plain),
          text_get(&shifted));
    text_free(&plain);
    text_free(&shifted);
    free(longer);
}

static void double_quotes(const char *field, struct text *out) {
    for (const char *c = field; *c; c++) {
        text_add_bytes(out, c, 1);
        if (*c == '"')
            text_add(out, "\"");
    }
}

/* Where the first field that lies at or behind from ends: as it is, or with its quotes doubled. */
static const char *find_field(const char *from, const char *end, const char *field) {
    struct text doubled = {0};
    size_t length = strlen(field);
    const char *plain = memmem(from, (size_t)(end - from), field, length);
    double_quotes(field, &doubled);
    const char *found = memmem(from, (size_t)(end - from), text_get(&doubled), doubled.length);
    const char *found_end = found ? found + doubled.length : NULL;
    text_free(&doubled);
    if (plain && (!found_end || plain + length < found_end))
        return plain + length;
    return found_end;
}

/* Writes what is read. A first row stands in front: a field that looks like a byte-order mark is none there.
 */
static void check_fields(const char *bytes, size_t size, FILE *out) {
    struct err e = {0};
    char **fields;
    size_t count;
    const char *at = bytes, *end = bytes + size;
    struct csv *c = open_good(csv_open_memory("x", bytes, size, &e), &e);
    fputs("front\n", out);
    while (csv_next(c, &fields, &count, &e) == 1) {
        for (size_t i = 0; i < count; i++) {
            at = find_field(at, end, fields[i]);
            HOLDS(at != NULL, "line %zu, field %zu is not in the bytes: \"%s\"", csv_line(c), i + 1,
                  fields[i]);
            csv_write_field(out, fields[i]);
            fputc(i + 1 < count ? ',' : '\n', out);
        }
    }
    csv_close(c);
}

/* Every row but those of one empty field: written, they are empty lines, which are passed over. */
static void check_written(const char *bytes, size_t size, const char *written, size_t written_size) {
    struct err e = {0};
    char **fields, **again;
    size_t count, count_again;
    struct csv *c = open_good(csv_open_memory("x", bytes, size, &e), &e);
    struct csv *back = open_good(csv_open_memory("back", written, written_size, &e), &e);
    HOLDS(csv_next(back, &again, &count_again, &e) == 1, "%s", e.text);
    while (csv_next(c, &fields, &count, &e) == 1) {
        if (count == 1 && !fields[0][0])
            continue;
        HOLDS(csv_next(back, &again, &count_again, &e) == 1 && count == count_again, "%zu, %zu: %s", count,
              count_again, e.text);
        for (size_t i = 0; i < count; i++)
            HOLDS(strcmp(fields[i], again[i]) == 0, "\"%s\" came back as \"%s\"", fields[i], again[i]);
    }
    HOLDS(csv_next(back, &again, &count_again, &e) == 0, "more came back than was written: %s", e.text);
    csv_close(back);
    csv_close(c);
}

static void check_header(const char *bytes, size_t size) {
    struct err e = {0};
    struct csv *c = open_good(csv_open_memory("x", bytes, size, &e), &e);
    if (csv_read_header(c, &e) != 0)
        fuzz_check_error(&e, ERR_PARSE);
    else
        HOLDS(csv_columns(c) > 0 && csv_columns(c) <= CSV_COLUMNS_MAX, "%zu", csv_columns(c));
    for (size_t i = 0; i < csv_columns(c); i++) {
        const char *name = csv_column_name(c, i);
        HOLDS(!*name || csv_column(c, name) == (int)i, "%s is column %d and %zu", name, csv_column(c, name),
              i);
    }
    HOLDS(!csv_column_name(c, csv_columns(c)), "a column behind the last");
    csv_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *text = size > 0 ? (const char *)bytes : "";
    char *written = NULL;
    size_t written_size = 0;
    FILE *out = open_memstream(&written, &written_size);
    check_sources(text, size);
    check_shifted(text, size);
    check_fields(text, size, out);
    fclose(out);
    check_written(text, size, written, written_size);
    check_header(text, size);
    free(written);
    return 0;
}
