/* One file of a library, looked at without loading it; and the loader's cache. For library_search.c. */
#ifndef KERNELS_LIBRARY_FILE_H
#define KERNELS_LIBRARY_FILE_H

#include "base/mem.h"

/* Where a version may stand beside the file's name; NULL = nowhere. */
struct library_hint {
    const char *text;  /* inside the file, before the version: "NCCL version "              */
    const char *wheel; /* the wheel's name, as its dist-info folder begins: "nvidia_cublas" */
};

/* Why this program cannot load it: "is for 32 bit" ...; "" = it can. Static. */
const char *library_file_unfit(const char *path);
/* The first that says more than one number: the name (libX.so.12.4.5 -> "12.4.5"), the text inside, the
 * dist-info folder of its wheel; else the one number of the name ("13"), or "". From the arena. */
const char *library_file_version(struct arena *arena, const char *path, const struct library_hint *hint);
/* Calls take with the name and the path of every entry of an ld.so.cache (glibc's format 1.1), in its order.
 */
void library_cache_read(const char *path, void (*take)(void *context, const char *name, const char *file),
                        void *context);

#endif
