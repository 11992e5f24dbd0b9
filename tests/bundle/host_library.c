/* A module that, like one for a GPU, opens a library of the machine's own, and says which file it got. */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>

__attribute__((constructor)) static void open_host_library(void) {
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    struct link_map *map = NULL;
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        fprintf(stderr, "host library: %s\n", dlerror());
    else
        fprintf(stderr, "host library: %s\n", map->l_name);
}
