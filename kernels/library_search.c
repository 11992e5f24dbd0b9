#include "kernels/library_search.h"

#include "base/text.h"
#include "kernels/library_file.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what is looked for ---- */

static const struct library_row {
    const char *name, *stem; /* of the file: "libX.so" */
    struct library_hint hint;
    const char *mend;
} libraries[] = {
    {"cublasLt", "libcublasLt.so", {NULL, "nvidia_cublas"}, "install the CUDA toolkit's cuBLAS"},
    {"nccl", "libnccl.so", {"NCCL version ", "nvidia_nccl"}, "install libnccl2 or the wheel nvidia-nccl"},
    {"nvml", "libnvidia-ml.so", {NULL, NULL}, "it comes with the NVIDIA driver"},
    {"cuda", "libcuda.so", {NULL, NULL}, "it comes with the NVIDIA driver"},
    {"cudart", "libcudart.so", {NULL, "nvidia_cuda_runtime"}, "install the CUDA toolkit's runtime"},
    {"cudnn", "libcudnn.so", {NULL, "nvidia_cudnn"}, "install cuDNN"},
};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

const char *library_name(size_t index) {
    return index < LIBRARIES ? libraries[index].name : NULL;
}

static const struct library_row *find_row(const char *name) {
    for (size_t i = 0; i < LIBRARIES; i++)
        if (strcmp(libraries[i].name, name) == 0)
            return &libraries[i];
    return NULL;
}

/* ---- where: rows in the order in which they are looked through ---- */

#define WHEELS(prefix, packages) prefix "/python3*/" packages "/nvidia/*/lib"

enum { PLACE_FOLDERS = 10 };
static const struct place {
    const char *name;
    const char *variable; /* each ':' part of it stands for %s; NULL = the folders are complete */
    const char *folders[PLACE_FOLDERS]; /* patterns of glob(7) */
} places[] = {
    {"LD_LIBRARY_PATH", "LD_LIBRARY_PATH", {"%s"}},
    {"CUDA_HOME", "CUDA_HOME", {"%s/lib64", "%s/targets/*/lib"}},
    {"CUDA_PATH", "CUDA_PATH", {"%s/lib64", "%s/targets/*/lib"}},
    {"toolkit",
     NULL,
     {"/usr/local/cuda/lib64", "/usr/local/cuda/targets/*/lib", "/usr/local/cuda-*/lib64",
      "/usr/local/cuda-*/targets/*/lib", "/opt/cuda/lib64", "/opt/cuda/targets/*/lib",
      "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/lib64", "/opt/nvidia/hpc_sdk/Linux_*/*/math_libs/lib64",
      "/opt/nvidia/hpc_sdk/Linux_*/*/comm_libs/nccl/lib"}},
    {"VIRTUAL_ENV", "VIRTUAL_ENV", {WHEELS("%s/lib", "site-packages")}},
    {"conda",
     "CONDA_PREFIX",
     {"%s/lib", WHEELS("%s/lib", "site-packages"), "%s/envs/*/lib",
      WHEELS("%s/envs/*/lib", "site-packages")}},
    {"system wheels",
     NULL,
     {WHEELS("/usr/local/lib", "dist-packages"), WHEELS("/usr/local/lib", "site-packages"),
      WHEELS("/usr/lib", "dist-packages"), WHEELS("/usr/lib", "site-packages")}},
    {"user wheels", "HOME", {WHEELS("%s/.local/lib", "site-packages")}},
    {"distribution", NULL, {"/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/lib/*-linux-gnu", "/lib64"}},
    {"ld.so.cache", NULL, {NULL}}, /* read from the cache itself */
    {"WSL", NULL, {"/usr/lib/wsl/lib"}},
};
enum { PLACES = sizeof places / sizeof places[0] };
static const char cache_path[] = "/etc/ld.so.cache";

struct search {
    const char *root;
    const struct library_row *row;
    const struct place *place;
    struct library_list *out;
};

/* Below the root, where the root is a folder of its own. */
static const char *below(const char *root, const char *path) {
    char resolved[4096];
    if (!*root || !realpath(root, resolved))
        return path;
    size_t length = strlen(resolved);
    return strncmp(path, resolved, length) == 0 ? path + length : path;
}

/* Links and names of one file are one entry. */
static void add_file(struct search *s, const char *path) {
    char resolved[4096];
    struct library_list *out = s->out;
    if (!realpath(path, resolved))
        return;
    const char *shown = below(s->root, resolved);
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->items[i].path, shown) == 0)
            return;
    out->items = xgrow(out->items, sizeof *out->items, out->count, &out->capacity);
    out->items[out->count++] =
        (struct library_file){.path = arena_strdup(&out->arena, shown),
                              .place = s->place->name,
                              .version = library_file_version(&out->arena, resolved, &s->row->hint),
                              .rejected = library_file_unfit(resolved)};
}

static int newest_first(const void *a, const void *b) {
    return -strverscmp(*(char *const *)a, *(char *const *)b);
}

static void search_folder(struct search *s, const char *folder) {
    glob_t files = {0};
    char *pattern = xasprintf("%s/%s*", folder, s->row->stem);
    size_t stem_end = strlen(pattern) - 1;
    if (glob(pattern, GLOB_NOSORT, NULL, &files) == 0) {
        qsort(files.gl_pathv, files.gl_pathc, sizeof *files.gl_pathv, newest_first);
        for (size_t i = 0; i < files.gl_pathc; i++)
            if (files.gl_pathv[i][stem_end] == '.' || files.gl_pathv[i][stem_end] == '\0')
                add_file(s, files.gl_pathv[i]);
    }
    globfree(&files);
    free(pattern);
}

/* pattern: of folders, root included. */
static void search_folders(struct search *s, const char *pattern) {
    glob_t folders = {0};
    if (glob(pattern, 0, NULL, &folders) == 0)
        for (size_t i = 0; i < folders.gl_pathc; i++)
            search_folder(s, folders.gl_pathv[i]);
    globfree(&folders);
}

static void search_place(struct search *s, const char *value) {
    for (size_t i = 0; i < PLACE_FOLDERS && s->place->folders[i]; i++) {
        struct text pattern = {0};
        const char *rest = s->place->folders[i];
        text_add(&pattern, s->root);
        if (value && strncmp(rest, "%s", 2) == 0) {
            text_add(&pattern, value);
            rest += 2;
        }
        text_add(&pattern, rest);
        search_folders(s, text_get(&pattern));
        text_free(&pattern);
    }
}

static void search_variable(struct search *s) {
    const char *value = getenv(s->place->variable);
    char *copy = xstrdup(value ? value : ""), *rest = copy, *part;
    while ((part = strsep(&rest, ":")) != NULL)
        if (*part == '/') /* a relative one is another folder for every caller */
            search_place(s, part);
    free(copy);
}

static void take_cached(void *context, const char *name, const char *path) {
    struct search *s = context;
    size_t length = strlen(s->row->stem);
    if (strncmp(name, s->row->stem, length) != 0 || (name[length] != '.' && name[length] != '\0'))
        return;
    char *full = xasprintf("%s%s", s->root, path);
    add_file(s, full);
    free(full);
}

void library_list_read(const char *root, const char *name, struct library_list *out) {
    struct search s = {.root = root, .row = find_row(name), .out = out};
    *out = (struct library_list){0};
    for (size_t i = 0; i < PLACES && s.row; i++) {
        s.place = &places[i];
        if (s.place->variable) {
            search_variable(&s);
        } else if (s.place->folders[0]) {
            search_place(&s, NULL);
        } else {
            char *cache = xasprintf("%s%s", root, cache_path);
            library_cache_read(cache, take_cached, &s);
            free(cache);
        }
    }
}

void library_list_free(struct library_list *l) {
    if (!l)
        return;
    free(l->items);
    arena_free(&l->arena);
    *l = (struct library_list){0};
}

static int not_found(const struct library_row *row, const struct library_list *list, struct err *e) {
    struct text looked = {0}, passed_over = {0};
    for (size_t i = 0; i < PLACES; i++)
        text_printf(&looked, "%s%s", i ? ", " : "", places[i].name);
    for (size_t i = 0; i < list->count; i++)
        text_printf(&passed_over, "; %s %s", list->items[i].path, list->items[i].rejected);
    err_set(e, ERR_NOT_FOUND, "%s: no %s that fits in %s%s: %s, or name its folder in LD_LIBRARY_PATH",
            row->name, row->stem, text_get(&looked), text_get(&passed_over), row->mend);
    text_free(&looked);
    text_free(&passed_over);
    return -1;
}

int library_find(const char *root, const char *name, struct library *out, struct err *e) {
    const struct library_row *row = find_row(name);
    struct library_list list;
    if (!row)
        return err_set(e, ERR_USAGE, "no library '%s' is known to the search", name);
    library_list_read(root, name, &list);
    const struct library_file *found = NULL;
    for (size_t i = 0; i < list.count && !found; i++)
        if (!*list.items[i].rejected && strlen(list.items[i].path) < sizeof out->path)
            found = &list.items[i];
    int result = found ? 0 : not_found(row, &list, e);
    if (found) {
        snprintf(out->path, sizeof out->path, "%s", found->path);
        snprintf(out->place, sizeof out->place, "%s", found->place);
        snprintf(out->version, sizeof out->version, "%s", found->version);
    }
    library_list_free(&list);
    return result;
}
