/* The rows of the inventory, private to inventory*.c. Each gives a new reference, null for what is not known;
 * none fails. Paths are under root. No serial number, MAC or IP address in clear, and no command line of a
 * process. */
#ifndef BENCH_INVENTORY_PARTS_H
#define BENCH_INVENTORY_PARTS_H

#include "base/json.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdio.h>

enum { INVENTORY_PATH = 600, INVENTORY_LINE = 8192 };

/* ---- files (inventory_files.c) ---- */

FILE *inventory_open(const char *root, const char *path);
bool inventory_exists(const char *root, const char *path);
/* The first line as text, or as a number (decimal, or hexadecimal behind 0x). */
json_t *inventory_text(const char *root, const char *path);
json_t *inventory_number(const char *root, const char *path);
/* NaN when the file has none. */
double inventory_double(const char *root, const char *path);
/* Text, null for NULL and "". */
json_t *inventory_text_or_null(const char *text);
/* The value behind "KEY separator" when line is about key, else NULL. Changes line. */
char *inventory_value(char *line, const char *key, char separator);
/* The value of the first line about key; false when there is none. */
bool inventory_find(const char *root, const char *path, const char *key, char separator, char *out,
                    size_t size);
/* Names in a folder that the pattern of fnmatch(3) fits, sorted; calls take with each. */
void inventory_each(const char *root, const char *folder, const char *pattern,
                    void (*take)(const char *root, const char *folder, const char *name, json_t *out),
                    json_t *out);

/* ---- rows ---- */

json_t *inventory_cpu(const char *root);         /* inventory_cpu.c: model, cores, caches, flags, clock */
json_t *inventory_mitigations(const char *root); /* {name: state} */
json_t *inventory_numa(const char *root);        /* [{node, cpus, memory_bytes, free_bytes, distances}] */
json_t *inventory_gpus(const char *root); /* inventory_pci.c: display and accelerator functions by PCI */
json_t *inventory_nvidia_json(const char *root);
json_t *inventory_iommu(const char *root);
json_t *inventory_memory(const char *root);    /* inventory_memory.c */
json_t *inventory_limits(const char *root);    /* inventory_container.c: cgroup, affinity, rlimits */
json_t *inventory_container(const char *root); /* "docker", "kubernetes", ... */
json_t *inventory_virtual_machine(const char *root);
json_t *inventory_hypervisor(const char *root);
json_t *inventory_identity(const char *root); /* identity.c */
json_t *
inventory_libraries(const char *root); /* inventory_libraries.c: {name: [{path, version, place, rejected}]} */
json_t *inventory_toolkits(const char *root);
json_t *inventory_packages(const char *root);
json_t *inventory_load(const char *root); /* inventory_load.c: other work, before the run begins */

#endif
