/* Where the vendors' libraries lie on this machine, found by their files alone: nothing is loaded or run. For
 * those who open them later, and for the inventory. Paths are under `root` ("" in the program); the
 * environment's folders (LD_LIBRARY_PATH, CUDA_HOME, CONDA_PREFIX ...) count under it as well.
 *
 * Places are looked through in the order of library_search.c's table; within a folder the newest version
 * comes first. A file of another word size or machine is listed, with the reason, and never chosen. */
#ifndef KERNELS_LIBRARY_SEARCH_H
#define KERNELS_LIBRARY_SEARCH_H

#include "base/err.h"
#include "base/mem.h"

#include <stddef.h>

struct library_file {
    const char *path;  /* the file itself, links resolved                                                  */
    const char *place; /* "LD_LIBRARY_PATH", "toolkit", "conda" ...                                        */
    const char
        *version; /* by its name, a text inside, or its wheel: not asked of the library; "" = unknown */
    const char *rejected; /* "" = it fits this program */
};
struct library_list {
    struct arena arena;
    struct library_file *items;
    size_t count, capacity;
};

/* "cublasLt", "nccl", ...; NULL past the last. */
const char *library_name(size_t index);
/* All files of that library, each once. Free with library_list_free. */
void library_list_read(const char *root, const char *name, struct library_list *out);
void library_list_free(struct library_list *l);

struct library {
    char path[512], place[32], version[64];
};
/* The first that fits. ERR_NOT_FOUND says where was looked, what was passed over and why, and the mend;
 * ERR_USAGE: no such name. */
int library_find(const char *root, const char *name, struct library *out, struct err *e) MUST_CHECK;

#endif
