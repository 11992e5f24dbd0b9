/* Data files of the product (gpus.csv, references.csv, workloads, example prices): embedded at build
 * time, and replaced file by file from a folder given with --data. */
#ifndef MODEL_DATA_H
#define MODEL_DATA_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct data {
    const char *folder; /* --data DIR, or NULL */
};

struct data_blob {
    const char *name; /* "gpus.csv", "workloads/gpt2-124m.json"; its path when read from a folder */
    const char *bytes;
    size_t length;
    char *owned; /* non-NULL when read from a folder: data_release frees it */
};

/* The file `name`, from the folder when it is there, else embedded. */
int data_load(const struct data *d, const char *name, struct data_blob *out, struct err *e) MUST_CHECK;
void data_release(struct data_blob *blob);

/* Embedded names that begin with prefix: the index-th, or NULL past the last. */
const char *data_embedded_name(const char *prefix, size_t index);

#endif
