#include "kernels/library_file.h"

#include <elf.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __x86_64__
enum { OWN_MACHINE = EM_X86_64 };
#elif defined __aarch64__
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE }; /* NVIDIA has no other: nothing fits */
#endif
enum { OWN_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };

/* NVIDIA's libraries are little-endian everywhere. */
const char *library_file_unfit(const char *path) {
    unsigned char head[20] = {0};
    FILE *file = fopen(path, "rbe");
    size_t got = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        fclose(file);
    if (!file)
        return "cannot be read";
    if (got < sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0)
        return "is no ELF file";
    if (head[EI_CLASS] != OWN_CLASS)
        return head[EI_CLASS] == ELFCLASS32 ? "is for 32 bit" : "is for 64 bit";
    return (head[18] | head[19] << 8) == OWN_MACHINE ? "" : "is for another machine";
}

/* ---- versions ---- */

enum { VERSION_SIZE = 40, BLOCK = 1 << 16, OVERLAP = 128 };
/* NCCL keeps its text among the first constants; what follows are hundreds of MB of kernels. */
static const size_t text_within = 16 << 20;

static size_t version_length(const char *text) {
    size_t length = strspn(text, "0123456789.");
    while (length > 0 && text[length - 1] == '.')
        length--;
    return length;
}

static void from_name(const char *path, char *out) {
    const char *found = strstr(strrchr(path, '/') ? strrchr(path, '/') : path, ".so.");
    snprintf(out, VERSION_SIZE, "%.*s", found ? (int)version_length(found + 4) : 0, found ? found + 4 : "");
}

/* Blocks overlap, so that a text across two of them is whole in the second. */
static void from_text(const char *path, const char *words, char *out) {
    size_t length = strlen(words), kept = 0, got;
    char *block = xmalloc(OVERLAP + BLOCK + 1);
    FILE *file = fopen(path, "rbe");
    for (size_t done = 0; file && !*out && done < text_within; done += got) {
        got = fread(block + kept, 1, BLOCK, file);
        if (got == 0)
            break;
        size_t size = kept + got;
        block[size] = '\0';
        char *at = block;
        while (!*out && (at = memmem(at, (size_t)(block + size - at), words, length)) != NULL) {
            at += length;
            snprintf(out, VERSION_SIZE, "%.*s", (int)version_length(at), at);
        }
        kept = size < OVERLAP ? size : OVERLAP;
        memmove(block, block + size - kept, kept);
    }
    if (file)
        fclose(file);
    free(block);
}

/* .../site-packages/nvidia/X/lib/libX.so.12 -> .../site-packages/nvidia_cublas_cu12-12.4.5.8.dist-info */
static void from_wheel(const char *path, const char *wheel, char *out) {
    glob_t found = {0};
    const char *packages = strstr(path, "-packages/nvidia/");
    if (!packages)
        return;
    char *pattern = xasprintf("%.*s/%s*-*.dist-info", (int)(strchr(packages, '/') - path), path, wheel);
    if (glob(pattern, 0, NULL, &found) == 0) {
        const char *dash = strchr(strrchr(found.gl_pathv[0], '/'), '-');
        snprintf(out, VERSION_SIZE, "%.*s", (int)version_length(dash + 1), dash + 1);
    }
    globfree(&found);
    free(pattern);
}

const char *library_file_version(struct arena *arena, const char *path, const struct library_hint *hint) {
    char named[VERSION_SIZE] = "", other[VERSION_SIZE] = "";
    from_name(path, named);
    if (strchr(named, '.'))
        return arena_strdup(arena, named);
    if (hint->text)
        from_text(path, hint->text, other);
    if (!*other && hint->wheel)
        from_wheel(path, hint->wheel, other);
    return arena_strdup(arena, *other ? other : named);
}

/* ---- ld.so.cache ---- */

/* glibc, sysdeps/generic/dl-cache.h: struct cache_file_new (48 bytes) and then struct file_entry_new (24
 * bytes): flags, key and value (offsets of texts from the file's start), OS version, hwcap. */
static const char cache_magic[] = "glibc-ld.so.cache1.1";
enum { CACHE_HEADER = 48, CACHE_ENTRY = 24, CACHE_MOST = 64 << 20 };

static unsigned number_at(const unsigned char *bytes, size_t at) {
    return bytes[at] | (unsigned)bytes[at + 1] << 8 | (unsigned)bytes[at + 2] << 16 |
           (unsigned)bytes[at + 3] << 24;
}

static char *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    char *bytes = NULL;
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length >= CACHE_HEADER && length <= CACHE_MOST && fseek(file, 0, SEEK_SET) == 0) {
        bytes = xcalloc(1, (size_t)length + 1);
        *size = fread(bytes, 1, (size_t)length, file);
    }
    fclose(file);
    return bytes;
}

void library_cache_read(const char *path, void (*take)(void *context, const char *name, const char *file),
                        void *context) {
    size_t size = 0;
    char *bytes = read_whole(path, &size);
    bool known = bytes && size >= CACHE_HEADER && memcmp(bytes, cache_magic, sizeof cache_magic - 1) == 0;
    const unsigned char *raw = (const unsigned char *)bytes;
    size_t count = known ? number_at(raw, sizeof cache_magic - 1) : 0;
    for (size_t i = 0; i < count && CACHE_HEADER + (i + 1) * CACHE_ENTRY <= size; i++) {
        size_t entry = CACHE_HEADER + i * CACHE_ENTRY;
        size_t key = number_at(raw, entry + 4), value = number_at(raw, entry + 8);
        if (key < size && value < size)
            take(context, bytes + key, bytes + value);
    }
    free(bytes);
}
