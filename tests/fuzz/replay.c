/* Shows a fuzz target every file of the folders that are named: what libFuzzer does with -runs=0, for
 * compilers that have none. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>

static void replay(const char *path) {
    FILE *in = fopen(path, "rbe");
    char *bytes = NULL;
    size_t size = 0, capacity = 0;
    HOLDS(in != NULL, "%s cannot be opened", path);
    fprintf(stderr, "%s\n", path); /* a property that does not hold names no file */
    for (int c; (c = getc(in)) != EOF; size++) {
        bytes = xgrow(bytes, 1, size, &capacity);
        bytes[size] = (char)c;
    }
    fclose(in);
    bytes = xrealloc(bytes, size > 0 ? size : 1); /* so that a sanitizer sees who reads on */
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    free(bytes);
}

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        struct dirent **entries;
        int count = scandir(argv[i], &entries, is_shown, alphasort);
        HOLDS(count > 0, "%s: no files there", argv[i]);
        for (int k = 0; k < count; k++) {
            char *path = xasprintf("%s/%s", argv[i], entries[k]->d_name);
            replay(path);
            free(path);
            free(entries[k]);
        }
        free(entries);
    }
    return argc > 1 ? 0 : 2;
}
