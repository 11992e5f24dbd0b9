/* What every fuzz target shares. A target is one LLVMFuzzerTestOneInput, linked to libFuzzer (STEPCOST_FUZZ)
 * or to replay.c, which shows it the files of its corpus. A property that does not hold ends the process. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* HOLDS(condition, format, ...): what was found, when the condition does not hold. */
#define HOLDS(condition, ...)                                                                                \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: does not hold: %s: ", __FILE__, __LINE__, #condition);                   \
            fprintf(stderr, __VA_ARGS__);                                                                    \
            fputc('\n', stderr);                                                                             \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* Bytes of the character that text begins with; 0 when it is no UTF-8, or a control character. Decoded by the
 * rules of RFC 3629, section 3, apart from the program's own table. */
static inline size_t fuzz_character(const char *text) {
    const unsigned char *b = (const unsigned char *)text;
    size_t more = b[0] < 0x80 ? 0 : b[0] >= 0xF0 ? 3 : b[0] >= 0xE0 ? 2 : 1;
    uint32_t code = more == 0 ? b[0] : b[0] & (0x3Fu >> more);
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (b[0] >= 0xF8 || (b[0] >= 0x80 && b[0] < 0xC0))
        return 0;
    for (size_t i = 1; i <= more; i++) {
        if ((b[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (b[i] & 0x3F);
    }
    bool surrogate = code >= 0xD800 && code < 0xE000, control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    return code < least[more] || code > 0x10FFFF || surrogate || control ? 0 : more + 1;
}

/* Can text go to a terminal as one line? */
static inline bool fuzz_printable(const char *text) {
    for (size_t n; *text; text += n)
        if ((n = fuzz_character(text)) == 0)
            return false;
    return true;
}

/* An error says something, in one printable line. */
static inline void fuzz_check_error(const struct err *e, enum err_code code) {
    HOLDS(e->code == code, "%s where %s should be: %s", err_name(e->code), err_name(code), e->text);
    HOLDS(e->text[0] && fuzz_printable(e->text), "\"%s\"", e->text);
}

/* The input as a text, up to its first NUL. The caller frees; the block ends with the text, so that a
 * sanitizer sees who reads on. */
static inline char *fuzz_text(const uint8_t *bytes, size_t size) {
    const uint8_t *nul = size > 0 ? memchr(bytes, '\0', size) : NULL;
    size_t length = nul ? (size_t)(nul - bytes) : size;
    char *text = xmalloc(length + 1);
    if (length > 0)
        memcpy(text, bytes, length);
    text[length] = '\0';
    return text;
}

/* A regular file in memory, which any reader opens by its path. */
struct fuzz_file {
    int fd;
    char path[32];
};

static inline struct fuzz_file fuzz_file_open(const void *bytes, size_t size) {
    struct fuzz_file f = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};
    HOLDS(f.fd >= 0 && (size == 0 || write(f.fd, bytes, size) == (ssize_t)size), "no file in memory");
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static inline void fuzz_file_close(struct fuzz_file *f) {
    close(f->fd);
}

#endif
