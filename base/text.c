#include "base/text.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer words are no slip of the finger, and the distance costs length squared. */
enum { NEAREST_WORD_MAX = 63 };

static void reserve(struct text *t, size_t more) {
    size_t needed = t->length + more + 1;
    if (needed <= t->capacity)
        return;
    if (needed <= t->length || needed > SIZE_MAX / 2)
        xmalloc(SIZE_MAX); /* does not return */
    size_t capacity = t->capacity * 2 > needed ? t->capacity * 2 : needed;
    t->data = xrealloc(t->data, capacity);
    t->capacity = capacity;
}

void text_add_bytes(struct text *t, const char *bytes, size_t count) {
    reserve(t, count);
    if (count)
        memcpy(t->data + t->length, bytes, count);
    t->length += count;
    t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *piece) {
    text_add_bytes(t, piece, strlen(piece));
}

void text_vprintf(struct text *t, const char *format, va_list args) {
    char *piece = xvasprintf(format, args);
    text_add(t, piece);
    free(piece);
}

void text_printf(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(t, format, args);
    va_end(args);
}

void text_clear(struct text *t) {
    t->length = 0;
    if (t->data)
        t->data[0] = '\0';
}

void text_free(struct text *t) {
    if (!t)
        return;
    free(t->data);
    *t = (struct text){0};
}

const char *text_get(const struct text *t) {
    return t->data ? t->data : "";
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool text_equal_nocase(const char *a, const char *b) {
    while (*a && lower(*a) == lower(*b))
        a++, b++;
    return lower(*a) == lower(*b);
}

/* Levenshtein's distance without case, one row at a time. */
static size_t distance(const char *a, size_t length_a, const char *b, size_t length_b) {
    size_t row[NEAREST_WORD_MAX + 1];
    for (size_t i = 0; i <= length_a; i++)
        row[i] = i;
    for (size_t j = 1; j <= length_b; j++) {
        size_t diagonal = row[0];
        row[0] = j;
        for (size_t i = 1; i <= length_a; i++) {
            size_t replaced = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            size_t shifted = (row[i] < row[i - 1] ? row[i] : row[i - 1]) + 1;
            diagonal = row[i];
            row[i] = replaced < shifted ? replaced : shifted;
        }
    }
    return row[length_a];
}

const char *text_nearest(const char *word, const char *const *names, size_t count) {
    size_t length = strnlen(word, NEAREST_WORD_MAX + 1);
    if (length == 0 || length > NEAREST_WORD_MAX)
        return NULL;
    size_t best_distance = length / 3 > 2 ? length / 3 : 2;
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t name_length = strnlen(names[i], NEAREST_WORD_MAX + 1);
        if (name_length > NEAREST_WORD_MAX)
            continue;
        size_t d = distance(word, length, names[i], name_length);
        size_t longer = length > name_length ? length : name_length;
        /* At least one letter in common: "xy" is not a slip for "ms". */
        if (d < longer && (d < best_distance || (d == best_distance && !best))) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}

size_t text_width(const char *utf8) {
    size_t width = 0;
    for (; *utf8; utf8++)
        width += ((unsigned char)*utf8 & 0xC0) != 0x80;
    return width;
}

bool text_read_line(const char *root, const char *path, char *out, size_t size) {
    char *full = xasprintf("%s%s", root, path);
    FILE *file = fopen(full, "re");
    free(full);
    bool got = file && fgets(out, (int)size, file);
    if (file)
        fclose(file);
    if (!got)
        return false;
    out[strcspn(out, "\n")] = '\0';
    return *out != '\0';
}
