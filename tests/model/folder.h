/* A scratch folder of data files, for tests of --data. */
#ifndef TESTS_MODEL_FOLDER_H
#define TESTS_MODEL_FOLDER_H

#include "tests/base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[64];
};

static inline void folder_make(struct folder *f) {
    snprintf(f->path, sizeof f->path, "/tmp/stepcost-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

/* Writes text to NAME in the folder; a name with a slash makes that subfolder. */
static inline void folder_write(const struct folder *f, const char *name, const char *text) {
    char path[256];
    const char *slash = strchr(name, '/');
    if (slash) {
        snprintf(path, sizeof path, "%s/%.*s", f->path, (int)(slash - name), name);
        mkdir(path, 0700);
    }
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void folder_remove(const struct folder *f) {
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", f->path);
    assert_int_equal(system(command), 0);
}

#endif
