#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small enough to be cheap for a file of ten rows, large enough that malloc does not show in a big one. */
enum { ARENA_BLOCK_BYTES = 32 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    max_align_t data[];
};

static _Noreturn void die_out_of_memory(size_t size) {
    fprintf(stderr, "stepcost: out of host memory (%zu bytes wanted)\n", size);
    abort();
}

void *xmalloc(size_t size) {
    void *p = malloc(size ? size : 1);
    if (!p)
        die_out_of_memory(size);
    return p;
}

void *xcalloc(size_t count, size_t size) {
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p)
        die_out_of_memory(size);
    return p;
}

void *xrealloc(void *old, size_t size) {
    void *p = realloc(old, size ? size : 1);
    if (!p)
        die_out_of_memory(size);
    return p;
}

void *xgrow(void *items, size_t item_size, size_t count, size_t *capacity) {
    if (count < *capacity)
        return items;
    size_t wanted = *capacity ? *capacity : 8;
    while (wanted <= count) {
        if (wanted > SIZE_MAX / 2)
            die_out_of_memory(SIZE_MAX);
        wanted *= 2;
    }
    if (item_size && wanted > SIZE_MAX / item_size)
        die_out_of_memory(SIZE_MAX);
    items = xrealloc(items, wanted * item_size);
    *capacity = wanted;
    return items;
}

char *xstrdup(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(xmalloc(size), text, size);
}

char *xvasprintf(const char *format, va_list args) {
    char *text;
    if (vasprintf(&text, format, args) < 0)
        die_out_of_memory(0);
    return text;
}

char *xasprintf(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = xvasprintf(format, args);
    va_end(args);
    return text;
}

void *arena_alloc(struct arena *a, size_t size) {
    if (size > SIZE_MAX / 2)
        die_out_of_memory(size);
    size_t rounded = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < rounded) {
        size_t block = rounded > ARENA_BLOCK_BYTES ? rounded : ARENA_BLOCK_BYTES;
        b = xcalloc(1, sizeof *b + block);
        b->size = block;
        b->next = a->head;
        a->head = b;
    }
    void *piece = (char *)b->data + b->used;
    b->used += rounded;
    return piece;
}

char *arena_strndup(struct arena *a, const char *text, size_t length) {
    length = strnlen(text, length);
    return memcpy(arena_alloc(a, length + 1), text, length);
}

char *arena_strdup(struct arena *a, const char *text) {
    return arena_strndup(a, text, strlen(text));
}

char *arena_printf(struct arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = xvasprintf(format, args);
    va_end(args);
    char *piece = arena_strdup(a, text);
    free(text);
    return piece;
}

void arena_free(struct arena *a) {
    if (!a)
        return;
    while (a->head) {
        struct arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
}
