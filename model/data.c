#include "model/data.h"

#include "base/mem.h"
#include "model/embedded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reads the whole file; 1 = read, 0 = there is none, -1 = error. */
static int read_file(const char *path, struct data_blob *out, struct err *e) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return errno == ENOENT || errno == ENOTDIR
                   ? 0
                   : err_set(e, ERR_NOT_FOUND, "%s: cannot open: %s", path, strerror(errno));
    size_t capacity = 1 << 16, length = 0, got;
    char *bytes = xmalloc(capacity);
    while ((got = fread(bytes + length, 1, capacity - length - 1, f)) > 0) {
        length += got;
        if (length + 1 == capacity)
            bytes = xrealloc(bytes, capacity *= 2);
    }
    int failed = ferror(f) ? errno : 0;
    fclose(f);
    if (failed) {
        free(bytes);
        return err_set(e, failed == EISDIR ? ERR_NOT_FOUND : ERR_IO, "%s: cannot read: %s", path,
                       strerror(failed));
    }
    /* the path stands behind the bytes: an error in a --data file names that file, not the table */
    out->owned = xrealloc(bytes, length + strlen(path) + 2);
    out->owned[length] = '\0';
    out->name = memcpy(out->owned + length + 1, path, strlen(path) + 1);
    out->bytes = out->owned;
    out->length = length;
    return 1;
}

static int load_from_folder(const char *folder, const char *name, struct data_blob *out, struct err *e) {
    struct stat status;
    /* falling back to the embedded tables for a misspelt folder would hide the mistake */
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return err_set(e, ERR_NOT_FOUND, "data folder '%s': no such folder", folder);
    char *path = xasprintf("%s/%s", folder, name);
    int found = read_file(path, out, e);
    free(path);
    return found;
}

int data_load(const struct data *d, const char *name, struct data_blob *out, struct err *e) {
    *out = (struct data_blob){.name = name};
    if (d && d->folder) {
        int found = load_from_folder(d->folder, name, out, e);
        if (found != 0)
            return found < 0 ? -1 : 0;
    }
    for (const struct embedded_row *row = embedded_rows; row->name; row++) {
        if (strcmp(row->name, name) != 0)
            continue;
        out->name = row->name;
        out->bytes = row->begin;
        out->length = (size_t)(row->end - row->begin);
        return 0;
    }
    return err_set(e, ERR_NOT_FOUND, "data file '%s': not in the program%s%s", name,
                   d && d->folder ? " and not in " : "", d && d->folder ? d->folder : "");
}

void data_release(struct data_blob *blob) {
    if (!blob)
        return;
    free(blob->owned);
    *blob = (struct data_blob){0};
}

const char *data_embedded_name(const char *prefix, size_t index) {
    for (const struct embedded_row *row = embedded_rows; row->name; row++)
        if (strncmp(row->name, prefix, strlen(prefix)) == 0 && index-- == 0)
            return row->name;
    return NULL;
}
