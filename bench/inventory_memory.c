#include "bench/inventory_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

static json_t *meminfo_bytes(const char *root, const char *key) {
    char value[64];
    bool got = inventory_find(root, "/proc/meminfo", key, ':', value, sizeof value);
    return got ? json_integer((json_int_t)(strtod(value, NULL) * 1024)) : json_null();
}

/* hugepages-2048kB: of one size */
static void take_huge_pages(const char *root, const char *folder, const char *name, json_t *out) {
    char total[INVENTORY_PATH], unused[INVENTORY_PATH];
    snprintf(total, sizeof total, "%s/%s/nr_hugepages", folder, name);
    snprintf(unused, sizeof unused, "%s/%s/free_hugepages", folder, name);
    json_array_append_new(out, json_pack("{s:I, s:o, s:o}", "size_bytes",
                                         (json_int_t)strtoll(name + strlen("hugepages-"), NULL, 10) * 1024,
                                         "total", inventory_number(root, total), "free",
                                         inventory_number(root, unused)));
}

/* What frameworks' data loaders and NCCL's shared-memory transport need; 64 MiB is a container engine's
 * default. */
static json_t *shm_bytes(const char *root) {
    char path[INVENTORY_PATH];
    struct statvfs shm;
    snprintf(path, sizeof path, "%s/dev/shm", root);
    return statvfs(path, &shm) == 0 ? json_integer((json_int_t)shm.f_blocks * (json_int_t)shm.f_frsize)
                                    : json_null();
}

json_t *inventory_memory(const char *root) {
    json_t *huge = json_array();
    inventory_each(root, "/sys/kernel/mm/hugepages", "hugepages-*", take_huge_pages, huge);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "total_bytes", meminfo_bytes(root, "MemTotal"),
                     "available_bytes", meminfo_bytes(root, "MemAvailable"), "swap_bytes",
                     meminfo_bytes(root, "SwapTotal"), "swap_free_bytes", meminfo_bytes(root, "SwapFree"),
                     "huge_pages", huge, "shm_bytes", shm_bytes(root));
}
