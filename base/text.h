/* A growing string, and small helpers on names. Not for numbers with units: see units.h. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is an empty text. data is NULL or NUL-terminated. */
struct text {
    char *data;
    size_t length, capacity;
};

void text_add(struct text *t, const char *piece);
void text_add_bytes(struct text *t, const char *bytes, size_t count);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Empties t and keeps its memory. */
void text_clear(struct text *t);
void text_free(struct text *t);
/* The text as it is now, never NULL; borrowed from t. */
const char *text_get(const struct text *t);

/* The entry of names[0..count) nearest to word by edit distance, or NULL if none is near enough to be
 * worth suggesting (distance above 2 and above a third of the word). Borrowed from names. */
const char *text_nearest(const char *word, const char *const *names, size_t count);

/* Columns a terminal shows for this UTF-8 text (code points; no wide characters are assumed). */
size_t text_width(const char *utf8);

/* True when both are equal, ASCII letters compared without case. */
bool text_equal_nocase(const char *a, const char *b);

/* First line of the file root/path (root is "" in the program) without its end, as the kernel's one-line
 * files under /proc and /sys have it. False when it cannot be read or is empty. */
bool text_read_line(const char *root, const char *path, char *out, size_t size);

#endif
