/* Host memory: allocation that aborts when the host is out of memory (a measuring tool has no useful
 * way on), and an arena for parsed files. Device memory is another matter: see kernels/backend.h. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
/* Grows *items (of item_size bytes each) so that one more fits; doubles *capacity. Returns *items. */
void *xgrow(void *items, size_t item_size, size_t count, size_t *capacity);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* An arena hands out pieces that live until arena_free; a zeroed struct is an empty arena. */
struct arena {
    struct arena_block *head;
};

/* size bytes aligned for any type, zeroed. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *text);
char *arena_strndup(struct arena *a, const char *text, size_t length);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Frees every piece. The arena may be used again. */
void arena_free(struct arena *a);

#endif
