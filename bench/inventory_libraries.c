#include "base/text.h"
#include "bench/inventory_parts.h"
#include "kernels/library_search.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* ---- libraries: all that are found, the first that fits is the one that would be opened ---- */

static json_t *files_of(const char *root, const char *name) {
    struct library_list list;
    json_t *files = json_array();
    library_list_read(root, name, &list);
    for (size_t i = 0; i < list.count; i++)
        json_array_append_new(files, json_pack("{s:o, s:o, s:s, s:o}", "path", json_text(list.items[i].path),
                                               "version", inventory_text_or_null(list.items[i].version),
                                               "place", list.items[i].place, "rejected",
                                               inventory_text_or_null(list.items[i].rejected)));
    library_list_free(&list);
    return files;
}

json_t *inventory_libraries(const char *root) {
    json_t *out = json_object();
    for (size_t i = 0; library_name(i); i++)
        json_object_set_new(out, library_name(i), files_of(root, library_name(i)));
    return out;
}

/* ---- toolkits ---- */

/* {"cuda": {"version": "12.4.1", ...}, ...} since CUDA 11.1; before: "CUDA Version 10.2.89" in version.txt.
 */
static json_t *toolkit_version(const char *folder) {
    char line[256];
    struct err ignored;
    char *path = xasprintf("%s/version.json", folder);
    json_t *file = json_read_file(path, &ignored);
    const char *version = json_string_value(json_object_get(json_object_get(file, "cuda"), "version"));
    json_t *out = version ? json_text(version) : NULL;
    if (!out && text_read_line(folder, "/version.txt", line, sizeof line))
        out = json_text(line + (strncmp(line, "CUDA Version ", 13) == 0 ? 13 : 0));
    const char *dash = strrchr(folder, '-');
    if (!out && dash && strspn(dash + 1, "0123456789.") == strlen(dash + 1))
        out = json_text(dash + 1);
    json_decref(file);
    free(path);
    return out ? out : json_null();
}

static bool is_listed(const json_t *list, const char *path) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        if (strcmp(json_string_value(json_object_get(item, "path")), path) == 0)
            return true;
    }
    return false;
}

/* /usr/local/cuda is mostly a link to one of the others. */
static void take_toolkits(const char *root, const char *pattern, json_t *out) {
    glob_t found = {0};
    char *full = xasprintf("%s%s", root, pattern);
    if (glob(full, GLOB_ONLYDIR, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char *real = realpath(found.gl_pathv[i], NULL);
            char *top = realpath(*root ? root : "/", NULL);
            const char *path = real && top && *root ? real + strlen(top) : real;
            if (path && !is_listed(out, path))
                json_array_append_new(
                    out, json_pack("{s:o, s:o}", "path", json_text(path), "version", toolkit_version(real)));
            free(real);
            free(top);
        }
    globfree(&found);
    free(full);
}

json_t *inventory_toolkits(const char *root) {
    static const char *const patterns[] = {"/usr/local/cuda", "/usr/local/cuda-*",
                                           "/opt/cuda",       "/opt/nvidia/hpc_sdk/Linux_*/*",
                                           "/opt/rocm",       "/opt/rocm-*"};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        take_toolkits(root, patterns[i], list);
    return list;
}

/* ---- Python packages, by their dist-info folders: Python is not run ---- */

static const char *const packages[] = {
    "torch",
    "jax",
    "jaxlib",
    "tensorflow",
    "triton",
    "nvidia_cudnn_*",
    "nvidia_nccl*",
    "vllm",
    "flash_attn",
    "deepspeed",
    "transformer_engine*",
    "nvidia_cublas*",
    "transformers",
    "lightning",
};
static const struct {
    const char *variable, *folder; /* variable NULL: the folder is complete */
} package_folders[] = {
    {"VIRTUAL_ENV", "/lib/python3*/site-packages"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages"},
    {"CONDA_PREFIX", "/envs/*/lib/python3*/site-packages"},
    {NULL, "/usr/local/lib/python3*/dist-packages"},
    {NULL, "/usr/local/lib/python3*/site-packages"},
    {NULL, "/usr/lib/python3*/dist-packages"},
    {NULL, "/usr/lib/python3*/site-packages"},
    {NULL, "/opt/conda/lib/python3*/site-packages"},
    {"HOME", "/.local/lib/python3*/site-packages"},
};

/* .../torch-2.4.0+cu121.dist-info */
static void take_package(const char *root, const char *path, json_t *out) {
    const char *name = strrchr(path, '/') + 1, *dash = strchr(name, '-');
    size_t version_length = strlen(dash + 1) - strlen(".dist-info");
    json_array_append_new(out, json_pack("{s:s%, s:s%, s:s%}", "name", name, (size_t)(dash - name), "version",
                                         dash + 1, version_length, "folder", path + strlen(root),
                                         (size_t)(name - 1 - path) - strlen(root)));
}

static void take_packages(const char *root, const char *folder, json_t *out) {
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        glob_t found = {0};
        char *pattern = xasprintf("%s%s/%s-[0-9]*.dist-info", root, folder, packages[i]);
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                take_package(root, found.gl_pathv[k], out);
        globfree(&found);
        free(pattern);
    }
}

json_t *inventory_packages(const char *root) {
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof package_folders / sizeof package_folders[0]; i++) {
        const char *prefix = package_folders[i].variable ? getenv(package_folders[i].variable) : "";
        if (!prefix)
            continue;
        char *folder = xasprintf("%s%s", prefix, package_folders[i].folder);
        take_packages(root, folder, list);
        free(folder);
    }
    return list;
}
