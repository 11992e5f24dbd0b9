#include "base/text.h"
#include "kernels/backend.h"
#include "kernels/disk/disk.h"
#include "kernels/ref/ref.h"
#include "kernels/sim/sim.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In order of preference. A row without a table is a module: stepcost-NAME.so. */
struct backend_row {
    const char *name;
    const struct backend *linked;
};
static const struct backend_row rows[] = {
    {"cpu", NULL},
    {"sim", &sim_backend},
    {"ref", &ref_backend},
    {"disk", &disk_backend},
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const char *backend_name(size_t index) {
    return index < ROW_COUNT ? rows[index].name : NULL;
}

static int module_folder(char out[PATH_MAX], struct err *e) {
    const char *chosen = getenv("STEPCOST_MODULES");
    if (chosen && *chosen) {
        if (snprintf(out, PATH_MAX, "%s", chosen) >= PATH_MAX)
            return err_set(e, ERR_DEVICE, "STEPCOST_MODULES: the path is too long");
        return 0;
    }
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (length < 0)
        return err_set(e, ERR_DEVICE, "cannot read /proc/self/exe to find the modules; set STEPCOST_MODULES");
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    return 0;
}

/* The handle is never closed: the table must stay valid, and BLAS and OpenMP leave threads behind. */
static const struct backend *load_module(const char *name, struct err *e) {
    char folder[PATH_MAX], path[PATH_MAX + 64];
    if (module_folder(folder, e))
        return NULL;
    snprintf(path, sizeof path, "%s/stepcost-%s.so", folder, name);
    if (access(path, R_OK)) {
        err_set(e, ERR_DEVICE,
                "backend %s: no module %s; build it, or set STEPCOST_MODULES to the folder that has it", name,
                path);
        return NULL;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        err_set(e, ERR_DEVICE, "backend %s: its module does not load: %s", name, dlerror());
        return NULL;
    }
    const struct backend *found = dlsym(module, BACKEND_SYMBOL);
    if (!found) {
        err_set(e, ERR_DEVICE, "backend %s: %s has no symbol " BACKEND_SYMBOL "; is it another program's?",
                name, path);
        return NULL;
    }
    if (found->abi != BACKEND_ABI) {
        err_set(e, ERR_DEVICE, "backend %s: %s has ABI %u, this program needs %u; build both together", name,
                path, found->abi, (unsigned)BACKEND_ABI);
        return NULL;
    }
    return found;
}

const struct backend *backend_find(const char *name, struct err *e) {
    const char *names[ROW_COUNT];
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!strcmp(rows[i].name, name))
            return rows[i].linked ? rows[i].linked : load_module(name, e);
        names[i] = rows[i].name;
    }
    struct text known = {0};
    for (size_t i = 0; i < ROW_COUNT; i++)
        text_printf(&known, "%s%s", i ? ", " : "", names[i]);
    const char *nearest = text_nearest(name, names, ROW_COUNT);
    err_set(e, ERR_NOT_FOUND, "no backend \"%s\"%s%s%s; there are %s", name, nearest ? ", did you mean " : "",
            nearest ? nearest : "", nearest ? "?" : "", text_get(&known));
    text_free(&known);
    return NULL;
}
