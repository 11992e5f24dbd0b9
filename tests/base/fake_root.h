/* Another machine, as a folder of small files in the place of "/". */
#ifndef TESTS_BASE_FAKE_ROOT_H
#define TESTS_BASE_FAKE_ROOT_H

#include "tests/base/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_file {
    const char *path, *content;
};
struct fake_root {
    char path[40];
};

static inline struct fake_root fake_root_make(void) {
    struct fake_root root;
    strcpy(root.path, "/tmp/stepcost-root-XXXXXX");
    assert_non_null(mkdtemp(root.path));
    return root;
}

static inline void fake_root_folders(const struct fake_root *root, const char *path, char *full,
                                     size_t size) {
    snprintf(full, size, "%s%s", root->path, path);
    for (char *at = full + strlen(root->path) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        assert_true(mkdir(full, 0777) == 0 || errno == EEXIST);
        *at = '/';
    }
}

static inline void fake_root_bytes(const struct fake_root *root, const char *path, const void *bytes,
                                   size_t size) {
    char full[400];
    fake_root_folders(root, path, full, sizeof full);
    FILE *out = fopen(full, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
}

static inline void fake_root_put(const struct fake_root *root, const char *path, const char *content) {
    fake_root_bytes(root, path, content, strlen(content));
}

static inline void fake_root_link(const struct fake_root *root, const char *path, const char *target) {
    char full[400];
    fake_root_folders(root, path, full, sizeof full);
    assert_int_equal(symlink(target, full), 0);
}

static inline void fake_root_put_all(const struct fake_root *root, const struct fake_file *files,
                                     size_t count) {
    for (size_t i = 0; i < count; i++)
        fake_root_put(root, files[i].path, files[i].content);
}

static inline void fake_root_remove(const struct fake_root *root) {
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", root->path);
    assert_int_equal(system(command), 0);
}

#endif
